"""Which name is meant by a misspelt one, by hand."""

import pytest

from decaf.errors import number_of, suggestion

COLUMNS = ["age", "education", "income", "postal_code"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("zipcode", COLUMNS, None),
        ("gender", COLUMNS, None),
        ("incme", COLUMNS, "income"),
        ("Education", COLUMNS, "education"),
        ("AGE", COLUMNS, "age"),
        ("blend", ["BLEND", "patch"], "BLEND"),
        ("postalcode", COLUMNS, "postal_code"),
        ("nte", ["net", "other"], "net"),
        ("blnd", ["blend", "patch"], "blend"),
        ("wall", ["wall_hue", "floor_hue"], "wall_hue"),
    ],
)
def test_a_name_is_suggested_where_it_is_like_enough(name, known, meant):
    expected = f"; did you mean {meant!r}?" if meant else ""
    assert suggestion(name, known) == f"{expected}; known: {', '.join(sorted(known))}"


def test_one_of_a_noun_is_singular():
    counts = (1, "pair"), (2_000, "pair"), (1, "entry", "entries"), (0, "entry", "entries")
    assert [number_of(*count) for count in counts] == [
        *("1 pair", "2,000 pairs", "1 entry", "0 entries")
    ]
