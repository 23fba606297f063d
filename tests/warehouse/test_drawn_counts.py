"""How often replicates draw each cluster, as SQL draws them, and bunches of many clusters."""

import numpy as np
import pytest
from view_tables import define

from warehouse.query import draws


@pytest.mark.parametrize("strata", [(), ("b", "a", None, "a", "b", None, "a")])
@pytest.mark.parametrize("cells", [1 << 22, 20])
def test_counts_are_those_of_the_draws_in_sql(open_schema, monkeypatch, strata, cells):
    monkeypatch.setattr(draws, "CELLS_AT_ONCE", cells)
    draws._draw_sources.cache_clear()
    counts = draws.draw_sources(7, strata, 9, 5).counts
    with open_schema() as connection:
        define(connection, "bootstrap_draws")
        connection.execute(
            "CREATE TABLE layouts AS SELECT 0 AS layout, unnest(range(7)) AS position, "
            "unnest($strata::VARCHAR[]) AS stratum",
            {"strata": list(strata) or [None] * 7},
        )
        rows = connection.sql(
            "SELECT positions FROM bootstrap_draws('layouts', 9, 5) ORDER BY replicate"
        ).fetchall()
    expected = [np.bincount(drawn, minlength=7).tolist() for (drawn,) in rows]
    assert counts.tolist() == expected


def test_large_strata_are_drawn_in_bunches(open_schema, monkeypatch):
    """Of ten clusters, six lie in a stratum that draws four bunches, four in one that draws all."""
    monkeypatch.setattr(draws, "MOST_DRAWN", 5)
    monkeypatch.setattr(draws, "BUNCHES", 4)
    draws._draw_sources.cache_clear()
    strata = ("a", "b", "a", "a", "b", "a", "b", "a", "b", "a")
    with open_schema() as connection:
        define(connection, "drawn_word")
        words = [
            connection.execute("SELECT drawn_word(3, -1, $place)", {"place": place}).fetchone()[0]
            for place in range(10)
        ]
    in_order = {1: 4, 4: 5, 6: 6, 8: 7}
    expected = [in_order.get(place, words[place] % 4) for place in range(10)]
    units, counts = draws.draw_sources(10, strata, 20, 3)
    assert units.tolist() == expected
    assert counts.shape == (20, 8)
    assert (counts[:, :4].sum(axis=1) == 4).all()
    assert (counts[:, 4:].sum(axis=1) == 4).all()


def test_bunches_keep_the_standard_error(monkeypatch):
    """That of the mean of 50,000 values is their deviation over the root of their number."""
    values = np.random.default_rng(5).normal(size=50_000)
    draws._draw_sources.cache_clear()
    units, counts = draws.draw_sources(50_000, (), 500, 11)
    assert counts.shape == (500, draws.BUNCHES)
    sums = counts @ np.bincount(units, weights=values, minlength=draws.BUNCHES)
    sizes = counts @ np.bincount(units, minlength=draws.BUNCHES)
    assert (sums / sizes).std() == pytest.approx(values.std() / 50_000**0.5, rel=0.1)
