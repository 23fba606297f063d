"""Behaviours and attributions through the real command line, against a calculation by hand."""

from datetime import timedelta
from typing import NamedTuple

import in_process
import numpy as np
import pytest
import torch
from behaviours import behaviours
from ended_commands import cells, refused, succeeded
from PIL import Image
from small_studies import SMALL_CNN, network_card, of_scenes
from warehouse_answers import fetched, query_rows

from decaf.errors import BadInput
from decaf.evaluation.attributions.base import attribution_inside
from decaf.evaluation.attributions.input_x_gradient import InputXGradient
from decaf.evaluation.image_masks import background_mask, difference_region
from decaf.evaluation.matching import match_cases
from decaf.models import architectures
from decaf.models.checkpoint import load_into, save
from decaf.plan.study import Study
from decaf.scoring.image_scores import CountedScore
from decaf.statistics.discrimination import auroc
from decaf.studies.imagenet9.adapters import ImageNet9
from decaf.studies.imagenet9.corruptions import CORRUPTIONS, corrupt_background
from warehouse import storage
from warehouse.upkeep.compaction import compact
from warehouse.upkeep.garbage import find_garbage

EPSILON = 0.02
CHANGE = 0.05
BEHAVIOURS = """
    SELECT y_evidence, y_contradiction, y_fragility FROM behaviours($epsilon, $change)
    ORDER BY source_id
"""


@pytest.fixture
def imagenet9(photo_root, workers, tmp_path):
    """A study of one untrained network of nine classes on nine foregrounds."""
    rng = np.random.default_rng(1)
    for same in sorted((photo_root / "bg_challenge" / "mixed_same").glob("val/*/*")):
        pixels = np.zeros((50, 60, 3), np.uint8)
        pixels[15:35, 20:40] = rng.integers(100, 256, (20, 20, 3))
        target = photo_root / "bg_challenge" / "only_fg" / "val" / same.parent.name
        target.mkdir(parents=True)
        Image.fromarray(pixels).save(target / f"{same.name.partition('_bg_')[0]}.JPEG", quality=95)
    save(_network(photo_root), tmp_path / "net.safetensors", {})
    weights = str(tmp_path / "net.safetensors")
    card = network_card("net", arguments={"classes": 9}, weights=weights, std=[0.05])
    return {
        "study": "nine",
        "data": {"adapter": "imagenet9", "root": str(photo_root)},
        "models": [card],
        "score": {"kind": "superclass_probability", "class_map": "imagenet9"},
        "paths": {"blend": {"kind": "blend"}},
        "stages": 3,
        "labels": {"kind": "behaviours"},
        "attributions": {
            "gradient": {"kind": "input_x_gradient"},
            "occlusion": {"kind": "occlusion", "grid": 2},
        },
        "epsilon": EPSILON,
        "sources_per_block": 5,
        "cluster": workers,
        "workspace": str(tmp_path / "workspace"),
        "warehouse": str(tmp_path / "warehouse"),
        "report": str(tmp_path / "report.html"),
    }


def _network(photo_root):
    """An untrained network whose logits are spread about their means, so that classes differ."""
    torch.manual_seed(0)
    network = architectures.build(SMALL_CNN["architecture"], {"classes": 9}).eval()
    data = ImageNet9(adapter="imagenet9", root=photo_root)
    images = torch.stack([_pixels(data, image) for image in data.pair_set().inputs])
    with torch.no_grad():
        head, mean = network[-1], network(_fed(images)).mean(dim=0)
        head.bias.copy_(30 * (head.bias - mean))
        head.weight.mul_(30)
    return network


def _pixels(data, image):
    return torch.from_numpy(data.read_input(image).copy()).permute(2, 0, 1).float() / 255


def _fed(images):
    small = torch.nn.functional.interpolate(
        images, (32, 32), mode="bilinear", antialias=True, align_corners=False
    )
    return (small - 0.5) / 0.05


@pytest.mark.slow
def test_behaviours_and_attributions_are_those_of_the_library(
    imagenet9, photo_root, write, decaf, prefect_server, tmp_path
):
    root = tmp_path / "warehouse"
    measured = {name: imagenet9.pop(name) for name in ("attributions", "labels")}
    succeeded(decaf("run", write(imagenet9 | {"report": False}), **prefect_server))
    first = "mixed_next/val/00_dog/fg_n00000000_00001_bg_n00000009_00002.JPEG"
    files = fetched(root, "SELECT count(*), count(file), min(file) FROM core_images")
    assert files == [(27, 27, first)]
    # Methods that are added are measured without scoring again.
    imagenet9 |= measured
    succeeded(decaf("run", write(imagenet9), **prefect_server))
    assert fetched(root, "SELECT count(*) FROM stg_costs WHERE kind = 'predict'") == [(2,)]
    found = fetched(root, "SELECT kind, count(*) FROM core_measurements GROUP BY kind")
    assert dict(found)["attributions"] == 4
    behaviours = fetched(root, BEHAVIOURS, epsilon=EPSILON, change=CHANGE)
    regions = fetched(
        root,
        "SELECT region_score FROM core_attributions WHERE method = 'gradient' ORDER BY pair_id",
    )
    costs = fetched(
        root,
        "SELECT kind, name, sum(item_count), sum(forward_rows), sum(backward_rows) "
        "FROM stg_costs WHERE kind <> 'predict' GROUP BY ALL ORDER BY ALL",
    )
    by_hand = _by_hand(photo_root, tmp_path / "net.safetensors")
    assert [tuple(row) for row in np.array(behaviours)] == by_hand.behaviours
    assert np.array(regions)[:, 0] == pytest.approx(by_hand.regions, rel=1e-4)
    null = by_hand.null_count
    assert 0 < null < 9
    assert 0 < sum(row[0] for row in by_hand.behaviours) < 9
    assert sum(row[2] for row in by_hand.behaviours) > 0
    assert costs == [
        ("attribute", "gradient", 9, 9, 9),
        ("attribute", "occlusion", 9, 9 * 5, 0),
        ("corrupt", "", null, 10 * null, 0),
    ]
    _check_benchmark(root)
    store = storage.open(root)
    compact(store, "nine")
    left = {one.reason.split()[0] for one in find_garbage(store, timedelta(0))}
    assert left == {"compacted"}
    _check_benchmark(root)
    same = write(imagenet9 | {"report": False})
    assert "nothing to do" in succeeded(decaf("run", same, **prefect_server))
    plan = cells(succeeded(decaf("plan", write(imagenet9))))
    assert ["occlusion", "0", "0"] in plan
    status = [row[:-1] for row in cells(succeeded(decaf("status", "-w", root)))]
    assert ["corrupt", "", "2/2", str(10 * null), "0"] in status
    assert ["attribute", "gradient", "2/2", "9", "9"] in status
    assert ["attribute", "occlusion", "2/2", "45", "0"] in status


def test_the_plan_says_what_will_be_measured_and_sent(imagenet9, photo_root, write, decaf):
    planned = succeeded(decaf("plan", write(imagenet9)))
    plan = cells(planned)
    # Nine factual images in two blocks; occlusion scores each and its four cells.
    assert ["gradient", "9", "9"] in plan
    assert ["occlusion", "45", "0"] in plan
    assert "left out" not in planned
    first = next(iter((photo_root / "bg_challenge" / "mixed_next").rglob("*.JPEG")))
    first.unlink()
    planned = succeeded(decaf("plan", write(imagenet9)))
    assert "1 of 9 foregrounds" in planned
    assert ["occlusion", "40", "0"] in cells(planned)


def _to_be_trained(card, photo_root, **recipe):
    """The card with a recipe instead of a file."""
    given = {"recipe": "imagenet9_fine_tune", "root": str(photo_root), "seed": 1, "part": "val"}
    given |= {"regime": "mixed_same", "validation_share": 0.4, **recipe}
    return {name: value for name, value in card.items() if name != "weights"} | {"training": given}


def test_the_plan_names_models_that_are_to_be_trained_first(imagenet9, photo_root, write, decaf):
    (photo_root / "bg_challenge" / "mixed_same").rename(photo_root / "bg_challenge" / "original")
    (photo_root / "bg_challenge" / "mixed_same").symlink_to(photo_root / "bg_challenge/original")
    card = imagenet9["models"][0]
    start = {"regime": "original", "initial_weights": card["weights"]}
    imagenet9["models"] = [_to_be_trained(card, photo_root, **start)]
    planned = succeeded(decaf("plan", write(imagenet9)))
    plan = cells(planned)
    assert ["net", "imagenet9_fine_tune"] in plan
    assert ["occlusion", "45", "0"] in plan
    assert "original/val" in planned


@pytest.fixture
def lacking(imagenet9, photo_root, write):
    """A study that lacks five things: the run would miss the last two after days of training."""
    card = imagenet9["models"][0]
    unknown = {"regime": "original", "pretrained": "any"}
    nowhere = {"regime": "original", "initial_weights": str(photo_root / "start.safetensors")}
    imagenet9["models"] = [
        _to_be_trained(card, photo_root, **unknown) | {"id": "first"},
        _to_be_trained(card, photo_root, **nowhere) | {"id": "second"},
        card | {"id": "third", "weights": str(photo_root / "nowhere.safetensors")},
    ]
    next(iter((photo_root / "bg_challenge" / "only_fg").rglob("*.JPEG"))).unlink()
    imagenet9["score"] |= {"class_map": str(photo_root / "nowhere.json")}
    return write(imagenet9)


def test_the_run_tells_all_that_is_lacking_before_it_trains(
    lacking, decaf, prefect_server, tmp_path
):
    done = decaf("run", lacking, **prefect_server)
    refused(done)
    lines = done.stderr[done.stderr.index("error: 6 ") :].splitlines()[1:]
    # Prefect may warn of events that it has not sent yet.
    told = dict(line.split(": ", 1) for line in lines if " | WARNING | " not in line)
    assert [*told] == ["score", "first, second", "first", "second", "third", "labels"]
    words = ("nowhere.json", "original/val", "published", "start.safetensors", "nowhere.safet")
    for line, word in zip(told.values(), (*words, "only_fg"), strict=True):
        assert word in line
    assert not (tmp_path / "workspace").exists()


def _check_benchmark(root):
    """Nine units of one model: what has no second model or family says so."""
    units = query_rows(root, "FROM core_units ORDER BY model_id, pair_id")
    labels = fetched(root, BEHAVIOURS, epsilon=EPSILON, change=0.2)
    pairs = fetched(
        root, "SELECT left_source_id, right_source_id FROM core_matched_pairs ORDER BY position"
    )
    probed = fetched(
        root,
        "SELECT representation, probe, count(*), any_value(test_count), any_value(reason) "
        "FROM core_probe_scores WHERE auroc IS NULL GROUP BY ALL",
    )
    calls = fetched(
        root, "SELECT method, statistic, estimate FROM paper_imagenet9_calls WHERE estimate > 0"
    )
    told = fetched(
        root,
        "SELECT label, estimate, lower_90, reason FROM paper_imagenet9_semantics "
        "WHERE method = 'DECAF' AND statistic = 'auroc' AND label <> 'macro'",
    )
    roles = fetched(root, "SELECT estimate FROM paper_imagenet9_roles WHERE statistic = 'pairs'")
    planned, measured = (
        fetched(root, f"SELECT DISTINCT study, method FROM {name} ORDER BY ALL")
        for name in ("core_unit_methods", "core_unit_scores")
    )
    analyses = fetched(root, "SELECT kind, is_made FROM core_analyses ORDER BY ALL")
    assert [unit["reason"] for unit in units] == [None] * 9
    names = ("y_evidence", "y_contradiction", "y_fragility")
    shown = [tuple(unit[name] for name in names) for unit in units]
    assert shown == labels
    matched = match_cases(
        [unit["abs_response"] for unit in units], shown, [[unit["pair_id"] for unit in units]]
    )
    names = [unit["source_id"] for unit in units]
    assert pairs == [(names[a], names[b]) for a, b in matched]
    assert roles == [(len(pairs),)]
    assert planned == measured
    assert len(probed) == 10
    assert {row[2:] for row in probed} == {(3, 9, "no other family")}
    assert set(calls) == {
        ("DECAF", "forward_per_image", 6),
        ("DECAF", "planned_per_pair", dict((row[1], row[2]) for row in calls)["planned_per_pair"]),
        ("corruptions", "forward_per_image", 10),
        ("gradient", "forward_per_image", 1),
        ("gradient", "backward_per_image", 1),
        ("occlusion", "forward_per_image", 5),
    }
    for label, estimate, lower, reason in told:
        column = [unit[f"y_{label}"] for unit in units]
        expected = auroc(column, [unit[label] for unit in units])
        assert estimate is None if np.isnan(expected) else estimate == pytest.approx(expected)
        assert lower is None
        assert reason
    assert fetched(root, "FROM paper_imagenet9_bins")
    assert analyses == [("matched_pairs", True), ("probe_scores", True)]


def test_behaviours_need_foregrounds_and_pairs_of_both_types(imagenet9, tmp_path):
    card = network_card("net", weights=imagenet9["models"][0]["weights"])
    scenes = of_scenes(tmp_path, [card], labels={"kind": "behaviours"})
    photos = imagenet9 | {"data": imagenet9["data"] | {"pair_types": ["same_rand"]}}
    for settings, word in ((scenes, "foreground"), (photos, "same_next")):
        with pytest.raises(BadInput, match=word):
            in_process.planned(Study(**settings))


class _ByHand(NamedTuple):
    behaviours: list
    regions: np.ndarray
    null_count: int


def _by_hand(photo_root, weights):
    data = ImageNet9(adapter="imagenet9", root=photo_root)
    pairs = data.pair_set()
    network = architectures.build(SMALL_CNN["architecture"], {"classes": 9})
    load_into(network, weights)
    network.eval()

    def shares(images):
        return network(_fed(images)).double().softmax(dim=1)

    images = torch.stack([_pixels(data, image) for image in pairs.inputs])
    clean = shares(images).detach().numpy()
    rand = [pair for pair in pairs.pairs if pair.pair_type == "same_rand"]
    following = [pair for pair in pairs.pairs if pair.pair_type == "same_next"]
    same = clean[[pair.plus for pair in rand]]
    other = clean[[pair.minus for pair in rand]]
    truth = np.array([pair.class_id for pair in rand])
    rows = np.arange(len(truth))
    null = np.abs(same[rows, truth] - other[rows, truth]) < EPSILON
    factual = images[[pair.plus for pair in rand]][torch.from_numpy(null)]
    alone = torch.stack([_pixels(data, image) for image in data.foregrounds(pairs).inputs])
    background = background_mask(alone[torch.from_numpy(null)])
    names = [pair.source_id for pair, is_null in zip(rand, null, strict=True) if is_null]
    corrupted = np.stack(
        [
            shares(corrupt_background(one, factual, background, names)).detach().numpy()
            for one in CORRUPTIONS
        ],
        axis=1,
    )
    by_image = {"same": same, "rand": other, "next": clean[[pair.minus for pair in following]]}
    units = [{name: of[row] for name, of in by_image.items()} for row in rows]
    for place, row in enumerate(np.flatnonzero(null)):
        units[row]["corrupted"] = corrupted[place]
    labels = [behaviours(*unit, EPSILON, CHANGE) for unit in zip(units, truth, strict=True)]
    ordered = sorted(pairs.pairs, key=lambda pair: pair.pair_id)
    plus = images[[pair.plus for pair in ordered]]
    maps = InputXGradient().maps(
        CountedScore(shares),
        plus,
        np.array([pair.class_id for pair in ordered]),
        [pair.source_id for pair in ordered],
    )
    region = difference_region(plus, images[[pair.minus for pair in ordered]])
    return _ByHand(labels, attribution_inside(maps, region), int(null.sum()))
