"""Two days of a real MLflow registry: what is new is seen, brought here, and nothing else."""

import sys

import pytest
import yaml
from mlflow_server import mlflow_server
from registry_folder import put_small_cnn
from small_studies import of_scenes

from decaf.errors import ConfigError, UnknownEntry
from decaf.plan.resolution import list_entries
from decaf.plan.study import load_study
from decaf.registry.entries import Answer, VersionResult
from decaf.registry.kinds import mlflow
from tasks.plan import plan_audit
from tasks.reaudit.notify import notify
from tasks.reaudit.plan import commit_reaudit, discover, is_unchanged
from tasks.reaudit.write_back import version_results, write_answers, write_results
from warehouse.commits.writer import open_root


def model(folder, seed):
    """Files of one version: a card, weights, and a pickle that nobody asked for."""
    put_small_cnn(folder, seed, weights="data/net.safetensors")
    (folder / "data").mkdir()
    (folder / "net.safetensors").rename(folder / "data" / "net.safetensors")
    (folder / "python_model.pkl").write_bytes(b"\x80\x04.")
    return folder


@pytest.fixture
def study(tmp_path):
    def of(uri):
        path = tmp_path / "study.yaml"
        registry = {"kind": "mlflow", "uri": uri, "follow": ["latest", "champion"]}
        registry |= {"write_back": {"experiment": "decaf audits", "backoff_seconds": 0.01}}
        page = str(tmp_path / "report.html")
        path.write_text(yaml.safe_dump(of_scenes(tmp_path, registry=registry, report=page)))
        return load_study(path)

    return of


@pytest.mark.slow
def test_two_days(study, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delitem(sys.modules, "mlflow", raising=False)  # of another test
    names = ["worse", "again", "gone", "no card", "moved"]
    files = {name: model(tmp_path / "made" / name, seed) for seed, name in enumerate(names)}
    with mlflow_server(tmp_path) as registered:
        for name, folder in files.items():
            registered.add(name, folder)
        registered.add("moved", model(tmp_path / "made" / "moved 2", 9))
        registered.alias("moved", "champion", "1")
        opened = study(registered.uri)
        store = open_root(opened.warehouse)

        monday = discover(opened, store, opened.pair_set())
        assert {one.problem for one in monday.resolved} == {None}
        assert set(monday.changes().values()) == {"new"}
        assert len(monday.audited_study.models) == 6
        commit_reaudit(monday, "monday")
        kept = [path for path in (tmp_path / "workspace").rglob("*") if path.is_file()]
        assert {path.name for path in kept} == {"decaf.yaml", "net.safetensors"}

        registered.add("worse", model(tmp_path / "made" / "worse 2", 10))
        registered.add("again", files["again"])
        registered.delete("gone")
        registered.add("no card", files["no card"], files=["python_model.pkl"])
        registered.alias("moved", "champion", "2")

        tuesday = discover(opened, store, opened.pair_set())
        assert tuesday.changes() == {
            "worse": "weights",
            "again": "version",
            "no card": "failed",
            "moved": "none",
            "moved@champion": "weights",
        }
        assert [row["entry"] for row in tuesday.list_missing()] == ["gone"]
        (problem,) = [one.problem for one in tuesday.resolved if one.problem]
        assert "version 2 of no card" in problem
        known = {one.model_id for one in monday.resolved}
        planned = plan_audit(tuesday.audited_study, opened.data.pair_set())
        (new,) = {unit.model_id for unit in planned.work.units} - known
        assert new.startswith("worse-")
        commit_reaudit(tuesday, "tuesday")

        # What failed is tried again; without it, nothing would be left to do.
        assert not is_unchanged(
            opened, store, list_entries(opened.registry), opened.data.pair_set()
        )
        assert not discover(opened, store, opened.pair_set()).is_changed

        check_what_is_written_back(opened, store, registered, monkeypatch)
        check_versions_by_number(opened, store)
        check_a_card_of_an_absent_file(opened, registered, tmp_path)

        # A version that is downloaded is not asked for again.
        worse = next(one for one in tuesday.resolved if one.entry.label == "worse")
        monkeypatch.setattr(mlflow.Mlflow, "_download", None)
        assert opened.registry.fetch(worse.entry, opened.workspace).folder.exists()
    failures = notify(store, opened, "study.yaml")["undelivered"]
    assert any("ConnectError" in failure for failure in failures)
    write_answers(store, opened)
    assert "warning: " in capsys.readouterr().err
    assert "mlflow" not in sys.modules


def check_a_card_of_an_absent_file(opened, registered, tmp_path):
    """Its message has the names of the files that the version has."""
    folder = model(tmp_path / "made" / "absent", 3)
    (folder / "data" / "net.safetensors").unlink()
    registered.add("absent", folder)
    (entry,) = [one for one in list_entries(opened.registry) if one.name == "absent"]
    with pytest.raises(ConfigError) as refused:
        opened.registry.fetch(entry, opened.workspace)
    for words in ("data/net.safetensors", "python_model.pkl", "'weights'"):
        assert words in str(refused.value)


def check_versions_by_number(opened, store):
    """A version that nothing follows is brought as it is listed; one that is not there is told."""
    by_number = discover(opened, store, opened.pair_set(), ["worse@1", "no card@2"])
    found = {one.entry.label: one for one in by_number.resolved}
    worse, without_card = found["worse@1"], found["no card@2"]
    assert (worse.entry.version, worse.entry.is_followed, worse.problem) == ("1", False, None)
    assert worse.model_id != found["worse"].model_id
    assert not without_card.entry.is_followed
    assert "version 2 of no card" in without_card.problem
    with pytest.raises(UnknownEntry, match="worse@7"):
        discover(opened, store, opened.pair_set(), ["worse@7"])


def check_what_is_written_back(opened, store, registered, monkeypatch):
    """Tags and a run, once however often it is told; no entry is another one for it."""
    values = {"evidence": (0.1234, 0.11, 0.135), "fragility": (0.5, None, None)}
    values |= {"evidence.blend.wände": (0.25, 0.2, 0.3)}
    found = [VersionResult("worse", "2", Answer("fail", "no", "evidence: 0.5"), values)]
    found.append(VersionResult("moved", "2", Answer(), {}))
    found.append(VersionResult("moved", "7", Answer("not audited"), {}))  # an alias of no version
    assert VersionResult("no card", "2", Answer("not audited"), {}) in version_results(
        store, opened
    )
    monkeypatch.setattr("tasks.reaudit.write_back.version_results", lambda *_: found)
    before = list_entries(opened.registry)
    write_results(store, opened, "r1")
    write_results(store, opened, "r1")
    assert list_entries(opened.registry) == before

    def tags_of(name):
        asked = f"model-versions/get?name={name}&version=2"
        version = registered.ask(asked, "GET")["model_version"]
        return {tag["key"]: tag["value"] for tag in version["tags"]}

    tags = tags_of("worse")
    assert tags.pop("decaf.report").startswith("file:///")
    (odd,) = [key for key in tags if key.startswith("decaf.evidence.blend.w_nde-")]
    assert tags == {
        "decaf.reaudit": "r1",
        "decaf.verdict": "fail",
        "decaf.accepted": "no",
        "decaf.failed_gates": "evidence: 0.5",
        "decaf.evidence": "0.123 [0.110, 0.135]",
        "decaf.fragility": "0.500",
        odd: "0.250 [0.200, 0.300]",
    }
    answered = {("worse", "2"): Answer("accepted", "by ada: known"), ("moved", "2"): Answer("pass")}
    monkeypatch.setattr("tasks.reaudit.write_back.answers", lambda *_: answered)
    write_answers(store, opened)
    assert tags_of("worse").items() > {
        ("decaf.verdict", "accepted"),
        ("decaf.accepted", "by ada: known"),
        ("decaf.evidence", "0.123 [0.110, 0.135]"),
    }
    assert "decaf.verdict" not in tags_of("moved"), "only what has failed is written again"
    found[0] = found[0]._replace(answer=Answer("pass"))
    write_results(store, opened, "r1")
    assert tags_of("worse")["decaf.verdict"] == "pass"
    assert not {"decaf.accepted", "decaf.failed_gates"} & tags_of("worse").keys()
    name = {"experiment_name": "decaf audits"}
    experiment = registered.ask("experiments/get-by-name", "GET", **name)["experiment"]
    asked = {"experiment_ids": [experiment["experiment_id"]]}
    runs = registered.ask("runs/search", **asked)["runs"]
    assert {run["info"]["run_name"]: run["info"]["status"] for run in runs} == {
        "worse version 2": "FINISHED",
        "moved version 2": "FINISHED",
    }
    (of_worse,) = [run for run in runs if run["info"]["run_name"].startswith("worse")]
    metrics = {metric["key"]: metric["value"] for metric in of_worse["data"]["metrics"]}
    assert metrics["evidence"] == 0.1234
    assert metrics["evidence.lower"] == 0.11
    assert "fragility.lower" not in metrics
    assert len(metrics) == 7
