"""Coalition methods: small games by hand, brute force and scikit-learn as oracles, rows counted."""

import hashlib
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from decaf.errors import DataError
from decaf.evaluation.attributions.coalitions import (
    CoalitionMethod,
    Features,
    every_coalition,
    game_of,
    play,
)
from decaf.evaluation.attributions.exact_shapley import ExactShapley
from decaf.evaluation.attributions.kernel_shap import KernelShap, layers
from decaf.evaluation.attributions.part_lime import PartLime
from decaf.evaluation.attributions.part_occlusion import PartOcclusion
from decaf.foundation.plugins import members, name_of
from decaf.scoring.image_scores import CountedScore

METHODS = members(CoalitionMethod)
CALLS = {  # by the number of features: 1, 5, 12
    "part_occlusion": (2, 6, 13),
    "exact_shapley": (2, 32, 4096),
    "kernel_shap": (2, 32, 512),
    "part_lime": (1000, 1000, 1000),
}
SHARED = (PartOcclusion(), ExactShapley(), KernelShap(form="repeats", samples=64), PartLime())
NAMES = ["a", "b", "c"]
GENERATOR = torch.Generator().manual_seed(0)
IMAGES = torch.rand(3, 3, 6, 6, generator=GENERATOR)
WEIGHTS = torch.randn(3, 6, 6, generator=GENERATOR, dtype=torch.float64)
QUARTERS = np.kron(np.array([[1, 2], [4, 8]]), np.ones((3, 3), int)).astype(np.uint8)


def curved(images):
    linear = (images * WEIGHTS).sum(dim=(1, 2, 3))
    return (torch.sin(linear) + linear**2)[:, None]


def features(regions, named=255):
    regions = np.asarray(regions)
    return Features(regions, np.full(len(regions), named, np.uint64))


def played(*methods, score=curved, images=IMAGES, regions=QUARTERS, named=255, names=NAMES, **more):
    """(n_methods, n, 64) scores, and the rows that were scored and asked for."""
    regions = np.broadcast_to(regions, (len(images), *images.shape[2:]))
    counted = CountedScore(score)
    columns = [0] * len(images)
    found = play(methods, features(regions, named), counted, images, columns, names, **more)
    return found.scores, counted.forward_rows, found.asked_rows


def values_of(method, game, source="a"):
    """Coalitions of a method, and their values in a game of 2^K values by the number of each."""
    players = int(math.log2(len(game)))
    coalitions = method.coalitions(players, source)
    return coalitions, game[coalitions @ (1 << np.arange(players))]


def scores_of(method, game):
    return method.worth(*values_of(method, game))


def test_every_method_is_documented_with_its_calls():
    assert {name_of(method) for method in METHODS} == set(CALLS)
    page = (Path(__file__).parents[3] / "docs" / "attributions.md").read_text()
    for method in METHODS:
        assert re.search(rf"\| `{name_of(method)}` \|", page)
        calls = tuple(method().calls(players) for players in (1, 5, 12))
        assert calls == tuple((rows, 0) for rows in CALLS[name_of(method)])
        assert method().calls(0) == (0, 0)


class TestByHand:
    # Pixels 1, 2, 4 and 8; one feature lies on the first two, another on the second and third.
    IMAGE = torch.tensor([[[[1.0, 2.0, 4.0, 8.0]]]])
    REGIONS = np.array([[[1, 3, 2, 0]]], np.uint8)

    def scores(self, method, **more):
        def total(images):
            return images.double().sum(dim=(1, 2, 3))[:, None]

        more = {"regions": self.REGIONS, "names": ["a"]} | more
        return played(method, score=total, images=self.IMAGE, **more)[0][0, 0, :3].tolist()

    def test_a_pixel_is_hidden_where_any_hidden_feature_lies(self):
        # v of none, one, the other and both: 8, 9, 12, 15.
        assert self.scores(PartOcclusion()) == [15 - 12, 15 - 9, 0]

    def test_shapley_values_are_mean_gains_over_orders(self):
        # (9 - 8 + 15 - 12) / 2 and (12 - 8 + 15 - 9) / 2; together 15 - 8.
        assert self.scores(ExactShapley()) == [2, 5, 0]
        assert self.scores(KernelShap()) == pytest.approx([2, 5, 0], abs=1e-6)

    def test_what_is_hidden_is_the_reference(self):
        # v: 8 + 1.5, 9 + 1, 12 + 1, 15.
        assert self.scores(PartOcclusion(value=(0.5,))) == [15 - 13, 15 - 10, 0]

    def test_a_feature_that_nobody_asks_for_is_always_shown(self):
        assert self.scores(PartOcclusion(), named=2) == [0, 6, 0]

    def test_a_feature_that_lies_nowhere_is_no_player(self):
        twice = self.REGIONS * np.uint8(2)  # features 2 and 3
        assert self.scores(ExactShapley(), regions=twice) == [0, 2, 5]

    def test_an_image_without_features_is_not_scored(self):
        nothing = np.zeros((6, 6), np.uint8)
        scores, rows, wanted = played(*SHARED, regions=nothing)
        assert not scores.any()
        assert (rows, wanted) == (0, 0)


@pytest.mark.parametrize("baseline", ["mean", "blur", "uniform"])
def test_an_empty_coalition_is_the_reference_and_a_full_one_the_image(baseline):
    seen = []

    def score(images):
        seen.append(images)
        return images.flatten(1)

    method = PartOcclusion(baseline=baseline, sigma=2.0, radius=3)
    counted = CountedScore(score, (0.25,), (0.5,))
    play([method], features(np.ones((3, 6, 6), np.uint8)), counted, IMAGES, [0] * 3, NAMES)
    (states,) = seen
    torch.testing.assert_close(states[1::2], method.reference(IMAGES, counted))
    assert torch.equal(states[::2], IMAGES)


class TestCoalitions:
    def test_those_of_the_paper_have_its_digest(self):
        bits = layers(16, 512, 8214).astype(np.float32).tobytes()
        digest = "794b344437db3b1918ca6b99651444c2114d8d8e66033840fe3364aa0fa8a146"
        assert hashlib.sha256(bits).hexdigest() == digest

    @pytest.mark.parametrize("players", range(1, 17))
    @pytest.mark.parametrize("samples", [40, 512])
    def test_layers_come_with_complements_and_once(self, players, samples):
        found = layers(players, samples, 0)
        assert len(found) == min(samples, 2**players)
        assert len(np.unique(found, axis=0)) == len(found)
        assert (found[::2] == ~found[1::2]).all()
        size = np.minimum(found.sum(axis=1), players - found.sum(axis=1))
        assert (np.diff(size) >= 0).all()

    def test_of_three(self):
        rows = ["000", "111", "100", "011", "010", "101", "001", "110"]
        assert [f"{a:d}{b:d}{c:d}" for a, b, c in layers(3, 512, 0)] == rows

    def test_repeats_have_every_coalition_first_and_belong_to_a_source(self):
        method = KernelShap(form="repeats", samples=20)
        found = [method.coalitions(4, name) for name in ("a", "a", "b")]
        assert (found[0][:16] == every_coalition(4)).all()
        assert len(found[0]) == 20
        assert np.array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])
        assert not np.array_equal(
            found[0], method.model_copy(update={"seed": 1}).coalitions(4, "a")
        )

    def test_lime_shows_each_feature_half_of_the_time(self):
        found = PartLime(samples=4000).coalitions(5, "a")
        assert found.shape == (4000, 5)
        assert found.mean(axis=0) == pytest.approx(0.5, abs=0.03)
        assert not np.array_equal(found, PartLime(samples=4000).coalitions(5, "b"))


GAMES = st.integers(1, 6).flatmap(
    lambda players: st.lists(st.floats(-100, 100), min_size=2**players, max_size=2**players).map(
        np.array
    )
)


@given(GAMES)
@settings(max_examples=30)
def test_shapley_values_are_those_of_all_orders(game):
    players = int(math.log2(len(game)))
    expected = np.zeros(players)
    orders = list(itertools.permutations(range(players)))
    for order in orders:
        shown = 0
        for player in order:
            expected[player] += (game[shown | 1 << player] - game[shown]) / len(orders)
            shown |= 1 << player
    found = scores_of(ExactShapley(), game)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    kernel = scores_of(KernelShap(), game)
    np.testing.assert_allclose(kernel, expected, atol=1e-4)
    for scores in (found, kernel):
        assert scores.sum() == pytest.approx(game[-1] - game[0], abs=1e-9)
    drops = scores_of(PartOcclusion(), game)
    np.testing.assert_array_equal(drops, [game[-1] - game[-1 - 2**k] for k in range(players)])


def test_repeats_weigh_more_and_nothing_is_divided():
    game = np.random.default_rng(0).normal(size=16)
    method = KernelShap(form="repeats")
    coalitions, values = values_of(method, game)
    found, shapley = method.worth(coalitions, values), scores_of(ExactShapley(), game)
    size = coalitions.sum(axis=1)
    weights = np.choose(size, [1e6, 3 / (4 * 1 * 3), 3 / (6 * 2 * 2), 3 / (4 * 3 * 1), 1e6])
    oracle = Ridge(alpha=1e-8).fit(coalitions, values, weights)
    np.testing.assert_allclose(found, oracle.coef_, atol=1e-5)
    assert 1e-3 < abs(found - shapley).max() < 0.5
    assert not method.is_complete


@pytest.mark.parametrize("players", [1, 2, 5, 16])
def test_lime_is_a_weighted_ridge(players):
    game = np.random.default_rng(players).normal(size=2**players)
    coalitions, values = values_of(PartLime(), game)
    cosine = [row.sum() / math.sqrt(max(row.sum(), 1) * players) for row in coalitions]
    weights = [math.exp(-((1 - one) ** 2) / 0.25**2) for one in cosine]
    oracle = Ridge(alpha=1.0).fit(coalitions, values, weights)
    np.testing.assert_allclose(PartLime().worth(coalitions, values), oracle.coef_, atol=1e-8)


def test_coalitions_that_do_not_tell_features_apart_have_no_scores():
    together = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
    assert np.isnan(PartLime().worth(together, np.arange(4.0))).all()
    assert np.isfinite(PartLime().worth(together[:, 1:], np.arange(4.0))).all()


class TestTogether:
    def test_methods_of_one_game_score_each_coalition_once(self):
        seen = []

        def score(images):
            seen.append(len(images))
            return curved(images)

        together, rows, wanted = played(*SHARED, score=score, batch_size=7)
        assert rows == sum(seen) == 3 * 2**4, "three images, four features"
        assert max(seen) == 7, "batches go across images"
        assert wanted == 3 * (5 + 16 + 64 + 1000)
        alone = [played(method) for method in SHARED]
        assert [one[1] for one in alone] == [3 * 5, 3 * 16, 3 * 16, 3 * 16]
        for scores, one in zip(together, alone, strict=True):
            np.testing.assert_allclose(scores, one[0][0], rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("batch_size", [1, 300])
    def test_neither_batches_nor_neighbours_change_a_score(self, batch_size):
        together = played(*SHARED)[0]
        other = played(*SHARED, batch_size=batch_size)[0]
        np.testing.assert_allclose(other, together, rtol=1e-9, atol=1e-12)
        alone = played(*SHARED, images=IMAGES[1:2], names=["b"])[0]
        np.testing.assert_allclose(alone[:, 0], together[:, 1], rtol=1e-9, atol=1e-12)

    def test_images_may_have_different_features(self):
        some = np.stack([QUARTERS, QUARTERS & 3, QUARTERS & 8])
        scores, rows, _ = played(ExactShapley(), regions=some)
        assert rows == 16 + 4 + 2
        assert [list(np.flatnonzero(own)) for own in scores[0]] == [[0, 1, 2, 3], [0, 1], [3]]


@pytest.mark.parametrize(
    ("method", "most"),
    [(ExactShapley(), 12), (KernelShap(form="repeats"), 9), (KernelShap(samples=10), 4)],
)
def test_more_features_than_a_method_can_play_with_are_refused(method, most):
    game_of([method], np.arange(most) + 1, "a")
    with pytest.raises(DataError, match=rf"\b{most + 1} .*{method.kind}.* {most}\b"):
        game_of([method], np.arange(most + 1) + 1, "a")
