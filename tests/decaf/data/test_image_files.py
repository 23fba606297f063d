"""Files of a folder: listed, followed, digested, and refused, whatever names a table gives."""

import hashlib

import pytest

from decaf.data.adapters.image_files import Folder
from decaf.errors import DataError


@pytest.fixture
def folder(tmp_path):
    """Three images, one of which is hidden, and links in and out of the folder."""
    root = tmp_path / "photos"
    for name in ("b/2.png", "1.png", ".cache/3.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (tmp_path / "secret.png").write_text("secret")
    (root / "in.png").symlink_to("b/2.png")
    (root / "out.png").symlink_to("../secret.png")
    (root / "away").symlink_to(tmp_path)
    return Folder(root)


def test_files_are_listed_by_their_paths_without_hidden_ones(folder):
    assert folder.files() == ["1.png", "b/2.png", "in.png", "out.png"]


def test_a_file_is_known_by_its_content_and_where_a_link_leads(folder):
    content = hashlib.sha256(b"b/2.png").hexdigest()
    real = str(folder.root.resolve() / "b" / "2.png")
    names = ("b/2.png", "in.png", "b/../in.png", "b/../b/2.png")
    assert {folder.file(name) for name in names} == {(content, real)}


@pytest.mark.parametrize(
    "name", ["out.png", "../secret.png", "away/secret.png", "b/../../secret.png", "/etc/hostname"]
)
def test_no_file_outside_of_the_folder_is_read(folder, name):
    with pytest.raises(DataError, match="lies outside of"):
        folder.file(name)


@pytest.mark.parametrize("name", ["none.png", "b", "b/..", ".", "1.png/2.png"])
def test_what_is_no_file_is_refused(folder, name):
    with pytest.raises(DataError, match="correct its name"):
        folder.file(name)
