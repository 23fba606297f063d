"""Inputs that a data set reads many at a time: the same file as inputs that are read singly."""

import numpy as np
import pytest

from decaf.data import input_store
from decaf.data.input_store import open_inputs, store_inputs
from decaf.data.pairs import Input, InputSet
from decaf.errors import DataError

VALUES = np.random.default_rng(0).random((7, 3))


def rows():
    return InputSet([Input(f"r{n}", "row", f"{n}", f"{n}") for n in range(len(VALUES))], "a test")


def read(image):
    return VALUES[int(image.location)]


@pytest.mark.parametrize("at_once", [2, 100])
def test_the_file_is_that_of_single_reads(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(input_store, "INPUTS_PER_CALL", at_once)
    asked = []

    def read_many(inputs):
        asked.append(len(inputs))
        return np.stack([read(image) for image in inputs])

    one_by_one = store_inputs(tmp_path / "single", rows(), read)
    together = store_inputs(tmp_path / "many", rows(), read, read_many=read_many)
    assert together.read_bytes() == one_by_one.read_bytes()
    np.testing.assert_array_equal(open_inputs(together), VALUES)
    assert max(asked) == min(at_once, len(VALUES))


def test_inputs_are_read_singly_where_nothing_reads_many(tmp_path):
    stored = store_inputs(tmp_path, rows(), read, read_many=lambda inputs: None)
    np.testing.assert_array_equal(open_inputs(stored), VALUES)


def test_rows_of_no_kind_are_refused(tmp_path):
    with pytest.raises(DataError, match="r0"):
        store_inputs(
            tmp_path, rows(), read, read_many=lambda inputs: np.zeros((len(inputs), 3), int)
        )
    assert not [*tmp_path.rglob("*.npy")]
