"""A gate on a change whose values the encoder of the model does not know: it decides nothing."""

import pytest
from in_process import compute
from registry_folder import put
from warehouse_answers import fetched

from tasks.model_remarks import commit_trial
from tasks.reaudit.judge import judge_newest
from tasks.reaudit.plan import commit_reaudit, discover

REMARK = "pair type 'wall_hue' changes 'wall', where the model's encoder does not know all values"
DATA = {"adapter": "shapes3d", "sources": 8, "seed": 1}


@pytest.mark.parametrize(
    ("limit", "remark", "verdict"),
    [
        (0.9, f"{REMARK}. Likely causes: other words", "undecided"),
        (0.9, "pair type 'wall' changes 'wall', where …", "pass"),
        (0.0001, REMARK, "fail"),
    ],
    ids=["holds", "another pair type", "fails"],
)
def test_a_limit_on_values_that_the_encoder_does_not_know(opened, tmp_path, limit, remark, verdict):
    gate = {"at_most": limit, "pair_type": "wall_hue"}
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    study, store = opened(gates={"endpoint_magnitude": gate}, data=DATA)
    diff = discover(study, store, study.pair_set())
    plan = compute(diff.audited_study)
    (model,) = {unit.model_id for unit in plan.work.units}
    commit_trial(store, study.study, plan.work.units, {model: [remark]})
    commit_reaudit(diff, plan.run_id)
    judge_newest(store, study)
    rows = fetched(study.warehouse, "SELECT verdict, reason FROM out_verdicts")
    assert rows == [(verdict, REMARK if verdict == "undecided" else None)]
