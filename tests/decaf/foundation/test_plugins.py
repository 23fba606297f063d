"""Members from outside: found by name or as ``module:Class``, imported when they are named."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from decaf.data.adapters.base import Adapter
from decaf.errors import ConfigError
from decaf.foundation import third_party
from decaf.foundation.plugins import find, members, name_of
from decaf.models.recipes.base import NetworkRecipe
from decaf.plan.resolution import _card
from decaf.plan.study import Study, load_study
from decaf.registry.entries import CARD_FILE, Entry, Fetched
from decaf.scoring.scores.base import ScoreDefinition
from tasks.plan import plan_units
from tasks.sizes import fill_block_size
from tasks.units.scope import Scope, of_kind
from warehouse import storage

SCORE = '''
from typing import Literal
from pydantic import Field
from decaf.scoring.scores.base import ClassScore

class Half(ClassScore):
    """Half of the logit."""
    kind: Literal["half"]
    by: float = Field(2, description="divisor")

    def values(self, outputs, output):
        return outputs.double() / self.by
'''
STUDY = """study: try
data: {{adapter: shapes3d, sources: 4}}
models:
  - {{id: one, family: f, source: function, function: "our_scores:answer", output: logits}}
score: {score}
paths: {{blend: {{kind: blend}}}}
python_path: [code]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the user's own modules beside the study; what is imported is forgotten."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "our_scores.py").write_text(SCORE + "def answer(x):\n    return x\n")
    yield folder
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in (
            sys.modules[name].__file__
        ):
            del sys.modules[name]
            third_party.fresh_module.__globals__["_imported"].pop(name, None)


@pytest.fixture
def load(folder):
    def loaded(score='{kind: "our_scores:Half", classes: 2}'):
        path = folder.parent / "study.yaml"
        path.write_text(STUDY.format(score=score))
        return load_study(path)

    return loaded


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a package with entry points on the path, as an installer would."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def installed(package, version="0.1", **entries):
        info = tmp_path / "site" / f"{package}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
        lines = [f"{name.replace('__', '.')} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[decaf.plugins]", *lines]))
        if str(tmp_path / "site") not in sys.path:
            sys.path.append(str(tmp_path / "site"))
        third_party.installed_entry_points.cache_clear()

    yield installed
    third_party.installed_entry_points.cache_clear()


def test_a_class_is_named_by_its_module_beside_the_yaml_file(load):
    study = load('{kind: "our_scores:Half", classes: 2, by: 4}')
    assert type(study.score).__module__ == "our_scores"
    assert (study.score.kind, study.score.by) == ("half", 4)


def test_a_study_with_it_is_stored_as_it_was_configured(load):
    study = load()
    stored = json.loads(study.model_dump_json())
    assert stored["score"] == {
        "direction": "increasing",
        **{"classes": 2, "target": None, "kind": "our_scores:Half", "by": 2.0},
    }
    of_registries = ("gates", "compare_with", "undecided", "alerts")
    without = {key: value for key, value in stored.items() if key not in of_registries}
    assert Study.model_validate(without) == study
    assert pickle.loads(pickle.dumps(study)) == study  # noqa: S301 - what we wrote ourselves


def test_a_key_that_a_strangers_class_does_not_take_is_told_with_its_line(load):
    with pytest.raises(ConfigError, match=r"study\.yaml:5: 'score': .*'bye'"):
        load('{kind: "our_scores:Half", classes: 2, bye: 4}')
    with pytest.raises(ConfigError, match=r"study\.yaml:5: 'score\.by'"):
        load('{kind: "our_scores:Half", classes: 2, by: much}')


def test_names_do_not_start_from_the_current_directory(load, folder, monkeypatch):
    (folder / "our_scores.py").rename(folder.parent / "our_scores.py")
    monkeypatch.chdir(folder.parent)
    with pytest.raises(ConfigError, match=r"No module named 'our_scores'.*python_path"):
        load()


def test_a_folder_that_is_not_there_is_named(load, folder):
    folder.rename(folder.parent / "elsewhere")
    with pytest.raises(ConfigError, match=r"study\.yaml:7: 'python_path\.0': .*code"):
        load()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", r"ZeroDivisionError.*\(.*our_scores\.py:1\)"),
        ("import absent", r"ModuleNotFoundError: .*'absent' \(.*py:1\)"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("Half = 3", "int; .* ScoreDefinition"),
        ("class Half: pass", "class; .* ScoreDefinition"),
        ("", "AttributeError: .*'our_scores' .* 'Half'"),
        (SCORE.split("    def")[0], "values; .* ScoreDefinition"),
        (SCORE.replace('Literal["half"]', "str"), r"`kind: Literal\["),
    ],
)
def test_a_class_that_cannot_be_used_is_told(load, folder, text, message):
    (folder / "our_scores.py").write_text(text)
    with pytest.raises(
        ConfigError, match=rf"study\.yaml:5: 'score': class our_scores:Half .*{message}"
    ):
        load()


def test_another_text_of_the_module_is_another_key(load, folder, tmp_path):
    def parts(study):
        pairs = study.pair_set()
        study, _ = fill_block_size(study, pairs, storage.open(study.warehouse))
        scored = of_kind(plan_units(Scope(study, pairs)), "score")
        return {json.dumps({**unit.parts, "weights": ""}) for unit in scored}

    first = parts(load())
    assert parts(load()) == first
    (folder / "our_scores.py").write_text((folder / "our_scores.py").read_text() + "\n# more\n")
    changed = parts(load())
    assert changed.isdisjoint(first)
    assert parts(load("{kind: class_probability, classes: 2}")).isdisjoint(changed)


def test_a_declared_version_stands_for_the_text(load, folder):
    numbered = SCORE.replace("    by:", "    code_version = 3\n    by:").replace(
        "code_version = 3", "code_version: ClassVar[int] = 3"
    )
    text = "from typing import ClassVar\n" + numbered + "def answer(x):\n    return x\n"
    (folder / "our_scores.py").write_text(text)
    code = third_party.code_of(load().score)
    (folder / "our_scores.py").write_text(text + "# more\n")
    assert third_party.code_of(load().score) == code
    (folder / "our_scores.py").write_text(text.replace("= 3", "= 4"))
    assert third_party.code_of(load().score) != code
    assert third_party.code_of(None) == {}


def test_code_of_an_adapter_is_part_of_its_inputs(load, folder):
    (folder / "our_pairs.py").write_text(
        "from typing import Literal\nfrom decaf.studies.scenes.adapters import Shapes3D\n"
        'class Ours(Shapes3D):\n    """Scenes."""\n    adapter: Literal["ours"]\n'
    )
    study = load()
    data = find(Adapter, "our_pairs:Ours")(adapter="ours", sources=4)
    ours = study.model_copy(update={"data": data})
    assert ours.pair_set().pairs == study.pair_set().pairs
    assert ours.pair_set().input_set.digest != study.pair_set().input_set.digest
    assert ours.pair_set().digest != study.pair_set().digest


def test_an_installed_member_is_named_by_its_entry_point(load, install):
    load()
    install("halves", score__half="our_scores:Half")
    study = load("{kind: half, classes: 2}")
    assert type(study.score).__name__ == "Half"
    assert json.loads(study.model_dump_json())["score"]["kind"] == "half"
    with pytest.raises(ConfigError, match="'hlf'; .* 'half'"):
        load("{kind: hlf, classes: 2}")


def test_what_is_installed_is_not_imported_before_it_is_named(load, install):
    install("broken", score__broken="absent_module:Score")
    assert load("{kind: margin, classes: 2}").score.kind == "margin"
    with pytest.raises(ConfigError, match=r"broken 0\.1.* ModuleNotFoundError: .*'absent_module'"):
        load("{kind: broken, classes: 2}")


def test_a_name_that_two_give_names_both(load, install):
    install("one", score__margin="our_scores:Half", score__half="our_scores:Half")
    install("two", score__half="our_scores:Half")
    with pytest.raises(
        ConfigError, match=r"'margin' .*decaf\.scoring\.scores\.margin.* one 0\.1.*score\.margin"
    ):
        load("{kind: margin, classes: 2}")
    with pytest.raises(ConfigError, match=r"one 0\.1.* two 0\.1"):
        load("{kind: half, classes: 2}")
    assert load('{kind: "our_scores:Half", classes: 2}').score.kind == "half"


def test_a_class_and_its_entry_point_have_one_name(load, install):
    install("halves", score__other="our_scores:Half")
    with pytest.raises(ConfigError, match="'half'.* 'other'"):
        load("{kind: other, classes: 2}")


def test_a_card_of_a_registry_cannot_name_a_class_of_its_own(load, tmp_path, install):
    load()
    install("halves", source__half="our_scores:Half")
    entry = Entry("e", "1", "", "somewhere")

    def fetched(card):
        (tmp_path / CARD_FILE).write_text(yaml.safe_dump(card))
        return Fetched(card, tmp_path)

    for name in ("our_scores:Half", "half"):
        with pytest.raises(Exception, match=r"decaf\.yaml:1: .*source"):
            _card(entry, fetched({"source": name}))
    recipe = {"recipe": "our_scores:Half", "seed": 1}
    network = {"architecture": "a", "input_size": 8, "mean": [0], "std": [1], "training": recipe}
    with pytest.raises(Exception, match="unknown recipe 'our_scores:Half'"):
        _card(entry, fetched(network))


def test_a_section_may_be_the_object_itself():
    half = next(one for one in members(ScoreDefinition) if name_of(one) == "margin")
    with pytest.raises(ValidationError, match="expected a section"):
        Study(study="s", data="shapes3d", score=half(kind="margin", classes=2), paths={})
    assert {name_of(one) for one in members(NetworkRecipe)}


def test_planning_imports_neither_torch_nor_what_is_not_named(load, install, tmp_path):
    load()
    install("bad", adapter__bad="absent:Bad", path__bad="absent:Bad")
    code = (
        "import sys; from pathlib import Path; from decaf.plan.study import load_study\n"
        "study = load_study(Path('study.yaml')); study.pair_set()\n"
        "print('torch' in sys.modules, 'decaf.evaluation.baselines.lime' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{root}:{tmp_path / 'site'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_the_first_package_of_a_name_on_the_path_counts(install, tmp_path):
    install("halves", score__half="our_scores:Half")
    again = tmp_path / "again" / "halves-0.0.dist-info"
    again.mkdir(parents=True)
    (again / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 0.0\n")
    (again / "entry_points.txt").write_text("[decaf.plugins]\nscore.half = other:Half\n")
    sys.path.append(str(again.parent))
    third_party.installed_entry_points.cache_clear()
    (entry,) = third_party.entry_points_by_name("score")["half"]
    assert (entry.value, entry.dist.version) == ("our_scores:Half", "0.1")
