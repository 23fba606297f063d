"""Several scorers of one block build its states once; what is stored of it is not scored again."""

import numpy as np
import pytest
import torch
from blocks import foregrounds, pixels, whole

from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches
from decaf.scoring.batches import FixedLimit
from decaf.scoring.block import StoredScores, score_block, score_together
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder, on_device
from decaf.scoring.stored_scores import states_to_score, stored_values

GRID = np.array([0, 0.25, 0.5, 1])
ROWS = 16
BLEND, PATCH, SOFT = Blend(sigma=1.0), Patches(sigma=1.0), Blend(sigma=2.0)


class Counted(StateBuilder):
    """Notes how many states it builds at a time."""

    def __init__(self, plan, inputs):
        super().__init__(plan, on_device(inputs, torch.device("cpu")))
        self.built = []

    def build(self, states):
        self.built.append(len(states))
        return super().build(states)


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


def largest(states):
    return states.amax(dim=(1, 2, 3))[:, None]


def smallest(states):
    return states.amin(dim=(1, 2, 3))[:, None]


def writes(states):
    """The mean, and a batch of nothing for who comes next, who would not know."""
    found = mean(states)
    states.zero_()
    return found


def writes_by_numpy(states):
    found = mean(states)
    states.numpy()[:] = 0
    return found


def writes_a_row(states):
    found = mean(states)
    states[-1].zero_()
    return found


def some_pixels(states):
    """A part of the batch itself, and no copy of it."""
    return states[:, 0, 0, :1]


def assert_alike(found, expected):
    assert found.branches.keys() == expected.branches.keys()
    for name, scores in found.branches.items():
        np.testing.assert_array_equal(scores, expected.branches[name])
    np.testing.assert_array_equal(found.clean, expected.clean)
    assert found[2:5] == expected[2:5]


def test_each_scorer_gets_what_it_gets_alone_and_states_are_built_once(plan, inputs, columns):
    scorers = [mean, largest, smallest]
    alone = [
        score_block(plan, Counted(plan, inputs), scorer, columns, ROWS, sign=-1.0)
        for scorer in scorers
    ]
    builder = Counted(plan, inputs)
    found = score_together(plan, builder, scorers, columns, FixedLimit(ROWS), -1.0, [None] * 3)
    assert sum(builder.built) == plan.state_count
    assert len(found) == 3
    for one, expected in zip(found, alone, strict=True):
        assert_alike(one, expected)
        assert one.forward_rows == plan.state_count
    # What building takes is divided among them.
    assert len({one.build_seconds for one in found}) == 1
    assert found[0].build_seconds > 0


@pytest.mark.parametrize("rude", [writes, writes_by_numpy, writes_a_row])
def test_who_writes_into_a_batch_spoils_it_for_nobody(plan, inputs, columns, rude):
    builder = Counted(plan, inputs)
    scorers = [largest, some_pixels, rude, smallest, rude]
    found = score_together(plan, builder, scorers, columns, FixedLimit(ROWS), 1.0, [None] * 5)
    for one, scorer in zip(found, [largest, some_pixels, mean, smallest, mean], strict=True):
        alone = score_block(plan, StateBuilder(plan, builder._clean), scorer, columns, ROWS)
        assert_alike(one, alone)
    assert sum(builder.built) == 2 * plan.state_count, "and once more for the one after it"


@pytest.mark.filterwarnings("ignore::decaf.BatchWarning")
def test_a_batch_that_one_has_no_room_for_is_halved_for_those_after_it(plan, inputs, columns):
    seen = {"first": [], "cramped": [], "last": []}

    def noted(name, most):
        def scorer(states):
            if len(states) > most:
                raise torch.OutOfMemoryError("CUDA out of memory")
            seen[name].append(len(states))
            return mean(states)

        return scorer

    scorers = [noted("first", 99), noted("cramped", 4), noted("last", 99)]
    builder = Counted(plan, inputs)
    found = score_together(plan, builder, scorers, columns, FixedLimit(ROWS), 1.0, [None] * 3)
    for one in found:
        np.testing.assert_allclose(one.clean, found[0].clean, rtol=1e-6)
        for name, scores in one.branches.items():
            np.testing.assert_allclose(scores, found[0].branches[name], rtol=1e-6)
    # Nothing is scored twice: what the first had done before is not done again in halves.
    assert {sum(sizes) for sizes in seen.values()} == {plan.state_count}
    assert [one.batch_size for one in found] == [ROWS, 4, 4]


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
