import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ResponseError
from decaf.statistics import bootstrap
from decaf.statistics.bootstrap import bootstrap_mean, percentile_interval
from decaf.statistics.draws import draw_clusters

VALUES = arrays(np.float64, st.integers(2, 12), elements=st.floats(-10, 10))


def test_plain_mean_by_hand():
    # Replicate means 1, 2, 2, 3: variance 2/3, quantiles between neighbours.
    interval = bootstrap_mean([1.0, 3.0], draws=[[0, 0], [0, 1], [1, 0], [1, 1]])
    assert interval[:2] == pytest.approx((2, np.sqrt(2 / 3)))
    limits = (1 + 0.05 * 3, 3 - 0.05 * 3, 1 + 0.025 * 3, 3 - 0.025 * 3)
    assert interval[2:6] == pytest.approx(limits)
    assert (interval.cluster_count, interval.replicate_count) == (2, 4)


def test_clusters_are_drawn_whole_and_weigh_by_size():
    # Cluster a holds 0 and 0, b holds 3: (0 + 0 + 3) / 3 where both are drawn.
    interval = bootstrap_mean([0.0, 3.0, 0.0], ["a", "b", "a"], draws=[[0, 1], [1, 1]])
    assert interval.estimate == 1
    assert interval.standard_error == pytest.approx(np.std([1, 3], ddof=1))
    assert interval.cluster_count == 2


@given(VALUES, st.data())
def test_a_weight_counts_a_value_as_often(values, data):
    weights = data.draw(st.lists(st.integers(1, 4), min_size=values.size, max_size=values.size))
    clusters = np.arange(values.size) // 2
    repeated = bootstrap_mean(np.repeat(values, weights), np.repeat(clusters, weights))
    assert bootstrap_mean(values, clusters, weights=weights) == pytest.approx(
        repeated, rel=1e-9, abs=1e-9, nan_ok=True
    )


def test_missing_value_keeps_its_place():
    interval = bootstrap_mean([np.nan, 2.0, 4.0], draws=[[0, 0, 1], [0, 0, 0], [0, 2, 2]])
    assert interval.estimate == 3
    assert interval.standard_error == pytest.approx(np.std([2, 4], ddof=1))
    assert (interval.cluster_count, interval.replicate_count) == (2, 2)


def test_one_cluster_has_no_interval():
    interval = bootstrap_mean([1.0, 2.0], clusters=[7, 7])
    assert interval.estimate == 1.5
    assert np.isnan(interval[1:6]).all()
    assert (interval.cluster_count, interval.replicate_count) == (1, 500)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"values": ["1", "2"]}, "<U1"),
        ({"values": np.ma.masked_array([1.0, 2.0], [0, 1])}, "values has masked"),
        ({"clusters": np.ma.masked_array([1, 2], [0, 1])}, "clusters has masked"),
        ({"weights": np.ma.masked_array([1, 2], [0, 1])}, "weights has masked"),
        ({"weights": ["1", "2"]}, "<U1"),
        ({"clusters": [np.nan, np.nan]}, "2 missing labels"),
        ({"clusters": ["a", None]}, "1 missing label"),
        ({"clusters": ["a", np.nan]}, "1 missing label"),
        ({"clusters": pd.Series(["a", None])}, "1 missing label"),
        ({"clusters": pd.Series([1, None], dtype="Int64")}, "1 missing label"),
        ({"clusters": pd.to_datetime(pd.Series(["2020-01-01", None]))}, "1 missing label"),
        ({"clusters": [1, "1"]}, "texts and other labels"),
    ],
)
def test_labels_and_numbers_that_do_not_count_are_refused(arguments, words):
    with pytest.raises(ResponseError, match=words):
        bootstrap_mean(**{"values": [1.0, 2.0], **arguments})


def test_no_value_is_undefined():
    interval = bootstrap_mean([np.nan, np.nan])
    assert np.isnan(interval[:6]).all()
    assert (interval.cluster_count, interval.replicate_count) == (0, 0)


def test_seed_decides():
    values = np.random.default_rng(1).normal(size=30)
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, seed=1)
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, draws=draw_clusters(30, seed=1))


def test_few_replicates_at_a_time_are_the_same(monkeypatch):
    values = np.random.default_rng(8).normal(size=50)
    whole = bootstrap_mean(values, np.arange(50) % 6)
    monkeypatch.setattr(bootstrap, "CELLS_AT_ONCE", 1)
    # On some processors BLAS adds the terms of one row in another order than those of many.
    few = bootstrap_mean(values, np.arange(50) % 6)
    np.testing.assert_allclose(few, whole, rtol=1e-14, atol=1e-15)


@given(VALUES)
def test_limits_are_ordered_and_within_the_values(values):
    interval = bootstrap_mean(values, replicates=50)
    limits = [interval.lower_95, interval.lower_90, interval.upper_90, interval.upper_95]
    assert limits == sorted(limits)
    assert values.min() - 1e-9 <= limits[0] <= limits[3] <= values.max() + 1e-9


@given(VALUES, st.floats(-5, 5), st.floats(0.1, 5))
def test_shift_and_scale(values, shift, scale):
    before = bootstrap_mean(values, replicates=30)
    after = bootstrap_mean(scale * values + shift, replicates=30)
    assert after.estimate == pytest.approx(scale * before.estimate + shift, abs=1e-9)
    assert after.standard_error == pytest.approx(scale * before.standard_error, abs=1e-9)
    assert after.upper_95 == pytest.approx(scale * before.upper_95 + shift, abs=1e-9)


@given(VALUES, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(values, random):
    clusters = np.arange(values.size) // 2
    order = np.array(random.sample(range(values.size), values.size))
    one = bootstrap_mean(values, clusters, replicates=20)
    other = bootstrap_mean(values[order], clusters[order], replicates=20)
    assert one == pytest.approx(other, abs=1e-9, nan_ok=True)


def test_interval_of_replicates_by_hand():
    interval = percentile_interval(5.0, [np.nan, 0.0, 10.0], cluster_count=2)
    assert interval.standard_error == pytest.approx(np.sqrt(50))
    assert interval[2:6] == pytest.approx((0.5, 9.5, 0.25, 9.75))
    assert interval.replicate_count == 2


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, r"shape \(0,\)"),
        ([[1.0]], {}, r"shape \(1, 1\)"),
        ([1.0, 2.0], {"clusters": [1]}, r"clusters \(1,\)"),
        ([1.0, np.inf], {}, "1 of 2 values are infinite, the first at 1"),
        ([1.0], {"replicates": 0}, "0 replicates"),
        ([1.0, 2.0], {"draws": [[0, 2]]}, "of the 2 clusters"),
        ([1.0, 2.0], {"draws": [[-1, 0]]}, "of the 2 clusters"),
        ([1.0, 2.0], {"draws": [0, 1]}, r"shape \(2,\)"),
        ([1.0, 2.0], {"draws": np.empty((0, 2), int)}, r"shape \(0, 2\)"),
    ],
)
def test_bad_input(values, options, message):
    with pytest.raises(ResponseError, match=message):
        bootstrap_mean(values, **options)


def test_an_interval_is_of_one_list_of_replicates():
    with pytest.raises(ResponseError, match=r"shape \(1, 1\)"):
        percentile_interval(1.0, [[1.0]], 2)
