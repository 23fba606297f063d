"""Changes of columns that a model does not take: it says so, and the warehouse does."""

from types import SimpleNamespace

import pytest
from applicants import applicants, section
from in_process import compute
from sklearn.linear_model import LogisticRegression
from skops.io import dump
from small_studies import of_scenes
from warehouse_answers import fetched

from decaf.plan.study import Study
from flows.commands.remarks import remark_warnings
from tasks.plan import plan_audit
from tasks.trial import scored_models, trials_of, try_with_remarks

CHANGES = {
    "moved": {"permute": {"column": "town"}},
    "older": {"add": {"age": 5}},
    "both": {"add": {"age": 5}, "permute": {"column": "town"}},
}
TAKEN = ["age", "owner"]


@pytest.fixture
def study(tmp_path):
    """A classifier that was fitted on two columns, and changes of these and of another."""
    frame = applicants()
    dump(LogisticRegression().fit(frame[TAKEN], frame["hired"]), tmp_path / "m.skops")
    card = {"id": "m", "family": "any", "source": "estimator", "file": str(tmp_path / "m.skops")}
    data = section(tmp_path, changes=CHANGES, removed=["town", "owner"])
    paths = {
        "blend": {"kind": "blend", "sigma": 0, "pair_types": list(CHANGES)},
        "fade": {"kind": "removal", "pair_types": ["without town", "without owner"]},
    }
    score = {"kind": "class_probability", "classes": 2, "target": 1}
    card["classes"] = ["no", "yes"]
    return Study(**of_scenes(tmp_path, [card], data=data, paths=paths, score=score))


def test_changed_columns_are_listed_by_pair_type(study):
    assert study.pair_set().changed_columns == {
        "moved": ("town",),
        "older": ("age",),
        "both": ("age", "town"),
        "without town": ("town",),
        "without owner": ("owner",),
    }


def test_a_change_of_an_untaken_column_is_remarked_and_stored(study, tmp_path):
    plan = plan_audit(study, study.pair_set())
    (trial,) = trials_of(plan, scored_models(plan))
    remarks = try_with_remarks(trial).remarks
    assert len(remarks) == 2
    for remark, pair_type in zip(remarks, ("without town", "moved"), strict=True):
        assert "not use town" in remark
        assert f"'{pair_type}'" in remark
    compute(study)
    query = "SELECT model_id, detail FROM out_warnings WHERE warning = 'no_response'"
    ((model_id, detail),) = fetched(tmp_path / "warehouse", query)
    assert (model_id, detail.rpartition(": ")[2]) == ("m", "moved, without town")
    row = SimpleNamespace(warning="no_response", model_id=model_id, detail=detail)
    assert remark_warnings([row]) == [f"m: {detail}"]
