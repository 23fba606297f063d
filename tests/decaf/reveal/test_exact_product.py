from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decaf.reveal.gaussian.exact_product import cut, exact_product, part_count


def product(left, right, count=3):
    return exact_product([*cut(left, 1, count)], [*cut(right, 0, count)])


def factors(rows=5, length=7, columns=4, seed=0, spread=0.0):
    """Normals, along the sum of scales from ``10 ** -spread`` to ``10 ** spread``."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-spread, spread, length)
    return rng.normal(size=(rows, length)) * scale, rng.normal(size=(length, columns)) / scale[
        :, None
    ]


def test_parts_by_hand():
    # Of 3 numbers a sum of products has 2 bits more: parts of (53 - 2) // 2 = 25 bits below 4.
    matrix = np.array([[3.0 + 2.0**-30, 1.0, -(2.0**-23)]])
    first, second = cut(matrix, 1, 2)
    np.testing.assert_array_equal(first, [[3, 1, -(2.0**-23)]])
    np.testing.assert_array_equal(second, [[2.0**-30, 0, 0]])
    # The same number beside a larger one: of one column each has a scale of its own.
    alone, rest = cut(matrix, 0, 2)
    np.testing.assert_array_equal(alone, [[3, 1, -(2.0**-23)]])
    np.testing.assert_array_equal(rest, [[2.0**-30, 0, 0]])


def test_a_product_by_hand():
    left, right = np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[3.0, -1.0], [4.0, 0.5]])
    np.testing.assert_array_equal(product(left, right), [[11, 0], [0, 0]])


@settings(max_examples=30)  # fractions are slow
@given(length=st.integers(1, 600), seed=st.integers(0, 99), spread=st.sampled_from([0.0, 3.0]))
def test_parts_are_summed_without_rounding(length, seed, spread):
    left, right = factors(1, length, 1, seed, spread)
    for part in cut(left, 1, 3):
        for other in cut(right, 0, 3):
            terms = zip(part[0].tolist(), other[:, 0].tolist(), strict=True)
            assert Fraction((part @ other).item()) == sum(
                Fraction(a) * Fraction(b) for a, b in terms
            )


@given(
    length=st.integers(1, 600),
    seed=st.integers(0, 99),
    spread=st.sampled_from([0.0, 3.0]),
    single=st.booleans(),
)
def test_no_bit_depends_on_order_batch_or_library(length, seed, spread, single):
    left, right = factors(9, length, 11, seed, spread)
    parts = [*cut(left, 1, 3 - single)], [*cut(right, 0, 3 - single)]
    whole = exact_product(*parts)
    order = np.random.default_rng(seed).permutation(length)
    shuffled = [part[:, order] for part in parts[0]], [part[order] for part in parts[1]]
    np.testing.assert_array_equal(exact_product(*shuffled), whole)
    tensors = [[torch.from_numpy(part) for part in side] for side in parts]
    np.testing.assert_array_equal(exact_product(*tensors).numpy(), whole)
    for row in range(9):
        alone = exact_product([part[row : row + 1] for part in parts[0]], parts[1])
        np.testing.assert_array_equal(alone[0], whole[row])


@given(length=st.integers(1, 3000), seed=st.integers(0, 99))
def test_it_is_the_product(length, seed):
    left, right = factors(3, length, 5, seed)
    size = np.abs(left).max() * np.abs(right).max() * length
    for count, precision in ((3, 1e-15), (2, 2.0**-36)):
        np.testing.assert_allclose(
            product(left, right, count), left @ right, rtol=1e-15, atol=precision * size
        )


def test_a_double_is_as_precise_as_a_sum_can_be():
    left, right = factors(2, 300, 2, spread=2.0)
    exact = [
        [
            float(sum(Fraction(a) * Fraction(b) for a, b in zip(row, column, strict=True)))
            for column in right.T.tolist()
        ]
        for row in left.tolist()
    ]
    np.testing.assert_allclose(product(left, right), exact, rtol=1e-13)


@pytest.mark.parametrize(
    ("array", "count"),
    [
        (np.empty(0), 3),
        (np.empty(0, np.float32), 2),
        (torch.empty(0, dtype=torch.float64), 3),
        (torch.empty(0), 2),
        (torch.empty(0, dtype=torch.float16), 2),
    ],
)
def test_parts_by_type(array, count):
    assert part_count(array) == count


def test_no_rows_have_no_product():
    assert product(np.empty((0, 3)), np.ones((3, 2))).shape == (0, 2)
