"""Matrix products of which no bit depends on the order of summation.

How a BLAS sums a row of a product depends on the processor, on the threads, and on how many rows
stand beside it. Numbers of so few bits that every sum of their products is a float64 are summed
exactly in any order: both factors are cut into such parts (the scheme of Ozaki, Ogita, Oishi and
Rump, 2012, with parts of fixed width), and products of parts are added in one order.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from decaf.foundation.arrays import Array

MANTISSA = np.finfo(np.float64).nmant + 1


def part_count(array: "Array") -> int:
    """Parts of a factor for a product as precise as the array's type: 3 for float64, else 2."""
    return 3 if array.dtype.itemsize == np.float64().itemsize else 2


def cut(matrix: NDArray[np.float64], axis: int, count: int) -> Iterator[NDArray[np.float64]]:
    """Parts of a factor, the largest first, whose sum is the factor up to its last bits.

    Parameters
    ----------
    matrix
        Finite float64.
    axis
        The one that the product sums over. Vectors along it have a scale of their own, and parts
        of ``b = (53 - ceil(log2(length))) // 2`` bits below it: 20 for 3,072 numbers.
    count
        Of parts. What is left out is below ``2 ** (-b * count - 1)`` of the scale.
    """
    bits = (MANTISSA - (matrix.shape[axis] - 1).bit_length()) // 2
    _, exponent = np.frexp(np.abs(matrix).max(axis=axis, keepdims=True, initial=0.0))
    left = matrix
    for number in range(1, count + 1):
        unit = np.ldexp(1.0, exponent - number * bits)
        part = np.rint(left / unit) * unit
        left = left - part
        yield part


def exact_product(left: "Sequence[Array]", right: "Sequence[Array]") -> "Array":
    """Product of two factors that are given in equally many parts.

    Products of parts are left out where they are as small as what the parts leave out. No row
    depends on the others, and NumPy and torch make the same bits on any device that has float64.

    Parameters
    ----------
    left
        Parts (n, k) of :func:`cut` along axis 1, float64.
    right
        Parts (k, m) of :func:`cut` along axis 0, float64.

    Returns
    -------
    (n, m) float64

    Examples
    --------
    >>> a, b = np.array([[0.1, 0.2]]), np.array([[3.0], [4.0]])
    >>> exact_product([*cut(a, 1, 3)], [*cut(b, 0, 3)]).tolist()  # 0.3 + 0.8
    [[1.1]]
    """
    count = len(left)
    products = [
        left[first] @ right[total - first]
        for total in reversed(range(count))
        for first in range(total + 1)
    ]
    return sum(products[1:], start=products[0])
