import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.statistics.draws import (
    draw_by_name,
    draw_clusters,
    draw_nested,
    draw_within_strata,
    multiplicities,
)

LABELS = st.lists(st.sampled_from("abc"), min_size=1, max_size=15)


def test_plain_draws_are_those_of_the_generator():
    expected = np.random.default_rng(91702).integers(0, 7, size=(500, 7))
    np.testing.assert_array_equal(draw_clusters(7), expected)


def test_strata_by_hand():
    # Clusters 0, 2 and 3 lie in x, cluster 1 alone in y.
    draws = draw_within_strata(["x", "y", "x", "x"], replicates=200)
    assert draws.shape == (200, 4)
    assert set(draws[:, 1]) == {1}
    assert set(draws[:, [0, 2, 3]].ravel()) == {0, 2, 3}


@given(LABELS, st.integers(0, 5))
def test_strata_keep_their_sizes(strata, seed):
    draws = draw_within_strata(strata, replicates=6, seed=seed)
    names, sizes = np.unique(strata, return_counts=True)
    for row in np.array(strata)[draws]:
        assert [(row == name).sum() for name in names] == sizes.tolist()


def test_strata_are_drawn_in_the_order_of_their_names():
    generator = np.random.default_rng(5)
    a = np.array([1, 3])[generator.integers(0, 2, (4, 2))]
    b = np.array([0, 2, 4])[generator.integers(0, 3, (4, 3))]
    draws = draw_within_strata(["b", "a", "b", "a", "b"], replicates=4, seed=5)
    np.testing.assert_array_equal(draws[:, [1, 3]], a)
    np.testing.assert_array_equal(draws[:, [0, 2, 4]], b)


def test_one_stratum_is_no_stratum():
    np.testing.assert_array_equal(draw_within_strata(["x"] * 9, seed=4), draw_clusters(9, seed=4))


def test_strata_of_clusters_with_several_rows():
    # Clusters in order: c1, c2 (stratum a) and c3 (stratum b).
    draws = draw_within_strata(["b", "a", "a", "a"], ["c3", "c1", "c2", "c1"], replicates=50)
    assert draws.shape == (50, 3)
    assert set(draws[:, 2]) == {2}
    assert set(draws[:, :2].ravel()) == {0, 1}


def test_nested_draws_hold_whole_groups():
    # Families of two seeds: 0, 1 | 2, 3 | 4, 5; each draw of a family brings two of its seeds.
    draws = draw_nested(["f", "f", "g", "g", "h", "h"], replicates=400)
    assert draws.shape == (400, 6)
    families = draws.reshape(400, 3, 2) // 2
    np.testing.assert_array_equal(families[:, :, 0], families[:, :, 1])
    assert {len(set(row)) for row in families[:, :, 0]} == {1, 2, 3}


def test_a_family_drawn_twice_draws_its_seeds_anew():
    draws = draw_nested(["f", "f", "g", "g"], replicates=400).reshape(400, 2, 2)
    twice = draws[draws[:, 0, 0] // 2 == draws[:, 1, 0] // 2]
    assert len(twice) > 100
    assert (twice[:, 0] != twice[:, 1]).any()


def test_nested_draws_vary_more_than_plain_ones_where_families_differ():
    values = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0], 3)
    nested = values[draw_nested(np.repeat(list("abcde"), 3))].mean(axis=1).std()
    plain = values[draw_clusters(15)].mean(axis=1).std()
    assert nested == pytest.approx(np.sqrt(2 / 5), rel=0.1)
    assert plain == pytest.approx(np.sqrt(2 / 15), rel=0.1)


def test_nested_models_of_a_seed_stay_together():
    # Six models, two of every (family, seed) but one: three clusters of unequal size.
    models = [("f", "f1"), ("g", "g1"), ("f", "f1"), ("h", "h1"), ("g", "g1")]
    families, clusters = zip(*models, strict=True)
    draws = draw_nested(families, clusters, replicates=30)
    np.testing.assert_array_equal(np.unique(draws), [0, 1, 2])
    assert draws.shape == (30, 3)


def test_named_draws_by_hand():
    name = b"8218\x003\x00imagenet\x00resnet50"
    seed = int.from_bytes(hashlib.sha256(name).digest()[:8], "little")
    expected = np.random.default_rng(seed).integers(0, 11, 11)
    draws = draw_by_name(11, ("imagenet", "resnet50"), replicates=5, seed=8218)
    assert draws.shape == (5, 11)
    np.testing.assert_array_equal(draws[3], expected)


def test_named_draws_depend_on_the_name_alone():
    long = draw_by_name(20, ("funnybirds", "vgg16"), replicates=9)
    np.testing.assert_array_equal(draw_by_name(20, ("funnybirds", "vgg16"), replicates=4), long[:4])
    assert (draw_by_name(20, ("imagenet", "vgg16"), replicates=9) != long).any()
    assert (draw_by_name(20, ("funnybirds", "vgg16"), replicates=9, seed=1) != long).any()


@given(LABELS, st.integers(0, 3))
def test_multiplicities_count_draws(labels, seed):
    draws = draw_clusters(len(labels), replicates=4, seed=seed)
    expected = [[list(row).count(i) for i in range(len(labels))] for row in draws]
    assert multiplicities(draws, len(labels)).tolist() == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: draw_clusters(0), "500 replicates of 0 clusters"),
        (lambda: draw_clusters(3, replicates=0), "0 replicates of 3 clusters"),
        (lambda: draw_by_name(0, ("a",)), "of 0 clusters"),
        (lambda: draw_within_strata([]), r"shape \(0,\)"),
        (lambda: draw_within_strata([["a"]]), r"shape \(1, 1\)"),
        (lambda: draw_within_strata(["a", "b"], [1]), r"clusters \(1,\)"),
        (lambda: draw_within_strata(["a", "b"], ["c", "c"]), "'c'.* more than one group"),
        (lambda: draw_within_strata(["a"], replicates=0), "0 replicates"),
        (lambda: draw_nested(["f", "g"], [7701, 7701]), "7701.* more than one group"),
        (lambda: draw_nested(["f", "g", "g"]), "groups hold 1 to 2 clusters"),
        (lambda: multiplicities([[0, 3]], 3), "of the 3 clusters"),
        (lambda: multiplicities([[0.0, 1.0]], 3), "dtype float64"),
        (lambda: multiplicities(0, 3), r"shape \(\)"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ResponseError, match=message):
        make()
