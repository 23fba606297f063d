"""Arrays in files: mapped, never unpickled, and each row an input by its content."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from own_data import signals
from pydantic import ValidationError

import decaf
from decaf.data.adapters.arrays import Arrays
from decaf.data.array_files import map_array
from decaf.errors import DataError
from decaf.reveal.paths.removal import Removal
from decaf.scoring.planner import plan_states


def saved(tmp_path, **arrays):
    """Settings of an adapter over arrays in files of their own."""
    settings = {}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
        settings[name] = tmp_path / f"{name}.npy"
    return settings


def adapter(**settings):
    return Arrays(adapter="arrays", **settings)


def test_rows_are_pairs_with_what_the_other_arrays_say(tmp_path):
    factual, changed = signals(3)
    data = adapter(
        **saved(
            tmp_path,
            factual=factual,
            counterfactual=changed,
            label=np.array([2, 0, 1]),
            source=np.array(["x", "y", "x"]),
            pair_type=np.array(["up", "up", "down"]),
            weight=np.array([1, 2, 5]),
        )
    )
    pairs = data.pair_set()
    assert [(p.pair_id, p.source_id, p.pair_type, p.class_id) for p in pairs.pairs] == [
        ("row-0000000", "x", "up", 2),
        ("row-0000001", "y", "up", 0),
        ("row-0000002", "x", "down", 1),
    ]
    assert [pair.weight for pair in pairs.pairs] == [1, 2, 5]
    data.verify(pairs)
    for row, pair in enumerate(pairs.pairs):
        for array, place in ((factual, pair.plus), (changed, pair.minus)):
            read = data.read_input(pairs.inputs[place])
            assert read.dtype == np.float32
            np.testing.assert_array_equal(read, array[row])


def test_an_archive_has_all_arrays_under_their_names(tmp_path):
    factual, changed = signals(2)
    np.savez(tmp_path / "all.npz", before=factual, counterfactual=changed, label=["b", "a"])
    keys = dict.fromkeys(("factual", "counterfactual", "label"), tmp_path / "all.npz")
    data = adapter(**keys, names={"factual": "before"})
    pairs = data.pair_set()
    np.testing.assert_array_equal(data.read_input(pairs.inputs[1]), factual[1])
    np.testing.assert_array_equal(data.read_input(pairs.inputs[3]), changed[1])
    assert [pair.class_id for pair in pairs.pairs] == [1, 0]
    assert pairs.remarks == ("class names: 0 a, 1 b",)


def test_inputs_are_known_by_their_content(tmp_path):
    factual, changed = signals(4)
    short = adapter(**saved(tmp_path, factual=factual[:3], counterfactual=changed[:3])).pair_set()
    (tmp_path / "more").mkdir()
    longer = adapter(**saved(tmp_path / "more", factual=factual, counterfactual=changed)).pair_set()
    # Other files of the same rows, one more of them: the first pairs are the same.
    assert short.block_digest((0, 1, 2)) == longer.block_digest((0, 1, 2))
    # The same bytes in another shape are another content.
    (tmp_path / "flat").mkdir()
    flat = [array.reshape(4, 32) for array in (factual, changed)]
    other = adapter(**saved(tmp_path / "flat", factual=flat[0], counterfactual=flat[1])).pair_set()
    assert not {one.digest for one in other.inputs} & {one.digest for one in longer.inputs}


def test_equal_rows_are_remarked_on(tmp_path):
    factual, changed = signals(3)
    changed[1] = factual[1]
    files = saved(tmp_path, factual=factual, counterfactual=changed)
    (remark,) = (text for text in adapter(**files).pair_set().remarks if "equal" in text)
    assert all(words in remark for words in ("1 of 3 pairs", "row-0000001"))


def test_one_file_given_twice_is_refused(tmp_path):
    file = saved(tmp_path, counterfactual=signals(3)[0])["counterfactual"]
    with pytest.raises(DataError, match=r"'pair' \(3 pairs\)"):
        adapter(factual=file, counterfactual=file).pair_set()


def test_a_pair_type_of_equal_rows_is_refused(tmp_path):
    factual, changed = signals(4)
    changed[2:] = factual[2:]
    files = saved(tmp_path, factual=factual, counterfactual=changed)
    types = saved(tmp_path, pair_type=np.array(["wall", "wall", "floor", "floor"]))
    assert adapter(**files).pair_set().remarks
    with pytest.raises(DataError, match=r"counterfactual\.npy.*'floor' \(2 pairs\), so"):
        adapter(**files, **types).pair_set()


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (np.arange(6, dtype=np.int16).reshape(2, 3), np.float64),
        (np.arange(6, dtype=np.uint8).reshape(2, 3), np.float64),
        (np.arange(6, dtype=np.float16).reshape(2, 3), np.float32),
        (np.arange(6, dtype=">f8").reshape(2, 3), np.float64),
        (np.asfortranarray(np.arange(12, dtype=np.float32).reshape(2, 2, 3)), np.float32),
        (np.arange(2, dtype=np.float64), np.float64),
        (np.arange(24, dtype=np.float32).reshape(2, 1, 2, 2, 3), np.float32),
        (np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3), np.uint8),
    ],
)
def test_numbers_keep_their_values_in_the_type_of_inputs(stored, read, tmp_path):
    data = adapter(**saved(tmp_path, factual=stored, counterfactual=stored[::-1]))
    pairs = data.pair_set()
    for row in range(2):
        found = data.read_input(pairs.inputs[row])
        assert found.dtype == read
        np.testing.assert_array_equal(found, np.atleast_1d(stored[row]))


def test_a_file_is_mapped_and_noticed_when_it_changes(tmp_path):
    path = saved(tmp_path, a=np.arange(3.0))["a"]
    assert map_array(path.rename(tmp_path / "A.NPY"), "a").tolist() == [0, 1, 2]
    np.save(path, np.arange(3.0))
    array = map_array(path, "a")
    assert isinstance(array.base, np.memmap)
    assert not array.flags.writeable
    np.save(path, np.arange(4.0) * 2)
    np.testing.assert_array_equal(map_array(path, "a"), [0, 2, 4, 6])


def test_values_that_are_not_finite_are_named_by_their_row(tmp_path):
    factual, changed = signals(3)
    changed[2, 1, 5] = np.nan
    data = adapter(**saved(tmp_path, factual=factual, counterfactual=changed))
    pairs = data.pair_set()
    with pytest.raises(DataError, match=r"counterfactual.npy\[2\]"):
        data.read_input(pairs.inputs[5])


def test_columns_of_rows_are_removed_one_at_a_time(tmp_path):
    x = np.array([[1.0, 2.0, 4.0], [3.0, 0.0, 5.0]])
    data = adapter(**saved(tmp_path, factual=x, source=np.array(["a", "a"])), removed="columns")
    pairs = data.pair_set()
    assert [(p.pair_id, p.pair_type, p.source_id, p.feature) for p in pairs.pairs[1:4]] == [
        ("row-0000000__2", "column 2", "a", 2),
        ("row-0000000__3", "column 3", "a", 3),
        ("row-0000001__1", "column 1", "a", 1),
    ]
    assert data.read_mask(pairs.masks[0]).tolist() == [1, 2, 4]
    rows = np.stack([data.read_input(image) for image in pairs.inputs])
    block = pairs.block(tuple(range(6)))
    block = replace(block, regions=data.read_mask(pairs.masks[0])[None][block.mask_positions])
    states = plan_states(block, rows, {"path": Removal()}, np.array([0.0, 1.0]))
    # Of each row its three columns are removed, but for the one that is 0 already: both ends of
    # that pair are the clean row. Two clean rows, five without a column, and one baseline.
    assert states.state_count == 8
    audited = decaf.audit(lambda x: x.sum(1), x, path=Removal(), stages=2)
    assert audited.feature.tolist() == [pair.feature for pair in pairs.pairs]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "neither of 'counterfactual'"),
        ({"counterfactual": "a.npy", "removed": "columns"}, "both of 'counterfactual'"),
        ({"pair_type": "a.npy", "removed": "columns"}, "pair_type"),
        ({"removed": "columns", "classes": ["a", "b"]}, "'classes' needs a 'label'"),
        ({"removed": "columns", "names": {"label": "y"}}, "'names' .* label"),
    ],
)
def test_settings_of_arrays_that_do_not_belong_together(settings, words, tmp_path):
    with pytest.raises(ValidationError, match=words):
        adapter(factual=tmp_path / "factual.npy", **settings)


@pytest.mark.parametrize(
    ("removed", "shape"),
    [("columns", (2, 3, 4)), ("columns", (2, 65)), ("channels", (2, 3)), ("channels", (2, 65, 4))],
)
def test_only_64_columns_or_channels_can_be_removed(removed, shape, tmp_path):
    data = adapter(**saved(tmp_path, factual=np.zeros(shape)), removed=removed)
    with pytest.raises(DataError, match=rf"expected \(n, .* with 64 {removed} at most"):
        data.pair_set()


def test_channels_of_signals_are_removed_one_at_a_time(tmp_path):
    x = np.array([[[1.0, 2], [4, 8]], [[0, 0], [3, 5]]])
    data = adapter(**saved(tmp_path, factual=x), removed="channels")
    pairs = data.pair_set()
    assert [(p.pair_id, p.pair_type) for p in pairs.pairs[1:3]] == [
        ("row-0000000__2", "channel 2"),
        ("row-0000001__1", "channel 1"),
    ]
    mask = data.read_mask(pairs.masks[0])
    assert mask.tolist() == [[1, 1], [2, 2]]
    rows = np.stack([data.read_input(image) for image in pairs.inputs])
    block = pairs.block(tuple(range(4)))
    block = replace(block, regions=mask[None][block.mask_positions])
    states = plan_states(block, rows, {"path": Removal()}, np.array([0.0, 1.0]))
    # Two clean signals, three without a channel that is not 0 anyway, and one baseline.
    assert states.state_count == 6


def as_lists(array):
    """Fixed-size lists of fixed-size lists, one for each axis but the first."""
    column = pa.array(array.ravel())
    for size in array.shape[:0:-1]:
        column = pa.FixedSizeListArray.from_arrays(column, size)
    return column


def write_arrow(path, columns, batch=None, **options):
    table = pa.table(columns)
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table, batch)


@pytest.mark.parametrize(
    ("make", "batch", "options"),
    [
        (pa.FixedShapeTensorArray.from_numpy_ndarray, None, {}),
        (pa.FixedShapeTensorArray.from_numpy_ndarray, 2, {"compression": "zstd"}),
        (as_lists, 2, {}),
    ],
)
def test_columns_of_an_arrow_file_are_the_arrays_that_they_were_made_of(
    make, batch, options, tmp_path
):
    factual, changed = signals(5)
    words = {"label": pa.array([1, 0, 1, 0, 1]), "split": pa.array([*"abaab"])}
    both = {"before": make(factual), "counterfactual": make(changed)}
    write_arrow(tmp_path / "all.arrow", both | words, batch, **options)
    keys = dict.fromkeys(("factual", "counterfactual", "label", "split"), tmp_path / "all.arrow")
    data = adapter(**keys, names={"factual": "before"})
    pairs = data.pair_set()
    of_numpy = adapter(**saved(tmp_path, factual=factual, counterfactual=changed)).pair_set()
    assert pairs.input_set.digest == of_numpy.input_set.digest
    for place, expected in ((0, factual[0]), (4, factual[4]), (9, changed[4])):
        np.testing.assert_array_equal(data.read_input(pairs.inputs[place]), expected)
    assert [(pair.class_id, pair.split) for pair in pairs.pairs[:2]] == [(1, "a"), (0, "b")]


def test_one_batch_of_arrow_is_mapped(tmp_path):
    write_arrow(tmp_path / "a.arrow", {"a": as_lists(signals(5)[0])})
    before = pa.total_allocated_bytes()
    array = map_array(tmp_path / "a.arrow", "a")
    assert not array.flags.writeable
    assert pa.total_allocated_bytes() - before < array.nbytes


ARROW = {
    "no column": ({"b": pa.array([1.0])}, "no column 'a'; known: b"),
    "missing": ({"a": pa.array([1.0, None])}, "column 'a' has missing values"),
    "missing rows": (
        {"a": pa.array([[1.0, 2.0], None], pa.list_(pa.float64(), 2))},
        "column 'a' has missing values",
    ),
    "lists of any length": ({"a": pa.array([[1.0], [1.0, 2.0]])}, "holds objects"),
    "no row": ({"a": pa.array([], pa.float64())}, "no rows"),
}


@pytest.mark.parametrize("name", ARROW)
def test_an_arrow_file_that_cannot_be_used_is_refused(name, tmp_path):
    columns, words = ARROW[name]
    write_arrow(tmp_path / "a.arrow", columns)
    with pytest.raises(DataError, match=words):
        map_array(tmp_path / "a.arrow", "a")
    (tmp_path / "b.arrow").write_bytes((tmp_path / "a.arrow").read_bytes()[:-40])
    with pytest.raises(DataError, match=r"b\.arrow"):
        map_array(tmp_path / "b.arrow", "a")


@pytest.mark.parametrize(
    ("shape", "dtype", "settings", "is_versioned"),
    [
        ((2, 8, 8, 3), np.uint8, {}, False),
        ((2, 8, 8), np.uint8, {"channels": 1}, False),
        ((2, 8, 8, 3), np.uint8, {"scale": 255}, True),
        ((2, 3, 8, 8), np.float32, {}, True),
        ((2, 8, 8), np.float32, {"channels": 1}, True),
        ((2, 8), np.float32, {}, False),
    ],
)
def test_images_of_floats_have_another_identity_since_ties_have_a_tolerance(
    tmp_path, shape, dtype, settings, is_versioned
):
    zeros = np.zeros(shape, dtype)
    pairs = adapter(**saved(tmp_path, factual=zeros, counterfactual=zeros + 1), **settings)
    assert pairs.pair_set().construction.endswith(", float images 2") == is_versioned
