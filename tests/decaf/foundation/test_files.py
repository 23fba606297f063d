import os
import stat

import pytest

from decaf.errors import BadInput
from decaf.foundation import files
from decaf.foundation.files import convert_os_errors, replace_file, replace_files


def test_what_is_missing_is_said_where_the_current_folder_was_deleted(tmp_path, monkeypatch):
    missing, here = tmp_path / "missing", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    message = "table cannot be read: No such file or directory; check its path"
    with (
        pytest.raises(BadInput, match=f"^{message}$"),
        convert_os_errors(BadInput, "table cannot be read", "check its path"),
    ):
        missing.open()


def test_files_are_written_then_flushed_then_renamed_then_their_folders_flushed(
    tmp_path, monkeypatch
):
    steps = []

    def writes():
        for name in ("a/one", "b/two", "b/three"):
            steps.append(f"write {name}")
            yield tmp_path / name, lambda path, name=name: path.write_text(name)

    def flush(path):
        name = str(path.relative_to(tmp_path)).removesuffix(f".{os.getpid()}.tmp")
        there = [file.name for file in tmp_path.glob("*/*") if file.suffix != ".tmp"]
        steps.append(f"flush {name}, {len(there)} renamed")

    monkeypatch.setattr(files, "flush", flush)
    replaced = replace_files(writes())
    assert replaced == [tmp_path / name for name in ("a/one", "b/two", "b/three")]
    assert [path.read_text() for path in replaced] == ["a/one", "b/two", "b/three"]
    written = ["write a/one", "write b/two", "write b/three"]
    flushed = [f"flush {name}, 0 renamed" for name in ("a/one", "b/two", "b/three")]
    assert steps[:6] == [*written, *flushed]
    assert sorted(steps[6:]) == ["flush a, 3 renamed", "flush b, 3 renamed"]


def test_what_stops_one_file_leaves_all_as_they_were(tmp_path):
    (tmp_path / "one").write_text("before")
    (tmp_path / "folder").mkdir()
    writes = [(tmp_path / name, lambda path: path.write_text("after")) for name in ("one", "two")]
    with pytest.raises(FileExistsError, match="a folder"):
        replace_files([*writes, (tmp_path / "folder", lambda path: path.write_text("after"))])
    assert (tmp_path / "one").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "one"]


def test_a_file_that_a_library_keeps_to_its_owner_is_for_whom_others_are(tmp_path):
    def write(path):
        path.unlink()
        path.touch(mode=0o400)

    usual = tmp_path / "usual"
    usual.touch()
    replace_file(tmp_path / "file", write)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (usual, tmp_path / "file")]
    assert modes[0] == modes[1] != 0o400
