"""`decaf card`: what it proposes of a folder that MLflow wrote, and what it refuses."""

import joblib
import pytest
import yaml
from ended_commands import succeeded
from registry_folder import put_small_cnn
from rich.console import Console
from sklearn.linear_model import LogisticRegression
from small_studies import of_scenes, untrained

from decaf.errors import ConfigError, ModelError, UnknownName
from flows.commands.reaudits import card

MLMODEL = {
    "flavors": {"xgboost": {"data": "model.ubj", "model_class": "xgboost.sklearn.XGBClassifier"}},
    "signature": {"inputs": '[{"type": "double", "name": "a\\u001b[2J"}]'},
}
PROPOSED = {"source": "estimator", "file": "model.ubj", "method": "predict_proba"}


@pytest.fixture
def registry(tmp_path):
    """A registry of a model in two versions without a card, and one that has its card."""
    for version in ("1", "2"):
        (tmp_path / "zoo" / "boosted" / version).mkdir(parents=True)
        (tmp_path / "zoo" / "boosted" / version / "MLmodel").write_text(yaml.safe_dump(MLMODEL))
    (tmp_path / "zoo" / "boosted" / "aliases.yaml").write_text("champion: 1\n")
    put_small_cnn(tmp_path / "zoo" / "net")
    return {"kind": "folder", "root": str(tmp_path / "zoo"), "follow": ["latest"]}


@pytest.mark.parametrize(
    ("label", "version"), [("boosted", "2"), ("boosted@champion", "1"), ("boosted@1", "1")]
)
def test_a_card_is_proposed_for_a_version_that_has_none(
    registry, label, version, write, capsys, tmp_path
):
    card(Console(width=200), write(of_scenes(tmp_path, registry=registry)), label)
    printed = capsys.readouterr().out
    assert printed.startswith(f"# {label}, version {version}; ")
    assert "\x1b" not in printed
    assert yaml.safe_load(printed) == {"cards": {"boosted": PROPOSED}}


def test_the_command_proposes_a_card(registry, decaf, write, tmp_path):
    config = write(of_scenes(tmp_path, registry=registry))
    printed = succeeded(decaf("card", "boosted", "-c", config))
    assert yaml.safe_load(printed) == {"cards": {"boosted": PROPOSED}}


@pytest.mark.parametrize(
    ("label", "error", "words"),
    [
        ("boosted@challenger", UnknownName, "'boosted@challenger'"),
        ("boosted@3", UnknownName, "'boosted@3'"),
        ("bosted", UnknownName, "'boosted'"),
        ("net", ModelError, "net/decaf.yaml"),
    ],
)
def test_entries_without_a_proposal_are_refused(registry, label, error, words, write, tmp_path):
    with pytest.raises(error, match=words):
        card(Console(), write(of_scenes(tmp_path, registry=registry)), label)


@pytest.mark.parametrize(
    ("trust", "proposed"), [([], ["pickled"]), (["net"], ["net", "pickled"]), (["pickled"], None)]
)
def test_the_card_of_a_pickle_names_it_under_trust(trust, proposed, write, capsys, tmp_path):
    put_small_cnn(tmp_path / "zoo" / "net")
    folder = tmp_path / "zoo" / "pickled"
    folder.mkdir()
    joblib.dump(LogisticRegression(), folder / "model.joblib")
    registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "trust": trust}
    registry["cards"] = {name: {} for name in ["pickled"]}
    card(Console(width=200), write(of_scenes(tmp_path, registry=registry)), "pickled")
    printed = capsys.readouterr().out
    assert "all your rights" in " ".join(printed.split())
    keys = yaml.safe_load(printed)
    model = {"source": "estimator", "file": "model.joblib", "unpickle": True}
    assert keys.pop("cards") == {"pickled": model}
    assert keys.get("trust") == proposed


def test_a_study_without_cards_is_refused(write, tmp_path):
    names = of_scenes(tmp_path, registry={"kind": "names", "names": ["timm:resnet18.a1_in1k"]})
    models = of_scenes(tmp_path, [untrained(tmp_path, "net")])
    for settings in (names, models):
        with pytest.raises(ConfigError):
            card(Console(), write(settings), "net")
