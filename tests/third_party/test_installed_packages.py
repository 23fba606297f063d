"""A stranger's package, installed beside three broken ones, and audited with."""

import shutil
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from ended_commands import succeeded
from warehouse_answers import fetched
from warm_command import WarmCommand

from decaf.foundation.number_text import score_text

ROOT = Path(__file__).parents[2]
PACKAGES = ("bird_audit", "broken_import", "broken_clash", "broken_method")
BIRDS = {
    "study": "birds",
    "data": {"adapter": "birds"},
    "models": [
        {"id": name, "family": "function", "source": "function", "output": "value"}
        | {"function": f"bird_audit.flock:{name}"}
        for name in ("brightness", "blueness")
    ],
    "score": {"kind": "regression_value"},
    "paths": {"dawn": {"kind": "dawn"}, "blend": {"kind": "blend", "sigma": 0}},
    "attributions": {"halves": {"kind": "halves"}},
    "stages": 3,
    "cluster": {"kind": "local", "workers": 1},
}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Interpreter of an environment that sees ours and this tree, and has the packages."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home / "venv", symlinks=True)
    python = home / "venv" / "bin" / "python"
    (packages,) = (home / "venv").glob("lib/python*/site-packages")
    (packages / "ours.pth").write_text("\n".join([str(ROOT), *site.getsitepackages()]))
    for name in PACKAGES:
        shutil.copytree(ROOT / "tests" / "third_party" / name, home / name)
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--no-compile"]
    subprocess.run([*install, *options, *(home / name for name in PACKAGES)], check=True)
    return python


@pytest.fixture(scope="module")
def warm_command(python):
    """The command line in that environment."""
    started = WarmCommand(python)
    yield started
    started.close()


@pytest.mark.slow
def test_a_study_of_strangers_members_is_audited(decaf, write, prefect_server, tmp_path):
    for name in ("flows", "tasks", "warehouse"):  # of the folder's own: no worker imports them
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('a stranger')")
    succeeded(decaf("run", write(BIRDS), **prefect_server))
    root = tmp_path / "runs" / "warehouse"
    paths = fetched(root, "SELECT DISTINCT path FROM core_profiles ORDER BY path")
    assert paths == [("blend",), ("dawn",)]
    assert fetched(root, "FROM core_attributions") != []
    again = succeeded(decaf("run", write(BIRDS)))
    assert "nothing to do" in again
    succeeded(decaf("results", write(BIRDS), "birds.md"))
    page = (tmp_path / "birds.md").read_text()
    assert "## How far the sky moves each judge of birds" in page
    rows = fetched(root, "SELECT model_id, path, abs_response FROM out_model_profiles")
    for judge, path, response in rows:
        assert f"| {judge} | {path} | 6 | {score_text(response)} |" in page


def test_a_registry_of_strangers_is_asked(decaf, write):
    settings = {key: value for key, value in BIRDS.items() if key not in ("models", "attributions")}
    settings["registry"] = {"kind": "flock"}
    planned = succeeded(decaf("reaudit", write(settings), "--plan"))
    assert all(name in planned for name in ("brightness", "blueness", "new"))


def test_all_that_is_there_is_listed_and_what_cannot_be_used(decaf):
    done = decaf("plugins")
    assert done.returncode == 1, done.stderr
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines()]
    for place, name, module in (
        ("adapter", "birds", "pairs:BirdPairs"),
        ("path", "dawn", "dawn:Dawn"),
        ("attribution", "halves", "halves:Halves"),
        ("registry", "flock", "flock:Flock"),
    ):
        assert [place, name, "bird-audit 0.3", f"bird_audit.{module}"] in rows
    for words in ("'nests_that_nobody_has'", "'shapes3d'", "broken_method.dusk:Dusk"):
        assert words in done.stderr


def test_a_package_is_checked_for_its_author(decaf, python):
    checked = succeeded(decaf("check-plugin", "bird-audit"))
    assert "adapter birds (package bird-audit 0.3" in checked
    assert checked.count("  ok  ") > 40
    folder = python.parents[2] / "broken_clash"
    broken = decaf("check-plugin", folder)
    assert broken.returncode == 1
    assert "'shapes3d'" in broken.stdout
    assert "broken_clash.scenes:Scenes" in broken.stdout
