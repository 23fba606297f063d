"""batches of a block that do not fit in the memory; stored scores are not computed again."""

import numpy as np
import pytest
import torch
from blocks import foregrounds, pixels, whole

from decaf.errors import ScoringFailed
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches
from decaf.scoring.batches import BatchWarning, FixedLimit
from decaf.scoring.block import StoredScores, score_block
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder, on_device
from decaf.scoring.stored_scores import states_to_score, stored_values

GRID = np.array([0, 0.25, 0.5, 1])
ROWS = 16
BLEND, PATCH, SOFT = Blend(sigma=1.0), Patches(sigma=1.0), Blend(sigma=2.0)


@pytest.fixture
def block():
    return whole(foregrounds(2))


@pytest.fixture
def inputs(block):
    return pixels(len(block.image_ids), side=32)


@pytest.fixture
def plan(block, inputs):
    return plan_states(block, inputs, {"blend": Blend(sigma=1), "patch": Patches(sigma=1)}, GRID)


@pytest.fixture
def columns(block):
    return np.zeros(block.pair_count, np.int64)


def mean(states):
    return states.mean(dim=(1, 2, 3))[:, None]


@pytest.mark.filterwarnings("ignore::decaf.BatchWarning")
def test_a_batch_that_does_not_fit_is_halved_here_and_for_the_next_scorer(plan, inputs, columns):
    seen = {"first": [], "cramped": [], "last": []}

    def scored_by(name, most):
        def scorer(states):
            if len(states) > most:
                raise torch.OutOfMemoryError("CUDA out of memory")
            seen[name].append(len(states))
            return mean(states)

        builder = StateBuilder(plan, on_device(inputs, torch.device("cpu")))
        return score_block(plan, builder, scorer, columns, limit, -1.0)

    limit = FixedLimit(ROWS)
    first, cramped, last = scored_by("first", 99), scored_by("cramped", 4), scored_by("last", 99)
    for scores in (cramped, last):
        np.testing.assert_allclose(scores.clean, first.clean, rtol=1e-6)
        for name, branches in scores.branches.items():
            np.testing.assert_allclose(branches, first.branches[name], rtol=1e-6)
    assert {sum(sizes) for sizes in seen.values()} == {plan.state_count}
    assert [scores.batch_size for scores in (first, cramped, last)] == [ROWS, 4, 4]


def test_one_row_that_does_not_fit_is_an_error(plan, inputs, columns):
    def scorer(states):
        raise torch.OutOfMemoryError("CUDA out of memory")

    builder = StateBuilder(plan, on_device(inputs, torch.device("cpu")))
    with pytest.warns(BatchWarning), pytest.raises(ScoringFailed):
        score_block(plan, builder, scorer, columns, FixedLimit(ROWS))


def scorer(states):
    return torch.stack([states.mean(dim=(1, 2, 3)), states.amax(dim=(1, 2, 3))], dim=1)


def scored(block, inputs, paths, known=None, plan=None):
    plan = plan or plan_states(block, inputs, paths, GRID)
    builder = StateBuilder(plan, on_device(inputs, torch.device("cpu")))
    columns = np.zeros(block.pair_count, np.int64)
    return score_block(plan, builder, scorer, columns, FixedLimit(64), stored=known)


def added(block, inputs, stored, path, clean=None, branches=None):
    """Scores of a path beside a stored one, and how many states it needed."""
    whole_plan = plan_states(block, inputs, {"new": path, "old": stored}, GRID)
    first = scored(block, inputs, {"old": stored})
    columns = np.zeros(block.pair_count, np.int64)
    clean = first.clean if clean is None else clean(first.clean.copy())
    values = first.branches["old"] if branches is None else branches(first.branches["old"].copy())
    known = stored_values(whole_plan, columns, clean, {"old": values})
    needed = states_to_score(whole_plan, columns, known, ["new"])
    return scored(block, inputs, {}, StoredScores(known, needed), whole_plan)


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
