"""Remarks on the size of images before they are stored: squares of 16 px."""

import numpy as np
import pytest
from broken_paths import BROKEN
from own_data import COLUMNS, rows_of_squares, write_table
from PIL import Image
from small_studies import network_card, of_scenes

from decaf.errors import BadInput
from decaf.plan.study import Study
from decaf.reveal.gaussian.reference import fit_reference
from decaf.reveal.gaussian.storage import save_reference
from tasks.input_shape import check_shape
from tasks.inputs import store_pairs
from tasks.units.scope import Scope


def squares(folder, sides, **changed):
    """A study of two pairs and of models that take images of some sides."""
    write_table(folder / "pairs.csv", rows_of_squares(folder, range(1)))
    data = {"adapter": "image_pairs", "pairs": str(folder / "pairs.csv"), "columns": COLUMNS}
    data |= {"classes": ["cat", "dog"]}
    models = [
        network_card(name, input_size=side, weights=f"{name}.pt") for name, side in sides.items()
    ]
    return Study(**of_scenes(folder, models) | {"data": data} | changed)


def remarks(study):
    return check_shape(Scope(study, study.pair_set()), study.models)


def stored(study):
    """Store the inputs, as the first step of a run."""
    store_pairs(study, study.pair_set())


def test_models_that_resize_are_named_once_for_each_size(tmp_path):
    sharp = {"soft": {"kind": "blend", "sigma": 0.5}}
    study = squares(tmp_path, {"a": 16, "b": 8, "c": None, "d": 24, "e": 8}, paths=sharp)
    expected = (
        "images of 16 x 16 px are resized to 8 x 8 px by the preprocessing of b, e",
        "images of 16 x 16 px are resized to 24 x 24 px by the preprocessing of d",
    )
    assert remarks(study) == expected
    stored(study)
    assert remarks(study) == expected


def test_a_path_that_cannot_reveal_such_images_is_refused(tmp_path):
    thirds = {"paths": {"thirds": {"kind": "patches", "side": 3}}}
    words = r"path thirds \(kind: patches\): an input has shape \(3, 16, 16\); patches need images"
    with pytest.raises(BadInput, match=words):
        remarks(squares(tmp_path, {"a": 16}, **thirds))


def test_images_that_cannot_be_read_are_left_to_what_names_all_of_them(tmp_path):
    study = squares(tmp_path, {"a": 8})
    for name in ("black", "white"):
        (tmp_path / "images" / f"s0-{name}.png").write_bytes(f"no image, {name}".encode())
    with pytest.raises(BadInput, match="used: 2"):
        remarks(study)
    cropped = study.model_copy(update={"data": study.data.model_copy(update={"crop": 16})})
    assert remarks(cropped) == ()
    with pytest.raises(BadInput, match="images or pairs that cannot be used: 2"):
        stored(cropped)


def of_sizes(folder, *sides, **changed):
    """The same study with pairs of other sides than 16 px."""
    study = squares(folder, {"a": 8}, **changed)
    write_table(folder / "pairs.csv", rows_of_squares(folder, range(1 + len(sides))))
    for number, side in enumerate(sides, 1):
        for file in (folder / "images").glob(f"s{number}-*.png"):
            with Image.open(file) as image:
                image.resize((side, 2 * side)).save(file)
    return study


def test_the_smallest_and_the_largest_are_tried_and_others_asked_about(tmp_path):
    study = of_sizes(tmp_path, 8, 24)
    expected = "images of 3 sizes, 8 x 16 px to 24 x 48 px, are resized to 8 x 8 px by the"
    assert remarks(study)[0].startswith(expected)
    stored(study)
    assert remarks(study)[0].startswith(expected)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ({"kind": "patches", "side": 8}, r"shape \(3, 24, 12\); patches"),
        ({"kind": "gaussian"}, r"path own \(kind: gaussian\) .* 3"),
    ],
)
def test_a_path_that_cannot_reveal_one_of_the_sizes_is_refused(path, words, tmp_path):
    with pytest.raises(BadInput, match=words):
        remarks(of_sizes(tmp_path, 12, 24, paths={"own": path}))


@pytest.mark.parametrize("name", [*BROKEN])
def test_a_path_that_breaks_its_contract_is_refused(name, tmp_path):
    path = {"own": {"kind": f"broken_paths:{name.title()}"}}
    with pytest.raises(BadInput, match=rf"path own \(kind: {name}\)"):
        remarks(squares(tmp_path, {"a": 16}, paths=path))


def test_a_path_that_waits_for_its_fit_is_accepted(tmp_path):
    assert remarks(squares(tmp_path, {"a": 16}, paths={"noise": {"kind": "gaussian"}})) == ()


def test_a_reference_of_other_inputs_is_refused(tmp_path):
    save_reference(fit_reference([np.eye(4)]), tmp_path / "rows.safetensors")
    path = {"noise": {"kind": "gaussian", "reference": str(tmp_path / "rows.safetensors")}}
    with pytest.raises(BadInput, match=r"\(3, 16, 16\).*\(4,\)"):
        remarks(squares(tmp_path, {"a": 16}, paths=path))
