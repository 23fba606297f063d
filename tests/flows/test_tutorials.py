"""Every block of docs/tutorials/ as it stands, and what it prints; numbers may differ slightly."""

import re
import runpy
import shlex
import subprocess
from pathlib import Path

import pytest
from ended_commands import refused, succeeded
from flow_fixtures import use_workers
from mlflow_server import mlflow_python, mlflow_server
from printed_words import check_alike

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
SHOWN = re.compile(r"```text\n(.*?)```", re.DOTALL)


def compare(name, folder):
    """Output of the blocks of a page in a folder, and the output that the page shows."""
    check_alike(*(SHOWN.findall((place / name).read_text()) for place in (folder, TUTORIALS)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["photos.md", "table.md"])
def test_a_tutorial(name, warm_command, prefect_server, workers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def shell(line):
        if not line.startswith("decaf "):
            return succeeded(subprocess.run(["bash", "-c", line], capture_output=True, text=True))
        for study in Path().glob("*.yaml"):
            use_workers(study, workers)
        words = shlex.split(line)[1:]
        return succeeded(warm_command.start(words, Path.cwd(), prefect_server).completed())

    runpy.run_path(str(ROOT / "docs" / "make_notebooks.py"))["run_page"](name, tmp_path, shell)
    compare(name, tmp_path)


@pytest.mark.mlflow
@pytest.mark.filterwarnings("ignore")  # of versions, where those of the two environments differ
def test_the_tutorial_of_a_registry(
    warm_command, prefect_server, workers, tmp_path, tmp_path_factory, monkeypatch
):
    python = mlflow_python()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    ended = []

    def shell(line):
        words = shlex.split(line) if "END" not in line else []
        if words[:1] == ["decaf"]:
            study = Path("nightly.yaml")
            use_workers(study, workers)
            if "alerts:" not in study.read_text():  # the server gets no events, as without one
                study.write_text(f"alerts: {{events: false}}\n{study.read_text()}")
            done = warm_command.start(words[1:], tmp_path, prefect_server).completed()
            ended.append(done)
            return done.stdout
        line = re.sub("^python ", f"{python} -W ignore ", line)
        return succeeded(subprocess.run(["bash", "-c", line], capture_output=True, text=True))

    with mlflow_server(tmp_path_factory.mktemp("mlflow"), python, "-m", "mlflow") as server:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", server.uri)
        runpy.run_path(str(ROOT / "docs" / "make_notebooks.py"))["run_page"](
            "registry.md", tmp_path, shell
        )
    card, first, second, history = ended
    for done in (card, first, history):
        succeeded(done)
    refused(second, "hiring 2 failed endpoint magnitude", "at most 0.050 is allowed", code=1)
    compare("registry.md", tmp_path)
