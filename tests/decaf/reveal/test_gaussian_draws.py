import hashlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.reveal.gaussian.draws import (
    PIXEL,
    PRINCIPAL,
    chain_weights,
    draw_keys,
    mixed_normals,
    normals,
)


def test_a_key_is_a_digest_of_seed_and_source():
    keys = draw_keys((7, 8), ("a", "b", "c"))
    assert keys.shape == (3, 2)
    assert keys.dtype == np.uint64
    assert keys[2, 1] == int(hashlib.sha256(b"decaf|gaussian|8|c").hexdigest()[:16], 16)
    assert np.unique(keys).size == 6
    np.testing.assert_array_equal(draw_keys((8,), ("c", "a")), keys[[2, 0], 1:])


def test_the_stream_of_a_key_does_not_change_between_versions():
    principal = [0.3865012947100347, 1.056564418108787, 1.8636603913622187]
    pixel = [1.3076784620208644, 0.06448626764062211, 1.1083739224576297]
    np.testing.assert_allclose(normals(2026, PRINCIPAL, 1, 3), [principal], rtol=1e-12)
    np.testing.assert_allclose(normals(2026, PIXEL, 1, 3), [pixel], rtol=1e-12)


def test_normals_are_standard_and_streams_independent():
    principal, pixel = normals(1, PRINCIPAL, 100, 1000), normals(1, PIXEL, 100, 1000)
    # The standard error of a mean is 0.0032, of a variance 0.0045, of a correlation 0.0032.
    assert abs(principal.mean()) < 0.015
    assert abs(principal.var() - 1) < 0.02
    assert abs(np.corrcoef(principal.ravel(), pixel.ravel())[0, 1]) < 0.015
    assert abs(np.corrcoef(principal[:-1].ravel(), principal[1:].ravel())[0, 1]) < 0.015


def test_every_key_is_drawn_once_and_whatever_the_order(monkeypatch):
    drawn = []

    def counted(key, *arguments):
        drawn.append(key)
        return normals(key, *arguments)

    monkeypatch.setattr("decaf.reveal.gaussian.draws.normals", counted)
    keys = np.array([9, 3, 9, 9], np.uint64)
    stages = np.array([0, 1, 2, 1])
    mixing = chain_weights(np.array([0, 0.3, 0.7, 1]))
    made = mixed_normals(keys, stages, mixing, PRINCIPAL, 5)
    assert sorted(drawn) == [3, 9]
    for row in range(4):
        alone = mixed_normals(keys[[row]], stages[[row]], mixing, PRINCIPAL, 5)
        np.testing.assert_array_equal(alone, made[[row]])
    np.testing.assert_array_equal(made[0], normals(9, PRINCIPAL, 3, 5)[0])


def test_a_single_draw_is_its_normals():
    made = mixed_normals(np.array([4], np.uint64), np.zeros(1, int), np.ones((1, 1)), PIXEL, 6)
    np.testing.assert_array_equal(made, normals(4, PIXEL, 1, 6))


def test_a_mixture_is_rounded_once_for_every_part_of_its_factors():
    # The sum of a stage by fractions; a plain product is off by more in some of these 400.
    mixing = chain_weights(np.linspace(0, 1, 9))
    made = mixed_normals(np.full(8, 5, np.uint64), np.arange(8), mixing, PRINCIPAL, 50)
    steps = normals(5, PRINCIPAL, 8, 50)
    exact = [
        [
            float(sum(Fraction(w) * Fraction(xi) for w, xi in zip(row, column, strict=True)))
            for column in steps.T.tolist()
        ]
        for row in mixing[:8].tolist()
    ]
    np.testing.assert_allclose(made, exact, rtol=1e-15, atol=1e-16)


def test_chain_weights_by_hand():
    # a = 0, 1/4, 1/2, 1: 1/a differs by 2 and 1, and a / (1 - a) is 1/3 and 1.
    third = (1 / 3) ** 0.5
    np.testing.assert_allclose(
        chain_weights(np.array([0, 0.25, 0.5, 1])),
        [[1, 0, 0], [0, 2**0.5 * third, third], [0, 0, 1], [0, 0, 0]],
        rtol=1e-15,
    )


@given(st.lists(st.floats(1e-9, 1 - 1e-9), max_size=20, unique=True))
def test_every_stage_of_a_chain_has_unit_noise(inner):
    weights = chain_weights(np.array([0, *sorted(inner), 1]))
    np.testing.assert_allclose((weights**2).sum(axis=1)[:-1], 1, rtol=1e-9)
    assert not weights[-1].any()


def test_a_chain_of_two_stages_is_a_single_draw():
    np.testing.assert_array_equal(chain_weights(np.array([0, 1])), [[1], [0]])


@pytest.mark.parametrize("grid", [np.linspace(0, 1, 16), np.array([0, 1e-6, 0.2, 0.999, 1])])
def test_unrolled_states_are_those_of_the_chain(grid):
    steps = np.random.default_rng(0).normal(size=(grid.size - 1, 7))
    mean, clean = np.arange(7.0), np.random.default_rng(1).normal(size=7)
    state = clean
    noise = chain_weights(grid) @ steps
    for j in range(grid.size - 2, -1, -1):
        kept = grid[j] / grid[j + 1]
        state = mean + np.sqrt(kept) * (state - mean) + np.sqrt(1 - kept) * steps[j]
        unrolled = mean + np.sqrt(grid[j]) * (clean - mean) + np.sqrt(1 - grid[j]) * noise[j]
        np.testing.assert_allclose(unrolled, state, rtol=1e-12, atol=1e-12)
