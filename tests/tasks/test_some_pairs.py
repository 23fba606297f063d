"""Paths for pairs of some types, computed, checked and read; blocks that no path scores."""

from dataclasses import replace

import in_process
import numpy as np
import pytest
from small_studies import of_scenes, untrained
from warehouse_answers import fetched

from decaf.plan.study import Study
from tasks import row_counts
from tasks.manifest import commit_outcome
from tasks.plan import plan_audit
from tasks.row_counts import count_rows
from tasks.verify import verify

SCORES = "SELECT pair_id, path, q_plus, q_minus FROM core_trajectories ORDER BY pair_id, path"
PROGRESS = "SELECT done_count, block_count, forward_rows FROM out_progress"
ENDPOINTS = "SELECT pair_id, plus_score - minus_score FROM core_pair_predictions"
# Other states meet in a batch, which may cost the last bits of float32.
OTHER_BATCH = 1e-6
QUERIES = (SCORES, PROGRESS, ENDPOINTS)


@pytest.fixture
def study(tmp_path):
    paths = {"blend": {"kind": "blend"}, "patch": {"kind": "patches"}}
    models = [untrained(tmp_path, "cnn")]
    settings = of_scenes(tmp_path, models, 4, 1, paths=paths, stages=3, sources_per_block=1)
    return Study(**settings)


@pytest.fixture
def pairs(study):
    """Two sources with both pair types, two with one of them alone."""
    whole = study.pair_set()
    sources = sorted({pair.source_id for pair in whole.pairs})
    kept = (p for p in whole.pairs if p.source_id in sources[:2] or p.pair_type == "wall_hue")
    return replace(whole, pairs=tuple(kept))


def limited(study, **pair_types):
    paths = {name: replace(study.paths[name], pair_types=own) for name, own in pair_types.items()}
    return study.model_copy(update={"paths": paths})


def audit(study, pairs):
    """Compute what is left in this process, as workers do; the plan, and rows of the warehouse."""
    plan = in_process.compute(study, pairs)
    verify(plan.store, study.study)
    commit_outcome(plan, 0, 0)
    return plan, {query: fetched(study.warehouse, query) for query in QUERIES}


def test_paths_for_some_pairs_from_plan_to_views(study, pairs):
    whole = audit(study.model_copy(update={"warehouse": f"{study.warehouse}_whole"}), pairs)[1]
    expected = {row[:2]: row[2:] for row in whole[SCORES]}
    few = limited(study, blend=("shape",), patch=("shape",))
    # A source with both types: three clean inputs, a start, one inner stage x 2 branches x 2 paths;
    # one without a path: two clean inputs.
    assert count_rows(few, pairs)[:2] == (2 * (3 + 1 + 4) + 2 * 2, 2 * (6 + 6 + 2) + 2 * 2)
    plan, rows = audit(few, pairs)
    assert [unit.block for unit in plan.work.units if unit.kind == "score"] == [0, 0, 1, 1]
    shapes = {pair.pair_id for pair in pairs.pairs if pair.pair_type == "shape"}
    found = {row[:2]: row[2:] for row in rows[SCORES]}
    assert set(found) == {place for place in expected if place[0] in shapes}
    for place, scores in found.items():
        np.testing.assert_allclose(scores, expected[place], atol=OTHER_BATCH)
    assert len(found) == 2 * 2
    assert rows[PROGRESS][0] == (4, 4, 2 * (3 + 1 + 4) + 2 * 2)
    assert len(rows[ENDPOINTS]) == len(pairs.pairs) == 6, "those without a path as well"
    for (pair, difference), (other, whole_difference) in zip(
        sorted(rows[ENDPOINTS]), sorted(whole[ENDPOINTS]), strict=True
    ):
        assert (pair, difference) == (other, pytest.approx(whole_difference, abs=OTHER_BATCH))


def test_a_type_that_is_added_to_a_path(study, pairs):
    plan, _ = audit(limited(study, blend=("shape",), patch=None), pairs)
    more = limited(study, blend=("shape", "wall_hue"), patch=None)
    assert in_process.reasons(plan_audit(more, pairs)) == {
        ("score", "part changed", "pairs"): 2,
        ("score", "first run", ""): 2,
        ("route", "cascade", "score"): 4,
    }
    after, rows = audit(more, pairs)
    assert {unit.name for unit in after.work.pending} == {"blend"}
    assert len(rows[SCORES]) == 2 * 6
    assert not plan_audit(limited(study, blend=("shape",), patch=None), pairs).work.pending


def test_rows_of_a_large_study_are_scaled_up_from_some_blocks(study, pairs, monkeypatch):
    exact = count_rows(study, pairs)
    assert exact.is_exact
    monkeypatch.setattr(row_counts, "COUNTED_PAIRS", 2)
    scaled = count_rows(study, pairs)
    assert not scaled.is_exact
    (block,) = pairs.blocks(study.sources_per_block)[:1]
    of_block = replace(pairs, pairs=[pairs.pairs[row] for row in block])
    monkeypatch.undo()
    expected = count_rows(study, of_block)
    share = len(block) / len(pairs.pairs)
    assert scaled[:2] == (round(expected.planned / share), round(expected.naive / share))
