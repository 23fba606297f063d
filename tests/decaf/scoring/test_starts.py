"""Random starts that are made once for a study, in a file."""

import numpy as np
import pytest
import torch
from blocks import features, pixels, whole

from decaf.errors import DataError, WriteFailed
from decaf.reveal.gaussian.reference import reference_of
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.gaussian import GaussianReveal
from decaf.scoring.planner import plan_states
from decaf.scoring.starts import open_starts, store_starts
from decaf.scoring.states import StateBuilder

SHAPE = (3, 4, 4)
GRID = np.linspace(0, 1, 4)


def gaussian(chain="fixed"):
    factor = np.random.default_rng(3).normal(size=(60, 48))
    reference = reference_of(np.zeros(SHAPE), factor.T @ factor)
    return GaussianReveal(reference=reference, chain=chain, stages=4, seeds=(1, 2))


class Counting:
    """A start whose value is the sum of its words; it counts what it makes."""

    of_pair = False

    def __init__(self):
        self.made = 0

    def states(self, plus, minus, draw):
        self.made += len(draw)
        return plus + draw.sum(axis=1, dtype=np.uint64).astype(plus.dtype)[:, None]


@pytest.fixture
def stored(tmp_path):
    start, path = Counting(), tmp_path / "starts.npy"
    draws = [np.array([[9, 0], [1, 2]], np.uint64), np.array([[1, 2], [2**63, 5]], np.uint64)]
    store_starts(path, start, draws, np.zeros(2, np.float32))
    return start, path


def test_every_draw_is_made_once(stored):
    start, path = stored
    starts = open_starts(path)
    assert start.made == 3
    assert starts.words.tolist() == [[1, 2], [9, 0], [2**63, 5]]
    assert starts.states.dtype == np.float32
    assert starts.states[:2].tolist() == [[3, 3], [9, 9]]


def test_draws_are_found_by_name(stored):
    starts = open_starts(stored[1])
    named = np.array([[2**63, 5], [1, 2], [2**63, 5], [9, 0]], np.uint64)
    assert starts.rows(named).tolist() == [2, 0, 2, 1]
    with pytest.raises(DataError, match="1 of 2 .* 3"):
        starts.rows(np.array([[1, 2], [2, 1]], np.uint64))


def test_a_file_that_is_not_there_or_none(tmp_path):
    with pytest.raises(DataError, match=r"gone\.npy"):
        open_starts(tmp_path / "gone.npy")
    (tmp_path / "text.npy").write_text("text")
    with pytest.raises(DataError, match=r"text\.npy"):
        open_starts(tmp_path / "text.npy")


def test_a_disk_that_refuses_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WriteFailed):
        store_starts(
            tmp_path / "file" / "starts.npy", Counting(), [np.ones((1, 1), np.uint64)], np.zeros(1)
        )
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("chain", ["fixed", "reverse_markov"])
def test_stored_starts_have_one_value_in_every_batch(chain, library, tmp_path):
    path, block = gaussian(chain), whole(features(3, 2))
    images = pixels(3, side=4).astype(np.float32)
    paths = {"blend": Blend(sigma=0), "gaussian": path}
    plan = plan_states(block, images, paths, GRID)
    assert plan.drawn == {"gaussian": plan.starts.index(path.start)}

    number = plan.drawn["gaussian"]
    words = 1 if chain == "fixed" else 2
    draws = plan.draw[plan.start == number][:, :words]
    store_starts(tmp_path / "starts.npy", path.start, [draws], images[0])
    stored = {number: open_starts(tmp_path / "starts.npy")}
    clean = torch.from_numpy(images) if library == "torch" else images
    states = np.arange(plan.state_count)
    together = np.asarray(StateBuilder(plan, clean, stored).build(states))
    for size in (1, 7):
        parts = [
            np.asarray(StateBuilder(plan, clean, stored).build(some))
            for some in np.split(states, range(size, states.size, size))
        ]
        np.testing.assert_array_equal(np.concatenate(parts), together)
    made = np.asarray(StateBuilder(plan, clean).build(states))
    np.testing.assert_allclose(together, made, atol=1e-4)
