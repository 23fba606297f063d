"""Models that are trained, and those that wait for it: what an audit goes on with."""

from covertype_table import made_up, write

from decaf.plan.study import Study
from tasks.plan import plan_audit
from tasks.train import with_trained_models


def test_an_audit_goes_on_with_the_models_that_could_be_trained(tmp_path):
    recipe = {"recipe": "covertype_classifier", "classifier": "logistic_regression", "seed": 7701}
    models = [
        {"id": name, "family": "f", "source": "estimator", "training": recipe | {"mechanism": name}}
        for name in ("robust", "mild", "fragile")
    ]
    table = {"file": str(write(tmp_path / "covtype.data", made_up(20))), "drawn_per_class": 20}
    study = Study(
        study="s",
        data={"adapter": "covertype", "table": table},
        models=models,
        score={"kind": "class_probability", "classes": 2, "target": 1},
        paths={"context": {"kind": "context"}},
        baselines={"pdp_ale": {"kind": "pdp_ale", "models": ["mild"]}},
        workspace=tmp_path / "workspace",
        warehouse=str(tmp_path / "warehouse"),
    )
    assert with_trained_models(study).models == ()
    for card in (study.models[0], study.models[2]):
        card.train(study.workspace, "cpu")
    left = with_trained_models(study)
    assert [card.id for card in left.models] == ["robust", "fragile"]
    plan = plan_audit(left, left.data.pair_set())
    assert {unit.model_id for unit in plan.units} == {"robust", "fragile"}
    assert "explain" not in {unit.kind for unit in plan.units}
    study.models[1].train(study.workspace, "cpu")
    whole = with_trained_models(study)
    assert whole == study
    again = plan_audit(whole, whole.data.pair_set())
    assert {unit.key for unit in plan.units} < {unit.key for unit in again.units}
