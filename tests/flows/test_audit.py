"""The whole audit through the command line, with real Prefect, Dask, Parquet and DuckDB."""

import re

import numpy as np
import pytest
import torch
from ended_commands import refused, run_code, succeeded
from safetensors.torch import save_file
from torch import ones
from warehouse_answers import fetched

from decaf.plan.study import load_study


def test_an_audit_from_pairs_to_report(study, write, decaf, fresh_decaf, prefect_server, tmp_path):
    warehouse = tmp_path / "warehouse"
    # The first run is all a user's: a fresh interpreter, workers and no Prefect server.
    page = tmp_path / "report.html"
    config = write({**study, "cluster": {"kind": "local", "workers": 1}, "report": str(page)})
    planned = succeeded(decaf("plan", config))
    assert "2 models, 16 pairs of 8 sources" in planned
    assert "tried 2 models" in planned
    # Each scene: three clean inputs, two starts, 7 inner stages x 2 branches x 2 changes x 2 paths.
    assert int(re.search(r"(\d+) planned, 576 without", planned)[1]) == 8 * (3 + 2 + 56)
    assert not warehouse.exists()

    printed = succeeded(fresh_decaf("run", config, PREFECT_HOME=str(tmp_path / "prefect")))
    assert "small_vit" in printed
    assert "decaf sql" in printed
    assert page.stat().st_size > 10_000
    counted = fetched(
        warehouse,
        "SELECT model_id, path, count(*) FROM core_trajectories GROUP BY ALL",
    )
    assert sorted(counted) == [
        (model, path, 16) for model in ("small_cnn", "small_vit") for path in ("blend", "patch")
    ]
    check_scores_against_the_model(study, config, tmp_path)

    # The same command again makes no forward pass, and says so.
    receipts = sorted((warehouse / "receipts").rglob("*.json"))
    before = [path.stat().st_mtime_ns for path in receipts]
    again = succeeded(decaf("run", config, PREFECT_API_URL="http://127.0.0.1:9"))
    assert "all 40 units" in again
    assert [path.stat().st_mtime_ns for path in receipts] == before

    assert fetched(warehouse, "SELECT count(*) FROM out_model_profiles") == [(8,)]
    succeeded(decaf("check", "-w", warehouse))


@pytest.mark.slow
def test_another_epsilon_is_another_run_over_the_same_trajectories(
    study, write, decaf, prefect_server, tmp_path
):
    warehouse = tmp_path / "warehouse"
    first = {**study, "models": study["models"][:1]}
    succeeded(decaf("run", write(first), **prefect_server))
    moved = {**first, "epsilon": 0.2}
    assert "epsilon" in succeeded(decaf("plan", write(moved), "--explain"))
    succeeded(decaf("run", write(moved), **prefect_server))
    assert fetched(warehouse, "SELECT DISTINCT epsilon FROM core_profiles") == [(0.2,)]
    assert len(fetched(warehouse, "FROM stg_costs")) == 4
    assert len(fetched(warehouse, "FROM stg_trajectories")) == 32
    # Going back shows the first run again, without a Prefect server to be found.
    succeeded(decaf("run", write(first), PREFECT_API_URL="http://127.0.0.1:9"))
    assert fetched(warehouse, "SELECT DISTINCT epsilon FROM core_profiles") == [(0.001,)]


@pytest.mark.slow
def test_forced_units_are_computed_again_once(study, write, decaf, prefect_server, tmp_path):
    settings = {**study, "models": study["models"][:1], "data": {**study["data"], "sources": 2}}
    config, warehouse = write(settings), tmp_path / "warehouse"
    succeeded(decaf("run", config, **prefect_server))
    query = "SELECT pair_id, path, q_plus, q_minus, run_id FROM core_trajectories ORDER BY ALL"
    before = fetched(warehouse, query)
    why = succeeded(decaf("plan", config, "--explain", "--force", "score:blend"))
    assert re.search(r"score\W+1\W+forced\b", why)
    assert re.search(r"route\W+1\W+cascade: score\b", why)
    assert "nothing to do" in succeeded(decaf("run", config))

    forced = ("run", config, "--force", "score:bl*@small_cnn")
    assert "1 units of work" in decaf(*forced, **prefect_server).stderr
    assert "nothing to do" in succeeded(decaf("run", config)), "it is done"
    after = fetched(warehouse, query)
    assert [row[:4] for row in after] == [row[:4] for row in before]
    assert {row[4] for row in after}.isdisjoint(row[4] for row in before), "another run"
    assert len(fetched(warehouse, "FROM stg_trajectories")) == 1.5 * len(before), "nothing is lost"
    succeeded(decaf("check", "-w", warehouse))
    wrong = decaf("run", config, "--force", "scores")
    refused(wrong, "'scores'")


def check_scores_against_the_model(study, config, tmp_path):
    """Stored clean endpoints equal a plain forward pass over the rendered scenes."""
    settings = load_study(config)
    pairs = settings.data.pair_set()
    card = settings.models[0]
    model = card.load("cpu")
    pair = pairs.pairs[5]
    clean = [settings.data.read_input(pairs.inputs[i]) for i in (pair.plus, pair.minus)]
    pixels = torch.from_numpy(np.stack(clean)).permute(0, 3, 1, 2) / 255
    expected = model.outputs(pixels).double().softmax(dim=1)[:, pair.class_id].numpy()
    query = (
        "SELECT path, q_plus[-1], q_minus[-1] FROM core_trajectories "
        f"WHERE model_id = '{card.id}' AND pair_id = '{pair.pair_id}'"
    )
    found = fetched(tmp_path / "warehouse", query)
    assert len(found) == 2
    for _, *stored in found:
        np.testing.assert_allclose(stored, expected, atol=1e-6)


@pytest.mark.slow
def test_a_model_that_returns_nan_loses_those_pairs_alone(
    study, write, decaf, prefect_server, tmp_path
):
    save_file({"scale": ones(1)}, tmp_path / "patchy.safetensors")
    data = load_study(write(study)).data
    levels = [data.read_input(image).mean() / 127.5 - 1 for image in data.pair_set().inputs]
    patchy = {
        **study["models"][0],
        "id": "patchy",
        "architecture": "factory:patchy:Patchy",
        "arguments": {"limit": float(np.median(levels))},
        "weights": str(tmp_path / "patchy.safetensors"),
    }
    settings = {**study, "models": [study["models"][0], patchy], "quarantine": 0.9}
    succeeded(decaf("run", write(settings), **prefect_server))
    kept = dict(
        fetched(study["warehouse"], "SELECT model_id, count(*) FROM core_profiles GROUP BY ALL")
    )
    withheld = fetched(study["warehouse"], "SELECT model_id, pair_id FROM stg_quarantine")
    assert kept["small_cnn"] == 32
    assert len(withheld) > 0
    assert {model for model, _ in withheld} == {"patchy"}
    assert kept.get("patchy", 0) + len(withheld) == 32
    query = "SELECT warning FROM out_warnings WHERE model_id = 'patchy'"
    warned = fetched(study["warehouse"], query)
    assert any("quarantine" in warning for (warning,) in warned)
    succeeded(decaf("check", "-w", study["warehouse"]))


@pytest.mark.slow
def test_a_model_that_breaks_stops_no_other_model(study, write, decaf, prefect_server, tmp_path):
    save_file({"scale": ones(1)}, tmp_path / "broken.safetensors")
    broken = {
        **study["models"][0],
        "id": "broken",
        "architecture": "factory:broken:Broken",
        "weights": str(tmp_path / "broken.safetensors"),
    }
    page = tmp_path / "report.html"
    settings = {**study, "models": [broken, study["models"][0]], "report": str(page)}
    done = decaf("run", write(settings), **prefect_server)
    refused(done, "4 of 4", "five inputs", code=3)
    found = fetched(study["warehouse"], "SELECT model_id, count(*) FROM stg_costs GROUP BY ALL")
    assert found == [("small_cnn", 4)]
    assert fetched(study["warehouse"], "SELECT is_finished FROM core_current_runs") == [(False,)]
    ((sentence,),) = fetched(
        study["warehouse"], "SELECT sentence FROM out_findings WHERE model_id = 'broken'"
    )
    shown = succeeded(decaf("status", "-w", study["warehouse"]))
    for text in (sentence, page.read_text(), " ".join(shown.split())):
        assert "five inputs" in text
        assert "still running" not in text
    assert "1 model failed" in shown


@pytest.mark.slow
def test_prefect_is_imported_for_a_server_and_torch_for_a_model_that_needs_it():
    assert imported("tasks.units.run_task") == []
    assert imported("flows.audit") == ["altair"]


def test_a_finished_audit_needs_no_torch_and_nothing_that_draws():
    assert imported("flows.commands.runs") == []


def imported(modules):
    """Which libraries that take long an interpreter holds after importing the modules."""
    heavy = ("torch", "prefect", "altair")
    code = f"import sys, {modules}; print(*[m for m in {heavy} if m in sys.modules])"
    return succeeded(run_code(code)).split()
