"""out_training over the outcomes that the recipes themselves leave."""

import json

from random_audit import rows_of

from decaf.studies.imagenet9.recipes import FineTuningOutcome, ImageNet9FineTune
from decaf.studies.scenes.recipes import SceneShortcut
from decaf.studies.scenes.training import SceneOutcome


def model(name, recipe, outcome):
    record = {"recipe": recipe.model_dump(mode="json"), "outcome": outcome._asdict()}
    return {"study": "s", "run_id": "r", "model_id": name, "training": json.dumps(record)}


def test_every_field_of_an_outcome_is_found(catalogue, tmp_path):
    values = {"learning_rate": 0.5, "train_loss": 2.0, "train_accuracy": 0.25, "seconds": 3.0}
    values |= {"validation_loss": 1.5, "validation_accuracy": 0.5}
    epochs = [{"epoch": 1} | values, {"epoch": 2} | dict.fromkeys(values, 0.125)]
    tuned = FineTuningOutcome(1, 0.5, 90, 10, 7.0, epochs)
    learned = SceneOutcome(0.875, 0.625, 1.0, 0.25, 0.75, 1, None, 9.0, 50.0, epochs[:1])
    photos = {"recipe": "imagenet9_fine_tune", "root": tmp_path, "regime": "original"}
    photos |= {"seed": 7101, "pretrained": "IMAGENET1K_V1"}
    scenes = SceneShortcut(recipe="scene_shortcut", shortcut=0.9, seed=3)
    given = {
        "stg_runs": [{"study": "s", "run_id": "r"}],
        "stg_models": [
            model("photos", ImageNet9FineTune(**photos), tuned),
            model("scenes", scenes, learned),
        ],
    }
    first, second, scene = rows_of(catalogue(given).sql("FROM out_training ORDER BY ALL"))
    for row, epoch in zip((first, second), epochs, strict=True):
        assert (row["recipe"], row["regime"], row["seed"]) == (
            "imagenet9_fine_tune",
            "original",
            7101,
        )
        assert {name: row[name] for name in epoch} == epoch
        assert row["is_best"] == (epoch["epoch"] == 1)
        expected = {name: value for name, value in tuned._asdict().items() if name != "epochs"}
        assert json.loads(row["outcome"]) == expected
    assert (scene["recipe"], scene["epoch"], scene["is_best"]) == ("scene_shortcut", 1, None)
    assert (scene["train_accuracy"], scene["seconds"]) == (0.25, 3.0)
    assert json.loads(scene["outcome"])["vulnerability"] == 0.75
