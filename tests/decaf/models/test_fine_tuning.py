import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from decaf.data.photo_files import central_crop
from decaf.errors import DataError, ModelError, WriteFailed
from decaf.models.checkpoint import load_into, save
from decaf.models.training.fine_tuning import FineTuning, Photos
from decaf.models.training.photos import Augmentation, Photo, batches
from decaf.models.training.progress import Progress

CPU = torch.device("cpu")
VARIED = Augmentation(crop_scale=(0.7, 1.0), flip_probability=0.5)


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def photos(tmp_path):
    """Four small photos of three classes: class 0 is dark, 1 and 2 are lighter."""
    rng = np.random.default_rng(0)
    made = []
    for number, class_id in enumerate([0, 1, 2, 0]):
        pixels = rng.integers(80 * class_id, 80 * class_id + 40, (40, 50, 3), dtype=np.uint8)
        path = tmp_path / f"{number}.png"
        Image.fromarray(pixels).save(path)
        made.append(Photo(path, class_id))
    return made


def tiny(outputs=3):
    torch.manual_seed(0)
    return nn.Sequential(
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(12, outputs)
    )


def tuning(network, photos, classes=3, **given):
    """Of a network that learns the photos, cropped and flipped, and is measured with the same."""
    learned = Photos(photos, photos, VARIED)
    usual = {
        "epochs": 3,
        "warm_up_epochs": 1.0,
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "batch_size": 2,
        "precision": "float32",
        "seed": 5,
    }
    recipe = SimpleNamespace(**usual | given)
    return FineTuning(network, nn.Identity(), CPU, classes, recipe, learned)


def test_the_rate_rises_for_an_epoch_and_falls_as_half_a_cosine(photos):
    training = tuning(tiny(), photos, epochs=5, learning_rate=0.8)
    steps = ((1, 0, 4), (1, 3, 4), (3, 1, 2), (5, 1, 2))
    assert [training.rate(*step) for step in steps] == pytest.approx([0.2, 0.8, 0.4, 0])
    # Without a warm-up, half of three epochs are done after the first of two steps of the second.
    without = tuning(tiny(), photos, warm_up_epochs=0)
    assert without.rate(2, 0, 2) == pytest.approx(0.005)


def test_an_epoch_shows_every_photo_once_in_an_order_of_its_seed(photos):
    def labels(seed):
        torch.manual_seed(seed)
        return [label for _, batch in batches(photos, 3, VARIED) for label in batch.tolist()]

    assert sorted(labels(1)) == [0, 0, 1, 2]
    assert labels(1) == labels(1)
    assert len({tuple(labels(seed)) for seed in range(8)}) > 1


def test_crops_and_flips_come_from_the_seed(photos):
    def pixels(seed):
        torch.manual_seed(seed)
        return torch.cat([batch for batch, _ in batches(photos, 2, VARIED)])

    assert pixels(1).shape == (4, 3, 224, 224)
    assert torch.equal(pixels(1), pixels(1))
    assert not torch.equal(pixels(1), pixels(2))


def test_without_augmentation_photos_are_fed_as_in_an_audit(photos):
    ((pixels, labels),) = batches(photos[:1], 8)
    with Image.open(photos[0].path) as file:
        expected = torch.from_numpy(central_crop(file).copy()).permute(2, 0, 1) / 255
    assert torch.equal(pixels[0], expected)
    assert labels.tolist() == [0]


def test_a_whole_crop_is_the_photo_and_a_flip_mirrors_it(tmp_path):
    # No crop of another ratio has the area of a whole square: only the square itself is left.
    rng = np.random.default_rng(0)
    square = rng.integers(0, 256, (224, 224, 3), dtype=np.uint8)
    Image.fromarray(square).save(tmp_path / "square.png")

    def shown(flip_probability):
        whole = Augmentation((1.0, 1.0), flip_probability)
        ((pixels, _),) = batches([Photo(tmp_path / "square.png", 0)], 1, whole)
        return (pixels[0].permute(1, 2, 0) * 255).round().numpy()

    assert (shown(0.0) == square).all()
    assert (shown(1.0) == square[:, ::-1]).all()


def test_a_damaged_photo_is_named(photos):
    photos[2].path.write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"2\.png cannot be decoded"):
        list(batches(photos, 2))


def test_losses_and_accuracies_are_means_over_photos(photos):
    network = nn.Sequential(nn.Flatten(), nn.Linear(3 * 224 * 224, 3))
    with torch.no_grad():
        network[1].weight.zero_()
        network[1].bias.copy_(torch.tensor([1.0, 0.0, 0.0]))
    measured = tuning(network, photos, batch_size=3).measure()
    z = np.exp(1) + 2
    assert measured["validation_accuracy"] == 0.5
    assert measured["validation_loss"] == pytest.approx(np.log(z) - 0.5, rel=1e-6)


def test_training_learns_and_records_every_epoch(photos, tmp_path):
    network = tiny()
    records = tuning(network, photos, epochs=20, learning_rate=0.1).run(Progress(tmp_path))
    assert [record["epoch"] for record in records] == list(range(1, 21))
    assert records[-1]["validation_loss"] < records[0]["validation_loss"]
    assert records[-1]["validation_accuracy"] == 1
    assert records[0]["learning_rate"] == pytest.approx(0.1)
    assert not network.training


def test_a_stopped_training_ends_where_an_undisturbed_one_does(photos, tmp_path):
    undisturbed = tiny()
    expected = tuning(undisturbed, photos).run(Progress(tmp_path / "straight"))

    class Stopped(Exception):
        pass

    class StopsAfterOne(Progress):
        def store(self, network, optimizer, records):
            if len(records) == 2:
                raise Stopped
            super().store(network, optimizer, records)

    with pytest.raises(Stopped):
        tuning(tiny(), photos).run(StopsAfterOne(tmp_path / "stopped"))
    torch.manual_seed(99)
    resumed = tuning(tiny(), photos)
    records = resumed.run(Progress(tmp_path / "stopped"))
    for record in (*records, *expected):
        del record["seconds"], record["learning_seconds"]
    assert records == expected
    for name, tensor in undisturbed.state_dict().items():
        assert torch.equal(resumed.network.state_dict()[name], tensor), name


def test_an_epoch_whose_optimiser_was_not_written_has_not_happened(photos, tmp_path, monkeypatch):
    progress = Progress(tmp_path)
    training = tuning(tiny(), photos, epochs=1, warm_up_epochs=0)
    training.run(progress)
    before = (tmp_path / "optimizer.safetensors").read_bytes()

    def full(*_):
        raise WriteFailed("disk full")

    monkeypatch.setattr("decaf.models.training.progress.save_tensors", full)
    with pytest.raises(WriteFailed):
        progress.store(training.network, training.optimizer, [{"epoch": 1}, {"epoch": 2}])
    assert progress.weights_file(2).exists()
    assert (tmp_path / "optimizer.safetensors").read_bytes() == before
    assert len(progress.restore(training.network, training.optimizer)) == 1


def test_a_folder_can_hold_the_last_epoch_alone(photos, tmp_path):
    tuning(tiny(), photos).run(Progress(tmp_path, holds_all=False))
    files = sorted(file.name for file in tmp_path.glob("*.safetensors"))
    assert files == ["epoch_003.safetensors", "optimizer.safetensors"]
    whole = Progress(tmp_path / "whole")
    tuning(tiny(), photos).run(whole)
    assert (tmp_path / files[0]).read_bytes() == whole.weights_file(3).read_bytes()


def test_a_loss_that_is_not_finite_stops_the_training(photos, tmp_path):
    network = tiny()
    with torch.no_grad():
        network[3].weight.fill_(float("nan"))
    with pytest.raises(ModelError, match="training diverged"):
        tuning(network, photos).run(Progress(tmp_path))
    assert not list(tmp_path.glob("*.safetensors"))


@pytest.mark.parametrize("outputs", [2, 4])
def test_a_network_needs_an_output_for_each_class(outputs, photos, tmp_path):
    with pytest.raises(ModelError, match=rf"\(\d+, {outputs}\) .* 3 classes.*num_classes: 3"):
        tuning(tiny(outputs), photos).run(Progress(tmp_path))


def test_everything_but_another_output_layer_is_loaded(tmp_path):
    def network(outputs, width=4):
        return nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width), nn.Linear(width, outputs))

    given, wanted = network(10), network(2)
    head = wanted[2].weight.clone()
    path = tmp_path / "given.safetensors"
    save(given, path, {})
    assert load_into(wanted, path, may_keep_head=True) == ["2.bias", "2.weight"]
    assert torch.equal(wanted[0].weight, given[0].weight)
    assert torch.equal(wanted[2].weight, head)
    assert load_into(network(10), path, may_keep_head=True) == []
    with pytest.raises(ModelError, match=r"differ in size"):
        load_into(network(2, width=5), path, may_keep_head=True)
    with pytest.raises(ModelError, match=r"0\.bias is missing"):
        load_into(nn.Sequential(nn.Linear(3, 4)), _without_bias(tmp_path), may_keep_head=True)


def _without_bias(folder):
    path = folder / "no_bias.safetensors"
    save(nn.Sequential(nn.Linear(3, 4, bias=False)), path, {})
    return path


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "epoch_002.safetensors").unlink(),
        lambda folder: (folder / "epoch_002.safetensors").write_bytes(b"cut"),
        lambda folder: _cut(folder / "optimizer.safetensors"),
        lambda folder: save(nn.Linear(1, 1), folder / "optimizer.safetensors", {}),
        lambda folder: save(nn.Linear(1, 1), folder / "epoch_002.safetensors", {}),
        lambda folder: save(
            nn.Linear(1, 1), folder / "optimizer.safetensors", {"decaf.epochs": "[[1, 2]]"}
        ),
    ],
    ids=["gone", "no_weights", "cut", "no_records", "another_network", "other_records"],
)
def test_damaged_progress_says_how_to_start_again(photos, tmp_path, damage):
    folder = tmp_path / "progress"
    tuning(tiny(), photos, epochs=2).run(Progress(folder))
    damage(folder)
    resumed = tuning(tiny(), photos)
    with pytest.raises(ModelError, match="progress.*Remove"):
        resumed.run(Progress(folder))
    shutil.rmtree(folder)
    assert len(resumed.run(Progress(folder))) == 3


def _cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def test_an_epoch_that_is_kept_or_best_and_gone_is_told_the_same_way(tmp_path):
    with pytest.raises(ModelError, match="epoch_001.*Remove"):
        Progress(tmp_path).load(tiny(), 1)
