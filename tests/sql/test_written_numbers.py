"""Numbers in sentences of views are those that pages write."""

import pytest
from sql_fixtures import open_catalogue

from decaf.foundation.number_text import limit_text, percent_text, score_text

VALUES = (0.0, 1e-9, 0.00049, 0.0005, 0.05, 0.0625, 0.4849, 0.5, 0.99951, 1.0, 12.5, 1234.5)


@pytest.mark.parametrize(
    ("macro", "write", "values"),
    [
        ("format_score", score_text, (*VALUES, *(-value for value in VALUES))),
        ("format_percent", percent_text, [value for value in VALUES if value <= 1]),
        ("format_limit", limit_text, (0.05, 0.0004, 0.125, 1.0, 0.02, 0.1234567)),
    ],
)
def test_views_and_pages_write_the_same(bound_views, macro, write, values):
    with open_catalogue(bound_views) as connection:
        answers = connection.execute(f"SELECT [{macro}(x) FOR x IN ?]", [list(values)]).fetchone()
    assert answers == ([write(value) for value in values],)
