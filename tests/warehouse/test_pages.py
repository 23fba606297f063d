"""A query page by page: filters, order and pages are DuckDB's, values never part of the text."""

import pytest

from warehouse.query.catalog import run_query
from warehouse.query.pages import (
    ALL_ROWS,
    PAGE_ROWS,
    Choice,
    Filter,
    Question,
    Term,
    answer_from,
    count_rows,
    count_rows_by,
    filter_rows,
)

NUMBERS = Question("SELECT i, i % 2 AS odd, 'row ' || i AS name FROM range(120) AS t(i)", {})


def rows(connection, question):
    return run_query(connection, question.sql, question.values).to_pylist()


def test_pages_together_are_all_rows_once_in_order(opened_small):
    pages = [Choice([], number, "odd", is_falling=True).of(NUMBERS) for number in (1, 2, 3)]
    found = [rows(opened_small, each) for each in pages]
    assert [*map(len, found)] == [PAGE_ROWS, PAGE_ROWS, 20]
    seen = [row["i"] for part in found for row in part]
    assert seen == [*range(1, 120, 2), *range(0, 120, 2)]  # equal ones by the other columns


def all_of(*terms):
    return [Filter((Term(*term),)) for term in terms]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([], 120),
        (all_of(("i", "is", 7)), 1),
        (all_of(("i", ">=", 10), ("i", "<=", 19.5)), 10),
        (all_of(("i", ">", 10), ("i", "<", 19)), 8),
        (all_of(("name", "has", "ROW 11")), 11),  # 11 and 110 to 119
        (all_of(("i", ">=", 10), ("odd", "is", 1)), 55),
        ([Filter((Term("i", "is", 3), Term("name", "has", "11")))], 12),  # one of the two
        ([Filter((Term("i", "is", 3), Term("i", "is", 4))), *all_of(("odd", "is", 0))], 1),
        (all_of(("name", "has", "' OR true --")), 0),
        (all_of(("name", "has", "100%")), 0),  # no wildcards
    ],
)
def test_filters_hold_together_and_values_are_bound(opened_small, filters, expected):
    question = filter_rows(NUMBERS, filters)
    assert rows(opened_small, count_rows(question)) == [{"row_count": expected}]
    twice = filter_rows(question, all_of(("i", ">=", 0)))
    assert rows(opened_small, count_rows(twice)) == [{"row_count": expected}]


def test_rows_are_counted_by_a_column(opened_small):
    question = filter_rows(NUMBERS, all_of(("i", "<", 7)))
    counts = rows(opened_small, count_rows_by(question, "odd"))
    assert {row["odd"]: row["row_count"] for row in counts} == {0: 4, 1: 3}


def test_missing_values_come_last_and_names_are_quoted(opened_small):
    odd = Question('SELECT * FROM (VALUES (NULL), (1), (2)) AS t("a "" b")', {})
    for is_falling, expected in ((True, [2, 1, None]), (False, [1, 2, None])):
        found = rows(opened_small, Choice([], 1, 'a " b', is_falling).of(odd))
        assert [row['a " b'] for row in found] == expected


def test_rows_that_are_here_answer_as_the_warehouse_does(opened_small):
    choice = Choice(all_of(("odd", "is", 1), ("name", "has", "row 1")), 1, "i", True)
    here = run_query(opened_small, NUMBERS.sql)
    expected = rows(opened_small, choice.of(NUMBERS))
    assert len(expected) == 16  # 1, the odd of 11 to 19, those of 101 to 119
    assert answer_from(here, choice.of(ALL_ROWS)).to_pylist() == expected
    assert answer_from(here, count_rows(ALL_ROWS)).to_pylist() == [{"row_count": 120}]
