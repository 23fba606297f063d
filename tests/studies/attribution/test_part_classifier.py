"""The recipe of classifiers by parts: what is learned, what counts, and what is refused."""

import math

import funny_birds
import numpy as np
import pytest
import torch
from funny_birds import INSTANCES, PARTS, SIZE, instances_of
from pydantic import ValidationError

from decaf.errors import DataError, ModelError
from decaf.models import architectures
from decaf.models.checkpoint import read_tensors, save
from decaf.models.sources.network import NetworkCard
from decaf.models.training.files import epoch_file, read_outcome
from decaf.studies.attribution.birds import birds, class_parts
from decaf.studies.attribution.networks import by_parts
from decaf.studies.attribution.recipes import PartClassifier
from decaf.studies.attribution.training import BirdTraining, _augment

pytestmark = pytest.mark.usefixtures("one_thread")
ARCHITECTURE = "factory:decaf.studies.attribution.networks:by_parts"
BACKBONE = "factory:decaf.models.networks.small_cnn:build"
CARD = {"id": "bird", "family": "cnn", "architecture": ARCHITECTURE, "input_size": 24}
CARD |= {
    "mean": (0.5,),
    "std": (0.5,),
    "arguments": {"architecture": BACKBONE, "arguments": {"width": 4}},
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return funny_birds.write(tmp_path_factory.mktemp("birds"))


def recipe(root, **given):
    usual = {"recipe": "part_classifier", "root": root, "seed": 1, "epochs": 2, "batch_size": 4}
    return PartClassifier(**usual | {"warm_up_epochs": 1, "shift": 2} | given)


def card(root, arguments=None, **given):
    said = {"arguments": {**CARD["arguments"], **(arguments or {})}}
    return NetworkCard(**CARD | said | {"training": recipe(root, **given).model_dump()})


def trained(folder, root, **given):
    file = folder / "bird.safetensors"
    card(root, **given).train(file, "cpu")
    return file


class Given(torch.nn.Module):
    """A backbone whose outputs are its inputs, and which has a layer that it does not use."""

    def __init__(self):
        super().__init__()
        self.unused = torch.nn.Linear(1, 1)

    def forward(self, outputs):
        return outputs


def test_a_class_is_the_sum_of_its_parts():
    network = by_parts(f"factory:{__name__}:Given", None, [2, 3], 2)
    network.members = torch.tensor([[0, 4], [1, 2]])  # first and last instance; second and first
    odds = torch.tensor([[3.0, 1.0, 1.0, 1.0, 2.0]])
    expected = [math.log(3 / 4) + math.log(2 / 4), math.log(1 / 4) + math.log(1 / 4)]
    assert network(odds.log())[0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("last", [torch.nn.Linear(3, 1000), torch.nn.Conv2d(3, 1000, 1)])
def test_the_last_layer_is_the_head(last, monkeypatch):
    layers = [torch.nn.Conv2d(3, 3, 1), last, torch.nn.ReLU()]
    monkeypatch.setattr(architectures, "build", lambda *given: torch.nn.Sequential(*layers))
    backbone = by_parts("any", None, [2, 3], 2).backbone
    assert backbone[0] is layers[0]
    assert (type(backbone[1]), backbone[1].weight.shape[0]) == (type(last), 5)


def test_a_trained_network_is_a_model_of_its_classes(root, tmp_path):
    torch.manual_seed(3)
    start = tmp_path / "start.safetensors"
    backbone = architectures.build(BACKBONE, {"classes": 9, "width": 4})
    save(backbone, start, {})
    given = {"initial_weights": start, "keep_epochs": (1,), "gate": 0.0}
    file = trained(tmp_path / "made", root, **given)
    outcome = read_outcome(file)
    assert sorted(path.name for path in file.parent.iterdir()) == sorted(
        f"{one.name}{end}" for one in (file, epoch_file(file, 1)) for end in ("", ".outcome.json")
    )
    assert outcome["reached_gate"] is True
    assert (outcome["training_birds"], outcome["test_birds"]) == (10, 10)
    assert [*outcome["part_accuracy"]] == PARTS
    assert [record["epoch"] for record in outcome["epochs"]] == [1, 2]
    assert outcome["validation_accuracy"] == outcome["epochs"][1]["validation_accuracy"]
    members = read_tensors(file)["members"]
    first = dict(zip(PARTS, np.cumsum([0, *INSTANCES.values()]), strict=False))
    for label in range(50):
        outputs = [int(first[part] + own) for part, own in instances_of(label).items()]
        assert members[label].tolist() == outputs
    model = card(root, **given).with_checkpoint(file).load("cpu")
    assert model.outputs(torch.rand(2, 3, SIZE, SIZE)).shape == (2, 50)


def test_batch_normalisation_begins_with_the_statistics_of_birds(root, tmp_path, monkeypatch):
    start, begun = tmp_path / "start.safetensors", []
    save(architectures.build(BACKBONE, {"classes": 9, "width": 4}), start, {})

    def begin(training, progress):
        begun.append(training.network.backbone.eval())
        raise Stopped

    monkeypatch.setattr(BirdTraining, "run", begin)
    for number, norm_birds in enumerate((0, 5)):
        with pytest.raises(Stopped):
            trained(tmp_path / str(number), root, initial_weights=start, norm_birds=norm_birds)
    norms = [[one for one in net.modules() if hasattr(one, "running_mean")] for net in begun]
    assert all((norm.running_mean == 0).all() for norm in norms[0])
    assert all((norm.running_mean != 0).any() for norm in norms[1])
    birds = torch.rand(4, 3, SIZE, SIZE)
    outputs = [network[:-1](birds) for network in begun]  # heads are drawn anew
    torch.testing.assert_close(*outputs, rtol=1e-4, atol=1e-5)


def test_plain_birds_are_learned(root, tmp_path):
    given = {"epochs": 40, "warm_up_epochs": 10, "learning_rate": 0.02, "shift": 0}
    outcome = read_outcome(trained(tmp_path, root, **given, gate=0.4))
    losses = [record["train_loss"] for record in outcome["epochs"]]
    assert losses[0] > 1.4, "that of chance is 1.57"
    assert losses[-1] < 1.0
    assert outcome["reached_gate"] is True
    assert min(outcome["part_accuracy"].values()) >= 0.6


class Stopped(Exception):
    pass


def test_a_stopped_training_ends_as_one_that_was_not(root, tmp_path, monkeypatch):
    whole = trained(tmp_path / "whole", root, epochs=3, gate=1.0)
    assert read_outcome(whole)["reached_gate"] is False
    keep = BirdTraining.keep

    def stop(training, records):
        keep(training, records)
        if len(records) == 3:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(BirdTraining, "keep", stop)
        with pytest.raises(Stopped):
            trained(tmp_path / "stopped", root, epochs=3, gate=1.0)
    before = list((tmp_path / "stopped").rglob("epoch_*.safetensors"))
    assert [path.name for path in before] == ["epoch_002.safetensors"]
    tensors, expected = map(
        read_tensors, (trained(tmp_path / "stopped", root, epochs=3, gate=1.0), whole)
    )
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)


def test_birds_lack_what_was_removed(root):
    found = birds(root, "train")
    assert found.classes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert found.instances[1].tolist() == [0, 1, 2, -1, 4]
    assert found.instances[2].tolist() == [*instances_of(1).values()]
    assert class_parts(root).tolist() == [[*instances_of(n).values()] for n in range(50)]


def test_removed_parts_do_not_count(root, tmp_path):
    file = trained(tmp_path, root)
    network = architectures.build(ARCHITECTURE, CARD["arguments"])
    site = _site(tmp_path)
    training = BirdTraining(recipe(root), network, site)
    rows = torch.tensor([1, 3])  # birds without tail
    batch = training._batch(training._training, rows)
    outputs = network.backbone(batch.inputs).detach().requires_grad_()
    training._outputs_of_parts = lambda inputs: outputs
    training.loss(batch).mean.backward()
    of_part = [one.abs().sum().item() for one in outputs.grad.split(network.instances, 1)]
    assert of_part[3] == 0
    assert min(of_part[:3] + of_part[4:]) > 0
    assert file.is_file()
    training._training.instances[:] = -1
    assert training.loss(batch).mean.item() == 0


def _site(folder):
    from decaf.models.recipes.base import TrainingSite

    cpu = torch.device("cpu")
    return TrainingSite(ARCHITECTURE, cpu, card("x").preprocessing(cpu), folder / "scratch", print)


def test_birds_are_flipped_and_shifted():
    torch.manual_seed(0)
    pixels = np.zeros((64, 9, 9, 3), np.uint8)
    pixels[:, 4, 3] = 255
    varied = _augment(pixels, 2)
    assert varied.shape == pixels.shape
    places = np.argwhere(varied[..., 0] > 0)[:, 1:]
    assert len(places) == 64
    assert set(places[:, 0].tolist()) == {2, 3, 4, 5, 6}
    assert set(places[:, 1].tolist()) == {1, 2, 3, 4, 5, 6, 7}, "from 3 and, mirrored, from 5"
    torch.manual_seed(0)
    np.testing.assert_array_equal(_augment(pixels, 2), varied)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": 49}, "49 .*50"),
        ({"instances": [4, 3]}, r"\[4, 3, 4, 9, 6\]"),
        ({"instances": [4, 3, 4, 8, 6]}, r"\[4, 3, 4, 9, 6\]"),
        ({"architecture": "factory:torch.nn:Identity", "arguments": {}}, "Identity|linear"),
        (
            {"architecture": f"factory:{__name__}:Given", "arguments": {}},
            r"\(4, 3, 24, 24\)",
        ),
    ],
)
def test_networks_that_do_not_fit(root, tmp_path, arguments, message):
    with pytest.raises(ModelError, match=message):
        card(root, arguments).train(tmp_path / "bird.safetensors", "cpu")


def test_a_network_that_knows_no_parts(root, tmp_path):
    said = {"architecture": BACKBONE, "arguments": {"classes": 50}}
    given = NetworkCard(**CARD | said | {"training": recipe(root).model_dump()})
    with pytest.raises(ModelError, match="Sequential"):
        given.train(tmp_path / "bird.safetensors", "cpu")


def test_what_training_needs_is_looked_for_before(root, tmp_path):
    (needed,) = recipe(root).checks(ARCHITECTURE)
    assert needed() == ()
    assert recipe(root, seed=2).checks("any") == (needed,), "looked for once"
    with pytest.raises(ModelError, match=r"start\.safetensors cannot be read"):
        recipe(root, initial_weights=tmp_path / "start.safetensors").checks("any")[0]()
    with pytest.raises(DataError, match=r"classes\.json cannot be read"):
        recipe(tmp_path).checks("any")[0]()


def test_a_start_is_part_of_the_training(root, tmp_path):
    start = tmp_path / "start.safetensors"
    save(torch.nn.Linear(2, 2), start, {})
    one = card(root, initial_weights=start).training_parts
    save(torch.nn.Linear(3, 2), start, {})
    assert card(root, initial_weights=start).training_parts != one


def test_the_rate_has_to_fall_again(root):
    with pytest.raises(ValidationError, match="'warm_up_epochs'.*7"):
        recipe(root, epochs=7, warm_up_epochs=7)
