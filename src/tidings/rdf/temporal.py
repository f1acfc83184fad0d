"""Dates, times and durations: the value spaces of XSD's temporal types, at any year and to any fraction of a second.

A `Moment` is a position on the time line and the fields it was written with. Where a time zone is missing, UTC is
taken for the position, and `zone` stays None. A `Duration` is months and seconds.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import reduce
from typing import NamedTuple

from tidings.rdf.terms import XSD, XSD_DATETIME

XSD_DATE = f"{XSD}date"
XSD_TIME = f"{XSD}time"
XSD_DATETIMESTAMP = f"{XSD}dateTimeStamp"
XSD_GYEAR = f"{XSD}gYear"
XSD_GYEARMONTH = f"{XSD}gYearMonth"
XSD_GMONTH = f"{XSD}gMonth"
XSD_GMONTHDAY = f"{XSD}gMonthDay"
XSD_GDAY = f"{XSD}gDay"
XSD_DURATION = f"{XSD}duration"
XSD_DAYTIME = f"{XSD}dayTimeDuration"
XSD_YEARMONTH = f"{XSD}yearMonthDuration"

MAX_YEAR_DIGITS = 1_000
"""A date whose year is longer than this has no value."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_DAY = 86_400
_FOURTEEN_HOURS = 14 * 3_600
# A leap year: every month and day that has no year can stand in it.
_REFERENCE_YEAR = 1972


class Position(NamedTuple):
    """Whole seconds since the year 0001, and the fraction of the next one: exact, and ordered as a tuple is."""

    seconds: int
    fraction: Decimal


class Moment(NamedTuple):
    """`kind` is the datatype, xsd:dateTime for a stamp too; fields the datatype does not have are None."""

    kind: str
    position: Position
    zone: int | None
    """Minutes east of UTC."""
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: Decimal | None = None


class Duration(NamedTuple):
    months: int
    seconds: Decimal


_YEAR = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAYS = r"(?P<day>0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?P<hour>[01][0-9]|2[0-4]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9](?:\.[0-9]+)?)"
_MUST_ZONE = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_ZONE = _MUST_ZONE + "?"

_FORMS = {
    XSD_DATETIME: f"{_YEAR}-{_MONTH}-{_DAYS}T{_CLOCK}{_ZONE}",
    XSD_DATETIMESTAMP: f"{_YEAR}-{_MONTH}-{_DAYS}T{_CLOCK}{_MUST_ZONE}",
    XSD_DATE: f"{_YEAR}-{_MONTH}-{_DAYS}{_ZONE}",
    XSD_TIME: f"{_CLOCK}{_ZONE}",
    XSD_GYEAR: f"{_YEAR}{_ZONE}",
    XSD_GYEARMONTH: f"{_YEAR}-{_MONTH}{_ZONE}",
    XSD_GMONTH: f"--{_MONTH}{_ZONE}",
    XSD_GMONTHDAY: f"--{_MONTH}-{_DAYS}{_ZONE}",
    XSD_GDAY: f"---{_DAYS}{_ZONE}",
}
_MOMENTS = {datatype: re.compile(form) for datatype, form in _FORMS.items()}
MOMENT_TYPES = frozenset(_MOMENTS)

_YEARS_PART = r"(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?"
_DAYS_PART = r"(?:(?P<days>[0-9]+)D)?"
_CLOCK_PART = r"(?:T(?=[0-9])(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
_DURATIONS = {
    XSD_DURATION: re.compile(f"(?P<sign>-?)P(?=[0-9T]){_YEARS_PART}{_DAYS_PART}{_CLOCK_PART}"),
    XSD_DAYTIME: re.compile(f"(?P<sign>-?)P(?=[0-9T]){_DAYS_PART}{_CLOCK_PART}"),
    XSD_YEARMONTH: re.compile(f"(?P<sign>-?)P(?=[0-9]){_YEARS_PART}"),
}
DURATION_TYPES = frozenset(_DURATIONS)

# The days from which XSD adds durations to compare them.
_REFERENCES = ((1696, 9), (1697, 2), (1903, 3), (1903, 7))


def parse_moment(lexical: str, datatype: str) -> Moment | None:
    """The value of a literal of one of MOMENT_TYPES; None where the lexical form is not one of its datatype's."""
    found = _MOMENTS[datatype].fullmatch(lexical)
    if found is None:
        return None
    fields = found.groupdict()
    if len(fields.get("year") or "") > MAX_YEAR_DIGITS:
        return None
    year, month, day, hour, minute = (
        int(fields[name]) if fields.get(name) else None for name in ("year", "month", "day", "hour", "minute")
    )
    second = Decimal(fields["second"]) if fields.get("second") else None
    zone = _zone(fields["zone"])
    reference = _REFERENCE_YEAR if year is None else year
    if day is not None and day > _month_length(reference, month or 1):
        return None
    days = days_before(reference, month or 1) + (day or 1) - 1
    if hour == 24:
        if minute or second:
            return None
        hour = 0
        if year is not None:
            days += 1
            year, month, day = _civil(days)
    whole = int(second or 0)
    seconds = days * _DAY + (hour or 0) * 3_600 + (minute or 0) * 60 + whole - (zone or 0) * 60
    position = Position(seconds, _fraction(fields.get("second")))
    kind = XSD_DATETIME if datatype == XSD_DATETIMESTAMP else datatype
    return Moment(kind, position, zone, year, month, day, hour, minute, second)


def parse_duration(lexical: str, datatype: str) -> Duration | None:
    """The value of a literal of one of DURATION_TYPES; None where the lexical form is not one of its datatype's."""
    found = _DURATIONS[datatype].fullmatch(lexical)
    if found is None:
        return None
    fields = {name: Decimal(text) for name, text in found.groupdict().items() if text and name != "sign"}
    if any(value.adjusted() > MAX_YEAR_DIGITS for value in fields.values()):
        return None
    months = int(fields.get("years", 0)) * 12 + int(fields.get("months", 0))
    whole = sum(int(fields.get(n, 0)) * s for n, s in (("days", _DAY), ("hours", 3_600), ("minutes", 60)))
    seconds = _joined(whole, fields.get("seconds", Decimal(0)))
    return Duration(-months, seconds.copy_negate()) if found["sign"] else Duration(months, seconds)


def determinate(a: Moment, b: Moment) -> bool:
    """Whether two moments of one kind have an order.

    SPARQL takes xsd:dateTime from XPath, with its implicit time zone. For the other types XSD's own rule stands: one
    without a time zone may be up to 14 hours to either side, so what is nearer than that to one with it has no order.
    """
    if a.kind == XSD_DATETIME or (a.zone is None) == (b.zone is None):
        return True
    return abs(a.position.seconds - b.position.seconds) > _FOURTEEN_HOURS


def duration_positions(duration: Duration) -> tuple[Decimal, ...]:
    """Where the duration ends, counted from each of XSD's four reference days."""
    ends = []
    for year, month in _REFERENCES:
        total = year * 12 + month - 1 + duration.months
        ends.append(_joined(days_before(total // 12, total % 12 + 1) * _DAY, duration.seconds))
    return tuple(ends)


def duration_key(duration: Duration) -> Decimal:
    """A total order of durations: where all four positions agree on an order, so does their sum."""
    return reduce(_EXACT.add, duration_positions(duration))


def format_zone(zone: int) -> str:
    """A time zone as dates have it: `Z`, `-08:00`."""
    if not zone:
        return "Z"
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 60:02d}:{abs(zone) % 60:02d}"


def format_zone_duration(zone: int) -> str:
    """A time zone as an xsd:dayTimeDuration: `PT0S`, `-PT8H`."""
    hours, minutes = divmod(abs(zone), 60)
    text = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    return f"{'-' if zone < 0 else ''}PT{text or '0S'}"


def format_moment(moment: Moment, datatype: str) -> str | None:
    """The moment's fields as a lexical form of `datatype`; None where it lacks one of them."""
    year = None if moment.year is None else f"{'-' if moment.year < 0 else ''}{abs(moment.year):04d}"
    month = None if moment.month is None else f"{moment.month:02d}"
    day = None if moment.day is None else f"{moment.day:02d}"
    clock = None
    if moment.second is not None:
        whole = int(moment.second)
        fraction = format(moment.second, "f").partition(".")[2].rstrip("0")
        clock = f"{moment.hour:02d}:{moment.minute:02d}:{whole:02d}{'.' if fraction else ''}{fraction}"
    forms: dict[str, tuple[str | None, ...]] = {
        XSD_DATETIME: (year, "-", month, "-", day, "T", clock),
        XSD_DATE: (year, "-", month, "-", day),
        XSD_TIME: (clock,),
        XSD_GYEAR: (year,),
        XSD_GYEARMONTH: (year, "-", month),
        XSD_GMONTH: ("--", month),
        XSD_GMONTHDAY: ("--", month, "-", day),
        XSD_GDAY: ("---", day),
    }
    pieces = [piece for piece in forms[datatype] if piece is not None]
    if len(pieces) < len(forms[datatype]):
        return None
    return "".join(pieces) + ("" if moment.zone is None else format_zone(moment.zone))


def days_before(year: int, month: int) -> int:
    """Days from 0001-01-01 to the first of the month, in the Gregorian calendar, year 0 and before included."""
    # Years that begin in March have their leap day last.
    shifted = year if month > 2 else year - 1
    months = (month - 3) % 12
    return shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + (153 * months + 2) // 5 - 306


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a count of days from 0001-01-01."""
    year = days * 400 // 146_097 + 1
    while days_before(year, 1) > days:
        year -= 1
    while days_before(year + 1, 1) <= days:
        year += 1
    month = next(m for m in range(12, 0, -1) if days_before(year, m) <= days)
    return year, month, days - days_before(year, month) + 1


def _month_length(year: int, month: int) -> int:
    return days_before(year + month // 12, month % 12 + 1) - days_before(year, month)


def _zone(text: str | None) -> int | None:
    if not text:
        return None
    if text == "Z":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[4:6])
    return -minutes if text[0] == "-" else minutes


def _fraction(seconds: str | None) -> Decimal:
    return Decimal("0." + ((seconds or "").partition(".")[2] or "0"))


def _joined(whole: int, rest: Decimal) -> Decimal:
    """An exact sum: the precision of the default context would round it."""
    return _EXACT.add(Decimal(whole), rest)
