"""Dates, times and durations: lexical forms, positions on the time line, text."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.rdf.temporal import (
    XSD_DATE,
    XSD_DATETIME,
    XSD_DATETIMESTAMP,
    XSD_DAYTIME,
    XSD_DURATION,
    XSD_GDAY,
    XSD_GMONTHDAY,
    XSD_GYEAR,
    XSD_TIME,
    XSD_YEARMONTH,
    Moment,
    duration_key,
    format_moment,
    format_zone,
    format_zone_duration,
    parse_duration,
    parse_moment,
)


def moment(text: str, datatype: str = XSD_DATETIME) -> Moment:
    found = parse_moment(text, datatype)
    assert found is not None
    return found


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_position_agrees_with_datetime(local: datetime.datetime, offset: int) -> None:
    found = moment(f"{local.strftime('%Y').zfill(4)}{local.isoformat()[4:]}{format_zone(offset)}")
    elapsed = local - datetime.datetime.min - datetime.timedelta(minutes=offset)
    assert found.position.seconds == elapsed.days * 86_400 + elapsed.seconds
    assert found.position.fraction * 1_000_000 == elapsed.microseconds


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("-0001-12-31T23:59:59Z", "0000-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z"),
        ("2000-01-01T00:00:00.0000000000000000000000000000000000001Z", "2000-01-01T00:00:00.01Z"),
        ("2000-01-01T00:00:00+01:00", "2000-01-01T00:00:00"),
        ("2000-01-01T00:00:00", "2000-01-01T00:00:00-01:00"),
        ("1" * 400 + "-01-01T00:00:00Z", "2" * 400 + "-01-01T00:00:00Z"),
    ],
)
def test_order(earlier: str, later: str) -> None:
    assert moment(earlier).position < moment(later).position


def test_midnight_at_the_end_of_a_day() -> None:
    assert moment("1999-12-31T24:00:00").position == moment("2000-01-01T00:00:00").position
    assert moment("1999-12-31T24:00:00").year == 2000
    assert moment("24:00:00", XSD_TIME).position == moment("00:00:00", XSD_TIME).position


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("2023-02-29", XSD_DATE),
        ("1900-02-29", XSD_DATE),
        ("2023-13-01", XSD_DATE),
        ("02023-01-01", XSD_DATE),
        ("23-01-01", XSD_DATE),
        ("2023-01-01+15:00", XSD_DATE),
        ("2023-01-01 ", XSD_DATE),
        ("2023-01-01", XSD_DATETIME),
        ("2023-01-01T24:00:01", XSD_DATETIME),
        ("2023-01-01T25:00:00", XSD_DATETIME),
        ("2023-01-01T00:00:60", XSD_DATETIME),
        ("2023-01-01T00:00:00.", XSD_DATETIME),
        ("2023-01-01T00:00:00", XSD_DATETIMESTAMP),
        ("--02-30", XSD_GMONTHDAY),
        ("---32", XSD_GDAY),
        ("1" * 2_000, XSD_GYEAR),
    ],
)
def test_no_moment(text: str, datatype: str) -> None:
    assert parse_moment(text, datatype) is None


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("2000-02-29", XSD_DATE),
        ("-0044-03-15Z", XSD_DATE),
        ("--02-29", XSD_GMONTHDAY),
        ("2000-01-01T12:30:05.125-08:00", XSD_DATETIME),
        ("123456-07-08T09:10:11Z", XSD_DATETIME),
        ("0000+14:00", XSD_GYEAR),
    ],
)
def test_text_and_back(text: str, datatype: str) -> None:
    assert format_moment(moment(text, datatype), datatype) == text


@pytest.mark.parametrize(
    ("text", "datatype", "months", "seconds"),
    [
        ("P1Y2M3DT4H5M6.7S", XSD_DURATION, 14, "273906.7"),
        ("-P1Y", XSD_YEARMONTH, -12, "0"),
        ("PT36H", XSD_DAYTIME, 0, "129600"),
        ("P0D", XSD_DAYTIME, 0, "0"),
    ],
)
def test_durations(text: str, datatype: str, months: int, seconds: str) -> None:
    found = parse_duration(text, datatype)
    assert found is not None
    assert (found.months, str(abs(found.seconds))) == (months, seconds)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("P", XSD_DURATION),
        ("PT", XSD_DURATION),
        ("P1YT", XSD_DURATION),
        ("P1S", XSD_DURATION),
        ("1D", XSD_DURATION),
        ("P1M", XSD_DAYTIME),
        ("P1D", XSD_YEARMONTH),
        ("P" + "1" * 2_000 + "D", XSD_DAYTIME),
    ],
)
def test_no_duration(text: str, datatype: str) -> None:
    assert parse_duration(text, datatype) is None


def test_duration_order() -> None:
    texts = ["-P1Y", "PT0S", "P27D", "P1M", "P32D", "P1Y", "P400D"]
    durations = [parse_duration(text, XSD_DURATION) for text in texts]
    keys = [duration_key(duration) for duration in durations if duration is not None]
    assert len(keys) == len(texts)
    assert keys == sorted(keys)


def test_zones() -> None:
    assert [format_zone(z) for z in (0, -480, 330)] == ["Z", "-08:00", "+05:30"]
    assert [format_zone_duration(z) for z in (0, -480, 330)] == ["PT0S", "-PT8H", "PT5H30M"]
