import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ResponseError
from decaf.statistics import bootstrap
from decaf.statistics.bootstrap import (
    bootstrap_difference,
    bootstrap_mean,
    bootstrap_ratio,
    bootstrap_statistic,
    replicate_means,
)
from decaf.statistics.discrimination import auprc, auroc, weighted_auprc, weighted_auroc
from decaf.statistics.draws import draw_by_name, draw_clusters, draw_nested, draw_within_strata
from decaf.statistics.intervals import percentile_interval
from decaf.statistics.ranks import spearman, weighted_spearman

VALUES = arrays(np.float64, st.integers(2, 12), elements=st.floats(-10, 10))


def test_plain_mean_by_hand():
    # Replicate means 1, 2, 2, 3: variance 2/3, quantiles between neighbours.
    interval = bootstrap_mean([1.0, 3.0], draws=[[0, 0], [0, 1], [1, 0], [1, 1]])
    assert interval.estimate == 2
    assert interval.standard_error == pytest.approx(np.sqrt(2 / 3))
    assert interval.lower_90 == pytest.approx(1 + 0.05 * 3)
    assert interval.upper_90 == pytest.approx(3 - 0.05 * 3)
    assert interval.lower_95 == pytest.approx(1 + 0.025 * 3)
    assert interval.upper_95 == pytest.approx(3 - 0.025 * 3)
    assert (interval.cluster_count, interval.replicate_count) == (2, 4)


def test_clusters_are_drawn_whole_and_weigh_by_size():
    # Cluster a holds 0 and 0, b holds 3: (0 + 0 + 3) / 3 where both are drawn.
    interval = bootstrap_mean([0.0, 3.0, 0.0], ["a", "b", "a"], draws=[[0, 1], [1, 1]])
    assert interval.estimate == 1
    assert interval.standard_error == pytest.approx(np.std([1, 3], ddof=1))
    assert interval.cluster_count == 2


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


def test_no_value_is_undefined():
    interval = bootstrap_mean([np.nan, np.nan])
    assert np.isnan(interval[:6]).all()
    assert (interval.cluster_count, interval.replicate_count) == (0, 0)


def test_seed_decides():
    values = np.random.default_rng(1).normal(size=30)
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, seed=1)
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, draws=draw_clusters(30, seed=1))


def test_width_is_that_of_the_mean():
    values = np.random.default_rng(2).normal(size=400)
    interval = bootstrap_mean(values, replicates=2000)
    assert interval.standard_error == pytest.approx(values.std() / 20, rel=0.05)
    assert (interval.upper_90 - interval.lower_90) / interval.standard_error == pytest.approx(
        2 * 1.645, rel=0.05
    )


def test_equal_values_within_clusters_widen_the_interval():
    values = np.random.default_rng(3).normal(size=50)
    plain = bootstrap_mean(np.repeat(values, 4))
    clustered = bootstrap_mean(np.repeat(values, 4), np.repeat(np.arange(50), 4))
    assert clustered.standard_error == pytest.approx(2 * plain.standard_error, rel=0.15)


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


def test_difference_by_hand():
    # Pairs 1, 3; the third lacks a side. Replicates 1, 2, 3 and one without a value.
    draws = [[0, 0, 2], [0, 1, 2], [1, 1, 1], [2, 2, 2]]
    interval = bootstrap_difference([2.0, 5.0, np.nan], [1.0, 2.0, 4.0], draws=draws)
    assert interval.estimate == 2
    assert interval.standard_error == 1
    assert (interval.lower_90, interval.upper_90) == pytest.approx((1.1, 2.9))
    assert (interval.cluster_count, interval.replicate_count) == (2, 3)


@given(VALUES, st.integers(0, 3))
def test_shared_draws_are_the_draws_of_differences(values, seed):
    other = np.cos(values)
    draws = draw_clusters(values.size, replicates=25, seed=seed)
    interval = bootstrap_difference(values, other, draws=draws)
    assert interval == bootstrap_mean(values - other, draws=draws)
    apart = replicate_means(values, draws) - replicate_means(other, draws)
    expected = percentile_interval(values.mean() - other.mean(), apart, values.size)
    assert interval == pytest.approx(expected, abs=1e-9)


def test_ratio_of_means_by_hand():
    # Sums 6 and 3; clusters a: 2 over 1, b: 4 over 2; c and d each lack a side.
    x, y = [1.0, 4.0, 1.0, 9.0, np.nan], [1.0, 2.0, 0.0, np.nan, 5.0]
    draws = [[0, 0, 2, 3], [1, 1, 1, 3], [2, 2, 2, 3]]
    interval = bootstrap_ratio(x, y, ["a", "b", "a", "c", "d"], draws=draws)
    assert interval.estimate == 2
    assert interval.standard_error == 0
    assert (interval.cluster_count, interval.replicate_count) == (2, 2)


def test_ratio_of_means_is_no_mean_of_ratios():
    draws = [[0, 1], [0, 0], [1, 1]]
    interval = bootstrap_ratio([1.0, 9.0], [1.0, 3.0], draws=draws)
    assert interval.estimate == 2.5
    assert interval.standard_error == pytest.approx(np.std([2.5, 1.0, 3.0], ddof=1))


def test_ratio_over_nothing_is_undefined():
    interval = bootstrap_ratio([1.0, 2.0], [0.0, 0.0])
    assert np.isnan(interval[:6]).all()
    assert interval.replicate_count == 0


@given(VALUES, st.integers(0, 3))
def test_ratio_is_that_of_the_drawn_means(values, seed):
    below = 1 + values**2
    draws = draw_clusters(values.size, replicates=25, seed=seed)
    ratios = values[draws].mean(axis=1) / below[draws].mean(axis=1)
    expected = percentile_interval(values.mean() / below.mean(), ratios, values.size)
    assert bootstrap_ratio(values, below, draws=draws) == pytest.approx(expected, abs=1e-9)


def test_strata_narrow_the_interval_where_they_differ():
    values = np.random.default_rng(4).normal(size=60) + np.repeat([0, 10, 20], 20)
    plain = bootstrap_mean(values)
    stratified = bootstrap_mean(values, draws=draw_within_strata(np.repeat([0, 1, 2], 20)))
    assert plain.standard_error == pytest.approx(values.std() / np.sqrt(60), rel=0.1)
    inside = np.sqrt(np.mean([values[i : i + 20].var() for i in (0, 20, 40)]) / 60)
    assert stratified.standard_error == pytest.approx(inside, rel=0.1)


def test_macro_over_models_with_draws_of_their_own():
    # Attribution: mean over images, then equal weight per model, the same images for both methods.
    rng = np.random.default_rng(6)
    quality = {"resnet50": rng.normal(size=(2, 40)), "vgg16": rng.normal(size=(2, 25))}
    differences = []
    for model, methods in quality.items():
        draws = draw_by_name(methods.shape[1], ("imagenet", model), replicates=300, seed=8218)
        one, other = (replicate_means(method, draws) for method in methods)
        differences.append(one - other)
    macro = np.mean(differences, axis=0)
    interval = percentile_interval(0.0, macro, cluster_count=65)
    variance = sum((one - other).var() / one.size for one, other in quality.values()) / 4
    assert interval.standard_error == pytest.approx(np.sqrt(variance), rel=0.15)


def repeated(statistic, columns, clusters, draws):
    """The statistic of rows that are really repeated, one replicate after another."""
    members = [np.flatnonzero(clusters == name) for name in np.unique(clusters)]
    for row in draws:
        rows = np.concatenate([members[position] for position in row])
        yield statistic(*(column[rows] for column in columns))


@pytest.mark.parametrize(
    ("weighted", "plain"),
    [(weighted_spearman, spearman), (weighted_auroc, auroc), (weighted_auprc, auprc)],
    ids=["spearman", "auroc", "auprc"],
)
@pytest.mark.parametrize("cells_at_once", [1, 1 << 22])
def test_statistics_of_drawn_rows(weighted, plain, cells_at_once, monkeypatch):
    monkeypatch.setattr(bootstrap, "CELLS_AT_ONCE", cells_at_once)
    rng = np.random.default_rng(8)
    first = rng.integers(0, 2, 50).astype(float)
    second = np.where(rng.random(50) < 0.1, np.nan, rng.integers(0, 6, 50))
    clusters = rng.integers(0, 6, 50)
    second[clusters == 5] = np.nan
    draws = draw_clusters(6, replicates=40)
    interval = bootstrap_statistic(weighted, (first, second), clusters, draws)
    found = np.array(list(repeated(plain, (first, second), clusters, draws)))
    expected = percentile_interval(plain(first, second), found, 5)
    assert interval == pytest.approx(expected, abs=1e-12)


def test_statistic_of_nested_draws():
    # Fifteen (family, seed) clusters of six models, as in the Covertype suite.
    rng = np.random.default_rng(9)
    family, seed, _ = (side.ravel() for side in np.indices((5, 3, 6)))
    clusters = family * 10 + seed
    x = rng.normal(size=90) + family
    y = x + rng.normal(size=90)
    draws = draw_nested(family, clusters)
    interval = bootstrap_statistic(weighted_spearman, (x, y), clusters, draws)
    assert interval.estimate == pytest.approx(spearman(x, y))
    assert interval.lower_95 < interval.estimate < interval.upper_95
    assert (interval.cluster_count, interval.replicate_count) == (15, 500)


def test_statistic_without_a_complete_row():
    interval = bootstrap_statistic(weighted_spearman, ([np.nan, 1.0], [1.0, np.nan]))
    assert np.isnan(interval[:6]).all()
    assert (interval.cluster_count, interval.replicate_count) == (0, 0)


def test_replicate_without_a_class_is_left_out():
    draws = [[0, 0, 0], [0, 1, 2], [1, 2, 1], [0, 1, 1]]
    interval = bootstrap_statistic(weighted_auroc, ([1, 0, 0], [0.5, 0.4, 0.6]), draws=draws)
    assert interval.estimate == 0.5
    assert interval.replicate_count == 2
    assert interval.standard_error == pytest.approx(np.std([0.5, 1.0], ddof=1))


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
        ([1.0, 2.0], {"draws": [[0, 2]]}, "of the 2 clusters"),
        ([1.0, 2.0], {"draws": [[-1, 0]]}, "of the 2 clusters"),
        ([1.0, 2.0], {"draws": [0, 1]}, r"shape \(2,\)"),
        ([1.0, 2.0], {"draws": np.empty((0, 2), int)}, r"shape \(0, 2\)"),
    ],
)
def test_bad_input(values, options, message):
    with pytest.raises(ResponseError, match=message):
        bootstrap_mean(values, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bootstrap_mean([1.0, np.inf]), "infinite"),
        (lambda: bootstrap_difference([1.0], [1.0, 2.0]), r"\(1,\) and \(2,\)"),
        (lambda: bootstrap_ratio([[1.0]], [[1.0]]), r"shape \(1, 1\)"),
        (lambda: bootstrap_ratio([1.0], [1.0], clusters=[1, 2]), r"clusters \(2,\)"),
        (lambda: bootstrap_statistic(weighted_auroc, ([1], [1, 2])), r"\(1,\) and \(2,\)"),
        (lambda: replicate_means([1.0], [[1]]), "of the 1 clusters"),
        (lambda: replicate_means([1.0], [0]), r"shape \(1,\)"),
        (lambda: bootstrap_mean([1.0], replicates=0), "0 replicates"),
        (lambda: percentile_interval(1.0, [[1.0]], 2), r"shape \(1, 1\)"),
    ],
)
def test_bad_input_of_the_others(make, message):
    with pytest.raises(ResponseError, match=message):
        make()
