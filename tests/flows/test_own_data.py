"""A stranger's own images and signals from a look at them to SQL, and then some more of them."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from ended_commands import cells, refused, succeeded
from own_data import COLUMNS, HEADER, rows_of_squares, signals, write_table
from running_command import receipts
from warehouse_answers import fetched

from decaf.foundation.callables import import_from
from decaf.models import architectures
from decaf.models.checkpoint import save

FUNCTION = {"family": "any", "source": "function", "output": "probabilities"}


@pytest.mark.slow
def test_images_of_a_table(study, write, decaf, prefect_server, tmp_path):
    table, warehouse = tmp_path / "pairs.csv", tmp_path / "warehouse"
    rows = rows_of_squares(tmp_path, range(4))
    write_table(table, rows)
    data = {"adapter": "image_pairs", "pairs": str(table), "columns": COLUMNS}
    bright = {"id": "bright", **FUNCTION, "function": "brightness:two_classes"}
    paths = {"blend": {"kind": "blend", "sigma": 0}}
    settings = {**study, "data": data, "models": [bright], "paths": paths, "stages": 3}
    config = write(settings)

    looked = decaf("data", config, "--html", tmp_path / "sheet.html")
    printed = succeeded(looked)
    (shown,) = [row for row in cells(printed) if row[:2] == [_id(rows[0]), "to white"]]
    assert shown[2:] == ["s0", "test", "1 dog", *rows[0][:2], "16 x 16 px"]
    assert "8 pairs of 4 sources, 12 inputs" in printed
    assert "to grey (4), to white (4)" in printed
    assert "classes: 0 cat (4), 1 dog (4)" in printed
    assert "class names: 0 cat, 1 dog" in printed
    sheet = (tmp_path / "sheet.html").read_text()
    assert sheet.count("data:image/png;base64,") == 16
    assert "576 of 768 values differ" in sheet  # all but the square of 8 x 8 px
    assert not warehouse.exists()

    succeeded(decaf("run", config, **prefect_server))
    before = receipts(warehouse)
    stored = fetched(
        warehouse,
        "SELECT q_plus, q_minus FROM core_trajectories "
        "WHERE pair_type = 'to white' AND source_id = 's0'",
    )
    # A square of 64 of 256 pixels: class 1 is dark, and half way both are half way to themselves.
    black, white = 1 - 40 / 255 / 4, 1 - (40 / 255 / 4 + 3 / 4)
    middle = (black + white) / 2
    expected = [[middle, (middle + end) / 2, end] for end in (black, white)]
    np.testing.assert_allclose(stored[0], expected, atol=1e-6)
    named = fetched(warehouse, "SELECT class_id, name FROM stg_class_names ORDER BY class_id")
    assert named == [(0, "cat"), (1, "dog")]
    assert fetched(warehouse, "SELECT file FROM core_images ORDER BY file")[0] == (
        "images/s0-black.png",
    )
    assert "nothing to do" in succeeded(decaf("run", config, **prefect_server))

    write_table(table, rows + rows_of_squares(tmp_path, [4, 5]))
    succeeded(decaf("run", config, **prefect_server))
    assert before.items() < receipts(warehouse).items()
    assert len(receipts(warehouse)) == len(before) + 1  # a block
    assert fetched(warehouse, "SELECT count(*) FROM core_trajectories") == [(12,)]
    config = write(settings | {"report": str(tmp_path / "report.html")})
    succeeded(decaf("report", config))

    # Weights change means, splits and words what views say, and none of them what is scored.
    evidence = "SELECT evidence FROM out_model_profiles ORDER BY pair_type"
    plain, scored = fetched(warehouse, evidence), receipts(warehouse)
    weights = [1, 3] * 3 + [2, 2] * 3
    rows += rows_of_squares(tmp_path, [4, 5])
    moved = [[*row[:-1], "later"] for row in rows]
    write_table(table, moved)
    assert "all units are committed" in succeeded(decaf("plan", config))
    weighed = [[*row, weight] for row, weight in zip(moved, weights, strict=True)]
    write_table(table, weighed, (*HEADER, "weight"))
    words = {"expect": {"to grey": "should_not_matter"}, "names": {"to grey": "a grey ground"}}
    config = write(settings | words)
    assert "all units are committed" in succeeded(decaf("plan", config))
    succeeded(decaf("run", config, **prefect_server))
    assert receipts(warehouse) == scored
    ((finding,),) = fetched(warehouse, "SELECT sentence FROM out_findings")
    assert finding.startswith("Leans on a grey ground, which should not matter: this change moves")
    assert fetched(warehouse, evidence) != plain
    assert fetched(warehouse, "SELECT DISTINCT split FROM core_pairs") == [("later",)]
    by_hand = (
        "SELECT sum(p.evidence * w.weight) / sum(w.weight) FROM core_profiles AS p "
        "JOIN core_pairs AS w USING (study, pair_id) GROUP BY p.pair_type ORDER BY p.pair_type"
    )
    np.testing.assert_allclose(fetched(warehouse, evidence), fetched(warehouse, by_hand))
    assert "nothing to do" in succeeded(decaf("run", config, **prefect_server))


def _id(row):
    return f"{row[0]}__{row[1]}"


@pytest.mark.slow
def test_signals_of_arrays(study, write, decaf, prefect_server, tmp_path):
    import_from(tuple(map(Path, study["python_path"])))
    torch.manual_seed(0)
    network = architectures.build("factory:signal_models:build", {})
    save(network, tmp_path / "signals.safetensors", {})
    factual, changed = signals(6)
    files = {role: str(tmp_path / f"{role}.npy") for role in ("factual", "counterfactual")}
    conv = {
        "id": "conv",
        "family": "conv",
        "architecture": "factory:signal_models:build",
        "weights": str(tmp_path / "signals.safetensors"),
        "input_size": None,
        "mean": [0.5, 2.0],
        "std": [2.0, 4.0],
    }
    falling = {"id": "falling", **FUNCTION, "function": "signal_models:falling"}
    settings = {
        **study,
        "data": {"adapter": "arrays", **files},
        "models": [falling, conv],
        "score": study["score"] | {"target": 0},
        "paths": {"blend": {"kind": "blend", "sigma": 0}},
        "stages": 3,
    }
    config, warehouse = write(settings), tmp_path / "warehouse"
    put(files, factual[:4], changed[:4])
    answer = json.loads(succeeded(decaf("data", config, "--json")))
    assert (answer["pairs"], answer["inputs"], answer["contents"]) == (4, 8, 8)
    assert answer["examples"][0]["factual"] == "0, 0.4067, 0.7431, 0.9511, …"
    assert answer["examples"][0]["size"] == "2 x 16 float32"

    succeeded(decaf("run", config, **prefect_server))
    before = receipts(warehouse)
    put(files, factual, changed)
    succeeded(decaf("run", config, **prefect_server))
    assert before.items() < receipts(warehouse).items()
    assert len(receipts(warehouse)) == len(before) + 2  # a block of each model
    scores = fetched(
        warehouse,
        "SELECT class_scores FROM core_predictions WHERE model_id = 'conv' ORDER BY image_id",
    )
    inputs = np.concatenate([changed, factual])
    # Nothing says which class is right: there is no accuracy, nor a gate on it.
    assert fetched(
        warehouse, "SELECT DISTINCT accuracy, mean_true_class_score FROM out_accuracy"
    ) == [(None, None)]
    registry = {"kind": "folder", "root": str(tmp_path)}
    gated = settings | {"models": [], "registry": registry, "gates": {"accuracy": {"decrease": 0}}}
    words = "'gates.accuracy': the data have no labels, so there is no accuracy"
    refused(decaf("reaudit", write(gated)), words, code=2)
    prepared = (inputs - np.float32([[0.5], [2]])) / np.float32([[2], [4]])
    with torch.inference_mode():
        by_hand = network.eval()(torch.from_numpy(prepared)).softmax(dim=1)
    np.testing.assert_allclose([row for (row,) in scores], by_hand, atol=1e-6)
    ends = fetched(
        warehouse,
        "SELECT q_plus[-1], q_minus[-1] FROM core_trajectories WHERE model_id = 'falling' "
        "AND path = 'blend' ORDER BY pair_id",
    )
    for row, found in enumerate(ends):
        levels = [x[row, 0, 12] - x[row, 0].mean() for x in (factual, changed)]
        np.testing.assert_allclose(found, [1 / (1 + np.exp(level)) for level in levels], atol=1e-6)


def put(files, factual, changed):
    for file, array in zip(files.values(), (factual, changed), strict=True):
        np.save(file, array)


def test_data_of_every_other_kind_is_shown(study, photo_study, write, decaf, tmp_path):
    printed = succeeded(decaf("data", write(study), "--html", tmp_path / "scenes.html"))
    assert "16 pairs of 8 sources" in printed
    assert "32 x 32 px" in printed
    assert (tmp_path / "scenes.html").read_text().count("data:image/png") == 20
    answer = json.loads(succeeded(decaf("data", write(photo_study), "--json")))
    assert answer["pair_types"] == {"same_next": 9, "same_rand": 9}
    assert answer["shared"] == 9
    assert answer["examples"][0]["size"] == "224 x 224 px"
