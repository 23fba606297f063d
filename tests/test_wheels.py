"""Both distributions as users install them: the library alone, both, and beside strangers."""

import os
import re
import site
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import decaf

ROOT = Path(__file__).parents[1]
PROJECTS = {"decaf_audit": ROOT, "decaf_audit_pipeline": ROOT / "packaging" / "pipeline"}
CONTENT = {
    "decaf_audit": {"decaf", "decaf_command.py"},
    "decaf_audit_pipeline": {"configs", "flows", "sql", "tasks", "warehouse"},
}
NEEDED = [*map(Path, site.getsitepackages())]
STRANGER = "raise SystemExit('a stranger was imported')"


def build(project, target, folder):
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder]
    subprocess.run(command, cwd=project, check=True, capture_output=True)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Files by the names of the distributions; each is built from its source archive alone."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in PROJECTS.values():
        build(project, "sdist", folder)
    for path in folder.glob("*.tar.gz"):
        with tarfile.open(path) as archive:
            archive.extractall(folder / "sources", filter="data")
    for source in (folder / "sources").iterdir():
        build(source, "wheel", folder)
    return {path.name.split("-")[0]: path for path in folder.glob("*.whl")}


def environment(folder, wheels):
    """An environment with the wheels, and nothing else; its folder of packages."""
    venv.create(folder, symlinks=True)
    install = [sys.executable, "-m", "pip", "--python", folder, "install", "-q", "--no-index"]
    subprocess.run([*install, "--no-deps", "--no-compile", *wheels], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    return packages


@pytest.fixture(scope="module")
def library_alone(wheels, tmp_path_factory):
    """Folder of programs, where numpy and scipy are all that is installed beside the library."""
    folder = tmp_path_factory.mktemp("library")
    packages = environment(folder, [wheels["decaf_audit"]])
    for name in ("numpy", "scipy"):
        for found in (path for place in NEEDED for path in place.glob(f"{name}*")):
            if re.fullmatch(rf"{name}(\.libs|-.*)?", found.name):
                (packages / found.name).symlink_to(found)
    return folder / "bin"


@pytest.fixture(scope="module")
def both(wheels, tmp_path_factory):
    """Folder of programs, with all that the pipeline needs."""
    folder = tmp_path_factory.mktemp("both")
    packages = environment(folder, wheels.values())
    (packages / "needed.pth").write_text("\n".join(map(str, NEEDED)))
    return folder / "bin"


def called(*words, folder, **environment):
    return subprocess.run(
        [*map(str, words)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "300", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", PROJECTS)
def test_a_wheel_holds_its_packages_and_every_file_of_them(wheels, name):
    with zipfile.ZipFile(wheels[name]) as wheel:
        names = [one for one in wheel.namelist() if ".dist-info/" not in one]
        (metadata,) = [one for one in wheel.namelist() if one.endswith("/METADATA")]
        told = message_from_bytes(wheel.read(metadata))
        licences = [one for one in wheel.namelist() if one.endswith("/LICENSE")]
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *CONTENT[name]]
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert sorted(names) == sorted(
        filter(lambda one: (ROOT / one).exists(), tracked.split("\n")[:-1])
    )
    assert {one.split("/")[0] for one in names} == CONTENT[name]
    assert "decaf/py.typed" in names or name != "decaf_audit"
    assert len(licences) == 1
    assert told["Version"] == decaf.__version__


def test_distributions_ask_for_each_other_at_the_same_version():
    library, pipeline = (
        tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        for folder in PROJECTS.values()
    )
    extras = library["optional-dependencies"]
    assert extras["pipeline"] == [f"decaf-audit-pipeline=={decaf.__version__}"]
    assert f"decaf-audit[plots,torch]=={decaf.__version__}" in pipeline["dependencies"]
    assert set(re.findall(r"\w+", extras["all"][0])) - {"decaf", "audit"} == set(extras) - {
        *("all", "cuda", "dev")
    }


def test_the_library_alone_runs_the_first_example_of_its_page(library_alone, tmp_path):
    page = (ROOT / "docs" / "library.md").read_text()
    code, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL).groups()
    done = called(library_alone / "python", "-c", code, folder=tmp_path)
    assert (done.stdout, done.stderr) == (printed, "")
    plot = f"{code}\ntry:\n    audited.plot(0)\nexcept decaf.DecafError as error:\n    print(error)"
    done = called(library_alone / "python", "-c", plot, folder=tmp_path)
    said = "package altair is not installed here; pip install 'decaf-audit[plots]'\n"
    assert done.stdout == printed + said


def test_the_command_of_the_library_alone_says_what_to_install(library_alone, tmp_path):
    done = called(library_alone / "decaf", "run", "study.yaml", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: decaf's pipeline is not installed (no package 'flows'): "
        "pip install 'decaf-audit[pipeline]'\n"
    )
    done = called(library_alone / "decaf", "--version", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"decaf {decaf.__version__}\n")


@pytest.mark.slow
def test_the_first_steps_work_outside_the_repository(both, tmp_path):
    table = tmp_path / "table"
    for folder, *words in (
        (tmp_path, "--help"),
        (tmp_path, "init", "table_pairs", "table"),
        (table, "run", "study.yaml"),
    ):
        done = called(both / "decaf", *words, folder=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (table / "runs" / "table.html").exists()
    done = called(both / "decaf", "sql", "SELECT model_id FROM out_findings", folder=table)
    assert (done.returncode, done.stdout.split()) == (0, ['"model_id"', '"pipeline"'])


@pytest.mark.slow
def test_the_command_works_in_a_folder_with_packages_of_the_same_names(both, tmp_path):
    for name in ("flows", "tasks", "warehouse", "sql", "configs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(STRANGER)
    (demo,) = both.parent.glob("lib/python*/site-packages/configs/scenes/demo.yaml")
    done = called(both / "decaf", "plan", demo, "--skip-models", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("study demo: 6 models")


@pytest.mark.parametrize("name", ["flows", "tasks", "warehouse"])
def test_a_package_of_a_strangers_project_is_told(both, tmp_path, name):
    (tmp_path / "theirs" / name).mkdir(parents=True)
    file = tmp_path / "theirs" / name / "__init__.py"
    file.write_text(STRANGER)
    done = called(both / "decaf", "status", folder=tmp_path, PYTHONPATH=str(file.parents[1]))
    assert (done.returncode, done.stdout) == (2, "")
    said = f"package '{name}' is {file}; expected that of decaf's pipeline: take that project off"
    assert done.stderr.startswith(f"error: {said}")
    if name != "flows":
        path = {"PYTHONPATH": str(file.parents[1])}
        done = called(both / "python", "-c", "import flows", folder=tmp_path, **path)
        assert f"ImportError: {said}" in done.stderr
