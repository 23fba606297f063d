"""What a command or a test names to be tried: a file, a package, or one class of it."""

import sys

import pytest

from decaf.contracts.targets import candidates
from decaf.errors import ConfigError


class TestTargets:
    PATH = "from decaf.reveal.paths.blend import Blend\nclass {}(Blend):\n    {}\n"

    @pytest.fixture(autouse=True)
    def _own_path(self, monkeypatch):
        monkeypatch.setattr(sys, "path", list(sys.path))

    def test_of_a_file_every_class_that_may_be_a_member(self, tmp_path):
        (tmp_path / "some_members.py").write_text(
            self.PATH.format("One", "pass")
            + "from decaf.data.adapters.base import Adapter\nclass Base(Adapter): pass\n"
        )
        found = candidates(str(tmp_path / "some_members.py"))
        assert [one.entry.value for one in found] == ["some_members:One"]
        (one,) = candidates(f"{tmp_path / 'some_members.py'}:Base")
        assert one.entry.value == "some_members:Base"

    def test_of_a_package_each_module_by_its_whole_name(self, tmp_path):
        folder = tmp_path / "whole_package"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "inner.py").write_text(self.PATH.format("One", "pass"))
        assert [one.entry.value for one in candidates(str(folder))] == ["whole_package.inner:One"]

    @pytest.mark.parametrize(
        ("target", "message"),
        [("absent.py", "absent.py"), ("absent_package", "'absent_package'"), ("json", "json")],
    )
    def test_what_has_no_member_is_refused(self, target, message):
        with pytest.raises(ConfigError, match=message):
            candidates(target)

    def test_a_file_that_another_module_hides_is_told(self, tmp_path):
        (tmp_path / "json.py").write_text("")
        with pytest.raises(ConfigError, match=r"json/__init__\.py"):
            candidates(str(tmp_path / "json.py"))
