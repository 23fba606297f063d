import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from blocks import whole
from pydantic import TypeAdapter, ValidationError

from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError, ResponseError, UnknownName
from decaf.reveal.gaussian.draws import PRINCIPAL, draw_keys, normals
from decaf.reveal.gaussian.reference import reference_of
from decaf.reveal.gaussian.storage import load_reference, save_reference
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.gaussian import GaussianReveal
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder

SIGMA = np.array([[5.0, 2.0], [2.0, 2.0]])
MEAN = np.array([10.0, 20.0])
REFERENCE = reference_of(MEAN, SIGMA)
GRID = np.array([0, 0.25, 1])
PARAMETERS = {"power": {"beta": 0.5}, "linear": {"share": 0.5}}
GEOMETRIES = ("cmmr", "pixel", "diagonal", "power", "linear")


def reveal_path(**fields):
    return GaussianReveal(**{"reference": REFERENCE, "seeds": (1, 2), **fields})


@pytest.fixture
def block():
    """Three pairs of two sources: the last two share theirs."""
    images = tuple(Input(name, "any", name, "") for name in "uvwxy")
    ends = (("a", "scene-a", 0, 1), ("b", "scene-b", 2, 3), ("c", "scene-b", 2, 4))
    pairs = tuple(Pair(pair, source, "any", 0, "all", *inputs) for pair, source, *inputs in ends)
    return whole(PairSet(images, pairs, "test"))


@pytest.fixture
def inputs():
    return np.random.default_rng(0).normal(size=(5, 2)) + MEAN


def built(path, block, inputs, grid):
    """(pairs, repetitions, stages, 2, ...) every state as the protocol has it made."""
    revealed = path.reveal(block, inputs, grid)
    shape = revealed.input_position.shape
    pair = np.broadcast_to(np.arange(shape[0])[:, None, None, None], shape).ravel()
    draw = np.repeat(revealed.draw.reshape(-1, revealed.draw.shape[-1]), 2, axis=0)
    start = path.start.states(inputs[block.plus[pair]], inputs[block.minus[pair]], draw)
    clean = inputs[revealed.input_position.ravel()]
    content = revealed.content.reshape(-1, revealed.content.shape[-1])
    states = path.rule.states(start, clean, content, None)
    return states.reshape(*shape, *inputs.shape[1:])


def test_states_by_hand(block, inputs):
    states = built(reveal_path(), block, inputs, GRID)
    assert states.shape == (3, 2, 3, 2, 2)
    keys = draw_keys((1, 2), block.source_ids)
    axes = np.array([[2, 1], [-1, 2]]) / 5**0.5
    for pair in range(3):
        for repetition in range(2):
            key = int(keys[block.source[pair], repetition])
            eta = (normals(key, PRINCIPAL, 1, 2) * [6**0.5, 1]) @ axes
            for branch, position in enumerate((block.plus[pair], block.minus[pair])):
                half = MEAN + 0.5 * (inputs[position] - MEAN) + 0.75**0.5 * eta[0]
                np.testing.assert_allclose(
                    states[pair, repetition, :, branch],
                    [MEAN + eta[0], half, inputs[position]],
                    rtol=1e-13,
                )


@pytest.mark.parametrize("chain", ["fixed", "reverse_markov"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_branches_start_as_one_state_and_end_as_the_clean_inputs(
    block, inputs, geometry, chain, dtype
):
    inputs = inputs.astype(dtype)
    path = reveal_path(
        geometry=geometry, chain=chain, stages=(0, 0.25, 1), **PARAMETERS.get(geometry, {})
    )
    states = built(path, block, inputs, GRID)
    assert states.dtype == dtype
    np.testing.assert_array_equal(states[:, :, 0, 0], states[:, :, 0, 1])
    np.testing.assert_array_equal(states[:, 0, -1, 0], inputs[block.plus])
    np.testing.assert_array_equal(states[:, 1, -1, 1], inputs[block.minus])
    assert (states[:, :, 1, 0] != states[:, :, 1, 1]).any(axis=-1).all()


def test_the_draw_of_a_source_is_the_same_in_any_block(block, inputs):
    ends = {"plus": np.array([2]), "minus": np.array([4])}
    of_source = {"source": np.array([0]), "source_ids": ("scene-b",)}
    alone = SimpleNamespace(pair_count=1, **ends, **of_source)
    np.testing.assert_array_equal(
        built(reveal_path(), alone, inputs, GRID)[0], built(reveal_path(), block, inputs, GRID)[2]
    )


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_planned_states_are_the_brute_force_ones(block, inputs, batch_size):
    grid = np.linspace(0, 1, 4)
    paths = {
        "fixed": reveal_path(),
        "diagonal": reveal_path(geometry="diagonal"),
        "chain": chain_path((0, 0.2, 0.5, 1)),
        "blend": Blend(sigma=0),
    }
    plan = plan_states(block, inputs, paths, grid)
    builder = StateBuilder(plan, inputs)
    states = np.concatenate([builder.build(batch) for batch in plan.batches(batch_size)])
    for name in ("fixed", "diagonal", "chain"):
        expected = built(paths[name], block, inputs, plan.grids[name])
        np.testing.assert_array_equal(states[plan.index[name]], expected)


def test_what_is_random_is_made_once(block, inputs):
    paths = {"cmmr": reveal_path(), "chain": chain_path(4)}
    plan = plan_states(block, inputs, paths, np.linspace(0, 1, 4))
    # Five clean inputs. A start per source and seed; two inner stages of five distinct branches
    # (two pairs share their factual input) under two seeds: for each of the two paths.
    assert plan.state_count == 5 + 2 * (2 * 2 + 2 * 5 * 2)
    np.testing.assert_array_equal(plan.index["cmmr"][1, :, 0], plan.index["cmmr"][2, :, 0])
    np.testing.assert_array_equal(plan.index["cmmr"][:, :, -1], plan.index["chain"][:, :, -1])


def chain_path(stages, **fields):
    return reveal_path(chain="reverse_markov", stages=stages, **fields)


def test_a_chain_names_its_stages(block, inputs):
    path = chain_path((0, 0.25, 1))
    draw = path.reveal(block, inputs, GRID).draw
    assert draw.shape == (3, 2, 3, 2)
    np.testing.assert_array_equal(draw[0, 0, :, 1], [0, 1, 2])
    np.testing.assert_array_equal(
        draw[..., 0], reveal_path().reveal(block, inputs, GRID).draw[..., 0]
    )


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_chain_is_the_simulated_one(block, inputs, geometry):
    grid = np.array([0, 0.1, 0.4, 0.8, 1])
    parameters = PARAMETERS.get(geometry, {})
    path = chain_path(tuple(grid), geometry=geometry, **parameters)
    states = built(path, block, inputs, grid)
    keys = draw_keys((1, 2), block.source_ids)
    colouring = path.start.geometry.colouring(REFERENCE)
    for pair in range(3):
        key = int(keys[block.source[pair], 1])
        steps = np.zeros((4, 2))
        if colouring.principal is not None:
            scaled = normals(key, PRINCIPAL, 4, 2) * colouring.principal
            steps += scaled @ REFERENCE.eigenvectors.T
        if colouring.pixel is not None:
            steps += normals(key, 1, 4, 2) * colouring.pixel
        for branch, position in enumerate((block.plus[pair], block.minus[pair])):
            state = inputs[position]
            for j in range(3, -1, -1):
                kept = grid[j] / grid[j + 1]
                state = MEAN + kept**0.5 * (state - MEAN) + (1 - kept) ** 0.5 * steps[j]
                np.testing.assert_allclose(states[pair, 1, j, branch], state, rtol=1e-12)


@pytest.mark.parametrize("chain", ["fixed", "reverse_markov"])
def test_the_noise_of_every_stage_has_the_covariance(chain):
    count, stages = 4000, 3
    path = reveal_path(chain=chain, stages=(0, 0.2, 0.7, 1))
    keys = draw_keys((5,), [str(number) for number in range(count)])
    inputs = np.zeros((stages * count, 2))
    stage = np.repeat(np.arange(stages, dtype=np.uint64), count)
    draw = np.column_stack([np.tile(keys, (stages, 1)), stage])
    starts = path.start.states(inputs, inputs, draw if chain != "fixed" else draw[:, :1])
    for start in np.split(starts, stages):
        # The standard error of the largest entry is sqrt(2 x 5^2 / n) = 0.11: five of them.
        np.testing.assert_allclose(np.cov(start.T), SIGMA, atol=0.55)
        np.testing.assert_allclose(start.mean(axis=0), MEAN, atol=0.18)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("chain", ["fixed", "reverse_markov"])
def test_torch_states_are_those_of_numpy(block, inputs, geometry, chain):
    path = reveal_path(
        geometry=geometry, chain=chain, stages=(0, 0.25, 1), **PARAMETERS.get(geometry, {})
    )
    expected = built(path, block, inputs, GRID)
    found = built(path, block, torch.from_numpy(inputs), GRID)
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)
    single = built(path, block, torch.from_numpy(inputs).float(), GRID)
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single.numpy(), expected, rtol=1e-6)


def test_images_keep_their_shape():
    reference = reference_of(np.arange(12.0).reshape(3, 2, 2), np.eye(12))
    path = reveal_path(reference=reference)
    images = np.zeros((1, 3, 2, 2))
    start = path.start.states(images, images, np.array([[7]], np.uint64))
    noise = normals(7, PRINCIPAL, 1, 12) @ reference.eigenvectors.T
    np.testing.assert_allclose(start.reshape(12), np.arange(12) + noise[0], rtol=1e-13)
    halves = path.rule.states(start, images, np.array([[0.25]]).view(np.uint64), None)
    np.testing.assert_allclose(
        halves.reshape(12), 0.5 * np.arange(12) + 0.75**0.5 * noise[0], atol=1e-13
    )


def test_inputs_of_another_shape_are_refused():
    images = np.zeros((1, 3, 2, 2))
    with pytest.raises(DataError, match=r"shape \(3, 2, 2\), .* fitted to \(2,\)"):
        reveal_path().start.states(images, images, np.zeros((1, 1), np.uint64))


def test_starts_and_rules_are_shared_by_value():
    again = reference_of(MEAN, SIGMA)
    assert reveal_path() == reveal_path(reference=again)
    assert hash(reveal_path()) == hash(reveal_path(reference=again))
    assert reveal_path().start == reveal_path(reference=again, seeds=(9,)).start
    assert reveal_path().start != reveal_path(geometry="pixel").start
    assert reveal_path().rule == reveal_path(geometry="pixel").rule
    assert reveal_path().start != chain_path((0, 1)).start
    assert chain_path((0, 0.5, 1)).start != chain_path((0, 1)).start
    assert chain_path(3).start == chain_path((0, 0.5, 1)).start


def test_a_reference_in_a_file(block, inputs, tmp_path):
    path = tmp_path / "moments.safetensors"
    save_reference(REFERENCE, path)
    filed, held = reveal_path(reference=path), reveal_path()
    np.testing.assert_array_equal(
        built(filed, block, inputs, GRID), built(held, block, inputs, GRID)
    )
    assert filed.identity("inputs") == held.identity("inputs")
    assert filed.identity("inputs")["reference"] == REFERENCE.digest
    assert "stages" not in filed.identity("inputs")
    json.dumps(filed.identity("inputs"))
    assert len(pickle.dumps(filed)) < 1000


def test_a_path_without_a_reference_reveals_nothing():
    path = GaussianReveal()
    assert path.repetitions == 3
    for use in (lambda: path.start, lambda: path.rule):
        with pytest.raises(DataError, match="reference"):
            use()


def test_a_path_is_fitted_to_all_inputs_of_a_study(inputs, tmp_path):
    path = GaussianReveal()
    fitted = path.with_fitted_file(tmp_path, "0123")
    assert not fitted.reference.exists()
    assert fitted.start.of_pair is False  # planning needs no file
    path.fit([inputs], path.fitted_file(tmp_path, "0123"))
    assert fitted.fitted_file(tmp_path, "0123") is None  # it names its file now
    moments = load_reference(fitted.reference)
    np.testing.assert_allclose(moments.mean.reshape(inputs[0].shape), inputs.mean(axis=0))
    assert path.with_fitted_file(tmp_path, "4567").reference != fitted.reference
    assert path.identity("0123") != path.identity("4567")


def test_a_fitted_path_knows_its_weights_over_common_information():
    reference = reference_of([0, 0], [[5.0, 2.0], [2.0, 2.0]])
    path = GaussianReveal(reference=reference)
    (weights,) = path.measurements(np.array([0, 0.75, 15 / 16, 1])).values()
    # Of equal ratios, alpha is 1 - (1 / 16)^c: the response 1 / (1 - alpha) would grow to 16.
    assert weights[-1] == 0, "the clean input would be infinitely far"
    assert sum(weights) == pytest.approx(1)
    # Half of c lies below alpha 0.75, where a response falls linearly from 1 at alpha 0 to 0.
    c = np.linspace(0, 1, 51)
    falling = np.clip(1 - (1 - (1 / 16) ** c) / 0.75, 0, None)
    assert weights[0] == pytest.approx(np.trapezoid(falling, c), abs=1e-5)
    assert path.measurements(np.array([0.0, 1.0])) == {}, "no stage lies between"


def test_a_given_reference_is_never_fitted(tmp_path):
    path = GaussianReveal(reference=tmp_path / "mine.safetensors")
    assert path.with_fitted_file(tmp_path, "0123") is path
    with pytest.raises(DataError, match="cannot be read"):
        path.identity("0123")


def test_a_chain_keeps_to_its_own_stages(block, inputs):
    with pytest.raises(ResponseError, match="reverse Markov chain"):
        chain_path(4).reveal(block, inputs, GRID)


@pytest.mark.parametrize(
    ("fields", "error", "reason"),
    [
        ({"geometry": "diag"}, UnknownName, "did you mean 'diagonal'"),
        ({"beta": 0.5}, ResponseError, "'cmmr' has no beta"),
        ({"geometry": "linear"}, ResponseError, "share .*'linear' .*None"),
        ({"chain": "markov"}, UnknownName, "unknown chain 'markov'"),
        ({"chain": "reverse_markov"}, ResponseError, "'stages'"),
        ({"seeds": ()}, ResponseError, "distinct numbers from 0"),
        ({"seeds": (1, 1)}, ResponseError, "distinct numbers from 0"),
        ({"seeds": (-1,)}, ResponseError, "distinct numbers from 0"),
        ({"stages": 1}, ResponseError, "at least two stages"),
    ],
)
def test_paths_that_there_are_not(fields, error, reason):
    with pytest.raises(error, match=reason):
        reveal_path(**fields)


def test_a_configuration_can_name_it(tmp_path):
    config = TypeAdapter(GaussianReveal)
    file = tmp_path / "moments.safetensors"
    given = {"kind": "gaussian", "geometry": "power", "beta": 0.5, "seeds": [3, 4]}
    path = config.validate_python({**given, "reference": str(file)})
    assert path == GaussianReveal(reference=file, geometry="power", beta=0.5, seeds=(3, 4))
    assert config.validate_python({**given, "reference": REFERENCE}).reference is REFERENCE
    for wrong, reason in (
        ({"beta": None}, "beta of geometry 'power' is None"),
        ({"geometry": "pixels"}, "'cmmr', 'pixel'"),
        ({"sahre": 0.5}, "did you mean 'share'"),
    ):
        with pytest.raises(ValidationError, match=reason):
            config.validate_python({**given, **wrong})
