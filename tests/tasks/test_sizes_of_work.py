"""Blocks, batches and workers of studies that leave them open, from plan to warehouse."""

from dataclasses import replace

import numpy as np
import pytest
from in_process import compute, train
from small_studies import of_scenes, untrained, weighted
from warehouse_answers import fetched

from decaf.data.pairs import PairSet
from decaf.plan.cluster import LocalWorkers
from decaf.plan.study import Study
from decaf.scoring.batches import LEAST_ROWS, Call, TimedScorer
from decaf.studies.scenes.adapters import Shapes3D
from flows.commands.sizes import say_sizes
from tasks.inputs import store_pairs
from tasks.make_task import make_task
from tasks.plan import plan_audit, settle_blocks
from tasks.sizes import Pace, block_seconds, load_of
from tasks.terminal import Terminal
from tasks.trial import scored_models, trials_of, try_model
from tasks.units.run_task import run_task

OPEN = {"sources_per_block": None}
SOURCES = 8


@pytest.fixture
def study(tmp_path):
    """Eight scenes, two networks, one worker; blocks and batches are open."""
    models = [untrained(tmp_path, name, seed) for seed, name in enumerate(("one", "two"))]
    cluster = {"kind": "local", "workers": 1}
    return Study(**of_scenes(tmp_path, models, SOURCES, cluster=cluster) | OPEN)


def sizes(plan):
    return plan.configuration.sources_per_block, plan.sizes.can_shrink_blocks


def test_a_first_run_chooses_blocks_and_later_ones_keep_them(study):
    pairs = study.pair_set()
    plan = plan_audit(study, pairs)
    assert sizes(plan) == (SOURCES, True)
    row_count = load_of(study, pairs).states_per_source
    slow = {"one": Pace(64, 10 / row_count / 3, is_reduced=False)}  # three sources in 10 s
    settled = settle_blocks(plan, slow, worker_count=1)
    assert sizes(settled) == (3, False)
    assert block_seconds(3, load_of(settled.configuration, pairs), slow["one"]) == pytest.approx(10)
    assert settled.batch_size("one") == 64
    compute(settled.configuration, pairs)
    again = plan_audit(study, pairs)
    assert sizes(again) == (3, False)
    assert again.run_id == settled.run_id
    assert not [unit for unit in again.work.pending if unit.kind == "score"]
    # A faster or slower model changes nothing from here on.
    assert sizes(settle_blocks(again, slow, worker_count=4)) == (3, False)


def test_a_plan_says_why_a_run_may_compute_other_units(study, capsys):
    def words(plan):
        say_sizes(Terminal(), plan)
        return capsys.readouterr().out

    plan = plan_audit(study, study.pair_set())
    fast = {"one": Pace(64, 1e-6, is_reduced=False)}
    assert "more units" in words(plan)
    assert "units" not in words(settle_blocks(plan, fast, worker_count=1))
    assert "units: at most" in words(replace(plan, may_stop=True))


def test_a_study_that_has_grown_tenfold_chooses_anew(study):
    scenes = [Shapes3D(adapter="shapes3d", sources=sources) for sources in (1, 16)]
    few, many = (study.model_copy(update={"data": data}) for data in scenes)
    compute(few, few.pair_set())
    assert sizes(plan_audit(few, few.pair_set())) == (1, False)
    assert sizes(plan_audit(study, study.pair_set())) == (1, False)  # eight times the pairs
    assert sizes(plan_audit(many, many.pair_set())) == (16, True)


def test_what_is_set_by_hand_stays(study):
    set_by_hand = study.model_copy(update={"sources_per_block": 5, "batch_size": 7})
    plan = plan_audit(set_by_hand, study.pair_set())
    slow = {"one": Pace(7, 1000.0, is_reduced=False)}
    assert sizes(settle_blocks(plan, slow, worker_count=9)) == (5, False)
    assert plan.batch_size("two") == 7
    assert plan.configuration.cluster == study.cluster


def test_workers_are_chosen_where_none_are_set(study):
    plan = plan_audit(study.model_copy(update={"cluster": None}), study.pair_set())
    assert isinstance(plan.configuration.cluster, LocalWorkers)
    assert plan.configuration.cluster.workers <= SOURCES * 2 // 4
    assert plan.sizes.why_workers


def test_a_trial_times_batches_up_to_the_states_of_a_block(study):
    plan = plan_audit(study, study.pair_set())
    for trial in trials_of(plan, scored_models(plan)):
        pace = try_model(trial).pace
        assert 1 <= pace.batch_size <= trial.state_count
        assert pace.seconds_per_row > 0


@pytest.fixture
def narrow(tmp_path):
    """A study of a function that has memory for 20 inputs at most."""
    (tmp_path / "narrow.py").write_text(
        "def total(x):\n"
        "    if len(x) > 20:\n"
        "        raise MemoryError\n"
        "    return x.sum((1, 2, 3))\n"
    )
    card = {"id": "narrow", "family": "any", "source": "function", "output": "value"}
    settings = of_scenes(tmp_path, [], SOURCES) | weighted(tmp_path) | OPEN
    settings["models"] = [card | {"function": "narrow:total"}]
    return Study(**settings)


@pytest.mark.filterwarnings("ignore::decaf.BatchWarning")
def test_a_run_says_that_a_batch_does_not_fit_the_memory(narrow):
    plan = train(narrow.model_copy(update={"batch_size": 32}))
    inputs = store_pairs(narrow, plan.pairs)
    scored = plan.work.by_model["narrow"][0]
    done = run_task(make_task(plan, scored, inputs, None))
    assert "32 rows" in done.remark
    (row,) = fetched(narrow.warehouse, "SELECT batch_size, requested_batch_size FROM stg_costs")
    assert row == (16, 32)


class Delayed(TimedScorer):
    """Its first call of 64 rows takes 100 s."""

    def __call__(self, rows):
        scores = super().__call__(rows)
        if len(rows) == LEAST_ROWS and all(call.seconds < 100 for call in self.calls):
            self.calls[-1] = Call(LEAST_ROWS, 100.0)
        return scores


@pytest.mark.parametrize(("state_count", "is_repeated"), [(6_400, True), (6_399, False)])
def test_a_long_call_is_measured_again_where_it_is_little_of_the_work(
    study, monkeypatch, state_count, is_repeated
):
    monkeypatch.setattr("tasks.trial.TimedScorer", Delayed)
    plan = plan_audit(study, study.pair_set())
    trial = trials_of(plan, scored_models(plan))[0]._replace(state_count=state_count)
    assert (try_model(trial).pace.seconds_per_row < 1) == is_repeated


def test_a_batch_that_does_not_fit_the_memory_is_halved_in_the_trial(narrow):
    plan = plan_audit(narrow, narrow.pair_set())
    (trial,) = trials_of(plan, scored_models(plan))
    pace = try_model(trial).pace
    assert pace.is_reduced
    assert 10 <= pace.batch_size <= 20


def test_batches_change_no_score(study):
    pairs: PairSet = study.pair_set()
    scores = []
    for size in (1, 13, None):
        own = study.model_copy(
            update={"batch_size": size, "warehouse": f"{study.warehouse}-{size}"}
        )
        compute(own, pairs)
        query = "SELECT q_plus, q_minus FROM core_trajectories ORDER BY model_id, pair_id"
        scores.append(np.array(fetched(own.warehouse, query)))
    assert np.abs(scores[0] - scores[1]).max() < 1e-6
    assert np.abs(scores[0] - scores[2]).max() < 1e-6
