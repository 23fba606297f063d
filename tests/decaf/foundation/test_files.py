import pytest

from decaf.errors import BadInput
from decaf.foundation.files import refusals_as


def test_what_is_missing_is_said_where_the_current_folder_was_deleted(tmp_path, monkeypatch):
    missing, here = tmp_path / "missing", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    message = "table cannot be read: No such file or directory; check its path"
    with (
        pytest.raises(BadInput, match=f"^{message}$"),
        refusals_as(BadInput, "table cannot be read", "check its path"),
    ):
        missing.open()
