"""The path of the native protocol: from one blurred reference to a bird and to all it may lack."""

import numpy as np
import pytest
import torch
from blocks import GRID, foregrounds, pixels, whole
from scipy.ndimage import gaussian_filter

from decaf.errors import ResponseError
from decaf.reveal.paths.blend import Blend
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder, on_device
from decaf.studies.attribution.paths import BlendFromFactual

SOURCES = 3


@pytest.fixture
def inputs():
    return pixels(3 * SOURCES, side=48)


def planned(inputs, **paths):
    return plan_states(whole(foregrounds(SOURCES)), inputs, paths, GRID)


def test_states_are_those_made_one_by_one(inputs):
    plan = planned(inputs, native=BlendFromFactual())
    builder = StateBuilder(plan, on_device(inputs, torch.device("cpu")))
    built = builder.build(np.arange(plan.state_count)).numpy()
    block, clean = whole(foregrounds(SOURCES)), inputs / 255
    for row in range(block.pair_count):
        plus, minus = clean[block.plus[row]], clean[block.minus[row]]
        start = gaussian_filter(plus, (0, 12, 12), radius=(0, 15, 15), mode="mirror")
        expected = [[start + t * (x - start) for x in (plus, minus)] for t in GRID]
        found = built[plan.index["native"][row, 0]]
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_start_and_factual_branch_are_scored_once_for_all_that_an_image_lacks(inputs):
    plan = planned(inputs, native=BlendFromFactual())
    # Three clean inputs, one start, and 7 inner stages of the image and of two that it became.
    assert plan.state_count == SOURCES * (3 + 1 + 7 * 3)
    blend = planned(inputs, blend=Blend(sigma=12))
    assert blend.state_count == SOURCES * (3 + 2 + 7 * 4)


def test_inputs_that_are_no_images_are_refused():
    rows = np.zeros((3 * SOURCES, 5), np.float32)
    with pytest.raises(ResponseError, match="blend_from_factual"):
        planned(rows, native=BlendFromFactual())
    with pytest.raises(ResponseError, match="sigma is -1"):
        BlendFromFactual(sigma=-1)
