"""How often replicates drew each cluster: as SQL draws them, and kept where that takes long."""

import duckdb
import numpy as np
import pytest
from view_tables import define

from warehouse.query import draws, functions


@pytest.mark.parametrize("strata", [(), ("b", "a", None, "a", "b", None, "a")])
@pytest.mark.parametrize("cells", [1 << 22, 20])
def test_counts_are_those_of_the_draws_in_sql(monkeypatch, strata, cells):
    monkeypatch.setattr(draws, "CELLS_AT_ONCE", cells)
    draws.drawn_counts.cache_clear()
    counts = draws.drawn_counts(7, strata, 9, 5)
    with duckdb.connect() as connection:
        functions.register(connection)
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


def test_many_draws_are_kept_and_made_again_where_they_cannot_be(monkeypatch, tmp_path):
    monkeypatch.setenv("DECAF_CACHE", str(tmp_path))
    monkeypatch.setattr(draws, "KEPT_CELLS", 40)

    def asked():
        draws.drawn_counts.cache_clear()
        return draws.drawn_counts(10, (), 4, 1).tolist()

    first = asked()
    (kept,) = (tmp_path / "draws").iterdir()
    monkeypatch.setattr(draws, "_counts", lambda *_: pytest.fail("made again"))
    assert asked() == first
    monkeypatch.undo()
    monkeypatch.setenv("DECAF_CACHE", str(tmp_path))
    monkeypatch.setattr(draws, "KEPT_CELLS", 40)
    kept.write_bytes(kept.read_bytes()[:-1])
    assert asked() == first
    monkeypatch.setenv("DECAF_CACHE", "/dev/null/nowhere")
    assert asked() == first
