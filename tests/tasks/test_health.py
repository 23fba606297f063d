"""`decaf doctor` on this machine, and on machines that fail each check."""

import json
import sys

import pytest
from ended_commands import refused, succeeded
from small_studies import SMALL_CNN, network_card, of_scenes

from decaf.foundation.extras import install_command
from decaf.plan.study import Study
from tasks import health, machine
from tasks.health import GB, Result, Setup
from warehouse import storage
from warehouse.commits.writer import open_root

LEVELS = {"ok", "warning", "problem"}


@pytest.fixture
def asked(tmp_path):
    return Setup(storage.open(tmp_path / "warehouse"), tmp_path / "workspace", None)


@pytest.fixture
def control_group(tmp_path, monkeypatch):
    """Writes a limit of this process: control_group("cpu.max", "100000 100000")."""
    monkeypatch.setattr(machine, "control_groups", lambda: [tmp_path / "groups"])
    (tmp_path / "groups").mkdir()
    return lambda name, text: (tmp_path / "groups" / name).write_text(text)


def only(check, asked):
    (found,) = check(asked)
    return found


def test_this_machine_is_looked_at_and_left_as_it_is(decaf, tmp_path):
    before = sorted(tmp_path.iterdir())
    lines = succeeded(decaf("doctor")).splitlines()
    assert {line.split()[0] for line in lines} <= LEVELS - {"problem"}
    assert "numpy" in lines[0]
    assert sorted(tmp_path.iterdir()) == before
    for subject in (
        "gpu",
        "cores",
        "workers",
        "memory",
        "workspace",
        "warehouse",
        "prefect",
        "torch cache",
    ):
        assert sum(line.split(maxsplit=1)[1].startswith(f"{subject}: ") for line in lines) == 1


def test_problems_are_told_as_json_and_by_the_exit_code(decaf, write, tmp_path):
    missing = network_card("gone", weights="gone.safetensors", **SMALL_CNN)
    config = write(of_scenes(tmp_path, [missing], device="cuda"))
    nowhere = {"PREFECT_API_URL": "http://127.0.0.1:1/api"}
    done = decaf("doctor", config, "--json", **nowhere)
    refused(done, "checks found a problem", code=1)
    found = [Result(**one) for one in json.loads(done.stdout)]
    assert {one.level for one in found} <= LEVELS
    problems = {one.subject: one.found for one in found if one.level == "problem"}
    assert set(problems) >= {"prefect", "study"}
    assert "http://127.0.0.1:1/api" in problems["prefect"]
    assert "gone.safetensors" in problems["study"]


def test_models_of_a_study_are_tried_unless_they_are_to_be_skipped(study, write, decaf):
    study["models"][0]["architecture"] = study["models"][1]["architecture"]
    done = decaf("doctor", write(study))
    refused(done, "1 of", code=1)
    assert "study: small_cnn: " in done.stdout
    assert "does not fit" in done.stdout
    succeeded(decaf("doctor", write(study), "--skip-models"))
    study["models"] = study["models"][1:]
    assert "tried 1 model" in succeeded(decaf("doctor", write(study)))


def test_a_gpu_that_is_asked_for_and_not_there_is_a_problem(asked, tmp_path, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert only(health.gpu, asked).level == "warning"
    settings = of_scenes(tmp_path, [network_card("m", weights="w", **SMALL_CNN)])
    study = Study.model_validate(settings | {"device": "cuda"})
    assert only(health.gpu, asked._replace(study=study)).level == "problem"


def test_limits_of_a_container_are_those_that_hold(asked, control_group):
    control_group("memory.max", str(3 * GB))
    control_group("memory.current", str(GB))
    assert only(health.memory, asked)[:3] == ("warning", "memory", "2.0 GB free")
    control_group("memory.current", str(3 * GB - 1))
    assert only(health.memory, asked).level == "problem"
    control_group("memory.max", "max")
    assert only(health.memory, asked).found != "0.0 GB free"
    control_group("cpu.max", "150000 100000")
    assert only(health.processor, asked)[:2] == ("warning", "cores")
    assert only(health.processor, asked).found.startswith("1.5: ")


def test_a_disk_without_room_is_a_problem(small_disk, asked):
    small = asked._replace(store=storage.open(small_disk / "w"))
    found = {one.subject: one for one in health.disks(small)}
    assert found["warehouse folder"].level == "problem"
    assert found["warehouse folder"].found == f"0.0 GB free in {small_disk}"
    assert found["workspace"].level != "problem"


def test_a_disk_that_is_slow_is_told(asked, monkeypatch):
    monkeypatch.setattr(health, "_seconds_to_flush", lambda folder: 0.2)
    told = [one for one in health.disks(asked) if "small file" in one.found]
    assert [one.level for one in told] == ["warning"] * 3
    assert told[0].found.startswith("0.20 s to put a small file on the disk")


def test_a_folder_without_the_right_to_write_is_a_problem(decaf, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    done = decaf("doctor", "-w", tmp_path / "locked", SURROUNDINGS="unprivileged")
    refused(done, "checks found a problem", code=1)
    assert f"warehouse folder: {tmp_path}/locked" in done.stdout


def test_an_extra_that_is_not_there_is_named(asked, monkeypatch):
    monkeypatch.setitem(sys.modules, "captum", None)
    found = {one.subject: one for one in health.extras(asked)}
    assert found["extra torch"] == ("ok", "extra torch", "installed", "")
    assert found["extra baselines"][2:] == (
        "without captum",
        install_command("baselines"),
    )


def test_weights_that_are_kept_are_counted(asked, tmp_path, monkeypatch):
    from huggingface_hub import constants

    blobs = tmp_path / "hub" / "models--timm--resnet" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "a").write_bytes(bytes(50_000_000))
    (blobs / "link").symlink_to(blobs / "a")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    found = {one.subject: one.found for one in health.caches(asked)}
    assert found["Hugging Face cache"] == f"1 models, 0.1 GB in {tmp_path / 'hub'}"


def test_a_warehouse_is_tried_or_refused(asked, tmp_path):
    assert "does not exist yet" in only(health.warehouse, asked).found
    open_root(asked.store.folder)
    before = sorted((tmp_path / "warehouse").rglob("*"))
    assert only(health.warehouse, asked).level == "ok"
    assert sorted((tmp_path / "warehouse").rglob("*")) == before
    (tmp_path / "warehouse" / "warehouse.json").write_text('{"schema_version": 99}')
    problems = [one for one in health.examine(asked) if one.level == "problem"]
    assert [one.subject for one in problems] == ["warehouse"]
