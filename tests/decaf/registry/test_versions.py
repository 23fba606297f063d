"""Versions of a folder of models: their order, and those that are incomplete."""

from functools import partial

import pytest
from registry_folder import put_small_cnn as put
from registry_folder import registry_study, resolved

from decaf.plan.resolution import list_entries
from decaf.registry.entries import CARD_FILE, Entry, version_order
from decaf.registry.kinds import folder as folder_kind


@pytest.fixture
def study(tmp_path):
    """Read a study with a registry: study(registry)."""
    return partial(registry_study, tmp_path)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "zoo"


def test_versions_count_as_people_count():
    assert sorted(["v10", "v9", "v9.1", "v9rc"], key=version_order) == ["v9", "v9.1", "v9rc", "v10"]
    assert sorted(["V2", "v10", "v1", "V1"], key=version_order) == ["V1", "v1", "V2", "v10"]
    assert Entry("a", "1", "d", "p", "b").label == "a@b"


@pytest.mark.parametrize(
    ("names", "latest"),
    [
        (["v1", "V2"], "V2"),
        (["1", "2", "10b"], "10b"),
        (["alpha", "beta"], "beta"),
        (["1", "2", "old"], None),
        (["v1", "new"], None),
        (["9", "v1"], None),
        (["1", ".old"], "1"),
    ],
)
def test_the_latest_version_is_refused_if_names_have_no_common_order(study, folder, names, latest):
    for seed, name in enumerate(names):
        put(folder / "net" / name, seed=seed)
    (folder / "net" / "aliases.yaml").write_text(f"champion: {names[0]}\n")
    follow = ["latest", "champion"]
    found = resolved(study({"kind": "folder", "root": str(folder), "follow": follow}))
    if latest is None:
        assert all(name in found["net"].problem for name in names)
    else:
        assert (found["net"].entry.version, found["net"].problem) == (latest, None)
    assert latest == "1" or found["net@champion"].problem is None


def test_an_incomplete_version_that_still_changes_is_left_out_and_named(study, folder, monkeypatch):
    put(folder / "net" / "1")
    (folder / "net" / "2").mkdir()
    (put(folder / "net" / "3") / "net.safetensors").unlink()
    (folder / "other" / "1").mkdir(parents=True)
    registry = study({"kind": "folder", "root": str(folder)}).registry
    assert [entry.label for entry in list_entries(registry)] == ["net", "other"]
    assert [name for name, _ in registry.list_unfinished()] == ["net", "net"]
    assert "decaf.yaml" in registry.list_unfinished()[0][1]
    assert "net.safetensors" in registry.list_unfinished()[1][1]
    # Of a model that was never complete, the newest version fails at once, and so does a copy that
    # has stopped.
    assert resolved(study({"kind": "folder", "root": str(folder)}))["other"].problem
    monkeypatch.setattr(folder_kind, "UNFINISHED_SECONDS", 0)
    assert registry.list_unfinished() == []
    assert [entry.label for entry in list_entries(registry)] == ["net@2", "net@3", "net", "other"]
    assert registry.model_copy(update={"follow": ("champion",)}).list_unfinished() == []


def test_an_incomplete_version_is_an_entry_with_a_problem_and_the_whole_one_before_is_audited(
    study, folder, monkeypatch
):
    monkeypatch.setattr(folder_kind, "UNFINISHED_SECONDS", 0)
    put(folder / "net" / "1")
    (folder / "net" / "2").mkdir()
    (put(folder / "net" / "3") / "net.safetensors").unlink()
    opened = study({"kind": "folder", "root": str(folder)})
    assert [entry.label for entry in list_entries(opened.registry)] == ["net@2", "net@3", "net"]
    found = resolved(opened)
    assert (found["net"].entry.version, found["net"].problem) == ("1", None)
    assert f"{folder / 'net' / '2'} " in found["net@2"].problem
    assert "decaf.yaml" in found["net@2"].problem
    assert "net.safetensors" in found["net@3"].problem
    # An entry that --entry names is not listed twice.
    assert len(list_entries(opened.registry, ["net@2"])) == 3
    # A hidden folder is no version.
    (folder / "net" / "2").rename(folder / "net" / ".2")
    assert [entry.label for entry in list_entries(opened.registry)] == ["net@3", "net"]
    (folder / "net" / ".2").rename(folder / "net" / "2")
    # Where the study has its card, a version is whole once the file that it names is there.
    opened = study({"kind": "folder", "root": str(folder), "cards": {"net": {"file": "a.skops"}}})
    (folder / "net" / "2" / "a.skops").touch()
    assert [entry.version for entry in list_entries(opened.registry)] == ["3", "2"]
    # Of versions that all lack something, the newest fails by its name.
    (folder / "net" / "1" / CARD_FILE).unlink()
    (folder / "net" / "2" / "a.skops").unlink()
    opened = study({"kind": "folder", "root": str(folder)})
    assert "net.safetensors" in resolved(opened)["net"].problem
