"""Images of one channel, and arrays of 0 to 255: each model gets what its owner means."""

import numpy as np
import pytest
import torch
from clean_scores import clean_scores
from data_looks import look_at
from ended_commands import refused, succeeded
from networks.brought import grey
from PIL import Image
from safetensors.torch import save_file

import decaf as library
from decaf.data.adapters.arrays import Arrays
from decaf.data.adapters.image_features import ImageFeatures
from decaf.data.adapters.image_pairs import ImagePairs
from decaf.data.model_inputs import model_inputs
from decaf.data.overview import some_pairs
from decaf.errors import DataError
from decaf.library.inputs import as_inputs, remark_on_pixels
from decaf.studies.attribution.adapters import FunnyBirds

SIDE = 8
MEAN, STD = 0.2, 0.3
BLEND = {"blend": {"kind": "blend", "sigma": 0}}


def levels(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def network(folder, channels=1):
    """A network with weights in a file, and its card."""
    torch.manual_seed(channels)
    built = grey(channels).eval()
    file = folder / f"grey-{channels}.safetensors"
    save_file(built.state_dict(), file)
    card = {"id": f"grey-{channels}", "family": "f", "architecture": "factory:brought:grey"}
    card |= {"arguments": {"channels": channels}, "weights": str(file)}
    return built, {**card, "input_size": None, "mean": [MEAN], "std": [STD]}


def probability(built, pixels):
    """P(class 1) of (n, channels, height, width) pixels in [0, 1], with torch alone."""
    with torch.inference_mode():
        outputs = built((torch.as_tensor(pixels).float() - MEAN) / STD)
    return outputs.double().softmax(1)[:, 1].numpy()


@pytest.fixture
def small(study):
    """A study of probabilities of class 1."""
    score = {"kind": "class_probability", "classes": 2, "target": 1}
    return {**study, "score": score, "paths": BLEND, "stages": 3}


def saved(folder, rows, suffix=""):
    """Rows and their counterfactuals, whose upper half is black, as the files of a study."""
    changed = rows.copy()
    height = 2 if rows.ndim == 4 and rows.shape[1] in (1, 3) else 1
    changed[(slice(None),) * height + (slice(0, SIDE // 2),)] = 0
    files = {}
    for role, array in {"factual": rows, "counterfactual": changed}.items():
        files[role] = str(folder / f"{role}{suffix}.npy")
        np.save(files[role], array)
    return {"adapter": "arrays", **files}, changed


def inputs(section):
    """Factual inputs of a section as models get them, (n, …)."""
    data = Arrays(**section)
    pairs = data.pair_set()
    read = np.stack([data.read_input(one) for one in pairs.inputs[: len(pairs.pairs)]])
    taken = read.transpose(0, 3, 1, 2) / 255 if read.dtype == np.uint8 else read
    return taken, pairs.remarks


GREY = levels((3, SIDE, SIDE))
GREY[:, -1, -1] = 255
COLOUR = levels((3, SIDE, SIDE, 3))
WHITE = np.array([0.299, 0.587, 0.114])
IN_ONE = {"scale": 255, "channels": 1}
LAYOUTS = {
    "grey, channels last": (GREY[..., None], {}, GREY[:, None] / 255),
    "grey, channels first": (GREY[:, None], {}, GREY[:, None] / 255),
    "colours, channels last": (COLOUR, {}, COLOUR.transpose(0, 3, 1, 2) / 255),
    "colours, channels first": (
        COLOUR.transpose(0, 3, 1, 2),
        {},
        COLOUR.transpose(0, 3, 1, 2) / 255,
    ),
    "grey without an axis": (GREY, {"channels": 1}, GREY[:, None] / 255),
    "grey, repeated": (GREY, {"channels": 3}, GREY[:, None].repeat(3, 1) / 255),
    "as numbers": (GREY[..., None], {"scale": 1}, GREY[..., None]),
    "scaled": (GREY, {"scale": 255}, GREY / 255),
    "floats": (GREY[:, None].astype("f4"), {"scale": 255}, GREY[:, None] / 255),
    "floats, channels last": (GREY[..., None].astype("f4"), IN_ONE, GREY[:, None] / 255),
    "long whole numbers": (
        COLOUR.astype("i8"),
        {"scale": 255, "channels": 1},
        (COLOUR @ WHITE)[:, None] / 255,
    ),
    "sixteen bits": (GREY.astype("u2") * 257, {"scale": 65535, "channels": 1}, GREY[:, None] / 255),
    "flat rows": (GREY.reshape(3, -1), {"scale": 255}, GREY.reshape(3, -1) / 255),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_reach_models_as_their_layout_says(tmp_path, name):
    rows, keys, expected = LAYOUTS[name]
    section, _ = saved(tmp_path, rows)
    taken, remarks = inputs(section | keys)
    np.testing.assert_allclose(taken, expected, rtol=1e-6)
    is_stated = bool(keys) or rows.dtype != np.uint8
    assert bool([remark for remark in remarks if "scale" in remark]) != is_stated
    if not is_stated:
        _, remarks = inputs(section | {"channels": rows.shape[-1] if rows.shape[-1] == 3 else 1})
        assert not [remark for remark in remarks if "scale" in remark]


def test_grey_of_8_bit_arrays_is_that_of_pillow(tmp_path):
    section, _ = saved(tmp_path, COLOUR)
    taken, _ = inputs(section | {"channels": 1})
    expected = [np.asarray(Image.fromarray(one).convert("L")) for one in COLOUR]
    np.testing.assert_allclose(taken[:, 0], np.array(expected) / 255)


UNSCALED = {
    "grey without an axis": GREY,
    "flat rows": GREY.reshape(3, -1),
    "floats": GREY[:, None].astype("f8"),
    "floats, channels last": COLOUR.astype("f4"),
    "long whole numbers": GREY[:, None].astype("i8"),
    "sixteen bits": GREY[:, None].astype("u2") * 257,
}


@pytest.mark.parametrize("name", UNSCALED)
def test_pixels_that_stay_unscaled_are_remarked_on(tmp_path, name):
    section, _ = saved(tmp_path, UNSCALED[name])
    _, remarks = inputs(section)
    (remark,) = [remark for remark in remarks if "'scale: " in remark]
    assert f"from 0 to {UNSCALED[name].max():g}" in remark
    _, remarks = inputs(section | {"scale": 1})
    assert not [remark for remark in remarks if "'scale: " in remark]


def test_numbers_that_are_no_pixels_are_not_remarked_on(tmp_path):
    for rows in (
        GREY[:, None] / np.float32(255),
        np.random.default_rng(0).normal(0, 100, (3, 1, SIDE, SIDE)),
        np.random.default_rng(0).random((3, 2, SIDE)) * 200,
        (GREY.reshape(3, -1) > 9).astype(np.uint8),
        np.arange(24).reshape(3, 8),
    ):
        section, _ = saved(tmp_path, rows)
        assert inputs(section)[1] == ()
        assert remark_on_pixels(rows, "x_plus") == ""


def test_layouts_that_can_be_read_in_two_ways(tmp_path):
    section, _ = saved(tmp_path, levels((3, 3, SIDE, 1)))
    with pytest.raises(DataError, match="channels first or last"):
        inputs(section)
    section, _ = saved(tmp_path, levels((2, SIDE, 3, 3)).transpose(0, 2, 1, 3))
    taken, remarks = inputs(section)
    assert taken.shape == (2, 3, 3, SIDE)  # as before there were other layouts
    assert any("channels last" in remark for remark in remarks)


def test_layouts_that_are_none_of_an_image(tmp_path):
    section, _ = saved(tmp_path, levels((3, SIDE, SIDE, 4)))
    with pytest.raises(DataError, match="'scale: 255' or 'scale: 1'"):
        inputs(section)
    assert inputs(section | {"scale": 255})[0].shape == (3, SIDE, SIDE, 4)
    flat, _ = saved(tmp_path, GREY.reshape(3, -1))
    with pytest.raises(DataError, match="as 'channels:' needs them"):
        inputs(flat | {"channels": 1})


def test_grey_arrays_are_scored_as_torch_scores_them(small, tmp_path):
    built, card = network(tmp_path)
    section, changed = saved(tmp_path, GREY)
    settings = {**small, "data": section | {"channels": 1}, "models": [card]}
    found = clean_scores(tmp_path, settings)
    both = [one.reshape(3, 1, SIDE, SIDE) / 255 for one in (GREY, changed)]
    expected = np.array([probability(built, one) for one in both]).T
    np.testing.assert_allclose(np.array([*found.values()]), expected, atol=1e-6)


def test_arrays_that_existed_before_keep_their_digest(tmp_path):
    """Keys of results that were computed before stay, but for tied patches of float images."""
    for rows, version in (
        (COLOUR, ""),
        (GREY, ""),
        (GREY[:, None].astype("f4"), ", float images 2"),
    ):
        section, _ = saved(tmp_path, rows)
        assert Arrays(**section).pair_set().construction == (
            f"arrays 1: rows as they are stored, whole numbers as float64{version}"
        )
    plain, scaled, one = (
        Arrays(**section, **keys).pair_set().input_set.digest
        for keys in ({}, {"scale": 255}, {"channels": 1})
    )
    assert len({plain, scaled, one}) == 3


def photo_files(folder):
    """Two photos in colours and their counterfactuals, as a table names them."""
    (folder / "photos").mkdir()
    lines = ["factual,counterfactual,label"]
    pixels = []
    for number in range(2):
        clean = levels((SIDE, SIDE, 3), seed=number)
        changed = clean.copy()
        changed[: SIDE // 2] = 0
        for name, one in ((f"{number}.png", clean), (f"{number}-black.png", changed)):
            Image.fromarray(one).save(folder / "photos" / name)
            pixels.append(one)
        lines.append(f"photos/{number}.png,photos/{number}-black.png,{number}")
    (folder / "pairs.csv").write_text("\n".join(lines))
    return {"adapter": "image_pairs", "pairs": str(folder / "pairs.csv")}, pixels


def test_photos_have_one_channel_where_the_data_say_so(small, tmp_path):
    built, card = network(tmp_path)
    section, pixels = photo_files(tmp_path)
    settings = {**small, "data": section | {"channels": 1}, "models": [card]}
    settings["paths"] = {"blend": {"kind": "blend", "sigma": 1}}
    found = clean_scores(tmp_path, settings)
    grey_pixels = [np.asarray(Image.fromarray(one).convert("L"))[None] / 255 for one in pixels]
    expected = probability(built, np.array(grey_pixels)).reshape(2, 2)
    np.testing.assert_allclose(np.array([*found.values()]), expected, atol=1e-6)


def test_grey_photos_are_made_before_they_are_resized(tmp_path):
    section, pixels = photo_files(tmp_path)
    plain, one = ImagePairs(**section), ImagePairs(**section, channels=1)
    data = ImagePairs(**section, channels=1, resize=6, crop=5)
    pairs = data.pair_set()
    read = data.read_input(pairs.inputs[0])
    resized = Image.fromarray(pixels[0]).convert("L").resize((6, 6), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(read[..., 0], np.asarray(resized)[:5, :5])
    assert plain.construction == "pillow as stored"
    assert plain.pair_set().input_set.digest != one.pair_set().input_set.digest


def features_section(folder):
    photo_files(folder)
    grid = {"kind": "grid", "side": 2}
    return {"adapter": "image_features", "images": str(folder / "photos"), "features": grid}


def test_features_of_grey_photos_and_their_attributions(small, tmp_path):
    built, card = network(tmp_path)
    section = features_section(tmp_path) | {"channels": 1}
    settings = {
        **small,
        "data": section,
        "models": [card],
        "paths": {"removal": {"kind": "removal", "value": [0.5], "stages": 3}},
        "attributions": {"ig": {"kind": "integrated_gradients"}},
    }
    found = clean_scores(tmp_path, settings)
    image = np.asarray(Image.open(tmp_path / "photos" / "0.png").convert("L")) / 255
    without = image.copy()
    without[: SIDE // 2, : SIDE // 2] = 0.5
    expected = probability(built, np.array([[image], [without]]))
    np.testing.assert_allclose(found["grey-1", "0.png__r1c1"], expected, atol=1e-6)
    assert ImageFeatures(**section).pair_set().inputs[0].shape == (SIDE, SIDE, 1)


def test_parts_are_replaced_in_colours_alone(tmp_path):
    with pytest.raises(ValueError, match="'operators' needs 'channels: 3'"):
        FunnyBirds(adapter="funnybirds", root=tmp_path, operators=["texture"], channels=1)


def test_a_network_of_another_number_of_channels_is_refused_with_the_way_out(
    small, write, decaf, tmp_path
):
    one, three = (network(tmp_path, channels)[1] for channels in (1, 3))
    section, _ = photo_files(tmp_path)
    grey_section = section | {"channels": 1}
    refused(decaf("plan", write({**small, "data": section, "models": [one]})), "'channels: 1'")
    succeeded(decaf("plan", write({**small, "data": grey_section, "models": [one]})))
    study = write({**small, "data": grey_section, "models": [three]})
    refused(decaf("plan", study), "'channels: 3'")


@pytest.mark.parametrize("channels", [None, 1])
def test_data_shows_the_range_that_models_get(small, write, tmp_path, channels):
    section, _ = saved(tmp_path, GREY)
    section |= {"channels": 1} if channels else {}
    expected = {
        None: {"type": "float64", "shape": [SIDE, SIDE], "low": 0.0, "high": 255.0},
        1: {"type": "float32", "shape": [1, SIDE, SIDE], "low": 0.0, "high": 1.0},
    }
    answer = look_at(write({**small, "data": section}))
    assert expected[channels].items() <= answer["model_inputs"].items()


def test_grey_photos_in_three_channels_are_seen(tmp_path):
    section, _ = photo_files(tmp_path)
    data = ImagePairs(**section)
    pairs = data.pair_set()
    assert not model_inputs(pairs, some_pairs(pairs, data.read_input, data.read_mask)).is_grey
    for file in (tmp_path / "photos").iterdir():
        Image.open(file).convert("L").save(file)
    shown = some_pairs(pairs, data.read_input, data.read_mask)
    assert "'channels: 1'" in model_inputs(pairs, shown).sentence(has_channels=True)


def test_a_network_of_the_library_gets_tensors_for_arrays():
    torch.manual_seed(0)
    built = grey(3).eval()
    plus, minus = COLOUR.transpose(0, 3, 1, 2), COLOUR[[1, 2, 0]].transpose(0, 3, 1, 2)
    options = {"target": 1, "path": library.Blend(sigma=0), "epsilon": 0.001}
    with pytest.warns(library.DataWarning, match="uint8"):
        audited = library.audit(built, plus, minus, **options)
    with torch.inference_mode():
        expected = built(torch.from_numpy(plus.copy()).float() / 255)[:, 1]
    np.testing.assert_allclose(audited.q_plus[:, 0, -1], expected, atol=1e-5)
    of_doubles = library.audit(built, plus / 255.0, minus / 255.0, **options)
    np.testing.assert_allclose(of_doubles.q_plus, audited.q_plus, atol=1e-5)
    tensors = [torch.from_numpy(one.copy()) for one in (plus, minus)]
    with pytest.warns(library.DataWarning, match="uint8"):
        of_tensors = library.audit(built, *tensors, **options)
    np.testing.assert_allclose(of_tensors.q_plus, audited.q_plus, atol=1e-5)


class OfArrays(torch.nn.Module):
    """A module that takes arrays itself, as some wrappers do."""

    def forward(self, batch):
        assert isinstance(batch, np.ndarray)
        return batch.mean(axis=(1, 2, 3))


def test_a_module_that_takes_arrays_gets_them():
    plus, minus = COLOUR.transpose(0, 3, 1, 2), COLOUR[[1, 2, 0]].transpose(0, 3, 1, 2)
    with pytest.warns(library.DataWarning, match="uint8"):
        audited = library.audit(OfArrays().eval(), plus, minus, path=library.Blend(sigma=0))
    np.testing.assert_allclose(audited.q_plus[:, 0, -1], plus.mean((1, 2, 3)) / 255, atol=1e-6)


def test_the_library_says_how_images_are_turned():
    with pytest.raises(DataError, match=r"x\.transpose\(0, 3, 1, 2\)"):
        library.audit(grey(3).eval(), COLOUR, COLOUR[[1, 2, 0]], target=1)
    with pytest.warns(library.DataWarning, match=r"uint8.*x_plus\[:, None\]"):
        library.audit(lambda x: x.mean(axis=(1, 2)), GREY, GREY[[1, 2, 0]], path="blend")


@pytest.mark.parametrize("name", UNSCALED)
@pytest.mark.parametrize("of", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_the_library_remarks_on_the_pixels_that_a_study_remarks_on(name, of):
    rows = UNSCALED[name]
    if rows.ndim == 4 and rows.dtype.kind in "iu":  # the library refuses them
        with pytest.raises(DataError, match=rf"x_plus / np.float32\({rows.max()}\)"):
            as_inputs(of(rows.copy()), "x_plus")
        assert remark_on_pixels(of(rows.copy()), "x_plus") == ""
        return
    remark = remark_on_pixels(of(rows.copy()), "x_plus")
    assert f"from 0 to {rows.max():g}" in remark
    rest = remark_on_pixels(of(rows / np.float32(65535)), "x_plus")
    assert ("channels are last" in rest) == name.endswith("channels last")


UNIT = GREY[:, None] / np.float32(255)
RANGES = {
    "counterfactual pixels": (UNIT, UNIT * 255, "0 to 255"),
    "factual pixels": (UNIT * 255, UNIT, "0 to 255"),
    "counterfactual normalised": (UNIT, (UNIT - 0.5) / 0.25, "-2 to 2"),
    "signals": (UNIT[:, 0], UNIT[:, 0] * 255, "0 to 255"),
}


@pytest.mark.parametrize("name", RANGES)
def test_two_ranges_are_named_in_place_of_one(tmp_path, name):
    factual, counterfactual, far = RANGES[name]
    factual, counterfactual = (one.astype("f4") for one in (factual, counterfactual))
    with pytest.warns(library.DataWarning) as warned:
        library.audit(
            lambda x: x.mean(axis=tuple(range(1, x.ndim))) / 255,
            factual,
            counterfactual,
            path=library.Blend(sigma=0),
        )
    (remark,) = [str(one.message) for one in warned if "x_plus" in str(one.message)]
    assert all(words in remark for words in ("from 0 to 1", far, "x_minus"))
    section, _ = saved(tmp_path, factual)
    np.save(section["counterfactual"], counterfactual)
    (remark,) = [remark for remark in inputs(section)[1] if " to " in remark]
    assert all(words in remark for words in ("from 0 to 1", far))
    assert "'scale: " not in remark
