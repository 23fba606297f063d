"""RISE: masks by hand, and byte by byte those of the paper's two benchmarks."""

import hashlib

import numpy as np
import pytest
import torch

from decaf.evaluation.attributions.base import Batch
from decaf.evaluation.attributions.rise import Rise
from decaf.scoring.image_scores import CountedScore

IMAGE = torch.rand(1, 3, 9, 11, generator=torch.Generator().manual_seed(0))
SHIFTS = np.zeros((1, 1, 2), np.int64)


def map_of(method, score, image):
    return method.maps(CountedScore(score), image, [0], ["a"])


def total(images):
    return images.sum(dim=(2, 3))


def with_masks(monkeypatch, cells):
    cells = np.array(cells, bool)[None]
    shifts = np.zeros((1, cells.shape[1], 2), np.int64)
    monkeypatch.setattr(Rise, "draw_cells", lambda self, batch: (cells, shifts))


def sha256(masks):
    assert (masks.shape, masks.dtype) == ((512, 9, 11), np.float32)
    return hashlib.sha256(masks.tobytes()).hexdigest()


def test_the_shared_bank_is_that_of_idsds():
    rise = Rise(masks=512, grid=8, probability=0.1, shift=True, bank="shared", seed=8213)
    cells, shifts = rise.draw_cells(Batch(IMAGE, None, ["a"], 64))
    assert shifts[0].max(axis=0).tolist() == [1, 1], "cells of ceil(9 / 8) and ceil(11 / 8) px"
    digest = "265751115e67df0ee18edcfcf1667da50db4c1a7b1a1c6710829b52f84435a09"
    assert sha256(rise.enlarge(cells, shifts, (9, 11))[0]) == digest


def test_enlarged_cells_of_a_source_are_those_of_the_native_benchmark():
    draw = torch.Generator().manual_seed(12345)
    cells = torch.rand((512, 7, 7), generator=draw) < 0.5
    shifts = torch.stack([torch.randint(0, 2, (512,), generator=draw) for _ in range(2)], dim=1)
    masks = Rise(grid=7, shift=True).enlarge(cells.numpy(), shifts.numpy(), (9, 11))
    digest = "a24c41f3d83a5951dcede7b4704e4b68c1b2a871f081aa3e86c3acc3cfab0d4c"
    assert sha256(masks) == digest


def test_masks_by_hand(monkeypatch):
    with_masks(monkeypatch, [[[1, 0], [0, 0]], [[1, 1], [0, 1]]])
    image = torch.tensor([[[[1.0, 2.0], [4.0, 8.0]]]])
    found = map_of(Rise(masks=2, grid=2, probability=0.25), total, image)
    # Scores 1 and 1 + 2 + 8; each pixel sums the scores of the masks that keep it.
    assert found[0, 0].tolist() == [[12 / 0.5, 11 / 0.5], [0, 11 / 0.5]]


def test_masks_grow_bilinearly(monkeypatch):
    with_masks(monkeypatch, [[[1, 0], [1, 0]]])
    found = map_of(Rise(masks=1, grid=2), lambda x: x[:, 0, :, 0], torch.ones(1, 1, 1, 4))
    assert found.flatten().tolist() == [2, 1.5, 0.5, 0]


def test_a_mirror_goes_on_beyond_the_centre_of_the_outer_cell():
    cells = np.array([[[1, 0], [1, 0]]], bool)
    constant, mirrored = (
        Rise(grid=2, bank=bank).enlarge(cells, SHIFTS[0], (1, 4))[0, 0].tolist()
        for bank in ("source", "shared")
    )
    assert constant == [1, 0.75, 0.25, 0]
    assert mirrored == [0.75, 0.75, 0.25, 0.25]


def test_a_shift_cuts_from_one_cell_more():
    # Two cells along 4 px, of 2 px each, are enlarged to 6 px, at a step of 1/3 cell.
    cells = np.array([[[1, 0], [1, 0]]] * 2, bool)
    shifts = np.array([[0, 0], [0, 1]])
    masks = Rise(grid=2, shift=True).enlarge(cells, shifts, (1, 4))[:, 0]
    np.testing.assert_allclose(masks, [[1, 1, 2 / 3, 1 / 3], [1, 2 / 3, 1 / 3, 0]], atol=1e-6)


def test_shifts_are_less_than_a_cell():
    for bank in ("source", "shared"):
        rise = Rise(masks=200, grid=4, shift=True, bank=bank)
        _, shifts = rise.draw_cells(Batch(IMAGE, None, ["a"], 64))
        assert [np.unique(shifts[..., axis]).tolist() for axis in (0, 1)] == [[0, 1, 2]] * 2


def test_masks_hide_behind_a_reference(monkeypatch):
    with_masks(monkeypatch, [[[0]]])
    seen = []

    def score(images):
        seen.append(images)
        return images.flatten(1)

    map_of(Rise(masks=1, grid=1, value=(0.25,)), score, IMAGE)
    assert (seen[0] == 0.25).all()


@pytest.mark.parametrize("bank", ["source", "shared"])
def test_the_map_is_the_mean_of_score_times_mask(bank):
    rise = Rise(masks=10, grid=4, probability=0.4, shift=True, bank=bank)
    images = IMAGE.expand(2, -1, -1, -1) * torch.tensor([1.0, 0.5]).view(2, 1, 1, 1)

    def score(x):
        return (x**2).sum(dim=(2, 3))

    found = rise.maps(CountedScore(score), images, [0, 1], ["a", "b"], batch_size=5)
    cells, shifts = rise.draw_cells(Batch(images, None, ["a", "b"], 64))
    masks = torch.from_numpy(rise.enlarge(cells, shifts, (9, 11))).expand(2, -1, -1, -1)
    for n in range(2):
        q = score(masks[n][:, None] * images[n])[:, n]
        expected = (q[:, None, None] * masks[n]).mean(dim=0) / 0.4
        torch.testing.assert_close(found[n, 0].float(), expected)
