"""The functions of SQL that are made of numpy, by hand and against plain sums."""

import itertools

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from ended_commands import run_code, succeeded
from scipy.stats import spearmanr

from decaf.foundation.plugins import members, name_of
from decaf.library.curve import smallest_response
from decaf.scoring.scores.base import ScoreDefinition
from decaf.statistics.draws import multiplicities, named_draws
from warehouse.commits.writer import open_root
from warehouse.query import functions, resampling
from warehouse.query.catalog import connect, connect_empty, run_query, stream_query
from warehouse.query.draws import SourceDraws, draw_sources
from warehouse.report.pair_card import is_of_probability


@pytest.fixture
def connection(open_schema):
    with open_schema() as opened:
        yield opened


def ask(connection, expression, **parameters):
    """Value of an expression."""
    return connection.execute(f"SELECT {expression}", parameters or None).fetchall()[0][0]


@pytest.fixture
def draw(monkeypatch):
    """Have replicates draw what is given, whatever their seed."""

    def these(*draws):
        monkeypatch.setattr(
            resampling,
            "draw_sources",
            lambda count, *_: SourceDraws(
                np.arange(count), multiplicities(draws, count).astype(np.uint8)
            ),
        )

    return these


def test_sums_by_hand(connection, draw):
    """Cluster 0 holds 1 and 5, cluster 1 holds 3 and 6; the first sum is the sample's."""
    draw([0, 0], [1, 0], [1, 1])
    sums = "resampled_sums(2, [], 3, 0, [0, 1], [[1.0, 3.0], [5.0, 6.0]])"
    assert ask(connection, sums) == [[4, 2, 4, 6], [11, 10, 11, 12]]


@pytest.mark.parametrize(
    ("drawn", "arguments", "expected"),
    [
        ([0], "1, [], 1, 0, [0], [[2.5]]", [[2.5, 2.5]]),  # one cluster
        ([0, 1], "2, [], 1, 0, [0, 0], [[1.0, 2.0]]", [[3, 3]]),  # two rows of a cluster, or none
        ([1, 1], "2, [], 1, 0, [], [[]]", [[0, 0]]),  # a group without rows
        ([0, 0], "2, [], 1, 0, [0, 1], [[1.0, NULL], [1, 1]]", [[None, None], [2, 2]]),
        ([0, 0], "2, [], 1, 0, [0, 1], [[1.0, 'nan'::DOUBLE], [1, 1]]", [[None, None], [2, 2]]),
        ([0], "1, [], 1, 0, [0], []", []),  # no column
        ([0], "1, [], 1, 0, NULL, [[1.0]]", None),
    ],
)
def test_edges_of_sums(connection, draw, drawn, arguments, expected):
    draw(drawn)
    assert ask(connection, f"resampled_sums({arguments})") == expected


@pytest.mark.parametrize("cells", [1 << 23, 7])
def test_ragged_groups_of_several_layouts(connection, monkeypatch, cells):
    """Groups lack clusters, numbers are missing, and few columns are laid out at once."""
    monkeypatch.setattr(resampling, "CELLS_AT_ONCE", cells)
    monkeypatch.setattr(resampling, "DRAWS_AT_ONCE", cells)
    rng = np.random.default_rng(3)
    rows, expected = [], []
    for count, width, size in itertools.product((1, 5, 40), (1, 2), (0, 1, 120)):
        clusters = rng.integers(0, count, size)
        columns = rng.normal(size=(width, size))
        columns[-1, -1:] = np.nan
        strata = [f"s{cluster % 2}" for cluster in range(count)] if count == 40 else []
        counts = np.vstack([np.ones(count), draw_sources(count, tuple(strata), 6, 9).counts])
        given = [[None if np.isnan(x) else x for x in column] for column in columns]
        rows.append((count, strata, clusters.tolist(), given))
        expected.append(columns @ counts[:, clusters].T)
    names = ("clusters", "strata", "positions", "columns")
    connection.register("groups", pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))))
    found = connection.sql(
        "SELECT resampled_sums(clusters, strata, 6, 9, positions::INTEGER[], columns) FROM groups"
    )
    for (sums,), reference in zip(found.fetchall(), expected, strict=True):
        np.testing.assert_allclose(np.array(sums, float), reference, atol=1e-12)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("resampled_sums(1, [], 2, 0, [0], [[1.0, 2.0]])", "one number for each row"),
        ("resampled_sums(1, [], 2, 0, [-1], [[1.0]])", "NULL or negative"),
        ("resampled_sums(1, [], 2, 0, [NULL], [[1.0]])", "NULL or negative"),
        ("resampled_sums(1, [], 2, 0, [1], [[1.0]])", "the position 1; .* below 1,"),
        ("resampled_discrimination([[0], [0, 1]], [[0]], [[1]], [[1]], ['auroc'])", "1 2. draws"),
        ("resampled_discrimination([[]], [[0]], [[1]], [[1]], ['auroc'])", "positions"),
        ("rank_correlation([1, 2], [1])", "different lengths"),
        ("named_means('a', 1, 2, [[1.0], [1.0, 2.0]])", "1 2. numbers"),
        ("dense_ranks([1, NULL])", "NULL or negative"),
        ("dense_ranks([-1])", "NULL or negative"),
    ],
)
def test_refusals(connection, expression, message):
    with pytest.raises(duckdb.Error, match=message):
        ask(connection, expression)


def test_named_means_are_those_of_the_drawn_clusters(connection, monkeypatch):
    """Several rows, a missing number, and few replicates at once."""
    monkeypatch.setattr(functions, "CELLS_AT_ONCE", 11)
    columns = [[[1.0, 2.0, 4.0, 9.0], [None, 3.0, float("nan"), 6.0]], [[5.0, 7.0]]]
    connection.register("mine", pa.table({"name": ["a", "b\0c"], "columns": columns}))
    query = "SELECT named_means(name, 7, 20, columns) FROM mine"
    for (found,), name, own in zip(
        connection.sql(query).fetchall(), ("a", "b\0c"), columns, strict=True
    ):
        for means, column in zip(found, np.array(own, float), strict=True):
            drawn = [range(len(column)), *named_draws(name, len(column), range(20), 7)]
            kept = [column[places][~np.isnan(column[places])] for places in drawn]
            expected = [part.mean() if part.size else None for part in kept]
            assert means == [one if one is None else pytest.approx(one) for one in expected]
    assert ask(connection, "named_means('a', 1, 9, [[NULL, 1.0]])")[0].count(None) > 0
    assert ask(connection, "named_means(NULL, 1, 2, [[1.0]])") is None


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 2, 3], [10, 30, 20], 0.5),
        ([1, 1, 2, 5], [2, 3, 3, 1], -0.5),
        ([1, None, 3], [1, 2, 3], 1),
        ([1, float("nan"), 3], [3, 2, 1], -1),
        ([1, 1], [2, 3], None),
        ([1], [2], None),
        ([], [], None),
        (None, None, None),
    ],
)
def test_rank_correlation_by_hand(connection, x, y, expected):
    found = ask(connection, "rank_correlation($x, $y)", x=x, y=y)
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [([7, 2, 7, 5], [2, 0, 2, 1]), ([3], [0]), ([0, 1], [0, 1]), ([], []), (None, None)],
)
def test_dense_ranks_by_hand(connection, entries, expected):
    assert ask(connection, "dense_ranks($entries)", entries=entries) == expected


def test_dense_ranks_are_those_of_the_window(connection):
    connection.execute(
        "CREATE TABLE entries AS "
        "SELECT n % 7 AS g, n, (hash(n) % 300)::INTEGER AS entry FROM range(5000) AS t (n)"
    )
    lists = "SELECT g, list(n) AS ns, list(entry) AS entries FROM entries GROUP BY g"
    found = f"SELECT g, unnest(ns) AS n, unnest(dense_ranks(entries)) AS place FROM ({lists})"
    window = "SELECT g, n, dense_rank() OVER (PARTITION BY g ORDER BY entry) - 1 FROM entries"
    assert connection.sql(f"({found}) EXCEPT ({window})").fetchall() == []
    assert connection.sql(f"SELECT count(*) FROM ({found})").fetchall() == [(5000,)]


def test_rank_correlations_of_lists_of_many_lengths(connection):
    """More rows than a vector of DuckDB holds, with NULL among entries and among lists."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 9, 5000)
    x, y = ([rng.normal(size=n).tolist() for n in lengths] for _ in "xy")
    for row in range(0, 5000, 3):
        x[row][row % 2] = None
    both = {"x": x, "y": y}
    for row in range(0, 5000, 5):
        both["xy"[row % 2]][row] = None
        both["yx"[row % 2]][row] = []
    connection.register("sides", pa.table(both))
    found = connection.sql("SELECT rank_correlation(x, y) FROM sides").fetchall()
    for row in (1, 3, 6, 2047, 2048, 2049, 4998, 4999):
        a, b = (np.array(side[row], dtype=float) for side in (x, y))
        known = ~np.isnan(a)
        assert known.all() == (row % 3 != 0)
        assert found[row][0] == pytest.approx(spearmanr(a[known], b[known]).statistic)
    assert {found[row][0] for row in range(0, 5000, 5)} == {None}
    assert len(found) == 5000


def test_null_stands_where_a_sum_is_unknown(connection):
    """More results than fit one byte of the bitmap, at places that follow no pattern."""
    values = [None if place % 7 in (1, 3) else float(place) for place in range(40)]
    columns = [[[value]] for value in values]
    connection.register("mine", pa.table({"given": columns}))
    found = connection.sql("SELECT resampled_sums(1, [], 2, 0, [0], given) FROM mine").fetchall()
    assert found == [([[value] * 3],) for value in values]


def test_a_warehouse_knows_them(tmp_path):
    """Queries are checked, locked and streamed as others are."""
    query = "SELECT rank_correlation([1, 2, 3], [10, 30, 20]) AS rho"
    with connect(open_root(tmp_path)) as connection:
        assert run_query(connection, query)["rho"].to_pylist() == [0.5]
        (batch,) = stream_query(connection, query).batches
        assert batch["rho"].to_pylist() == [0.5]


def test_a_warehouse_opens_without_pandas_and_scipy(tmp_path):
    """Each of them takes longer to import than a warehouse takes to open."""
    open_root(tmp_path)
    code = (
        "import sys\n"
        "from warehouse.query.catalog import connect, run_query\n"
        f"with connect({str(tmp_path)!r}) as connection:\n"
        "    run_query(connection, 'SELECT count(*) FROM receipts')\n"
        "print({'pandas', 'scipy'} & set(sys.modules))\n"
    )
    assert succeeded(run_code(code)) == "set()\n"


@pytest.mark.parametrize("measures", [["auroc", "auprc"], ["auprc", "auroc"], ["auroc"], []])
def test_resampled_discrimination_by_hand(measures, connection):
    """Two groups of one layout; the sample first, then clusters 1 and 1."""
    found = ask(
        connection,
        "resampled_discrimination([[1, 1]], [[0, 0, 1, 1], [0, 1]], "
        "[[1.0, 0.0, 1.0, 0.0], [0.0, 0.0]], [[3.0, 1.0, 2.0, 2.0], [1.0, NULL]], "
        f"{measures}::VARCHAR[])",
    )
    expected = {"auroc": [3.5 / 4, 0.5], "auprc": [pytest.approx(5 / 6), 0.5]}
    assert found == [[expected[name] for name in measures], [[None, None]] * len(measures)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("[[0]], [[0, 0]], [[1.0, 0.0]], [[1.0]], ['auroc']", "length"),
        ("[[0], [0, 0]], [[0]], [[1.0]], [[1.0]], ['auroc']", "1 2. draws"),
        ("[[0]], [[-1]], [[1.0]], [[1.0]], ['auroc']", "NULL or negative"),
        ("[[0]], [[0]], [[0.5]], [[1.0]], ['auroc']", "expected 0, 1 or NaN"),
        ("[[0]], [[0]], [[1.0]], [[1.0]], ['auroc', 'f1']", "found .*'f1'"),
    ],
)
def test_bad_discrimination(connection, arguments, message):
    with pytest.raises(duckdb.Error, match=message):
        ask(connection, f"resampled_discrimination({arguments})")


@pytest.mark.parametrize(
    "score", [kind for kind in members(ScoreDefinition) if kind.__module__.startswith("decaf.")]
)
def test_the_bounds_of_a_score_decide_if_it_is_a_probability(score):
    definition = f'{{"kind": "{name_of(score)}"}}'
    is_probability = score.bounds == (0.0, 1.0)
    assert is_of_probability(definition) == is_probability
    smallest = smallest_in_sql(definition)
    assert smallest == (0.01 if is_probability else 0.1)
    assert smallest_response(0.2, is_probability=is_probability) == smallest


def test_the_name_of_a_plug_in_does_not_make_it_a_probability():
    assert smallest_in_sql('{"kind": "log_probability"}') == 0.1


def smallest_in_sql(definition):
    """Smallest response that counts with epsilon 0.2."""
    with connect_empty() as connection:
        return ask(connection, "smallest_response($score, 0.2)", score=definition)
