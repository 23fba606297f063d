"""The cache of scikit-learn's fetch_covtype: read as it is written, and never executed."""

import os
import pickle
import zlib
from contextlib import suppress

import joblib
import numpy as np
import pytest
from covertype_table import made_up, write
from sklearn.datasets import fetch_covtype

from decaf.errors import DataError
from decaf.studies.covertype.joblib_array import read_array
from decaf.studies.covertype.splits import CovertypeTable
from decaf.studies.covertype.table import find_table, read_table

ROWS = made_up(20)


def fill(folder, rows=ROWS):
    """As fetch_covtype leaves it below its data_home: features as float64, cover types as int32."""
    place = folder / "covertype"
    place.mkdir()
    joblib.dump(rows[:, :54].astype(np.float64), place / "samples_py3", compress=9)
    joblib.dump(rows[:, 54].astype(np.int32), place / "targets_py3", compress=9)
    return place


def packed(path, content):
    path.write_bytes(zlib.compress(content))
    return path


class TestCache:
    def test_scikit_learn_reads_the_same_from_it(self, tmp_path):
        place = fill(tmp_path)
        theirs = fetch_covtype(data_home=tmp_path, download_if_missing=False)
        found = read_table(place / "samples_py3")
        np.testing.assert_array_equal(found.features, theirs.data)
        np.testing.assert_array_equal(found.cover, theirs.target)

    def test_it_is_found_in_its_folder_and_in_the_one_above_where_there_is_no_other(self, tmp_path):
        place = fill(tmp_path)
        path = place / "samples_py3"
        assert find_table(tmp_path) == find_table(place) == find_table(path) == path
        official = write(place / "covtype.data", ROWS)
        assert find_table(place) == official

    def test_the_same_rows_as_in_a_text_have_the_same_digest(self, tmp_path):
        text = write(tmp_path / "covtype.data.gz", ROWS)
        fill(tmp_path)
        digests = {
            CovertypeTable(file=file, drawn_per_class=15).part("train").digest
            for file in (text, tmp_path / "covertype")
        }
        assert len(digests) == 1

    def test_another_file_of_cover_types_is_another_table(self, tmp_path):
        place = fill(tmp_path)
        before = read_table(place / "samples_py3").cover
        turned = np.roll(ROWS[:, 54], 1).astype(np.int64)
        joblib.dump(turned, place / "targets_py3", compress=9)
        after = read_table(place / "samples_py3").cover
        np.testing.assert_array_equal(after, np.roll(before, 1))

    def test_features_without_cover_types_are_an_error(self, tmp_path):
        place = fill(tmp_path)
        (place / "targets_py3").unlink()
        with pytest.raises(DataError, match="targets_py3"):
            read_table(place / "samples_py3")

    @pytest.mark.parametrize("value", [0.5, np.nan, np.inf, 1e12])
    def test_what_is_no_whole_number_is_named_by_its_row(self, tmp_path, value):
        place = fill(tmp_path)
        features = ROWS[:, :54].astype(np.float64)
        features[3, 7] = value
        joblib.dump(features, place / "samples_py3", compress=9)
        with pytest.raises(DataError, match="row 4"):
            read_table(place / "samples_py3")

    @pytest.mark.parametrize(
        ("features", "message"),
        [
            (ROWS[:, :53], "54 columns"),
            (ROWS[:5, :54], r"\(5, 54\) and \(60,\)"),
            (ROWS[:, 0], r"\(60,\) and \(60,\)"),
            (ROWS[:, :54] + 8, "row 1"),
        ],
    )
    def test_arrays_of_another_table_are_an_error(self, tmp_path, features, message):
        place = fill(tmp_path)
        joblib.dump(features.astype(np.float64), place / "samples_py3", compress=9)
        with pytest.raises(DataError, match=message):
            read_table(place / "samples_py3")


class TestArray:
    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize(
        "array",
        [
            ROWS.astype(np.float64),
            np.asfortranarray(ROWS).astype(">i4", order="F"),
            ROWS[:, 54].astype(np.int32),
            np.zeros((0, 54)),
            np.arange(40_000, dtype=np.int64),
        ],
        ids=["floats", "other order", "one axis", "no rows", "long"],
    )
    def test_joblib_reads_the_same(self, tmp_path, array, protocol):
        path = tmp_path / "array"
        joblib.dump(array, path, compress=9, protocol=protocol)
        found = read_array(path)
        assert (found.shape, found.dtype) == (array.shape, array.dtype)
        np.testing.assert_array_equal(found, joblib.load(path))

    def test_nothing_that_a_pickle_names_is_called(self, tmp_path):
        class Command:
            def __reduce__(self):
                return os.system, (f"touch {tmp_path / 'executed'}",)

        command = pickle.dumps(Command())
        joblib.dump(Command(), tmp_path / "dumped", compress=9)
        joblib.dump(np.array([Command()], object), tmp_path / "objects", compress=9)
        joblib.dump(ROWS, tmp_path / "array", compress=9)
        behind = zlib.decompress((tmp_path / "array").read_bytes())[:-1] + command
        for path, message in (
            (packed(tmp_path / "alone", command), f"it names {os.system.__module__} system"),
            (tmp_path / "dumped", f"it names {os.system.__module__} system"),
            (tmp_path / "objects", "its elements are of type 'O8', not numbers"),
            (packed(tmp_path / "behind", behind), "more than one array"),
        ):
            with pytest.raises(DataError, match=f"{message}.*nothing else is opened"):
                read_array(path)
        assert not (tmp_path / "executed").exists()
        # What was refused would have been executed.
        joblib.load(tmp_path / "dumped")
        assert (tmp_path / "executed").exists()

    @pytest.mark.parametrize(
        "content",
        [
            b"\x80\x02cnumpy\ndtype\nN}X\x04\x00\x00\x00codeK\x01s\x86b.",
            b"\x80\x02Nr\xff\xff\xff\x7f.",
            b"\x80\x02\x82\x01.",
            b"\x80\x02K\x01Q.",
            b"\x80\x02cnumpy\ndtype\nX\x02\x00\x00\x00f8\x85R(K\x01X\x03\x00\x00\x002, tb.",
        ],
        ids=["attribute of a name", "memo of 16 GiB", "extension", "persistent id", "no wrapper"],
    )
    def test_a_pickle_made_by_hand_is_refused(self, tmp_path, content):
        with pytest.raises(DataError, match="nothing else is opened"):
            read_array(packed(tmp_path / "made", content))

    RECORDS = np.zeros(2, [("a", int)])
    OTHERS = (np.matrix([[1, 2]]), np.array(["a"]), RECORDS, np.array([True]), np.array([1j]))

    @pytest.mark.parametrize(
        "other",
        [{"one": ROWS}, [ROWS, ROWS], *OTHERS, 7],
        ids=["dict", "list", "matrix", "text", "records", "truths", "complex", "number"],
    )
    def test_what_is_no_array_of_numbers_is_refused(self, tmp_path, other):
        joblib.dump(other, tmp_path / "other", compress=9)
        with pytest.raises(DataError, match="other"):
            read_array(tmp_path / "other")

    def test_a_file_that_is_cut_short_is_refused_wherever_it_ends(self, tmp_path):
        path = tmp_path / "array"
        joblib.dump(ROWS[:, 0].astype(np.float64), path, compress=9)
        whole = path.read_bytes()
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            with pytest.raises(DataError, match="array"):
                read_array(path)

    def test_a_damaged_file_is_refused_or_gives_an_array_of_numbers(self, tmp_path):
        path = tmp_path / "array"
        joblib.dump(ROWS[:, 0].astype(np.float64), path, compress=9)
        whole = zlib.decompress(path.read_bytes())
        rng = np.random.default_rng(0)
        for place in range(250):
            content = bytearray(whole)
            content[place] = rng.integers(256)
            packed(path, bytes(content))
            with suppress(DataError):  # any other error is one
                assert read_array(path).dtype.kind in "iuf"

    def test_another_kind_of_file_is_refused(self, tmp_path):
        path = write(tmp_path / "text", ROWS)
        with pytest.raises(DataError, match="text"):
            read_array(path)
        joblib.dump(ROWS, path)
        with pytest.raises(DataError, match="text"):
            read_array(path)
        with pytest.raises(DataError, match="none"):
            read_array(tmp_path / "none")
