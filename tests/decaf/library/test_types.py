"""What a type checker knows of an audit: mypy reads this file, and pytest runs it."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import decaf

X = np.ones((2, 3))


def product(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows.prod(axis=1)


def test_one_path_is_an_audit_and_several_are_audits() -> None:
    one = decaf.audit(product, X, -X, stages=3)
    assert_type(one, decaf.Audit)
    assert type(one) is decaf.Audit
    several = decaf.audit(product, X, -X, path={"line": "blend"}, stages=3)
    assert_type(several, decaf.Audits)
    assert type(several) is decaf.Audits
    assert_type(one.profiles.evidence, NDArray[np.float64])
    assert one.profiles.evidence.dtype == np.float64
