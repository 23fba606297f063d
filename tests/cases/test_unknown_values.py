"""A limit on a column whose values the encoder of the model does not know: no verdict "safe"."""

import pytest
from applicants import applicants, section
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

CHANGES = {"moved": {"permute": {"column": "town"}}, "older": {"add": {"age": 5}}}


def decide(folder, towns, limited):
    """Decision on a model that was fitted on these names of the towns Ulm and Bonn."""
    frame = applicants(60)
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("c", encoder, ["town"]), ("n", "passthrough", ["age"])])
    fitted_rows = frame[["town", "age"]].replace({"town": towns})
    labels = [(n // 2 + n // 4) % 2 for n in range(60)]
    model = make_pipeline(columns, LogisticRegression(C=0.1)).fit(fitted_rows, labels)
    dump(model, file := folder / "m.skops")
    card = {"id": "m", "family": "any", "source": "estimator", "file": str(file)}
    study = Study(
        **of_scenes(
            folder,
            [card],
            data=section(folder, changes=CHANGES, label=None, classes=None),
            paths={"blend": {"kind": "blend", "sigma": 0}},
            score={"kind": "class_probability", "classes": 2, "target": 1},
            expect={limited: {"should_not_matter": {"at_most": 0.5}}},
        )
    )
    plan = plan_audit(study, study.pair_set())
    (trial,) = trials_of(plan, scored_models(plan))
    remarks = {"m": try_with_remarks(trial).remarks}
    compute(study)
    commit_trial(plan.store, study.study, plan.work.units, remarks)
    (row,) = query_rows(folder / "warehouse", "SELECT decision, sentence FROM out_findings")
    return row["decision"], "'town'" in row["sentence"]


@pytest.mark.parametrize(
    ("towns", "limited", "expected"),
    [
        ({"Ulm": "089", "Bonn": "53"}, "moved", ("undecided", True)),
        ({"Ulm": "089"}, "moved", ("undecided", True)),
        ({}, "moved", ("safe", False)),
        ({"Ulm": "089", "Bonn": "53"}, "older", ("safe", False)),
    ],
    ids=["all unknown", "one unknown", "known", "no limit on it"],
)
def test_a_limit_on_unknown_values_decides_nothing(tmp_path, towns, limited, expected):
    assert decide(tmp_path, towns, limited) == expected
