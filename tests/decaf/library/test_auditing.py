from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
import torch
from example_scores import GRID, HALF, WEIGHTS, Counting, classes, images
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf import BatchWarning, Blend, DataWarning, Patches, Removal, RevealPath, audit
from decaf.errors import ResponseError, ScoringFailed
from decaf.reveal.path import Revealed, shown_by_branch
from decaf.reveal.paths.blend import Fade, stage_words

CHECKED = 1 + 1 + 3 * 4
"""Rows of the check that a score depends on its input alone: four inputs, alone and in batches."""


class TestByHand:
    def test_a_linear_score_on_a_line_is_half_evidence(self):
        x_plus, x_minus = [[2.0, 1.0], [0.0, 3.0]], [[0.0, 1.0], [0.0, 5.0]]
        audited = audit(lambda x: x @ np.array([3.0, 1.0]), x_plus, x_minus)
        np.testing.assert_allclose(audited.response[:, 0], [6 * GRID, -2 * GRID], atol=1e-12)
        profiles = audited.profiles
        assert profiles.endpoint_delta.tolist() == [6, -2]
        assert profiles.evidence.tolist() == [3, 1]
        assert profiles.contradiction.tolist() == profiles.fragility.tolist() == [0, 0]

    def test_a_response_that_turns_round_is_contradiction_before_it_is_evidence(self):
        # From the midpoint 0 to 1 and -1: r(t) = q(t) - q(-t) = 2 t^3 - t.
        audited = audit(lambda x: x**3 - x / 2, [[1.0]], [[-1.0]], stages=HALF)
        assert audited.response.tolist() == [[[0, -0.25, 1]]]
        assert audited.profiles.evidence.tolist() == [0.25]
        assert audited.profiles.contradiction.tolist() == [0.125]
        assert audited.profiles.net_response.tolist() == [0.125]

    def test_a_response_without_an_effect_is_fragility(self):
        # r(t) = 2 (t - t^3) is 0 at both ends.
        audited = audit(lambda x: x - x**3, [[1.0]], [[-1.0]], stages=HALF)
        assert audited.profiles.fragility.tolist() == [0.375]
        assert audited.profiles.evidence.tolist() == audited.profiles.contradiction.tolist() == [0]
        assert not audited.profiles.is_endpoint_active.any()

    def test_removing_columns_of_a_linear_score_gives_half_their_shares(self):
        audited = audit(lambda x: x @ np.array([1.0, -2.0, 0.0]), [[4.0, 3.0, 9.0], [1.0, 0.0, 0]])
        assert audited.ids == ("0/1", "0/2", "0/3", "1/1", "1/2", "1/3")
        assert audited.profiles.endpoint_delta.tolist() == [4, -6, 0, 1, 0, 0]
        assert audited.attributions().tolist() == [[2, 3, 0], [0.5, 0, 0]]
        assert audited.attributions("endpoint_delta").tolist() == [[4, -6, 0], [1, 0, 0]]

    def test_the_context_channel_goes_from_one_response_to_the_other(self):
        def score(x):
            return x[:, 0] * x[:, 1]  # the second column turns the effect of the first round

        context = ([[1.0, -1.0]], [[0.0, -1.0]])
        audited = audit(score, [[1.0, 1.0]], [[0.0, 1.0]], context=context, stages=HALF)
        assert audited.response.tolist() == [[[-1, 0, 1]]]
        assert (audited.forward_rows, audited.naive_rows) == (4, 4)
        assert audited.profiles.contradiction.tolist() == [0.25]

    def test_a_profile_is_the_mean_over_repetitions(self):
        # Start s, x+ = 2, x- = 0: r(1/2) = (s + 2)^2 / 4 - s^2 / 4 = s + 1, and d = 4.
        audited = audit(lambda x: x**2, [[2.0]], [[0.0]], path=TwoStarts(), stages=HALF)
        assert audited.response.tolist() == [[[0, 1, 4], [0, 2, 4]]]
        assert audited.profiles.evidence.tolist() == [1.75]
        assert audited.profiles.endpoint_delta.tolist() == [4]
        assert audited.plot(0).to_dict()
        assert "E 1.75" in audited.plot_mean().to_dict()["title"]


@dataclass(frozen=True)
class DrawnLevel:
    of_pair = False

    def states(self, plus, minus, draw):
        return np.broadcast_to(draw.astype(float), plus.shape)


@dataclass(frozen=True)
class TwoStarts(RevealPath):
    """The same fade from the levels 0 and 1."""

    kind: Literal["two_starts"] = "two_starts"
    repetitions = 2
    start = DrawnLevel()
    rule = Fade()

    def reveal(self, block, inputs, grid):
        image = shown_by_branch(block, 2, grid.size)
        content = np.broadcast_to(stage_words(grid)[:, None], image.shape)[..., None]
        draw = np.zeros((*image.shape[:3], 1), np.uint64)
        draw[:, 1] = 1
        return Revealed(image, content, draw)


class HalfWay(TwoStarts):
    """A path whose last stage is half way to the clean inputs."""

    def reveal(self, block, inputs, grid):
        return super().reveal(block, inputs, grid / 2)


def test_a_path_that_does_not_reach_the_clean_inputs_is_refused():
    with pytest.raises(ResponseError, match=r"two_starts.* last stage of pair '0'"):
        audit(classes, *images(), path=HalfWay(), target=0, epsilon=0.02)


@pytest.mark.parametrize("regions", [None, "halves"])
def test_scores_without_features_equal_those_of_inputs_masked_by_hand(regions):
    x = images()[0]
    numbers = np.arange(1, 5).reshape(2, 2).repeat(8, axis=0).repeat(8, axis=1)
    path = Removal(side=2, value=(0.1, 0.2, 0.3))
    if regions == "halves":
        numbers = np.where(np.arange(16) < 8, 1, 0) * np.ones((16, 1), int)
        path = Removal(value=(0.1, 0.2, 0.3))
    audited = audit(
        classes, x, path=path, target=1, epsilon=0.02, regions=numbers if regions else None
    )
    base = np.array([0.1, 0.2, 0.3])[:, None, None]
    assert len(audited.ids) == 6 * numbers.max()
    for pair, (row, feature) in enumerate(zip(audited.row, audited.feature, strict=True)):
        kept = [np.ones((16, 16)), numbers != feature]
        for branch, q in enumerate((audited.q_plus, audited.q_minus)):
            states = [base + t * kept[branch] * (x[row] - base) for t in GRID]
            np.testing.assert_allclose(q[pair, 0], classes(np.stack(states))[:, 1], atol=1e-12)


def test_scores_of_contexts_are_mixtures_of_four_clean_scores():
    plus, minus = images()
    swapped = images(seed=1)
    audited = audit(classes, plus, minus, context=tuple(swapped), target=2, epsilon=0.02)
    clean = [classes(x)[:, 2] for x in (plus, minus, *swapped)]
    expected = np.outer(clean[2] - clean[3], 1 - GRID) + np.outer(clean[0] - clean[1], GRID)
    np.testing.assert_allclose(audited.response[:, 0], expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore::decaf.DataWarning")  # some drawn pairs are equal
@given(
    arrays(np.float64, (2, 4, 3), elements=st.floats(-3, 3)),
    st.sampled_from([(0, 1), (0, 0.3, 1), tuple(GRID)]),
    st.floats(0.001, 2),
)
def test_profiles_do_not_ask_which_input_is_factual_and_add_up(pair, stages, epsilon):
    def score(x):
        return x[:, 0] * x[:, 1] - x[:, 2] * x[:, 0] * x[:, 0]

    one = audit(score, *pair, stages=stages, epsilon=epsilon).profiles
    other = audit(score, *pair[::-1], stages=stages, epsilon=epsilon).profiles
    np.testing.assert_array_equal(one.endpoint_delta, -other.endpoint_delta)
    for metric in ("evidence", "contradiction", "fragility"):
        np.testing.assert_array_equal(getattr(one, metric), getattr(other, metric))
    parts = one.evidence + one.contradiction + one.fragility
    np.testing.assert_array_equal(parts, one.abs_response)


PATHS = {"blend": Blend(sigma=1), "patches": Patches(sigma=1, side=4), "straight": Blend(sigma=0)}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_tensors_give_what_arrays_give(kind):
    plus, minus = images(kind=kind)
    score = Counting(classes)
    of_arrays = audit(classes, plus, minus, path=PATHS, target=0, epsilon=0.02)
    tensors = audit(
        score, *map(torch.from_numpy, (plus, minus)), path=PATHS, target=0, epsilon=0.02
    )
    for name, audited in of_arrays.items():
        np.testing.assert_allclose(tensors[name].response, audited.response, atol=1e-6)
        assert tensors[name].forward_rows == audited.forward_rows == len(score.seen) - CHECKED


def test_tensors_lose_the_features_and_have_the_contexts_that_arrays_have():
    (plus, minus), swapped = images(), images(seed=1)
    regions = np.tile(np.arange(16) // 8, (16, 1))
    for arguments, options in (
        ((plus,), {"path": Removal(side=2, value=(0.1, 0.2, 0.3))}),
        ((plus,), {"path": Removal(baseline="blur", sigma=1.0, radius=2), "regions": regions}),
        ((plus, minus), {"context": tuple(swapped)}),
    ):
        of_arrays = audit(classes, *arguments, target=1, epsilon=0.02, **options)
        if "context" in options:
            options["context"] = tuple(map(torch.from_numpy, options["context"]))
        tensors = audit(
            classes, *map(torch.from_numpy, arguments), target=1, epsilon=0.02, **options
        )
        np.testing.assert_allclose(tensors.response, of_arrays.response, atol=1e-12)


def test_a_score_may_return_another_library_or_a_short_type():
    def mixed(x):
        return torch.from_numpy(x).requires_grad_().sum(dim=1)

    assert audit(mixed, [[2.0]], [[0.0]]).profiles.evidence.tolist() == [1]
    tensors = torch.tensor([[2.0]]), torch.tensor([[0.0]])
    for score in (lambda x: x.sum(1).bfloat16(), lambda x: x.sum(1).half(), lambda x: x.tolist()):
        assert audit(score, *tensors).profiles.evidence.tolist() == [1]


def test_a_score_may_spoil_its_batch():
    def spoiling(x):
        total = x.sum(axis=1)
        x[:] = np.nan
        return total

    x = np.array([[2.0], [4.0]])
    assert audit(spoiling, x, x * 0, batch_size=3).profiles.evidence.tolist() == [1, 2]
    assert x.tolist() == [[2], [4]]


def test_the_score_gets_what_was_given_and_tensors_without_a_graph():
    def of_arrays(x):
        assert type(x) is np.ndarray
        assert x.dtype == np.float32
        return x.sum(axis=(1, 2, 3))

    def of_tensors(x):
        assert x.dtype == torch.float32
        assert torch.is_inference_mode_enabled()
        return x.sum(dim=(1, 2, 3))

    plus, minus = images(kind=np.float32)
    audit(of_arrays, plus, minus)
    audit(of_tensors, torch.from_numpy(plus).requires_grad_(), torch.from_numpy(minus))


@pytest.mark.parametrize("of", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_8_bit_images_become_float32_between_0_and_1(of):
    plus = np.full((1, 3, 4, 4), 255, np.uint8)
    with pytest.warns(DataWarning, match="uint8.* from 0 to 1.* / np.float32"):
        audited = audit(lambda x: x.mean((1, 2, 3)), of(plus), of(plus // 3))
    np.testing.assert_allclose(audited.q_plus[0, 0, -1], 1)
    np.testing.assert_allclose(audited.q_minus[0, 0, -1], 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("of", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_floats_with_the_channels_last_are_remarked_on(of):
    plus = np.random.default_rng(0).random((1, 5, 4, 3), np.float32)
    with pytest.warns(DataWarning, match="5 channels and 4 x 3 pixels"):
        audit(lambda x: x.mean((1, 2, 3)), of(plus), of(plus / 3))


def test_whole_numbers_in_rows_become_float64():
    score = Counting(lambda x: x.sum(axis=1))
    assert audit(score, [[3, 0]], [[0, 0]]).profiles.evidence.tolist() == [1.5]
    assert score.seen.dtype == np.float64
    with pytest.warns(DataWarning, match="int64"):  # which may be ids
        audited = audit(lambda x: x.sum(1), torch.tensor([[3]]), torch.tensor([[1]]))
    assert audited.profiles.evidence.tolist() == [1.0]


def test_every_distinct_input_is_scored_once():
    plus, minus = images()
    plus[3] = plus[2]  # one factual input of two pairs
    score = Counting(classes)
    audits = audit(score, plus, minus, path=PATHS, target=0, epsilon=0.02, batch_size=20)
    rows = score.seen[:-CHECKED].reshape(len(score.seen) - CHECKED, -1)
    assert {audited.forward_rows for audited in audits.values()} == {len(rows)}
    assert len(np.unique(rows, axis=0)) == len(rows) < audits["blend"].naive_rows
    assert max(map(len, score.batches)) <= 20
    alone = [
        audit(classes, plus, minus, path=path, target=0, epsilon=0.02) for path in PATHS.values()
    ]
    assert len(rows) < sum(audited.forward_rows for audited in alone)
    for one, audited in zip(alone, audits.values(), strict=True):
        np.testing.assert_allclose(one.response, audited.response, atol=1e-12)


def test_inputs_may_have_features_of_their_own():
    audited = audit(lambda x: x.sum(axis=1), np.ones((2, 3)), regions=[[1, 2, 2], [0, 1, 1]])
    assert audited.ids == ("0/1", "0/2", "1/1")
    np.testing.assert_array_equal(audited.attributions(), [[0.5, 1], [1, np.nan]])
    assert audited.clusters.tolist() == [0, 0, 1]


def test_masks_that_overlap_remove_what_either_covers():
    # q is the sum of 1, 2 and 4: without columns 0 and 1, without 1 and 2, and without nothing.
    x, masks = np.array([[1.0, 2.0, 4.0]]), np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0]], bool)
    for regions in (masks, masks[None], masks.tolist()):
        audited = audit(lambda x: x.sum(1), x, regions=regions, stages=2)
        assert audited.ids == ("0/1", "0/2")
        np.testing.assert_array_equal(audited.q_minus[:, 0, 1], [4, 1])
    # Numbers are masks that do not overlap.
    numbers = np.array([2, 0, 1])
    apart = np.stack([numbers == 1, numbers == 2])
    both = [audit(lambda x: x.sum(1), x, regions=one, stages=3) for one in (numbers, apart)]
    np.testing.assert_array_equal(both[0].q_minus, both[1].q_minus)


def test_what_is_left_open_follows_from_what_is_given():
    plus, minus = images()
    options = {"target": 0, "epsilon": 0.02}
    default = audit(classes, plus, minus, **options)
    scaled = audit(classes, plus, minus, path=Blend(sigma=8 * 16 / 224), **options)
    np.testing.assert_array_equal(default.response, scaled.response)
    paths = {"a": "patches", "b": Patches(sigma=8 / 14)}
    named = audit(classes, plus, minus, path=paths, **options)
    np.testing.assert_array_equal(named["a"].response, named["b"].response)
    assert len(audit(classes, plus, stages=3, **options).ids) == 6 * 16
    assert isinstance(audit(classes, plus, minus, path={"x": "blend"}, **options), dict)


def test_a_batch_that_does_not_fit_is_halved():
    def cramped(x):
        if len(x) > 3:
            raise MemoryError
        return x.sum(axis=1)

    x = np.arange(8.0).reshape(4, 2)
    with pytest.warns(BatchWarning):
        audited = audit(cramped, x, x - 1)
    np.testing.assert_allclose(audited.profiles.evidence, 1)

    def full(x):
        raise MemoryError

    with pytest.raises(ScoringFailed, match="one input does not fit"), pytest.warns(BatchWarning):
        audit(full, x, x - 1)


def test_a_network_end_to_end():
    from decaf.models.networks.small_cnn import build

    torch.manual_seed(0)
    network = build(classes=4, width=4).eval()
    plus, minus = (torch.rand(3, 3, 32, 32) for _ in range(2))
    audited = audit(network, plus, minus, target=torch.tensor([0, 3, 1]), epsilon=0.001)
    with torch.inference_mode():
        d = network(plus) - network(minus)
    expected = [d[0, 0], d[1, 3], d[2, 1]]
    np.testing.assert_allclose(audited.profiles.endpoint_delta, expected, atol=1e-5)
    assert "M " in audited.plot(0).to_dict()["title"]


@pytest.mark.cuda
def test_tensors_stay_on_their_device():
    plus, minus = map(torch.from_numpy, images(kind=np.float32))
    expected = audit(classes, plus, minus, path=PATHS, target=0, epsilon=0.02)

    def score(x):
        assert x.is_cuda
        return torch.tanh(x.flatten(1) @ torch.from_numpy(WEIGHTS.T).to(x))

    found = audit(score, plus.cuda(), minus.cuda(), path=PATHS, target=0, epsilon=0.02)
    for name, audited in expected.items():
        np.testing.assert_allclose(found[name].response, audited.response, atol=1e-5)
