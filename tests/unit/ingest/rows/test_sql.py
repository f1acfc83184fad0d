"""Databases: any connection of DB-API 2.0, with the keys that the database knows."""

from __future__ import annotations

import datetime as dt
import sqlite3
import uuid
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.ingest.rows.helpers import by_hand, drained, lines

from tidings.errors import EventError, TidingsError
from tidings.ingest.base import DATA, How
from tidings.ingest.rows.sql import from_sql
from tidings.ingest.rows.sql_keys import keys_of
from tidings.rdf.terms import XSD, literal

SCHEMA = """
CREATE TABLE dept (town TEXT, no INTEGER, name TEXT, PRIMARY KEY (town, no));
CREATE TABLE emp (
  id INTEGER PRIMARY KEY, name TEXT, born DATE, seen TIMESTAMP, active BOOLEAN, pay REAL, photo BLOB,
  boss INTEGER REFERENCES emp, dept_no INTEGER, dept_town TEXT, email TEXT REFERENCES mail(address),
  FOREIGN KEY (dept_no, dept_town) REFERENCES dept (no, town)
);
CREATE TABLE mail (no INTEGER PRIMARY KEY, address TEXT UNIQUE);
INSERT INTO dept VALUES ('a b', 1, 'R&D');
INSERT INTO emp VALUES (1, 'Ann', '1990-01-02', '2024-01-02 03:04:05', 1, 1.5, x'00ff', NULL, 1, 'a b', 'x@y');
INSERT INTO emp VALUES (2, NULL, 'unknown', NULL, 0, 12345678901, NULL, 1, NULL, 'a b', NULL);
"""


@pytest.fixture
def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    return connection


def test_a_table_with_its_keys(database: sqlite3.Connection) -> None:
    first, second = drained(from_sql(database, "emp", How()))
    s = f"<{DATA}emp/1>"
    assert lines(first) == [
        f'{s} <{DATA}active> "true"^^<{XSD}boolean> .',
        f'{s} <{DATA}born> "1990-01-02"^^<{XSD}date> .',
        f'{s} <{DATA}dept_no> "1"^^<{XSD}integer> .',
        f'{s} <{DATA}dept_town> "a b" .',
        f'{s} <{DATA}email> "x@y" .',
        f'{s} <{DATA}id> "1"^^<{XSD}integer> .',
        f'{s} <{DATA}name> "Ann" .',
        f'{s} <{DATA}pay> "1.5"^^<{XSD}double> .',
        f'{s} <{DATA}photo> "00FF"^^<{XSD}hexBinary> .',
        f"{s} <{DATA}ref-dept_town;dept_no> <{DATA}dept/a%20b/1> .",
        f'{s} <{DATA}seen> "2024-01-02T03:04:05"^^<{XSD}dateTime> .',
    ]
    assert f"<{DATA}emp/2> <{DATA}boss> {s} ." in lines(second)
    assert f'<{DATA}emp/2> <{DATA}born> "unknown" .' in lines(second)
    assert not any("ref-" in line for line in lines(second))
    (dept,) = drained(from_sql(database, "dept", How()))
    assert all(line.startswith(f"<{DATA}dept/a%20b/1> ") for line in lines(dept))


def test_a_query(database: sqlite3.Connection) -> None:
    events = drained(from_sql(database, "SELECT name, 2 AS n FROM emp WHERE name = 'Ann'", How(key=("name",))))
    expected = by_hand(f"{DATA}Ann", {f"{DATA}name": [literal("Ann")], f"{DATA}n": [literal("2", f"{XSD}integer")]})
    assert [event.body for event in events] == [expected.body]


def test_a_table_without_a_key_has_numbered_rows(database: sqlite3.Connection) -> None:
    database.executescript("CREATE TABLE log (line TEXT); INSERT INTO log VALUES ('x'), ('x')")
    assert [lines(event) for event in drained(from_sql(database, "log", How()))] == [
        [f'<{DATA}log#row={number}> <{DATA}line> "x" .'] for number in (1, 2)
    ]


def test_values_of_every_type_in_one_column(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE v (k INTEGER PRIMARY KEY, a)")
    values = [1, "x", 2.5, b"\x01", None, 2**62]
    database.executemany("INSERT INTO v VALUES (?, ?)", enumerate(values))
    found = [[line for line in lines(e) if f"<{DATA}a>" in line] for e in drained(from_sql(database, "v", How()))]
    terms = [
        f'"1"^^<{XSD}integer>',
        '"x"',
        f'"2.5"^^<{XSD}double>',
        f'"01"^^<{XSD}hexBinary>',
        None,
        f'"{2**62}"^^<{XSD}integer>',
    ]
    assert found == [[f"<{DATA}v/{k}> <{DATA}a> {term} ."] if term else [] for k, term in enumerate(terms)]


def test_more_rows_than_are_fetched_at_once(database: sqlite3.Connection) -> None:
    query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) SELECT i FROM n"
    events = drained(from_sql(database, query, How()))
    assert [event.body.split("row=")[1].partition(">")[0] for event in events] == [str(n) for n in range(1, 2501)]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("nothing", "the database says: no such table"),
        ("SELECT 1 AS a, 2 AS a", "two columns called 'a'"),
        ("CREATE TABLE x (y)", "gives no rows"),
        (None, "which table or query"),
    ],
)
def test_what_a_user_can_get_wrong(database: sqlite3.Connection, query: str | None, reason: str) -> None:
    with pytest.raises(TidingsError, match=reason):
        drained(from_sql(database, query, How()))
    with pytest.raises(TidingsError, match="no column 'z' for the key"):
        drained(from_sql(database, "emp", How(key=("z",))))


class Other:
    """A connection of another driver: SQLite, with a catalogue as the standard has it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def cursor(self) -> sqlite3.Cursor:
        return self._connection.cursor()

    def rollback(self) -> None:
        self._connection.rollback()


CATALOGUE = """
ATTACH ':memory:' AS information_schema;
CREATE TABLE information_schema.table_constraints (
  constraint_schema, constraint_name, table_schema, table_name, constraint_type);
CREATE TABLE information_schema.key_column_usage (
  constraint_schema, constraint_name, table_name, column_name, ordinal_position, position_in_unique_constraint);
CREATE TABLE information_schema.referential_constraints (
  constraint_schema, constraint_name, unique_constraint_schema, unique_constraint_name);
INSERT INTO information_schema.table_constraints VALUES ('p', 'dept_key', 'p', 'dept', 'PRIMARY KEY'),
  ('p', 'emp_key', 'p', 'emp', 'PRIMARY KEY'), ('p', 'emp_dept', 'p', 'emp', 'FOREIGN KEY'),
  ('p', 'emp_boss', 'p', 'emp', 'FOREIGN KEY');
INSERT INTO information_schema.key_column_usage VALUES
  ('p', 'dept_key', 'dept', 'town', 1, NULL), ('p', 'dept_key', 'dept', 'no', 2, NULL),
  ('p', 'emp_key', 'emp', 'id', 1, NULL), ('p', 'emp_boss', 'emp', 'boss', 1, 1),
  ('p', 'emp_dept', 'emp', 'dept_no', 1, 2), ('p', 'emp_dept', 'emp', 'dept_town', 2, 1);
INSERT INTO information_schema.referential_constraints VALUES
  ('p', 'emp_dept', 'p', 'dept_key'), ('p', 'emp_boss', 'p', 'emp_key');
"""


def test_keys_by_the_catalogue_of_the_standard(database: sqlite3.Connection) -> None:
    database.executescript(CATALOGUE)
    other = Other(database)
    for name in ("emp", "p.emp"):
        found = keys_of(other, name)
        assert found.primary == ("id",)
        assert sorted((each.table, each.columns) for each in found.foreign) == [
            ("dept", ("dept_town", "dept_no")),
            ("emp", ("boss",)),
        ]
    assert keys_of(other, "q.emp").primary == ()
    first, _ = drained(from_sql(other, "emp", How()))
    assert f"<{DATA}emp/1> <{DATA}ref-dept_town;dept_no> <{DATA}dept/a%20b/1> ." in lines(first)


def test_a_database_without_a_catalogue_has_no_keys(database: sqlite3.Connection) -> None:
    first, _ = drained(from_sql(Other(database), "emp", How()))
    assert first.body.startswith(f"<{DATA}emp#row=1> ")


class Rows:
    """A cursor that gives what Python has and SQLite has not."""

    description = tuple((name, None, None, None, None, None, None) for name in "abcdefg")

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def cursor(self) -> Rows:
        return self

    def execute(self, query: str) -> None:
        assert query == "SELECT x FROM y"

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        found, self._rows = self._rows[:size], self._rows[size:]
        return found

    def close(self) -> None:
        pass


def test_types_of_drivers() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    row = (
        Decimal("1E+2"),
        dt.datetime(2024, 1, 2, 3, 4, 5, 60_000, zone),
        dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
        uuid.UUID(int=1),
        10**30,
        memoryview(b"a"),
        True,
    )
    (event,) = drained(from_sql(Rows([row]), "SELECT x FROM y", How()))
    assert [line.split(" ", 2)[2] for line in lines(event)] == [
        f'"100"^^<{XSD}decimal> .',
        f'"2024-01-02T03:04:05.06+02:00"^^<{XSD}dateTime> .',
        f'"2024-01-02T00:00:00Z"^^<{XSD}dateTime> .',
        f'"{uuid.UUID(int=1)}" .',
        f'"{10**30}"^^<{XSD}integer> .',
        f'"61"^^<{XSD}hexBinary> .',
        f'"true"^^<{XSD}boolean> .',
    ]
    with pytest.raises(TidingsError, match="the column 'a' has values of object"):
        drained(from_sql(Rows([(object(), *row[1:])]), "SELECT x FROM y", How()))


def test_a_mapping_names_what_is_asked_for(database: sqlite3.Connection) -> None:
    mapping = b"""@prefix rr: <http://www.w3.org/ns/r2rml#> .
    <urn:m> rr:logicalTable [ rr:tableName "emp" ] ; rr:subjectMap [ rr:template "urn:e:{id}" ; rr:class <urn:C> ] ."""
    assert len(drained(from_sql(database, "emp", How(mapping=mapping)))) == 2
    with pytest.raises(TidingsError, match="does not name 'dept'"):
        drained(from_sql(database, "dept", How(mapping=mapping)))
    with pytest.raises(EventError, match="there is no column 'nothing'"):
        drained(from_sql(database, None, How(mapping=mapping.replace(b"{id}", b"{nothing}"))))
