"""Pictures of the strongest pairs: what they show, when they are stored, and when they go."""

import io

import featured_images
import in_process
import numpy as np
import pytest
from PIL import Image
from small_studies import of_scenes, weighted
from warehouse_answers import fetched

from decaf.errors import DataError
from decaf.foundation.arrays import as_taken
from decaf.plan.presentation import Report
from decaf.plan.study import Study
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.removal import Removal
from decaf.reveal.start import gaussian_blur
from decaf.studies.scenes.adapters import Shapes3D
from tasks.pictures import are_pictures_stored, store_pictures
from warehouse.commits import receipts

FIELDS = "pair_id, words, factual, counterfactual, states, shown_t"


def finished(folder, **changed):
    """Settings of a study that is computed, but for its pictures; its plan."""
    study = Study(**of_scenes(folder, **{"sources": 4, **changed} | weighted(folder)))
    return study, in_process.compute(study)


def shown(study):
    found = fetched(study.warehouse, f"SELECT {FIELDS} FROM stg_shown_pairs ORDER BY ALL")
    return [dict(zip(FIELDS.split(", "), row, strict=True)) for row in found]


def pixels(content):
    image = Image.open(io.BytesIO(content))
    assert image.format == "WEBP"
    return np.asarray(image.convert("RGB")).astype(int)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """A study of scenes with its pictures, and the plan of it."""
    paths = {"blend": Blend(sigma=2.0, stages=9)}
    study, plan = finished(tmp_path_factory.mktemp("scenes"), paths=paths)
    assert not are_pictures_stored(plan)
    store_pictures(plan)
    return study, plan


def test_a_pair_is_shown_as_the_model_saw_it(scenes):
    study, plan = scenes
    rows = shown(study)
    named = fetched(study.warehouse, "SELECT DISTINCT pair_id FROM out_shown_pairs")
    assert {row["pair_id"] for row in rows} == {name for (name,) in named} != set()
    row = rows[0]
    pair = next(pair for pair in plan.pairs.pairs if pair.pair_id == row["pair_id"])
    assert row["words"] == study.data.describe(plan.pairs, pair)
    assert " → " in row["words"]
    clean = [study.data.read_input(plan.pairs.inputs[place]) for place in (pair.plus, pair.minus)]
    for name, expected in zip(("factual", "counterfactual"), clean, strict=True):
        assert np.array_equal(pixels(row[name]), expected), "small inputs are kept exactly"
    assert row["shown_t"] == [0, 0.25, 0.5, 0.75, 1]
    states = pixels(row["states"]).reshape(2, 32, 5, 32, 3).transpose(0, 2, 1, 3, 4)
    both = as_taken(np.stack(clean).transpose(0, 3, 1, 2))
    start = gaussian_blur(both.mean(axis=0, keepdims=True), 2.0)[0].transpose(1, 2, 0)
    for branch, own in enumerate(both.transpose(0, 2, 3, 1)):
        for place, t in enumerate(row["shown_t"]):
            expected = 255 * ((1 - t) * start + t * own)
            assert np.abs(states[branch, place] - expected).mean() < 9, (branch, t)


def test_pictures_are_stored_once(scenes):
    study, plan = scenes
    (receipt,) = receipts.read_kind(plan.store, "pictures", study.study)
    assert are_pictures_stored(plan)
    store_pictures(plan)
    assert [*receipts.read_kind(plan.store, "pictures", study.study)] == [receipt]


def test_inputs_that_nobody_may_see_are_not_kept(tmp_path):
    study, plan = finished(tmp_path)
    store_pictures(plan)
    private = study.model_copy(update={"report": Report(page=False, inputs=False)})
    hidden = in_process.planned(private)
    assert hidden.run_id == plan.run_id
    assert not are_pictures_stored(hidden)
    store_pictures(hidden)
    assert are_pictures_stored(hidden)
    assert shown(study) == []
    assert not are_pictures_stored(plan)
    store_pictures(plan)
    assert shown(study) != []


def test_a_pair_that_cannot_be_described_stops_nothing(tmp_path, monkeypatch, capsys):
    study, plan = finished(tmp_path)
    ((first,),) = fetched(study.warehouse, "SELECT min(pair_id) FROM out_shown_pairs")
    describe = Shapes3D.describe

    def fails(self, pairs, pair):
        if pair.pair_id == first:
            raise error("no words")
        return describe(self, pairs, pair)

    monkeypatch.setattr(Shapes3D, "describe", fails)
    error = KeyError
    with pytest.raises(KeyError, match="no words"):  # a mistake of the adapter is not hidden
        store_pictures(plan)
    error = DataError
    store_pictures(plan)
    assert f"no picture of pair {first} on path blend: " in capsys.readouterr().err
    bare, *others = (row for row in shown(study))
    assert (bare["words"], bare["factual"], bare["shown_t"]) == ("", None, [])
    assert all(row["factual"] for row in others)


def test_a_feature_is_removed_in_the_picture_of_the_other_branch(tmp_path):
    names = featured_images.photos(tmp_path / "photos")
    coco = featured_images.coco(tmp_path / "parts.json", names)
    data = {"adapter": "image_features", "images": str(tmp_path / "photos"), "features": coco}
    study, plan = finished(tmp_path, data=data, paths={"removal": Removal(stages=3)})
    store_pictures(plan)
    row = shown(study)[0]
    assert row["words"].endswith(" removed")
    factual, other = (pixels(row[name]) for name in ("factual", "counterfactual"))
    pair = next(pair for pair in plan.pairs.pairs if pair.pair_id == row["pair_id"])
    mask = study.data.read_mask(plan.pairs.masks[pair.plus]) >> (pair.feature - 1) & 1 > 0
    assert factual.shape[:2] == mask.shape
    assert np.abs(factual - other)[~mask].mean() < 12
    assert other[mask].mean() < 12 < factual[mask].mean()
