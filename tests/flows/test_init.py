"""`decaf init`: each example runs as it is; those of photos and a table are in the tutorials."""

import errno
import re
import sys
from pathlib import Path

import in_process
import pytest
import sklearn
from accessibility import assert_page_accessible
from ended_commands import refused, succeeded
from flow_fixtures import use_workers
from warehouse_answers import fetched

from decaf.errors import BadInput, WriteFailed
from decaf.models.estimators.files import saved_version
from decaf.plan.study import load_study
from flows.commands.init import EXAMPLES, FITTED_WITH, MARK, init, parse_kind

KINDS = sorted(path.name for path in EXAMPLES.iterdir())
PROFILES = "SELECT pair_type, evidence, contradiction, fragility FROM out_model_profiles"


@pytest.fixture
def audited(start_decaf, warm_command, prefect_server, workers, tmp_path):
    """Write an example, run it; its folder, what `decaf data` showed, and how the audit ended."""

    def done(kind):
        folder = tmp_path / "mine"
        told = succeeded(start_decaf("init", kind, "mine").completed())
        *_, look, audit = told.splitlines()
        use_workers(folder / "study.yaml", workers)
        ended = [
            warm_command.start(line.split()[1:], folder, prefect_server).completed()
            for line in (look, audit)
        ]
        return folder, succeeded(ended[0]), ended[1]

    return done


@pytest.mark.slow
def test_features_of_images(audited, browser):
    folder, looked, run = audited("image_features")
    assert "40 pairs of 10" in looked
    succeeded(run)
    ask = "SELECT count(*), max(evidence) > 0.2 FROM out_feature_evidence"
    assert fetched(folder / "runs" / "warehouse", ask) == [(40, True)]
    assert_page_accessible(browser, folder / "runs" / "mine.html")


def test_arrays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    init("arrays")
    monkeypatch.chdir("arrays")
    study = load_study(Path("study.yaml"))
    in_process.compute(study)
    # Of four equal beats one moves into the first half: 2/4 becomes 3/4, and half of it on the way.
    ((_, *profile),) = fetched(study.warehouse, PROFILES)
    assert profile == pytest.approx([0.125, 0, 0], abs=0.02)


@pytest.mark.slow
def test_a_registry(audited, warm_command, prefect_server, browser):
    folder, _, run = audited("registry")
    refused(run, "small_cnn 2 failed endpoint magnitude", "wall hue", code=1)
    assert re.search(r"small_cnn@champion │ 1 .* pass", run.stdout)
    assert_page_accessible(browser, folder / "runs" / "mine.html")

    def again(*arguments):
        return warm_command.start(arguments, folder, prefect_server).completed()

    refused(again("reaudit", "study.yaml"), "small_cnn 2 failed endpoint magnitude", code=1)
    succeeded(again("accept", "study.yaml", "small_cnn", "--why", "a try"))
    assert "nothing changed" in succeeded(again("reaudit", "study.yaml"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_the_example_under_its_own_name(kind, decaf, tmp_path):
    folder = tmp_path / "My photos (2)"
    told = succeeded(decaf("init", kind, folder.name))
    files = {path.relative_to(EXAMPLES / kind) for path in all_files(EXAMPLES / kind)}
    assert {path.relative_to(folder) for path in all_files(folder)} == files
    assert len(list(folder.iterdir())) <= 5
    for file in files:
        own, example = (place / file for place in (folder, EXAMPLES / kind))
        expected = example.read_bytes()
        if file.name == "study.yaml":
            expected = expected.replace(f'"{kind}"'.encode(), b'"My-photos-2"')
            assert expected != example.read_bytes()
        assert own.read_bytes() == expected
    lines = (folder / "study.yaml").read_text().splitlines()
    marked = re.findall(r"study\.yaml:(\d+)  (.*)", told)
    assert [f"# ({n}) {what}" for n, (_, what) in enumerate(marked, 1)] == [
        MARK.search(lines[int(number) - 1])[0] for number, _ in marked
    ]
    assert len(marked) == 3
    assert "cd 'My photos (2)'" in told


def test_the_locked_version_saved_the_pipeline():
    locked = Path("requirements.lock").read_text()
    assert f"scikit-learn=={FITTED_WITH}\n" in locked
    assert saved_version(EXAMPLES / "table_pairs" / "pipeline.skops") == FITTED_WITH


@pytest.mark.parametrize("fitted_with", [FITTED_WITH, "0.1"])
def test_the_pipeline_is_one_of_the_installed_version(tmp_path, monkeypatch, fitted_with):
    monkeypatch.setattr("flows.commands.init.FITTED_WITH", fitted_with)
    monkeypatch.chdir(tmp_path)
    init("table_pairs")
    monkeypatch.chdir("table_pairs")
    assert saved_version(Path("pipeline.skops")) == sklearn.__version__
    study = load_study(Path("study.yaml"))
    assert len(study.pair_set().pairs) == 25
    (card,) = study.models
    assert card.load("cpu").remarks == ()


def test_an_example_whose_score_needs_no_labels_has_no_remark_on_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    init("arrays")
    monkeypatch.chdir("arrays")
    study = load_study(Path("study.yaml"))
    assert study.pair_set().remarks == ()


def all_files(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]


def test_the_folder_is_that_of_the_kind_and_may_be_empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    init("arrays")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    init("arrays", Path())
    for folder in ("arrays", "here"):
        assert f'study: "{folder}"' in (tmp_path / folder / "study.yaml").read_text()


def test_nothing_is_left_of_what_cannot_be_written(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    with pytest.raises(WriteFailed):
        init("arrays", tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_what_is_there_stays_as_it_is(decaf, tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine")
    monkeypatch.chdir(tmp_path)
    for folder, error in (
        ("full", BadInput),
        ("full/notes", BadInput),
        ("full/notes/in", WriteFailed),
    ):
        with pytest.raises(error, match=folder):
            init("arrays", Path(folder))
    refused(decaf("init", "arays", "other"), "'arays'", "did you mean 'arrays'")
    assert [path.name for path in tmp_path.rglob("*") if not path.name.startswith(".")] == [
        *("full", "notes")
    ]


def test_words_for_data_are_answered_with_their_kind():
    for word, kind in (
        ("photos", "image_pairs"),
        ("Images", "image_pairs"),
        ("table", "table_pairs"),
    ):
        with pytest.raises(BadInput, match=f"'{word}'; did you mean '{kind}'"):
            parse_kind(word)
