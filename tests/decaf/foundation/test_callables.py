"""The user's own code: its identity follows imports of own modules, and so does importing again."""

import sys

import pytest

from decaf.foundation import callables
from decaf.foundation.callables import code_digest, import_from, load_callable
from decaf.foundation.digests import file_sha256


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the user's own modules; Python forgets them after the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(callables, "_own_folders", [])
    import_from([tmp_path])
    modules = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def test_the_digest_of_one_file_is_that_of_the_file(folder):
    (folder / "lone_net.py").write_text("import json\ndef build(): return 1\n")
    (folder / "not_imported.py").write_text("import lone_net\n")
    assert code_digest("lone_net:build") == file_sha256(folder / "lone_net.py")


@pytest.mark.parametrize("changed", ["own_nets/layers.py", "own_units.py"])
def test_own_modules_that_a_function_imports_are_part_of_its_digest(folder, changed):
    (folder / "own_nets").mkdir()
    code = {
        "own_factory.py": "from own_nets import layers\ndef build(): return layers.WIDTH\n",
        "own_nets/__init__.py": "",
        "own_nets/layers.py": "import own_units\nWIDTH = 3 * own_units.ONE\n",
        "own_units.py": "ONE = 1\n",
    }
    for file, text in code.items():
        (folder / file).write_text(text)
    digest = code_digest("own_factory:build")
    assert load_callable("own_factory:build")() == 3
    (folder / changed).write_text(code[changed].replace("= 1", "= 100").replace("3 *", "300 *"))
    assert code_digest("own_factory:build") != digest
    assert load_callable("own_factory:build")() == 300


def test_a_function_in_a_package_depends_on_all_files_of_the_package(folder):
    (folder / "own_package").mkdir()
    for file in ("__init__.py", "nets.py", "layers.py"):
        (folder / "own_package" / file).write_text("")
    digest = code_digest("own_package.nets:build")
    (folder / "own_package" / "layers.py").write_text("WIDTH = 3\n")
    assert code_digest("own_package.nets:build") != digest
