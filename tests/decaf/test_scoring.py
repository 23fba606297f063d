import numpy as np
import pytest
import torch

from decaf.errors import ModelError, ScoringFailed
from decaf.pairs import Image, Pair, PairSet
from decaf.planner import plan_states
from decaf.reveal.blend import Blend
from decaf.scoring import score_block

GRID = np.array([0, 0.5, 1])
CPU = torch.device("cpu")


@pytest.fixture
def pairs():
    images = tuple(Image(str(i), "any", str(i), "") for i in range(6))
    rows = tuple(Pair(f"p{i}", f"s{i}", "any", i % 2, "all", 2 * i, 2 * i + 1) for i in range(3))
    return PairSet(images, rows, "test").block((0, 1, 2))


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)


@pytest.fixture
def plan(pairs, images):
    return plan_states(pairs, images, {"blend": Blend(kind="blend", sigma=1.0)}, GRID)


def mean_of_red_and_green(pixels):
    return pixels[:, :2].mean(dim=(2, 3))


def test_scores_are_gathered_per_pair_stage_and_branch(plan, pairs, images):
    scores = score_block(plan, pairs, images, mean_of_red_and_green, 64, CPU)
    clean = images[..., :2].mean(axis=(1, 2)) / 255
    q = scores.branches["blend"]
    assert q.shape == (3, 3, 2)
    assert q.dtype == np.float64
    for row, target in enumerate(pairs.class_id):
        expected = [clean[pairs.plus[row], target], clean[pairs.minus[row], target]]
        np.testing.assert_allclose(q[row, -1], expected, rtol=1e-6)
    np.testing.assert_allclose(scores.clean, clean, rtol=1e-6)
    np.testing.assert_array_equal(q[:, 0, 0], q[:, 0, 1])
    assert (scores.forward_rows, scores.naive_rows) == (3 * 5, 3 * 6)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 64])
def test_the_batch_size_does_not_change_scores(plan, pairs, images, batch_size):
    whole = score_block(plan, pairs, images, mean_of_red_and_green, 64, CPU)
    cut = score_block(plan, pairs, images, mean_of_red_and_green, batch_size, CPU)
    np.testing.assert_allclose(cut.branches["blend"], whole.branches["blend"], rtol=1e-6)
    assert cut.batch_size <= batch_size


def test_a_batch_that_does_not_fit_is_halved_and_the_size_is_recorded(plan, pairs, images):
    seen = []

    def cramped(pixels):
        seen.append(len(pixels))
        if len(pixels) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return mean_of_red_and_green(pixels)

    scores = score_block(plan, pairs, images, cramped, 64, CPU)
    whole = score_block(plan, pairs, images, mean_of_red_and_green, 64, CPU)
    np.testing.assert_allclose(scores.branches["blend"], whole.branches["blend"], rtol=1e-6)
    assert scores.batch_size <= 4
    assert sum(size for size in seen if size <= 4) == plan.state_count


def test_an_input_that_never_fits_is_an_error(plan, pairs, images):
    def full(pixels):
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(ScoringFailed, match="one input alone"):
        score_block(plan, pairs, images, full, 64, CPU)


def test_other_failures_are_not_retried(plan, pairs, images):
    calls = []

    def broken(pixels):
        calls.append(1)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    with pytest.raises(RuntimeError, match="illegal"):
        score_block(plan, pairs, images, broken, 64, CPU)
    assert len(calls) == 1


def test_a_scorer_that_loses_rows_is_an_error(plan, pairs, images):
    with pytest.raises(ModelError, match="expected"):
        score_block(plan, pairs, images, lambda x: mean_of_red_and_green(x)[1:], 64, CPU)


def test_values_that_are_not_finite_come_back_as_they_are(plan, pairs, images):
    def patchy(pixels):
        values = mean_of_red_and_green(pixels)
        values[values[:, 0] == values[:, 0].max()] = float("nan")
        return values

    assert np.isnan(score_block(plan, pairs, images, patchy, 64, CPU).branches["blend"]).any()
