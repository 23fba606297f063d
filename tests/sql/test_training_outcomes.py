"""out_training over the outcomes that the recipes themselves leave."""

import json

from random_audit import rows_of

from decaf.models.training.progress import EpochRecord
from decaf.studies.imagenet9.recipes import FineTuningOutcome, ImageNet9FineTune
from decaf.studies.scenes.recipes import SceneShortcut, TrainingOutcome


def model(name, recipe, outcome):
    record = {"recipe": recipe.model_dump(mode="json"), "outcome": outcome._asdict()}
    return {"study": "s", "run_id": "r", "model_id": name, "training": json.dumps(record)}


def test_every_field_of_an_outcome_is_found(catalogue, tmp_path):
    epochs = [EpochRecord(1, 0.5, 2.0, 0.25, 1.5, 0.5, 3.0), EpochRecord(2, *[0.125] * 6)]
    tuned = FineTuningOutcome(1, 0.5, 90, 10, 7.0, [epoch._asdict() for epoch in epochs])
    photos = {"recipe": "imagenet9_fine_tune", "root": tmp_path, "regime": "original"}
    photos |= {"seed": 7101, "pretrained": "IMAGENET1K_V1"}
    scenes = SceneShortcut(recipe="scene_shortcut", shortcut=0.9, seed=3)
    given = {
        "stg_runs": [{"study": "s", "run_id": "r"}],
        "stg_models": [
            model("photos", ImageNet9FineTune(**photos), tuned),
            model("scenes", scenes, TrainingOutcome(0.875, 1.0, 0.25, 9.0)),
        ],
    }
    first, second, scene = rows_of(catalogue(given).sql("FROM out_training ORDER BY ALL"))
    for row, epoch in zip((first, second), epochs, strict=True):
        assert (row["recipe"], row["regime"], row["seed"]) == (
            "imagenet9_fine_tune",
            "original",
            7101,
        )
        assert {name: row[name] for name in EpochRecord._fields} == epoch._asdict()
        assert row["is_best"] == (epoch.epoch == 1)
        expected = {name: value for name, value in tuned._asdict().items() if name != "epochs"}
        assert json.loads(row["outcome"]) == expected
    assert (scene["recipe"], scene["epoch"], scene["is_best"]) == ("scene_shortcut", None, None)
    assert (scene["train_accuracy"], scene["seconds"]) == (0.875, 9.0)
    assert json.loads(scene["outcome"])["reversed_accuracy"] == 0.25
