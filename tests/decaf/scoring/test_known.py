"""What is stored of a block does not go through the model again."""

import numpy as np
import pytest
import torch
from blocks import foregrounds, pixels, whole

from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches
from decaf.scoring.block import Known, score_block
from decaf.scoring.known import known_values, states_to_score
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder, on_device

GRID = np.array([0, 0.25, 0.5, 1])
BLEND, PATCH, SOFT = Blend(sigma=1.0), Patches(sigma=1.0), Blend(sigma=2.0)


@pytest.fixture
def block():
    return whole(foregrounds(2))


@pytest.fixture
def inputs(block):
    return pixels(len(block.image_ids), side=32)


def scorer(states):
    return torch.stack([states.mean(dim=(1, 2, 3)), states.amax(dim=(1, 2, 3))], dim=1)


def scored(block, inputs, paths, known=None, plan=None):
    plan = plan or plan_states(block, inputs, paths, GRID)
    builder = StateBuilder(plan, on_device(inputs, torch.device("cpu")))
    columns = np.zeros(block.pair_count, np.int64)
    return score_block(plan, builder, scorer, columns, 64, known=known)


def added(block, inputs, stored, path, clean=None, branches=None):
    """Scores of a path beside a stored one, and how many states it needed."""
    whole_plan = plan_states(block, inputs, {"new": path, "old": stored}, GRID)
    first = scored(block, inputs, {"old": stored})
    columns = np.zeros(block.pair_count, np.int64)
    clean = first.clean if clean is None else clean(first.clean.copy())
    values = first.branches["old"] if branches is None else branches(first.branches["old"].copy())
    known = known_values(whole_plan, columns, clean, {"old": values})
    needed = states_to_score(whole_plan, columns, known, ["new"])
    return scored(block, inputs, {}, Known(known, needed), whole_plan)


@pytest.mark.parametrize("stored", [None, ("same_next",)])
def test_a_path_for_some_pairs_beside_a_stored_one(block, inputs, stored):
    path = Patches(sigma=1.0, pair_types=("same_rand",))
    alone = scored(block, inputs, {"new": path})
    beside = added(block, inputs, Blend(sigma=1.0, pair_types=stored), path)
    np.testing.assert_array_equal(beside.branches["new"], alone.branches["new"])
    pairs, inner = block.pair_count // 2, GRID.size - 2
    assert beside.branches["new"].shape[0] == pairs
    starts = 0 if stored is None else pairs
    assert beside.forward_rows == pairs * inner * 2 + starts


@pytest.mark.parametrize("path", [PATCH, SOFT], ids=["same start", "another start"])
def test_a_path_that_is_added_has_the_scores_of_one_that_was_there(block, inputs, path):
    alone = scored(block, inputs, {"new": path})
    beside = added(block, inputs, BLEND, path)
    np.testing.assert_array_equal(beside.branches["new"], alone.branches["new"])
    np.testing.assert_array_equal(beside.clean, alone.clean)
    pairs, stages = block.pair_count, GRID.size
    both = scored(block, inputs, {"old": BLEND, "new": path})
    before = scored(block, inputs, {"old": BLEND})
    # What both paths share is scored once, whether they are scored together or one after the other.
    assert beside.forward_rows == both.forward_rows - before.forward_rows
    assert beside.forward_rows < alone.forward_rows
    assert 0 < beside.forward_rows <= 2 * pairs * (stages - 1)


def test_the_same_path_needs_nothing(block, inputs):
    again = added(block, inputs, BLEND, BLEND)
    assert again.forward_rows == 0
    np.testing.assert_array_equal(again.branches["new"], again.branches["old"])


def test_what_is_not_stored_is_scored(block, inputs):
    def without_first_image(clean):
        clean[0] = np.nan
        return clean

    def without_first_pair(branches):
        branches[0] = np.nan
        return branches

    alone = scored(block, inputs, {"new": PATCH})
    whole_known = added(block, inputs, BLEND, PATCH)
    partly = added(block, inputs, BLEND, PATCH, without_first_image, without_first_pair)
    np.testing.assert_array_equal(partly.branches["new"], alone.branches["new"])
    assert whole_known.forward_rows < partly.forward_rows <= alone.forward_rows


def test_what_is_known_is_believed(block, inputs):
    """A stored score is taken as it is: no state of it is looked at."""
    changed = added(block, inputs, BLEND, PATCH, clean=lambda clean: clean + 7.0)
    alone = scored(block, inputs, {"new": PATCH})
    np.testing.assert_allclose(
        changed.branches["new"][:, :, -1], alone.branches["new"][:, :, -1] + 7.0
    )
    np.testing.assert_array_equal(
        changed.branches["new"][:, :, :-1], alone.branches["new"][:, :, :-1]
    )
