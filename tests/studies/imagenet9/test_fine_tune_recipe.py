"""The recipe of the paper's fine-tunes: its photos, its settings, and what it starts from."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from pydantic import ValidationError
from torch import nn

from decaf.errors import DataError, ModelError, UnknownName
from decaf.foundation.digests import hashed_share
from decaf.models.checkpoint import read_tensors, save
from decaf.models.sources.network import NetworkCard
from decaf.models.training.files import epoch_file, read_outcome
from decaf.studies.imagenet9.adapters import split_of
from decaf.studies.imagenet9.challenge_files import variant_files
from decaf.studies.imagenet9.recipes import ImageNet9FineTune

SQUEEZENET = {"id": "tuned", "family": "squeezenet", "architecture": "torchvision:squeezenet1_1"}
SQUEEZENET |= {"input_size": 224, "mean": (0.5,), "std": (0.5,)}

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def archive(tmp_path):
    """Six foregrounds of three classes before their own and the next background, 40 x 40 px."""
    rng = np.random.default_rng(0)
    for variant in ("original", "mixed_next"):
        for number in range(6):
            folder = ("00_dog", "01_bird", "02_wheeled vehicle")[number % 3]
            target = tmp_path / "bg_challenge" / variant / "val" / folder
            target.mkdir(parents=True, exist_ok=True)
            pixels = rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(target / f"n0000000{number}_00001.JPEG")
    return tmp_path


@pytest.fixture
def network():
    """Make the network of the study, of so many classes."""
    from torchvision.models import squeezenet1_1

    return squeezenet1_1


def recipe(root, **given):
    usual = {"recipe": "imagenet9_fine_tune", "root": root, "regime": "original", "part": "val"}
    usual |= {"seed": 1, "initial_weights": root / "initial.safetensors", "epochs": 2}
    usual |= {"batch_size": 4, "precision": "float32", "validation_share": 0.4}
    return ImageNet9FineTune(**usual | given)


def fine_tuned(archive, arguments=None, **fields):
    arguments = {"num_classes": 9} | (arguments or {})
    given = {"arguments": arguments, "training": recipe(archive).model_dump()}
    return NetworkCard(**SQUEEZENET | given | fields)


def test_all_regimes_validate_with_the_same_foregrounds(archive):
    def sources(regime):
        return [
            sorted((photo.path.name, photo.class_id) for photo in part)
            for part in recipe(archive, regime=regime).photos.find()
        ]

    training, validation = sources("original")
    assert sources("mixed_next") == [training, validation]
    assert not set(training) & set(validation)
    assert len(training) + len(validation) == 6


def test_only_the_wanted_splits_are_trained_on(archive):
    sources = variant_files(archive, "original").by_source
    splits = {source: split_of(source) for source in sources}
    wanted = max(splits.values(), key=list(splits.values()).count)
    held = {sources[source].name for source, split in splits.items() if split == wanted}
    assert 1 < len(held) < 6
    shares = sorted(
        hashed_share(f"91701|validation|{source}") for source in sources if splits[source] == wanted
    )
    parts = recipe(archive, splits=(wanted,), validation_share=sum(shares[:2]) / 2).photos.find()
    assert {photo.path.name for part in parts for photo in part} == held
    assert [len(part) for part in parts] == [len(held) - 1, 1]


def test_no_photo_to_validate_with_is_said(archive):
    with pytest.raises(DataError, match="6 .* 0 "):
        recipe(archive, validation_share=1e-9).photos.find()


def test_a_missing_version_names_the_folder(archive):
    with pytest.raises(DataError, match=r"only_fg/val is missing"):
        recipe(archive, regime="only_fg").photos.find()
    with pytest.raises(DataError, match=r"original/train is missing"):
        recipe(archive, part="train").photos.find()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"initial_weights": None}, "'initial_weights'"),
        ({"pretrained": "IMAGENET1K_V1"}, "'pretrained'"),
        ({"crop_scale": (0.9, 0.7)}, "'crop_scale'"),
        ({"crop_scale": (0.0, 0.7)}, "'crop_scale'"),
        ({"checkpoints": "/somewhere"}, "'pretrained'"),
        ({"entry": "state_dict"}, "'entry'"),
        (
            {"prefix": "module.", "initial_weights": None, "pretrained": "IMAGENET1K_V1"},
            "'prefix'",
        ),
        ({"keep_epochs": (3,)}, r"\[3\]"),
        ({"keep_epochs": (2, 2)}, "each once"),
        ({"warm_up_epochs": 2.0}, "'warm_up_epochs' is 2.0 and 'epochs' 2"),
    ],
)
def test_settings_that_do_not_fit(tmp_path, given, message):
    with pytest.raises(ValidationError, match=message):
        recipe(tmp_path, **given)


def test_a_model_is_fine_tuned_from_another_head_and_keeps_its_best_epoch(archive, network):
    torch.manual_seed(3)
    save(network(num_classes=7), archive / "initial.safetensors", {})
    card = fine_tuned(archive, training=recipe(archive, keep_epochs=(1,)).model_dump())
    target = archive / "workspace" / "net.safetensors"
    card.train(target, "cpu")
    made = card.with_checkpoint(target)
    outcome = read_outcome(target)
    accuracies = [epoch["validation_accuracy"] for epoch in outcome["epochs"]]
    assert outcome["best_epoch"] == 1 + int(np.argmax(accuracies))
    assert outcome["validation_accuracy"] == max(accuracies)
    kept = epoch_file(target, 1)
    assert sorted(path.name for path in target.parent.iterdir()) == sorted(
        [*(f"{file.name}{end}" for file in (target, kept) for end in ("", ".outcome.json"))]
    )
    assert read_tensors(kept).keys() == read_tensors(target).keys()
    assert read_outcome(kept) == outcome["epochs"][0]
    usual = target.parent / "usual"
    usual.touch()
    assert target.stat().st_mode == usual.stat().st_mode
    assert json.loads(made.training_record())["recipe"]["regime"] == "original"
    assert made.load("cpu").outputs(torch.rand(2, 3, 224, 224)).shape == (2, 9)


def test_weights_of_another_architecture_stop_the_training_before_it_starts(archive):
    save(nn.Linear(3, 2), archive / "initial.safetensors", {})
    card = fine_tuned(archive)
    with pytest.raises(ModelError, match=r"does not fit SqueezeNet"):
        card.train(archive / "workspace" / "net.safetensors", "cpu")
    (archive / "initial.safetensors").unlink()
    with pytest.raises(ModelError, match=r"put the checkpoint there"):
        card.train(archive / "workspace" / "net.safetensors", "cpu")
    assert not list(Path(archive / "workspace").rglob("*.safetensors"))


def test_another_preprocessing_or_start_is_another_training(archive, network):
    start = archive / "initial.safetensors"
    save(network(num_classes=7), start, {})
    usual = fine_tuned(archive)
    others = (
        {"mean": (0.4,)},
        {"std": (0.4,)},
        {"input_size": 96},
        {"memory_format": "channels_last"},
        {"arguments": {"dropout": 0.1}},
    )
    trainings = [fine_tuned(archive, **changes).training_parts for changes in ({}, *others)]
    save(network(num_classes=7), start, {})
    trainings.append(usual.training_parts)
    assert all(one != two for one, two in combinations(trainings, 2))
    # What is asked of the network afterwards does not change how it was trained.
    asked = fine_tuned(archive, precision="tf32", compile_mode="default")
    assert asked.training_parts == trainings[-1]


def test_all_outputs_of_the_start_are_not_the_nine_classes(archive, network):
    save(network(), archive / "initial.safetensors", {})
    card = fine_tuned(archive, arguments={"num_classes": 1000})
    with pytest.raises(ModelError, match=r"returned shape \(\d+, 1000\) .* 9 classes"):
        card.train(archive / "workspace" / "net.safetensors", "cpu")
    assert not list(Path(archive / "workspace").glob("*.safetensors"))


def test_a_start_that_others_wrapped(archive, network):
    first = network(num_classes=7)
    wrapped = {f"module.{name}": value for name, value in first.state_dict().items()}
    torch.save({"epoch": 3, "state_dict": wrapped}, archive / "initial.pth")
    given = recipe(
        archive, initial_weights=archive / "initial.pth", entry="state_dict", prefix="module."
    )
    again = network(num_classes=9)
    given._start("torchvision:squeezenet1_1").load(again)
    assert torch.equal(again.features[0].weight, first.features[0].weight)
    assert again.classifier[1].out_channels == 9


def test_the_recipe_of_the_paper_is_the_default(tmp_path):
    """Eight epochs, one of them warm-up, bfloat16; batch, rate and decay of the CNNs."""
    start = {"regime": "original", "seed": 1, "initial_weights": tmp_path / "a.safetensors"}
    usual = ImageNet9FineTune(recipe="imagenet9_fine_tune", root=tmp_path, **start)
    assert (usual.epochs, usual.warm_up_epochs, usual.precision) == (8, 1.0, "bfloat16")
    assert (usual.batch_size, usual.learning_rate, usual.weight_decay) == (256, 3e-4, 1e-4)
    assert (usual.crop_scale, usual.part) == ((0.7, 1.0), "train")


def test_what_training_needs_is_looked_for_before(archive):
    save(nn.Linear(3, 2), archive / "initial.safetensors", {})
    photos, start = recipe(archive).checks("torchvision:squeezenet1_1")
    (absent,) = photos()
    assert "03 reptile" in absent
    assert start() == ()
    # The same photos for every backbone and seed: they are looked for once.
    assert recipe(archive, seed=2, batch_size=8).checks("torchvision:resnet18")[0] == photos
    first = next(iter(sorted((archive / "bg_challenge" / "original" / "val").rglob("*.JPEG"))))
    first.with_name(f"{first.stem}_bg_n00000009_00001.JPEG").write_bytes(first.read_bytes())
    left_out, still_absent = photos()
    assert "original/val" in left_out
    assert still_absent == absent
    (archive / "initial.safetensors").unlink()
    with pytest.raises(ModelError, match=r"initial\.safetensors cannot be read"):
        start()
    published = recipe(archive, initial_weights=None, pretrained="V9", checkpoints=archive)
    with pytest.raises(UnknownName, match="'V9'"):
        published.checks("torchvision:squeezenet1_1")[1]()
    published = published.model_copy(update={"pretrained": "IMAGENET1K_V1"})
    with pytest.raises(ModelError, match="squeezenet1_1-b8a52dc0.pth"):
        published.checks("torchvision:squeezenet1_1")[1]()
