"""`decaf card`: what it proposes of a folder that MLflow wrote, and what it refuses."""

import yaml
from ended_commands import refused, succeeded
from registry_folder import put_small_cnn
from small_studies import of_scenes, untrained

MLMODEL = {
    "flavors": {"xgboost": {"data": "model.ubj", "model_class": "xgboost.sklearn.XGBClassifier"}},
    "signature": {"inputs": '[{"type": "double", "name": "a\\u001b[2J"}]'},
}


def test_a_card_is_proposed_for_an_entry_that_has_none(decaf, write, tmp_path):
    for version in ("1", "2"):
        (tmp_path / "zoo" / "boosted" / version).mkdir(parents=True)
        (tmp_path / "zoo" / "boosted" / version / "MLmodel").write_text(yaml.safe_dump(MLMODEL))
    (tmp_path / "zoo" / "boosted" / "aliases.yaml").write_text("champion: 1\n")
    put_small_cnn(tmp_path / "zoo" / "net")
    registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "follow": ["latest", "champion"]}
    config = write(of_scenes(tmp_path, registry=registry))

    for label, version in (("boosted", "2"), ("boosted@champion", "1")):
        told = succeeded(decaf("card", label, "-c", config))
        assert told.startswith(f"# {label}, version {version}; under 'registry:' of ")
        assert "\x1b" not in told
        card = {"source": "estimator", "file": "model.ubj", "method": "predict_proba"}
        assert yaml.safe_load(told) == {"cards": {"boosted": card}}

    follows_latest = registry | {"follow": ["latest"]}
    config = write(of_scenes(tmp_path, registry=follows_latest))
    for label in ("boosted@champion", "boosted@1"):
        told = succeeded(decaf("card", label, "-c", config))
        assert told.startswith(f"# {label}, version 1; under 'registry:' of ")
    for unknown in ("boosted@challenger", "boosted@3"):
        refused(decaf("card", unknown, "-c", config), f"registry '{unknown}'", "known: boosted")
    refused(decaf("card", "bosted", "-c", config), "unknown entry of the registry", "'boosted'")
    refused(decaf("card", "net", "-c", config), "has a card already", "net/decaf.yaml")
    names = {"kind": "names", "names": ["timm:resnet18.a1_in1k"]}
    config = write(of_scenes(tmp_path, registry=names))
    refused(decaf("card", "resnet18.a1_in1k", "-c", config), "no registry whose entries have cards")
    config = write(of_scenes(tmp_path, [untrained(tmp_path, "net")]))
    refused(decaf("card", "net", "-c", config), "no registry whose entries have cards")
