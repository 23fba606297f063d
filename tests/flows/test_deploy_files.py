"""The files of `examples/deploy` and the page about them: commands that exist, units that load."""

import ast
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
import yaml
from distributed.cli import dask_scheduler, dask_worker

from flows.commands.app import app

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "deploy"
CLUSTER = FOLDER / "kubernetes-cluster.yaml"
MANIFESTS = sorted({*FOLDER.glob("kubernetes-*.yaml")} - {CLUSTER})


def parsed(words):
    """Parse a call as the command line does, without doing anything; returns the command's name."""
    command, name, *words = typer.main.get_command(app), *words
    command = command.commands[name]
    while hasattr(command, "commands"):
        name, *words = words
        command = command.commands[name]
    command.make_context(name, words)
    return name


def containers():
    for path in MANIFESTS:
        for made in yaml.safe_load_all(path.read_text()):
            spec = made["spec"]
            if made["kind"] == "CronJob":
                spec = spec["jobTemplate"]["spec"]
            if "template" in spec:
                yield made["kind"], spec["template"]["spec"]


def test_units_of_systemd_call_what_exists():
    called = []
    for path in sorted(FOLDER.glob("*.service")):
        (line,) = re.findall(r"^ExecStart=(.*)$", path.read_text(), re.MULTILINE)
        program, *words = shlex.split(line)
        assert program == "/srv/decaf/.venv/bin/decaf"
        called.append(parsed(words))
    assert called == ["reaudit", "serve"]


def test_units_of_systemd_are_understood(tmp_path):
    verifier = shutil.which("systemd-analyze")
    if not verifier:
        pytest.skip("systemd-analyze is not here")
    for path in FOLDER.glob("decaf-*"):
        # Only the program is another: the verifier wants one that is there.
        content = path.read_text().replace("/srv/decaf/.venv/bin/decaf", "/bin/true")
        (tmp_path / path.name).write_text(content)
    units = sorted(tmp_path.iterdir())
    assert len(units) == 3
    done = subprocess.run(
        [verifier, "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_crontab_calls_what_exists():
    lines = (FOLDER / "crontab").read_text().splitlines()
    (line,) = [line for line in lines if not line.startswith("#") and " " in line]
    *when, rest = line.split(maxsplit=5)
    assert len(when) == 5
    call = rest.partition(" && ")[2].partition(" >> ")[0]
    program, *words = shlex.split(call)
    assert (program, parsed(words)) == (".venv/bin/decaf", "reaudit")


def test_manifests_call_what_exists_with_volumes_that_are_there():
    assert {kind for kind, _ in containers()} == {"Deployment", "CronJob"}
    for kind, pod in containers():
        (container,) = pod["containers"]
        program, *words = container["command"]
        assert (program, parsed(words)) == ("decaf", "serve" if kind == "Deployment" else "reaudit")
        if probe := container.get("readinessProbe"):
            assert parsed(probe["exec"]["command"][1:]) == "list"
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        built = (FOLDER / "Containerfile").read_text()
        assert f"docker build -t {container['image']}" in built
        assert container["workingDir"] in built


def understood_by_dask(words):
    """Parse a call of dask as it does, without doing anything; its scheduler's or worker's."""
    program, name, *words = words
    assert program == "dask"
    {"scheduler": dask_scheduler, "worker": dask_worker}[name].main.make_context(name, words)
    return name


def test_commands_of_the_page_on_clusters_exist():
    page = (ROOT / "docs" / "howto" / "cluster.md").read_text()
    calls = re.findall(r"^    (dask .*)$", page, re.MULTILINE)
    assert [understood_by_dask(shlex.split(call)) for call in calls] == ["scheduler", "worker"]
    for name in re.findall(r"examples/deploy/([\w.-]+)\)", page):
        assert (FOLDER / name).exists()


def of_cluster():
    """Objects of the cluster's manifest, by kind and name."""
    made = yaml.safe_load_all(CLUSTER.read_text())
    return {(one["kind"], one["metadata"]["name"]): one["spec"] for one in made}


def test_a_cluster_of_kubernetes_calls_what_exists():
    called = {}
    for (kind, name), spec in of_cluster().items():
        if kind == "Service":
            continue
        pod = spec["template"]["spec"]
        (container,) = pod["containers"]
        words = container["command"]
        called[name] = parsed(words[1:]) if words[0] == "decaf" else understood_by_dask(words)
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        assert f"docker build -t {container['image']}" in (FOLDER / "Containerfile").read_text()
    assert called == {
        "decaf-scheduler": "scheduler",
        "decaf-worker": "worker",
        "decaf-run": "run",
    }


def test_workers_of_kubernetes_find_their_scheduler():
    made = of_cluster()
    scheduler, service = made["Deployment", "decaf-scheduler"], made["Service", "decaf-scheduler"]
    (container,) = scheduler["template"]["spec"]["containers"]
    (port,) = service["ports"]
    worker = made["Deployment", "decaf-worker"]["template"]["spec"]["containers"][0]
    assert service["selector"] == scheduler["template"]["metadata"]["labels"]
    assert port["targetPort"] == container["ports"][0]["containerPort"]
    assert f"tcp://decaf-scheduler:{port['port']}" in worker["command"]
    assert str(port["targetPort"]) in container["command"]
    for name in ("decaf-scheduler", "decaf-worker"):
        spec = made["Deployment", name]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]


def test_manifests_keep_to_the_schemas_of_kubernetes():
    validator = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    for path in (*MANIFESTS, CLUSTER):
        for made in yaml.safe_load_all(path.read_text()):
            validator.validate(made, "1.30", strict=True)


def slurm_workers():
    """Arguments that the script passes to dask-jobqueue for every job."""
    tree = ast.parse((FOLDER / "slurm_cluster.py").read_text())
    (given,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "WORKER_JOB"
    )
    return ast.literal_eval(given)


def test_jobs_of_slurm_start_workers_that_exist():
    given = slurm_workers()
    words = ["dask", "worker", "tcp://host:8786", *given["worker_extra_args"]]
    assert understood_by_dask(words) == "worker"
    hours, minutes, seconds = map(int, given["walltime"].split(":"))
    lifetime = int(words[words.index("--lifetime") + 1].removesuffix("m"))
    stagger = int(words[words.index("--lifetime-stagger") + 1].removesuffix("m"))
    assert lifetime + stagger < 60 * hours + minutes + seconds / 60


def test_jobs_of_slurm_are_what_dask_jobqueue_submits():
    jobqueue = pytest.importorskip("dask_jobqueue", reason="pip install dask-jobqueue")
    given = slurm_workers() | {"scheduler_options": {"dashboard": False}}
    with jobqueue.SLURMCluster(**given) as cluster:
        script = cluster.job_script()
    assert "#SBATCH -t 04:00:00" in script
    assert "--lifetime 225m" in script


def test_the_image_copies_what_is_installed():
    lines = re.findall(r"^COPY (.*) \S+$", (FOLDER / "Containerfile").read_text(), re.M)
    copied = {name for line in lines for name in line.split()}
    library = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = library["tool"]["hatch"]["build"]["targets"]["wheel"]
    pipeline = runpy.run_path(str(ROOT / "packaging" / "pipeline" / "hatch_build.py"))
    assert copied >= {*wheel["only-include"], *pipeline["CONTENT"]}


@pytest.mark.slow
def test_what_the_image_copies_runs_by_itself(tmp_path):
    """The folders alone, elsewhere: every view is bound, and nothing of the checkout is read."""
    (tmp_path / "image").mkdir()
    for line in re.findall(r"^COPY (.*) \S+$", (FOLDER / "Containerfile").read_text(), re.M):
        for name in line.split():
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, tmp_path / "image" / name)
            else:
                shutil.copy(ROOT / name, tmp_path / "image")
    code = (
        "import flows.commands.app, warehouse.query.views\n"
        "print(warehouse.query.views.SQL_FOLDER)\n"
        "flows.commands.app.app(['views', 'out_model_profiles'])\n"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(tmp_path / "image")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(tmp_path / "image" / "sql"))
    assert "out_model_profiles: mean profile" in done.stdout


def test_commands_of_the_page_exist():
    page = (ROOT / "docs" / "schedules.md").read_text()
    calls = re.findall(r"^    .*?\b(decaf (?:serve|schedule) ?.*)$", page, re.MULTILINE)
    assert [parsed(shlex.split(call)[1:]) for call in calls] == ["serve", "add", "add"]
    for name in re.findall(r"examples/deploy/([\w.-]+)\)", page):
        assert (FOLDER / name).exists()
