"""Values typed from the paper: every printing of a value is the same number."""

import csv

import pytest
from view_tables import define

from warehouse.query.views import SQL_FOLDER

STUDIES = sorted(path.parent.name for path in SQL_FOLDER.glob("studies/*/published.csv"))
KEY = ("unit", "method", "part", "statistic")


@pytest.fixture(scope="module", params=STUDIES)
def typed(request):
    path = SQL_FOLDER / "studies" / request.param / "published.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return request.param, list(csv.DictReader(file))


def test_a_value_with_more_digits_rounds_to_every_printed_one(typed, open_schema):
    study, rows = typed
    with open_schema() as connection:
        define(connection, "core_published")
        values = {
            tuple(of): numbers
            for *of, numbers in connection.execute(
                "SELECT unit, method, part, statistic, [value, lower_95, upper_95] "
                "FROM core_published WHERE study = ?",
                [study],
            ).fetchall()
        }
    assert values.keys() == {tuple(row[name] for name in KEY) for row in rows}
    for row in rows:
        printed = (row["value"], row["lower"], row["upper"])
        for text, number in zip(printed, values[tuple(row[name] for name in KEY)], strict=True):
            if text:
                digits = len(text.partition(".")[2])
                assert f"{number:.{digits}f}" == text, row


def test_every_value_has_a_place_and_a_number(typed):
    for row in typed[1]:
        assert row["place"], row
        assert row["value"] or row["exact"], row


def test_every_statistic_is_described_once(open_schema):
    with open_schema() as connection:
        define(connection, "core_statistics")
        define(connection, "core_published")
        described = connection.sql("SELECT statistic, better FROM core_statistics").fetchall()
        published = connection.sql("SELECT DISTINCT statistic FROM core_published").fetchall()
    names = [name for name, _ in described]
    assert len(names) == len(set(names))
    assert {name for (name,) in published} <= set(names)
    assert {better for _, better in described} == {None, "higher", "lower"}
