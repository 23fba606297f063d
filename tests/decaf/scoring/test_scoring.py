import numpy as np
import pytest
import torch
from blocks import CONTROL, brute_force, foregrounds, pixels, whole
from gpu_stand_in import OnGpu, stand_in

from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import ModelError
from decaf.foundation.arrays import start_fetch
from decaf.models.networks import small_cnn
from decaf.reveal.paths.blend import Blend
from decaf.scoring.batches import FixedLimit
from decaf.scoring.block import score_block
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder, on_device

GRID = np.array([0, 0.5, 1])
CPU = torch.device("cpu")


@pytest.fixture
def pairs():
    images = tuple(Input(str(i), "any", str(i), "") for i in range(6))
    rows = tuple(Pair(f"p{i}", f"s{i}", "any", i % 2, "all", 2 * i, 2 * i + 1) for i in range(3))
    return PairSet(images, rows, "test").block((0, 1, 2))


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (6, 3, 8, 8), dtype=np.uint8)


@pytest.fixture
def plan(pairs, images):
    return plan_states(pairs, images, {"blend": Blend(sigma=1.0)}, GRID)


def score(plan, pairs, images, scorer, batch_size):
    builder = StateBuilder(plan, on_device(images, CPU))
    return score_block(plan, builder, scorer, pairs.class_id, FixedLimit(batch_size))


def mean_of_red_and_green(pixels):
    return pixels[:, :2].mean(dim=(2, 3))


def test_scores_are_gathered_per_pair_stage_and_branch(plan, pairs, images):
    scores = score(plan, pairs, images, mean_of_red_and_green, 64)
    clean = images[:, :2].mean(axis=(2, 3)) / 255
    q = scores.branches["blend"][:, 0]
    assert q.shape == (3, 3, 2)
    assert q.dtype == np.float64
    for row, target in enumerate(pairs.class_id):
        expected = [clean[pairs.plus[row], target], clean[pairs.minus[row], target]]
        np.testing.assert_allclose(q[row, -1], expected, rtol=1e-6)
    np.testing.assert_allclose(scores.clean, clean, rtol=1e-6)
    np.testing.assert_array_equal(q[:, 0, 0], q[:, 0, 1])
    assert (scores.forward_rows, scores.naive_rows) == (3 * 5, 3 * 6)


def test_a_column_and_a_sign_make_the_score_of_the_values(plan, pairs, images):
    columns = np.array([1, 1, 1])
    builder = StateBuilder(plan, on_device(images, CPU))
    less = score_block(plan, builder, mean_of_red_and_green, columns, FixedLimit(64), sign=-1.0)
    clean = images[:, 1].mean(axis=(1, 2)) / 255
    np.testing.assert_allclose(less.branches["blend"][:, 0, -1, 0], -clean[pairs.plus], rtol=1e-6)
    assert (less.clean > 0).all()


@pytest.mark.parametrize("batch_size", [1, 2, 3, 64])
def test_the_batch_size_does_not_change_scores(plan, pairs, images, batch_size):
    whole = score(plan, pairs, images, mean_of_red_and_green, 64)
    cut = score(plan, pairs, images, mean_of_red_and_green, batch_size)
    np.testing.assert_allclose(cut.branches["blend"], whole.branches["blend"], rtol=1e-6)
    assert cut.batch_size <= batch_size


@pytest.mark.cuda
@pytest.mark.filterwarnings("ignore::decaf.BatchWarning")
def test_a_batch_that_a_gpu_has_no_room_for_is_halved(plan, pairs, images):
    gpu = torch.device("cuda")
    whole = score(plan, pairs, images, mean_of_red_and_green, 64)
    room = torch.cuda.mem_get_info(gpu)[0] // 6  # of one row, so that five fit and six do not

    def wide(pixels):
        held = torch.empty((len(pixels), room), dtype=torch.uint8, device=gpu)
        return mean_of_red_and_green(pixels) + 0 * held[:, :1]

    builder = StateBuilder(plan, on_device(images, gpu))
    scores = score_block(plan, builder, wide, pairs.class_id, FixedLimit(64))
    assert 1 <= scores.batch_size <= 5
    np.testing.assert_allclose(scores.branches["blend"], whole.branches["blend"], rtol=1e-5)


def test_a_batch_is_fetched_when_the_next_one_is_under_way(monkeypatch, plan, pairs, images):
    noted = stand_in(monkeypatch)

    def on_gpu(pixels):
        noted.append("score")
        return mean_of_red_and_green(pixels).as_subclass(OnGpu)

    scores = score(plan, pairs, images, on_gpu, 10)
    order = [note for note in noted if isinstance(note, str)]
    assert order == ["score", "copy 1", "score", "copy 2", "wait 1", "wait 2"]
    whole = score(plan, pairs, images, mean_of_red_and_green, 64)
    np.testing.assert_allclose(scores.branches["blend"], whole.branches["blend"], rtol=1e-6)


@pytest.mark.cuda
@pytest.mark.filterwarnings("ignore:Synchronization debug mode:UserWarning")
def test_nothing_waits_for_a_gpu_while_states_are_built_and_scored(plan, images):
    builder = StateBuilder(plan, on_device(images, torch.device("cuda")))
    torch.cuda.set_sync_debug_mode("error")
    try:
        values = [
            start_fetch(mean_of_red_and_green(builder.build(states))) for states in plan.batches(8)
        ]
    finally:
        torch.cuda.set_sync_debug_mode("default")
    here = StateBuilder(plan, on_device(images, CPU)).build(np.arange(plan.state_count))
    expected = mean_of_red_and_green(here).numpy()
    np.testing.assert_allclose(np.concatenate([some() for some in values]), expected, rtol=1e-5)


def test_other_failures_are_not_retried(plan, pairs, images):
    calls = []

    def broken(pixels):
        calls.append(1)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    with pytest.raises(RuntimeError, match="illegal"):
        score(plan, pairs, images, broken, 64)
    assert len(calls) == 1


def test_a_scorer_that_loses_rows_is_an_error(plan, pairs, images):
    with pytest.raises(ModelError, match="expected"):
        score(plan, pairs, images, lambda x: mean_of_red_and_green(x)[1:], 64)


def test_values_that_are_not_finite_come_back_as_they_are(plan, pairs, images):
    def patchy(pixels):
        values = mean_of_red_and_green(pixels)
        values[values[:, 0] == values[:, 0].max()] = float("nan")
        return values

    assert np.isnan(score(plan, pairs, images, patchy, 64).branches["blend"]).any()


def test_gathered_scores_equal_scoring_every_stage_and_branch_by_itself():
    """A real network, all paths of ImageNet-9, one forward pass for each stage and branch."""
    block, inputs = whole(foregrounds(3)), pixels(9)
    torch.manual_seed(0)
    network = small_cnn.build().eval()

    @torch.inference_mode()
    def scorer(images):
        return network(images).double().softmax(dim=1)

    plan = plan_states(block, inputs, CONTROL, np.linspace(0, 1, 9))
    builder = StateBuilder(plan, on_device(inputs, CPU))
    found = score_block(plan, builder, scorer, block.class_id, FixedLimit(32))
    for name, path in CONTROL.items():
        for row, target in enumerate(block.class_id):
            states = brute_force(path, block, inputs, row).reshape(-1, 3, 32, 32)
            one_by_one = [scorer(torch.from_numpy(state[None]).float()) for state in states]
            expected = torch.cat(one_by_one)[:, target].reshape(9, 2)
            np.testing.assert_allclose(found.branches[name][row, 0], expected, atol=2e-6)
