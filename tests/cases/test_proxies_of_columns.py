"""A change of a column without a function of the column that the model uses."""

import pytest
from applicants import applicants, section, written
from in_process import compute
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skops.io import dump
from small_studies import of_scenes
from warehouse_answers import query_rows

from decaf.plan.study import Study
from tasks.model_remarks import commit_trial
from tasks.plan import plan_audit
from tasks.trial import scored_models, trials_of, try_with_remarks


@pytest.mark.parametrize(
    ("pair_type", "keys", "path"),
    [
        (
            "moved",
            {"changes": {"moved": {"permute": {"column": "town"}}}},
            {"kind": "blend", "sigma": 0},
        ),
        ("without town", {"changes": None, "removed": ["town", "age"]}, {"kind": "removal"}),
    ],
    ids=["changed", "removed"],
)
@pytest.mark.parametrize(
    ("used", "fitted", "expected"),
    [
        (["age", "region"], ["age", "region"], ("undecided", True)),
        (["age"], ["age"], ("safe", False)),
        (["age", "region"], ["age", "region", "town"], ("undecided", True)),
        (["age", "town", "region"], ["age", "town", "region"], ("undecided", True)),
        (["age"], ["age", "region", "town"], ("safe", False)),
    ],
    ids=["uses a function of it", "uses none", "gets it, too", "uses it, too", "only gets both"],
)
def test_a_limit_decides_nothing_if_the_model_uses_a_function(
    tmp_path, used, fitted, expected, pair_type, keys, path
):
    frame = applicants(60)
    frame["region"] = (frame["town"] == "Ulm") * 1.0
    encoders = [
        (name, OneHotEncoder(handle_unknown="ignore") if name == "town" else "passthrough", [name])
        for name in used
    ]
    pipeline = make_pipeline(ColumnTransformer(encoders), LogisticRegression(C=0.1))
    dump(pipeline.fit(frame[fitted], frame["hired"]), tmp_path / "m.skops")
    card = {"id": "m", "family": "any", "source": "estimator", "file": str(tmp_path / "m.skops")}
    data = section(tmp_path, table=written(tmp_path, frame, "regions.csv"), **keys)
    study = Study(
        **of_scenes(
            tmp_path,
            [card | {"classes": ["no", "yes"]}],
            data=data,
            paths={"path": path},
            score={"kind": "class_probability", "classes": 2, "target": 1},
            expect={pair_type: {"should_not_matter": {"at_most": 0.3}}},
        )
    )
    plan = plan_audit(study, study.pair_set())
    (trial,) = trials_of(plan, scored_models(plan))
    remarks = {"m": try_with_remarks(trial).remarks}
    compute(study)
    commit_trial(plan.store, study.study, plan.work.units, remarks)
    (row,) = query_rows(tmp_path / "warehouse", "SELECT decision, sentence FROM out_findings")
    assert (row["decision"], "'region'" in row["sentence"]) == expected
