"""A table through the command line: models that were fitted on its data frame, audited in SQL."""

import numpy as np
import pandas as pd
import pytest
import skops.io
import xgboost
import yaml
from applicants import INPUTS, JOB, applicants, section, written
from ended_commands import refused, succeeded
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from warehouse_answers import fetched

FAMILY = {"family": "any"}
FUNCTION = {"id": "by_hand", **FAMILY, "source": "function", "output": "probabilities"}
FUNCTION |= {"function": "hiring:chances", "input": "frame"}
WITHOUT = "without job"


def fitted_on():
    """The frame as somebody reads it to fit a model."""
    frame = applicants()
    return frame[INPUTS].astype({"job": JOB, "town": "str"}), (frame["hired"] == "yes").astype(int)


def pipeline(folder):
    """Card of a pipeline whose columns are chosen by name, saved by skops; and the pipeline."""
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "pay"]),
            ("names", OneHotEncoder(handle_unknown="ignore"), ["town", "job"]),
            ("rest", "passthrough", ["owner"]),
        ]
    )
    fitted = make_pipeline(columns, LogisticRegression()).fit(*fitted_on())
    skops.io.dump(fitted, folder / "pipeline.skops")
    types = skops.io.get_untrusted_types(file=folder / "pipeline.skops")
    card = {"id": "pipeline", **FAMILY, "source": "estimator", "trusted": types}
    return card | {"file": str(folder / "pipeline.skops")}, fitted


def trees(folder):
    """Card of trees that split at categories themselves; and the classifier."""
    frame, labels = fitted_on()
    fitted = xgboost.XGBClassifier(n_estimators=5, max_depth=2, enable_categorical=True)
    fitted.fit(frame.drop(columns="town"), labels)
    fitted.save_model(folder / "trees.ubj")
    card = {"id": "trees", **FAMILY, "source": "estimator"}
    return card | {"file": str(folder / "trees.ubj")}, fitted


@pytest.fixture
def table_study(study, tmp_path):
    """The applicants under two changes and without their job, on three paths."""
    changes = {"smith": {"set": {"job": "smith"}}, "older": {"add": {"age": 5}}}
    return {
        **study,
        "data": section(tmp_path, changes=changes, removed=["job"]),
        "models": [FUNCTION, pipeline(tmp_path)[0], trees(tmp_path)[0]],
        "paths": {
            "blend": {"kind": "blend", "sigma": 0, "pair_types": ["smith", "older"]},
            "noise": {"kind": "gaussian", "seeds": [1], "pair_types": ["smith", "older"]},
            "fade": {"kind": "removal", "pair_types": [WITHOUT]},
        },
        "stages": 3,
        "sources_per_block": 6,
    }


@pytest.mark.slow
def test_models_fitted_on_a_frame_are_audited(table_study, write, decaf, prefect_server, tmp_path):
    config = write(table_study)
    planned = succeeded(decaf("plan", config, **prefect_server))
    alike = (applicants()["job"] == "smith").sum()
    left = f"left out: {alike} of 48 (smith {alike} of 24)"
    assert left in planned
    succeeded(decaf("run", config, **prefect_server))
    warehouse = tmp_path / "warehouse"
    frame = applicants().set_index("who")
    ones = dict(
        fetched(
            warehouse,
            "SELECT pair_id, [q_plus, q_minus] FROM core_trajectories "
            "WHERE model_id = 'by_hand' AND path = 'blend'",
        )
    )
    assert len(ones) == 24 + (frame["job"] != "smith").sum()

    def of(job, hired):
        yes = 0.0 if pd.isna(job) else 0.75 if job == "smith" else 0.25
        return yes if hired == "yes" else 1 - yes

    for pair_id, branches in ones.items():
        who, change = pair_id.split("__")
        job, hired = frame.loc[who, "job"], frame.loc[who, "hired"]
        own, others = of(job, hired), of("smith" if change == "smith" else job, hired)
        # A shared start, and from there on each branch shows its own job.
        assert branches[0][1:] == [own] * 2
        assert branches[1][1:] == [others] * 2
        assert branches[0][0] == branches[1][0]
        assert branches[0][0] in (own, others)

    fades = fetched(
        warehouse,
        "SELECT pair_id, q_plus, q_minus FROM core_trajectories "
        "WHERE model_id = 'by_hand' AND path = 'fade'",
    )
    for pair_id, plus, minus in fades:
        job, hired = (frame.loc[pair_id.split("__")[0], name] for name in ("job", "hired"))
        assert plus == [of(None, hired), of(job, hired), of(job, hired)]
        assert minus == [of(None, hired)] * 3

    shown = dict(fetched(warehouse, "SELECT pair_id, words FROM stg_shown_pairs"))
    assert any(": job " in words and " → smith" in words for words in shown.values())
    assert fetched(warehouse, "FROM stg_shown_pairs WHERE factual IS NOT NULL") == []

    rows = fetched(warehouse, "SELECT model_id, path, evidence FROM out_model_profiles")
    assert len({(model, path) for model, path, _ in rows}) == 9
    apart = tmp_path / "apart"
    apart.mkdir()
    for name, made in (("pipeline", pipeline), ("trees", trees)):
        expected = made(apart)[1].predict_proba(
            fitted_on()[0] if name == "pipeline" else fitted_on()[0].drop(columns="town")
        )
        stored = dict(
            fetched(
                warehouse,
                "SELECT image_id, class_scores FROM core_predictions WHERE model_id = $name",
                name=name,
            )
        )
        found = [stored[f"factual/{who}"] for who in frame.index]
        np.testing.assert_allclose(found, expected, atol=1e-12 if name == "pipeline" else 1e-6)

    again = decaf("run", config, **prefect_server)
    assert "nothing to do: all" in succeeded(again)

    # The same pipeline as an entry of a registry, under one more change.
    folder = tmp_path / "models" / "pipeline" / "1"
    folder.mkdir(parents=True)
    card = {**pipeline(folder)[0], "file": "pipeline.skops"}
    del card["id"]
    (folder / "decaf.yaml").write_text(yaml.safe_dump(card))
    registry = {"kind": "folder", "root": str(tmp_path / "models"), "trusted": card["trusted"]}
    changes = {**table_study["data"]["changes"], "in Bonn": {"set": {"town": "Bonn"}}}
    data = {**table_study["data"], "changes": changes}
    config = write({**table_study, "data": data, "models": [], "registry": registry})
    succeeded(decaf("reaudit", config, **prefect_server))
    counted = "SELECT pair_type, count(*) FROM core_trajectories WHERE path = 'blend' GROUP BY ALL"
    assert dict(fetched(warehouse, counted)) == {
        "smith": (frame["job"] != "smith").sum(),
        "older": 24,
    }
    query = "SELECT count(*) FROM core_pairs WHERE pair_type = 'in Bonn'"
    assert fetched(warehouse, query) == [((frame["town"] != "Bonn").sum(),)]


@pytest.mark.slow
def test_a_column_that_the_model_needs_is_named_by_the_plan(study, write, decaf, tmp_path):
    table = written(tmp_path, applicants().rename(columns={"pay": "wage"}), "renamed.csv")
    data = section(tmp_path, table=table)
    paths = {"blend": {"kind": "blend", "sigma": 0}}
    settings = {"data": data, "models": [pipeline(tmp_path)[0]], "paths": paths}
    done = decaf("plan", write(study | settings))
    words = ["model pipeline", "was fitted on the columns age, pay, owner", "lacks pay", "wage"]
    refused(done, *words)
