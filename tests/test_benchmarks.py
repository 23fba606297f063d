"""The benchmark of attributions on a tiny network: rows by hand, and the page beside the paper."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch

FOLDER = Path(__file__).parents[1] / "benchmarks"
ROWS = {  # of two images of 16 features: forward and backward rows of each; the start of all is one
    "decaf_3": (2 * 17 + 0.5, 0),
    "decaf_5": (4 * 17 + 0.5, 0),
    "decaf_9": (8 * 17 + 0.5, 0),
    "endpoint_m": (17 + 0.5, 0),
    "input_x_gradient": (1, 1),
    "ig_16": (16, 16),
    "ig_32": (32, 32),
    "ig_u_32": (32, 32),
    "deep_lift": (2, 1),
    "gradient_shap": (16, 16),
    "smooth_grad_16": (16, 16),
    "rise_512": (512, 0),
    "kernel_shap_512": (512, 0),
}


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def attribution(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    module = loaded("attribution")
    tiny = {"classes": module.CLASSES, "width": 2}
    networks = {
        name: module.Network("factory:decaf.models.networks.small_cnn:build", tiny, 16)
        for name in ("resnet50", "vgg16", "vit_b_16")
    }
    monkeypatch.setattr(module, "NETWORKS", networks)
    monkeypatch.setattr(module, "PIXELS", 32)
    return module


@pytest.mark.usefixtures("one_thread")
def test_every_method_takes_its_rows_and_stands_beside_the_paper(attribution, tmp_path):
    results, page = tmp_path / "cost.json", tmp_path / "cost.md"
    asked = [str(results), str(page), "--images", "2", "--batch", "70", "--repeats", "1"]
    attribution.main([*asked, "--networks", "resnet50"])
    others = ["--networks", "vgg16", "vit_b_16", "--methods", "decaf_3", "ig_32"]
    attribution.main([*asked, *others])
    ((device, runs),) = json.loads(results.read_text()).items()
    assert device.startswith("cpu ")
    assert [*runs] == ["resnet50", "vgg16", "vit_b_16"]
    costs = runs["resnet50"]["costs"]
    counted = ("forward_rows_per_image", "backward_rows_per_image")
    assert {name: tuple(cost[one] for one in counted) for name, cost in costs.items()} == ROWS
    # 69 states in one batch; 32 steps of two images in one, forth and back.
    assert (costs["decaf_3"]["forward_passes"], costs["ig_32"]["forward_passes"]) == (1, 1)
    images = 2 * 3 * 32 * 32 * 4
    for cost in costs.values():
        assert len(cost["seconds"]) == 1
        assert images < cost["peak_gib"] * 2**30 < 100 * 2**20
    again = [runs[name]["costs"]["ig_32"]["peak_gib"] for name in ("vgg16", "vit_b_16")]
    assert again[0] == again[1], "of one network twice"
    text = page.read_text()
    assert f"| resnet50, {device} | 16 |" in text
    assert f"| mean of resnet50, vgg16, vit_b_16, {device} | 16 |" in text
    # 28.7 ms, 50.4 GiB of IG-32 and 216.4 ms, 14.4 GiB of KernelSHAP over 22.1, 11.2 and 36.7, 11.2
    assert "(table 11) | 16 | 1.30 | 4.50 | 9.79 | 1.29 | 0.78 | 4.50 | 5.90 | 1.29 |" in text
    assert "(table 4) | – | 7.50 | 2.42 | – | – | 4.75 | 2.37 | – | – |" in text
    assert "| kernel_shap_512 | 512 | 15 | 0 | 0 |" in text


@pytest.mark.usefixtures("one_thread")
def test_every_kind_of_method_scores_every_feature(attribution):
    subject = attribution.subject_of("resnet50", torch.device("cpu"), 2, 70)
    for name in ("endpoint_m", "ig_16", "kernel_shap_512"):
        scores = attribution.attributed(attribution.METHODS[name], subject)
        assert scores.shape == (2 * 16,)
        assert (scores != 0).all()


def test_the_peak_is_of_tensors_that_are_alive_at_once(attribution):
    given = torch.zeros(1000)
    with attribution.Alive() as alive:
        for _ in range(3):
            view = (given + given)[:10]  # holds all of its 4,000 bytes
            doubled = torch.cat([view, view])  # 80 more
            del view, doubled
        given.detach().mul_(2)
    assert (alive.most, alive.now) == (4080, 0)


@pytest.mark.usefixtures("one_thread")
def test_methods_that_share_coalitions_are_counted_together_and_alone(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(FOLDER)
    coalitions = loaded("coalitions")
    monkeypatch.setattr(coalitions, "FEATURES", (3,))
    monkeypatch.setattr(coalitions, "IMAGES", 2)
    results, empty, page = (tmp_path / name for name in ("counts.json", "costs.json", "page.md"))
    empty.write_text("{}")
    coalitions.main([str(results), str(empty), str(page)])
    counts = json.loads(results.read_text())["features"]["3"]
    # All 2^3 coalitions, however often they are drawn; each feature left out, and all.
    assert {name: (one["asked"], one["scored"]) for name, one in counts.items()} == {
        "exact_shapley": (8, 8),
        "kernel_shap_512": (512, 8),
        "part_lime_1000": (1000, 8),
        "part_occlusion": (4, 4),
        "together": (8 + 512 + 1000 + 4, 8),
    }
    text = page.read_text()
    assert "| one by one | 1,524 | 28 |" in text
    assert "| in one study | 1,524 | 8 |" in text
