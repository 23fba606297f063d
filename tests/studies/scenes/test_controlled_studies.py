"""The four controlled studies end to end, each from its small configuration made tiny."""

import json
from pathlib import Path

import numpy as np
import pytest
from ended_commands import succeeded

from decaf.plan.study import load_study
from decaf.reveal.gaussian.reference import GaussianReference
from decaf.reveal.gaussian.storage import save_reference
from decaf.studies.scenes.images import read_scenes
from decaf.studies.scenes.splits import split_scenes
from warehouse.query.catalog import connect

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

CONFIGS = Path(__file__).parents[3] / "configs" / "scenes"
LEARNED = {"scenes": 64, "validation_scenes": 16, "epochs": 2, "batch_size": 16}
CNN = {"architecture": "factory:decaf.models.networks.small_cnn:build", "arguments": {"width": 4}}
PATHS = ("cmmr", "pixel", "lambda_050", "power_050")
"""Paths that are kept: those whose noise needs no decomposition of its own."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Moments of scenes whose pixels are taken as independent: nothing has to be decomposed."""
    pixels = read_scenes("rendered", split_scenes("train")[:200]).transpose(0, 3, 1, 2) / 255.0
    flat = pixels.reshape(200, -1)
    variances = np.sort(flat.var(axis=0))[::-1]
    file = tmp_path_factory.mktemp("reference") / "independent.safetensors"
    shape = tuple(pixels.shape[1:])
    moments = flat.mean(axis=0), variances, np.eye(variances.size), variances
    save_reference(GaussianReference(*moments, shape), file)
    return file


@pytest.fixture
def run(tmp_path, write, decaf, workers, prefect_server, reference):
    """Run a small configuration with fewer, smaller models and pairs; a connection to it."""

    def run(name, chosen, sources, recipe=(), **data):
        study = load_study(CONFIGS / f"{name}_small.yaml")
        settings = json.loads(study.model_dump_json(exclude_unset=True))
        cards = {card["id"]: card for card in settings["models"]}
        for card in (cards[each] for each in chosen):
            card |= CNN
            card["training"] |= LEARNED | dict(recipe)
        settings["models"] = [cards[each] for each in chosen]
        settings["data"] |= {"sources": sources} | data
        if name != "contradiction":
            settings["paths"] = {
                path: given | {"reference": str(reference), "stages": 3}
                for path, given in settings["paths"].items()
                if path in PATHS
            }
        places = {"workspace": str(tmp_path / "work"), "warehouse": str(tmp_path / "warehouse")}
        settings |= places | {"report": False, "cluster": workers, "device": "cpu"}
        done = decaf("run", write(settings), **prefect_server)
        succeeded(done)
        assert "decaf's renderer, not 3D Shapes" in done.stderr
        return connect(tmp_path / "warehouse")

    return run


def rows(connection, query):
    return connection.sql(query).fetchall()


def test_base_study(run):
    chosen = [f"{task}__resnet18__seed_3101" for task in ("object_shape", "context_gate")]
    study = run("base", chosen, sources=6, dynamic=2)
    atlas = "FROM paper_base_atlas WHERE statistic LIKE '%_share'"
    assert rows(study, f"SELECT count(*), count(DISTINCT (task, factor)) {atlas}") == [(36, 12)]
    for (total,) in rows(study, f"SELECT sum(estimate) {atlas} GROUP BY task, factor"):
        assert total == pytest.approx(1)
    classes = dict(rows(study, f"SELECT (task, factor)::VARCHAR, class {atlas}"))
    assert set(classes.values()) <= {"supported", "null", "intermediate"}
    # Every pair of six sources counts for the class, two of them are revealed.
    counts = "SELECT count(*) FROM core_scene_units WHERE measure = 'alpha' AND is_primary"
    assert rows(study, counts) == [(12,)]
    weights = "SELECT DISTINCT list_sum(information_weights)::DECIMAL(9, 6)"
    assert rows(study, f"{weights} FROM core_scene_paths") == [(1,)]
    assert rows(study, "SELECT count(*) FROM core_pairs WHERE pair_type LIKE '%_endpoint'")[0] == (
        4 * 11,
    )
    assert len(rows(study, "FROM paper_base_composition")) > 0


def test_evidence_study(run):
    chosen = ["e__p095__small_vit__seed_5101", "e__p099__resnet18__seed_5102"]
    study = run("evidence", chosen, sources=4, dynamic=3)
    recorded = "SELECT trajectory, epoch, estimate FROM paper_evidence_checkpoints WHERE statistic"
    seen = rows(study, f"{recorded} = 'vulnerability' ORDER BY ALL")
    assert [(of, epoch) for of, epoch, _ in seen] == [
        (of, epoch) for of in sorted(chosen) for epoch in (1, 2)
    ]
    assert all(-1 <= value <= 1 for *_, value in seen)
    margins = rows(study, f"{recorded} = 'evidence_margin' ORDER BY ALL")
    of_units = "FROM core_scene_units WHERE measure = 'alpha' AND is_primary"
    found = rows(study, f"SELECT model_id, factor, evidence {of_units}")
    units = {(model, factor): evidence for model, factor, evidence in found}
    for of, epoch, margin in margins:
        model = f"{of}@e{epoch:02d}"
        wall, shape = (units[model, factor] for factor in ("wall_hue", "shape"))
        assert margin == pytest.approx(wall - shape)


def test_fragility_study(run):
    chosen = [f"f__{variant}__resnet18__seed_5301" for variant in ("robust", "neutral", "fragile")]
    study = run("fragility", chosen, sources=4, recipe={"clean_epochs": 1}, dynamic=3)
    found = rows(study, "SELECT DISTINCT variant FROM paper_fragility_models ORDER BY ALL")
    assert found == [("fragile",), ("neutral",), ("robust",)]
    # 64 scenes teach nothing: all three are audited, and named as what missed the gate.
    missed = "SELECT model_id FROM out_warnings WHERE warning = 'gate_missed' ORDER BY ALL"
    assert [model for (model,) in rows(study, missed)] == sorted(chosen)
    paths = rows(study, "SELECT DISTINCT path FROM paper_fragility_transfer ORDER BY ALL")
    assert paths == [("pixel",), ("power_050",)]


def test_contradiction_study(run):
    chosen = [f"c__{task}__resnet18__seed_7101" for task in ("direct", "gate", "invert")]
    study = run("contradiction", chosen, sources=3, recipe={"epochs_at_most": 3})
    assert rows(study, "SELECT count(*) FROM paper_contradiction_rows")[0][0] >= 3 * 2 * 21
    # E + C + F = Abs of the mixture at every probability, as of what it is a mean of.
    assert rows(
        study,
        """SELECT count(*), max(abs(evidence + contradiction + fragility - abs_response)) < 1e-12
        FROM core_scene_mixtures""",
    ) == [(3 * 2 * 21, True)]
    trained = "SELECT DISTINCT epochs_trained, reached_gate FROM core_scene_models"
    assert rows(study, trained) == [(3, False)]
