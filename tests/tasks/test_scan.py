"""Models of one study share the plan of a block and the random starts."""

from dataclasses import replace

import in_process
import pytest
from small_studies import of_scenes, untrained, white_reference
from warehouse_answers import fetched

from decaf.plan.study import Study
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.gaussian import GaussianReveal, GaussianStart
from tasks.units import state_plans


@pytest.fixture
def study(tmp_path):
    noise = GaussianReveal(reference=white_reference(tmp_path), seeds=(7,))
    paths = {
        "blend": Blend(),
        "noise": noise,
        "chain": replace(noise, chain="reverse_markov", stages=3),
    }
    models = [untrained(tmp_path, f"model-{seed}", seed) for seed in (1, 2)]
    return Study(**of_scenes(tmp_path, models, 4, paths=paths, sources_per_block=2))


def compute(study):
    """Compute a study in this process; files of its random starts."""
    in_process.compute(study)
    return sorted((study.workspace / "fitted").glob("starts-*.npy"))


def test_a_block_is_planned_once_for_all_models(study, monkeypatch):
    planned, plan_states = [], state_plans.plan_states

    def counted(block, *rest):
        planned.append(block.pair_ids[0])
        return plan_states(block, *rest)

    monkeypatch.setattr(state_plans, "_kept", {})
    monkeypatch.setattr(state_plans, "plan_states", counted)
    compute(study)
    assert len(planned) == len(set(planned)) == 2

    # A worker that has no room plans again.
    monkeypatch.setattr(state_plans, "_kept", {})
    monkeypatch.setattr(state_plans, "LARGEST_SUM", 0)
    compute(study.model_copy(update={"study": "other"}))
    assert len(planned) == 2 + 2 * 2


def test_a_worker_keeps_plans_of_one_study(study, monkeypatch):
    monkeypatch.setattr(state_plans, "_kept", {})
    for name in ("try", "other"):
        compute(study.model_copy(update={"study": name}))
        assert [(kept, len(plans)) for (_, kept), plans in state_plans._kept.items()] == [(name, 2)]


def test_paths_of_other_pairs_have_starts_of_their_own(study):
    every = study.paths["noise"]
    paths = {"every": every, "some": replace(every, pair_types=("wall_hue",))}
    other = study.model_copy(update={"paths": paths})
    files = in_process.planned(other).start_files
    assert files["every"] != files["some"]


def test_random_starts_are_drawn_once_for_the_study(study, monkeypatch):
    made, states = [], GaussianStart.states

    def counted(start, plus, minus, draw):
        made.append(len(draw))
        return states(start, plus, minus, draw)

    monkeypatch.setattr(GaussianStart, "states", counted)
    files = compute(study)
    # One for each of four scenes, and for every stage of the chain.
    assert sorted(made) == [4, 4 * 3]
    assert len(files) == 2

    # Other blocks of the same pairs find them, and so does another study in the workspace.
    assert compute(study.model_copy(update={"study": "other", "sources_per_block": 4})) == files
    assert len(made) == 2
    ((apart,),) = fetched(
        study.warehouse,
        "SELECT max(abs(one.q_plus[s] - two.q_plus[s])) "
        "FROM core_trajectories AS one JOIN core_trajectories AS two "
        "USING (model_id, path, pair_id, repetition), range(1, 4) AS stages(s) "
        "WHERE one.study = 'try' AND two.study = 'other' AND path <> 'blend'",
    )
    # The draws have the same bits; a network rounds by the rows of its batch.
    assert apart < 1e-6
