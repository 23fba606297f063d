"""Analyses of a study of Covertype: which there are, contexts, and probes of whole models."""

from types import SimpleNamespace

import numpy as np
import pytest

from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from decaf.evaluation.labels.base import StudyParts
from decaf.evaluation.probes import held_out_probabilities
from decaf.studies.covertype.labels import DECAF, REPRESENTATIONS, TABULAR, Treatments
from decaf.studies.covertype.recipes import CovertypeClassifier
from tasks.units.analyses import probe_predictions
from tasks.units.labelled_cases import LABELS, read_cases


def card(mechanism, strength, seed):
    recipe = {"mechanism": mechanism, "strength": strength, "seed": seed}
    return SimpleNamespace(training=CovertypeClassifier.model_construct(**recipe))


class Data:
    """Three rows whose own contexts tell the recipe that they were drawn for."""

    def factual_rows(self, recipe):
        contexts = [1, -1, 1 if recipe.strength is None else -1]
        return SimpleNamespace(inputs=np.array([[0.5, c, 1] for c in contexts]), context=1)


def study_parts(*models, baselines=()):
    cards = (SimpleNamespace(training=None), SimpleNamespace(), *models)
    kinds = {name: SimpleNamespace(kind=kind) for name, kind in baselines}
    return StudyParts(Data(), cards, (), kinds)


def analyses(*models, baselines=()):
    return Treatments(kind="treatments").analyses(study_parts(*models, baselines=baselines))


MODELS = (
    card("invert", 0.95, 7702),
    card("direct", 0.75, 7702),
    card("fragile", None, 7701),
    card("robust", None, 7701),
)


def test_a_study_that_trains_its_models_has_three_analyses():
    defined = analyses(*MODELS)
    assert list(defined) == ["factual_contexts", "matched_pairs", "probe_predictions"]
    assert defined["factual_contexts"]["streams"] == [["direction", 7702], ["fragility", 7701]]


def test_a_study_that_trains_none_has_no_treatments():
    with pytest.raises(DataError, match="covertype_classifier"):
        analyses()


@pytest.mark.parametrize(
    ("baselines", "message"),
    [
        ([("shap", "native_shap")], "'native_shap'"),
        ([("lime", "kernel_shap"), ("kernel_shap", "kernel_shap")], "'lime'"),
        ([("Abs", "lime"), ("lime", "lime")], "'Abs'"),
        ([("permutation", "own")], "'own'"),
        ([("strong_tabular", "own")], "'own'"),
    ],
)
def test_names_that_tables_misunderstand_are_refused(baselines, message):
    with pytest.raises(DataError, match=message):
        analyses(*MODELS, baselines=baselines)


def test_another_budget_of_a_method_may_have_any_name():
    named = [("lime", "lime"), ("lime_of_few", "lime"), ("mine", "own")]
    assert analyses(*MODELS, baselines=named) == analyses(*MODELS)


def test_features_are_the_summaries_of_the_paper():
    assert (len(DECAF), len(TABULAR), len(REPRESENTATIONS["combined"])) == (4, 15, 18)
    assert set(REPRESENTATIONS["combined"]) == {*DECAF, *TABULAR}


def test_contexts_are_of_every_stream_and_row():
    pairs = PairSet(
        [Input("row", "factual", "0", "")],
        [Pair(f"{n}", f"row-{n:06d}", "t", 0, "all", 0, 0) for n in range(3)],
        "rows",
    )
    columns = Treatments(kind="treatments").rows("factual_contexts", study_parts(*MODELS), pairs)
    rows = zip(*(columns[name].tolist() for name in columns), strict=True)
    assert list(columns) == ["module", "seed", "source_id", "context"]
    assert list(rows) == [
        (module, seed, f"row-{number:06d}", context)
        for module, seed, last in (("direction", 7702, -1), ("fragility", 7701, 1))
        for number, context in enumerate((1, -1, last))
    ]


@pytest.fixture
def units():
    """Fifteen models of three families; a baseline that some lack, one that none has."""
    rng = np.random.default_rng(0)
    labels = np.eye(3, dtype=bool)[np.arange(15) % 3]
    return {
        "labels": labels,
        "family": np.repeat(np.array(["a", "b", "c"], object), 5),
        "model_id": np.array([f"m{number:02d}" for number in range(15)], object),
        "evidence": rng.random(15) + labels[:, 0],
        "lime.score": np.where(rng.random(15) < 0.4, np.nan, rng.random(15)),
    }


def test_probabilities_are_those_of_the_library(units):
    features = {
        "one": ["evidence", "lime.score", "kernel_shap.score"],
        "none": ["retraining.score"],
    }
    rows = probe_predictions(units, {"features": features})["probe_predictions"].to_pylist()
    columns = np.stack([units["evidence"], units["lime.score"], np.full(15, np.nan)], axis=1)
    expected = held_out_probabilities(
        columns, units["labels"].argmax(axis=1), LABELS, units["family"]
    )
    fitted = [row for row in rows if row["representation"] == "one"]
    assert [row["probability"] for row in fitted] == expected.probability.ravel().tolist()
    assert [(row["model_id"], row["label"]) for row in fitted[:4]] == [
        *(("m00", label) for label in LABELS),
        ("m01", "evidence"),
    ]
    assert {(row["feature_count"], row["train_count"]) for row in fitted} == {(2, 10)}
    undefined = [row for row in rows if row["representation"] == "none"]
    assert {row["probability"] for row in undefined} == {None}
    assert all(row["reason"] for row in undefined)


def test_one_family_is_no_fold(units):
    units["family"] = np.full(15, "a", object)
    definition = {"features": {"one": ["evidence"]}}
    rows = probe_predictions(units, definition)["probe_predictions"].to_pylist()
    assert {(row["probability"], row["reason"]) for row in rows} == {(None, "no other family")}


def test_units_are_labelled_models_with_the_components_of_baselines(open_schema):
    with open_schema() as connection:
        connection.execute(
            "CREATE TABLE core_covertype_outcomes AS SELECT * FROM (VALUES "
            "('s', 'b', 'mlp', 'contradiction', 0.5, NULL), "
            "('s', 'a', 'mlp', 'evidence', 0.25, 0.75), ('s', 'gate', 'mlp', NULL, 1, 1), "
            "('t', 'a', 'mlp', 'fragility', 9, 9)) "
            "AS t (study, model_id, family, mechanism_label, evidence, sign_flip_rate)"
        )
        connection.execute(
            "CREATE TABLE core_baselines AS SELECT * FROM (VALUES "
            "('s', 'b', 'lime', 'score', 3.0), ('s', 'a', 'pdp_ale', 'pdp', -1.0), "
            "('s', 'b', 'pdp_ale', 'pdp', 2.0), ('s', 'gate', 'lime', 'score', 7.0), "
            "('s', 'a', 'lime', 'score', NULL), ('t', 'a', 'lime', 'score', 7.0)) "
            "AS t (study, model_id, method, component, score)"
        )
        labels = SimpleNamespace(case_kind="model", cases="core_covertype_outcomes")
        found = read_cases(connection, SimpleNamespace(study="s", labels=labels))
    assert found["model_id"].tolist() == ["a", "b"]
    assert found["labels"].tolist() == [[True, False, False], [False, True, False]]
    assert np.array_equal(found["lime.score"], [np.nan, 3.0], equal_nan=True)
    assert found["pdp_ale.pdp"].tolist() == [-1.0, 2.0]
    assert np.array_equal(found["sign_flip_rate"].astype(float), [0.75, np.nan], equal_nan=True)
    assert found["source_id"].tolist() == found["pair_id"].tolist() == ["", ""]
