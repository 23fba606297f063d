"""Covertype: the table's formats, splits and channels by hand, and the pairs that come of them."""

import pickle

import joblib
import numpy as np
import pytest
from covertype_table import made_up, write
from sklearn.datasets import fetch_covtype

from decaf.errors import DataError
from decaf.studies.covertype.adapters import Covertype
from decaf.studies.covertype.channels import (
    Channels,
    Treatment,
    align_with_label,
    draw_channels,
    uniform,
    with_channels,
)
from decaf.studies.covertype.recipes import CovertypeClassifier
from decaf.studies.covertype.splits import (
    CovertypeTable,
    Part,
    balanced_rows,
    split_places,
    standardisation,
)
from decaf.studies.covertype.table import QUANTITIES, find_table, read_table

SAMPLE = "covertype/covtype_ramp_92962.csv.gz"
DIRECT, GATE, INVERT = (Treatment(name, 0.75) for name in ("direct", "gate", "invert"))
ROBUST, MILD, FRAGILE = (Treatment(name, None) for name in ("robust", "mild", "fragile"))


def header():
    names = [f"Wilderness_Area{n}" for n in range(1, 5)] + [f"Soil_Type{n}" for n in range(1, 41)]
    return ",".join([*QUANTITIES, *names, "Cover_Type"])


@pytest.fixture
def table(tmp_path):
    path = write(tmp_path / "covtype.data.gz", made_up(50))
    return CovertypeTable(file=path, drawn_per_class=40)


# The table


@pytest.mark.parametrize("name", ["covtype.data", "covtype.data.gz"])
def test_the_official_file_is_read_gzip_or_not_and_found_in_its_folder(tmp_path, name):
    rows = made_up(3)
    path = write(tmp_path / name, rows)
    assert find_table(tmp_path) == find_table(path) == path
    found = read_table(path)
    np.testing.assert_array_equal(found.features, rows[:, :54])
    np.testing.assert_array_equal(found.cover, [1, 2, 3] * 3)


def test_a_csv_file_has_a_header(tmp_path):
    path = write(tmp_path / "any.csv", made_up(2))
    path.write_text(f"{header()}\n{path.read_text()}")
    np.testing.assert_array_equal(read_table(path).features, made_up(2)[:, :54])


def test_the_only_csv_file_of_a_folder_is_its_table(tmp_path):
    path = write(tmp_path / "covtype_some.csv.gz", made_up(2))
    assert find_table(tmp_path) == path
    write(tmp_path / "covtype_other.csv", made_up(2))
    with pytest.raises(DataError, match="has 2 Covertype tables"):
        find_table(tmp_path)
    official = write(tmp_path / "covtype.data", made_up(2))
    assert find_table(tmp_path) == official


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Aspect,Slope", "Slope,Aspect", "55 columns"),
        ("Slope,", "Slope,Height,", "56 columns.*Height"),
        ("Slope,", "Slope,Slope,", "56 columns.*Slope"),
        ("Slope,", "", "54 columns.*Slope"),
        ("Slope", "slope", "55 columns.*Slope.*slope"),
    ],
)
def test_a_header_of_other_columns_is_refused_by_their_names(tmp_path, old, new, message):
    path = write(tmp_path / "any.csv", made_up(2))
    path.write_text(f"{header().replace(old, new, 1)}\n{path.read_text()}")
    with pytest.raises(DataError, match=message):
        read_table(path)


def test_a_place_without_a_table_is_an_error(tmp_path):
    with pytest.raises(DataError, match="has 0 Covertype tables"):
        find_table(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        find_table(tmp_path / "none.csv")


def test_the_cache_of_scikit_learn_is_refused_and_its_frame_is_read(tmp_path):
    cache, rows = tmp_path / "covertype", made_up(20)
    cache.mkdir()
    joblib.dump(rows[:, :54].astype(np.float64), cache / "samples_py3", compress=9)
    joblib.dump(rows[:, 54].astype(np.int32), cache / "targets_py3", compress=9)
    for place in (tmp_path, cache, cache / "samples_py3"):
        with pytest.raises(DataError, match="to_csv"):
            find_table(place)
    frame = fetch_covtype(data_home=tmp_path, download_if_missing=False, as_frame=True).frame
    frame.astype(int).to_csv(cache / "covtype.csv", index=False)
    np.testing.assert_array_equal(read_table(find_table(cache)).features, rows[:, :54])


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (54, 8, "row 2 .*cover type"),
        (30, 2, "row 2 .* 0 and 1"),
    ],
)
def test_values_that_cannot_be_are_an_error(tmp_path, column, value, message):
    rows = made_up(2)
    rows[1, column] = value
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path / "covtype.data", rows))


def test_files_of_another_kind_are_an_error(tmp_path):
    with pytest.raises(DataError, match="has 54 columns, not 55"):
        read_table(write(tmp_path / "few", made_up(2)[:, 1:]))
    whole = write(tmp_path / "whole.gz", made_up(20))
    whole.write_bytes(whole.read_bytes()[:100])
    with pytest.raises(DataError, match="cannot be read"):
        read_table(whole)


@pytest.mark.parametrize("is_headed", [False, True])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("NaN", "row 2, column 3 has 'NaN'"),
        ("", "row 2, column 3 has ''"),
        ("2596.0", "row 2, column 3 has '2596.0'"),
        ("1,2", "row 2 has 56 columns"),
        ("9" * 12, "999999999999"),
    ],
)
def test_a_cell_that_is_no_number_is_named_by_its_place(tmp_path, is_headed, cell, message):
    path = write(tmp_path / "any.csv", made_up(2))
    lines = path.read_text().splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join([*cells[:2], cell, *cells[3:]])
    path.write_text("\n".join([header(), *lines] if is_headed else lines))
    with pytest.raises(DataError, match=f"any.csv: .*{message}"):
        read_table(path)


@pytest.mark.parametrize("text", ["", "\n", header(), f"{header()}\n\n"])
def test_a_file_without_rows_is_an_error(tmp_path, text):
    path = tmp_path / "any.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=r"any\.csv"):
        read_table(path)


# Splits


def test_rows_are_drawn_in_the_order_of_the_protocol():
    cover = np.array([2, 1, 7, 1, 2, 2, 1, 3, 2, 1] * 3)
    rng = np.random.default_rng(7601)
    first = rng.choice(np.flatnonzero(cover == 1), 6, replace=False)
    second = rng.choice(np.flatnonzero(cover == 2), 6, replace=False)
    expected = np.concatenate([first, second])[rng.permutation(12)]
    np.testing.assert_array_equal(balanced_rows(cover, 6), expected)


def test_a_table_with_too_few_rows_says_how_many_there_are(table):
    asked = table.model_copy(update={"drawn_per_class": 51})
    with pytest.raises(DataError, match=r"covtype.data.gz: 51 .* 50 of .* 'drawn_per_class: 50'"):
        asked.part("test")


@pytest.mark.parametrize("kept", [0, 4])
def test_a_table_with_hardly_any_row_of_a_type_cannot_be_used(tmp_path, kept):
    rows = made_up(50)
    is_left_out = (rows[:, 54] == 2) & (np.arange(len(rows)) >= 3 * kept)
    path = write(tmp_path / "covtype.data", rows[~is_left_out])
    message = f"50 rows of cover type 1 and {kept} of type 2"
    with pytest.raises(DataError, match=message):
        CovertypeTable(file=path, drawn_per_class=5).part("test")
    with pytest.raises(DataError, match=message):
        CovertypeTable(file=path, drawn_per_class=None)


def test_as_many_as_there_are_is_a_number_from_the_start(table, tmp_path, monkeypatch):
    rows = made_up(50)
    path = write(tmp_path / "covtype.data", rows[(rows[:, 54] != 1) | (np.arange(150) >= 30)])
    found = CovertypeTable(file=path, drawn_per_class=None)
    assert found == CovertypeTable(file=path, drawn_per_class=40)  # ten of type 1 are left out
    assert found.model_dump(mode="json")["drawn_per_class"] == 40
    assert CovertypeTable(file=table.file).drawn_per_class == 120_000
    data = Covertype(adapter="covertype", table={"file": path, "drawn_per_class": None})
    (remark,) = data.pair_set().remarks
    assert "40 rows" in remark
    monkeypatch.setattr("decaf.studies.covertype.splits.PAPER_PER_CLASS", 30)
    assert CovertypeTable(file=path, drawn_per_class=None).drawn_per_class == 30


def test_splits_are_stratified_disjoint_and_whole():
    label = np.repeat([0, 1], 100)
    places = split_places(label)
    sizes = {split: np.bincount(label[chosen]).tolist() for split, chosen in places.items()}
    assert sizes == {"train": [60, 60], "validation": [20, 20], "test": [20, 20]}
    np.testing.assert_array_equal(np.sort(np.concatenate(list(places.values()))), np.arange(200))


def test_standardisation_divides_by_the_population_spread_and_leaves_constants():
    mean, spread = standardisation(np.array([[1, 5], [3, 5]]))
    assert (mean.tolist(), spread.tolist()) == ([2, 5], [1, 1])  # ddof 1 would give sqrt(2)


def test_quantities_are_standardised_by_the_training_rows_alone(table):
    rows = made_up(50)
    train, test = table.part("train"), table.part("test")
    raw = rows[train.row, :10]
    expected = (rows[test.row, :10] - raw.mean(axis=0)) / raw.std(axis=0)
    assert test.features.dtype == np.float32
    np.testing.assert_allclose(test.features[:, :10], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(test.features[:, 10:], rows[test.row, 10:54])
    np.testing.assert_array_equal(test.label, rows[test.row, 54] - 1)
    assert [table.part(split).row.size for split in ("train", "validation", "test")] == [48, 16, 16]


def test_the_first_rows_of_each_class_keep_the_order_of_the_split():
    part = Part(np.array([9, 4, 7, 1, 3]), np.zeros((5, 54), np.float32), np.array([0, 1, 0, 1, 0]))
    assert part.lowest(1).tolist() == [3, 4]  # rows 1 and 3 of the file
    assert part.lowest(2).tolist() == [1, 2, 3, 4]
    assert part.lowest(None).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match="3 .* 2 .* 2"):
        part.lowest(3)


def test_the_real_sample_has_its_known_splits(shared_data):
    table = CovertypeTable(file=shared_data / SAMPLE, drawn_per_class=33_894)
    parts = {split: table.part(split) for split in ("train", "validation", "test")}
    counts = {split: np.bincount(part.label).tolist() for split, part in parts.items()}
    assert counts == {"train": [20336, 20336], "validation": [6779, 6779], "test": [6779, 6779]}
    quantities = parts["train"].features[:, :10].astype(np.float64)
    np.testing.assert_allclose(quantities.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(quantities.std(axis=0), 1, atol=1e-6)
    assert parts["test"].digest == (
        "b741323c170c4a30aab23c5aa7e9a620534ddb7690f089cb7917975cf754cd3e"
    )


# Channels


@pytest.mark.parametrize(
    ("treatment", "seed", "split", "stream", "stream_seed"),
    [
        # sha256 of 'decaf_covertype_module_c_v1|7701|train|context' starts e26a17e19fe98460,
        # that of 'decaf_covertype_module_f_v1|7703|test|alternate_factor' 6bfde644a18b81fd.
        (DIRECT, 7701, "train", "context", 0x6084E99FE1176AE2),
        (FRAGILE, 7703, "test", "alternate_factor", 0xFD818BA144E6FD6B),
    ],
)
def test_streams_are_seeded_by_eight_bytes_little_endian(
    treatment, seed, split, stream, stream_seed
):
    expected = np.random.default_rng(stream_seed).random(3)
    np.testing.assert_array_equal(uniform(treatment, seed, split, stream, 3), expected)


def test_an_aligned_factor_has_the_sign_of_the_label_below_the_probability():
    label, u = np.array([1, 1, 0, 0, 1]), np.array([0.2, 0.8, 0.2, 0.8, 0.75])
    assert align_with_label(label, 0.75, u).tolist() == [1, -1, -1, 1, -1]  # u < p, not u <= p


@pytest.mark.parametrize(
    ("treatment", "endpoint", "alternate", "flips"),
    [
        (DIRECT, 0.75, 0.75, 1),
        (Treatment("direct", 0.95), 0.95, 0.95, 1),
        (GATE, 0.75, 0.5, 1),
        (INVERT, 0.75, 0.75, -1),
        (ROBUST, 0.5, 0.5, 1),
        (MILD, 0.5, 0.7, 1),
        (FRAGILE, 0.5, 0.95, 1),
    ],
)
def test_the_observed_factor_is_that_of_the_context(treatment, endpoint, alternate, flips):
    label = np.arange(40) % 2
    found = draw_channels(treatment, 7702, "train", label)
    u, e, a = (
        uniform(treatment, 7702, "train", name, 40)
        for name in ("context", "endpoint_factor", "alternate_factor")
    )
    for row in range(40):
        context = -1 if u[row] < 0.5 else 1
        sign = 2 * int(label[row]) - 1
        agrees = e[row] < endpoint if context == 1 else a[row] < alternate
        factor = sign if agrees else -sign
        expected = factor if context == 1 else flips * factor
        assert (found.context[row], found.factor[row]) == (context, expected)


def test_models_of_one_module_and_seed_share_their_random_numbers():
    label = np.random.default_rng(0).integers(0, 2, 200)
    direct, gate, invert, fragile = (
        draw_channels(one, 7701, "train", label) for one in (DIRECT, GATE, INVERT, FRAGILE)
    )
    assert (direct.context == gate.context).all()
    assert (direct.context == invert.context).all()
    np.testing.assert_array_equal(direct.factor * direct.context, invert.factor)
    is_endpoint = direct.context == 1
    np.testing.assert_array_equal(direct.factor[is_endpoint], gate.factor[is_endpoint])
    assert (direct.context != fragile.context).any()
    other = draw_channels(DIRECT, 7702, "train", label)
    assert (direct.context != other.context).any()


def test_context_and_factor_are_the_last_two_columns():
    rows = with_channels(np.zeros((2, 54), np.float32), Channels(*np.array([[1, -1], [-1, 1]])))
    assert (rows.shape, rows.dtype) == ((2, 56), np.float32)
    assert rows[:, 54:].tolist() == [[1, -1], [-1, 1]]


# Pairs


def test_every_test_row_is_asked_under_both_contexts_with_both_factors(table):
    data = Covertype(adapter="covertype", table=table)
    pairs, part = data.pair_set(), table.part("test")
    assert (len(pairs.pairs), len(pairs.inputs)) == (16, 64)
    for place, pair in enumerate(pairs.pairs):
        assert pair.pair_id == f"row-{part.row[place]:06d}__factor"
        assert (pair.class_id, pair.split) == (part.label[place], "test")
        rows = [data.read_input(pairs.inputs[position]) for position in pair.positions]
        assert [row[54:].tolist() for row in rows] == [[1, 1], [1, -1], [-1, 1], [-1, -1]]
        for row in rows:
            np.testing.assert_array_equal(row[:54], part.features[place])
    assert len({image.digest for image in pairs.inputs}) == 64


def test_pairs_are_known_by_the_numbers_and_not_by_the_place_of_the_file(table, tmp_path):
    before = Covertype(adapter="covertype", table=table).pair_set().digest
    rows = made_up(50)
    elsewhere = table.model_copy(update={"file": write(tmp_path / "moved", rows)})
    assert Covertype(adapter="covertype", table=elsewhere).pair_set().digest == before
    rows[table.part("test").row[3], 4] += 1
    changed = table.model_copy(update={"file": write(tmp_path / "changed", rows)})
    assert Covertype(adapter="covertype", table=changed).pair_set().digest != before


def test_few_rows_are_the_first_of_each_class_in_the_file(table):
    pairs = Covertype(adapter="covertype", table=table, audited_per_class=2).pair_set()
    part = table.part("test")
    wanted = [sorted(part.row[part.label == label])[:2] for label in (0, 1)]
    expected = sorted(f"row-{row:06d}" for row in np.concatenate(wanted))
    assert sorted(pair.source_id for pair in pairs.pairs) == expected
    variants = ["endpoint_plus", "endpoint_minus", "alternate_plus", "alternate_minus"]
    assert [image.variant for image in pairs.inputs[:4]] == variants


def test_a_pair_is_described_by_its_cover_and_row(table):
    data = Covertype(adapter="covertype", table=table, audited_per_class=1)
    pairs, part = data.pair_set(), table.part("test")
    for pair in pairs.pairs:
        row = min(part.row[part.label == pair.class_id])
        cover = ("spruce or fir", "lodgepole pine")[pair.class_id]
        assert f"{cover}, row {row:,}" in data.describe(pairs, pair)


def test_factual_rows_are_the_audited_ones_with_the_channels_of_the_model(table):
    settings = {"classifier": "mlp", "mechanism": "invert", "strength": 0.75, "seed": 7702}
    recipe = CovertypeClassifier(recipe="covertype_classifier", table=table, **settings)
    data = Covertype(adapter="covertype", table=table, audited_per_class=2)
    rows = data.factual_rows(recipe)
    part = table.part("test")
    channels = draw_channels(INVERT, 7702, "test", part.label)
    place = {f"row-{row:06d}": n for n, row in enumerate(part.row)}
    places = [place[pair.source_id] for pair in data.pair_set().pairs]
    np.testing.assert_array_equal(rows.inputs[:, :54], part.features[places])
    np.testing.assert_array_equal(rows.inputs[:, rows.context], channels.context[places])
    np.testing.assert_array_equal(rows.inputs[:, rows.factor], channels.factor[places])
    np.testing.assert_array_equal(rows.label, part.label[places])


def test_inputs_do_not_travel_with_the_settings(table):
    data = Covertype(adapter="covertype", table=table)
    image = data.pair_set().inputs[5]
    sent = pickle.dumps(data)
    assert len(sent) < 1000 < data.read_input(image).nbytes * 16
    arrived = pickle.loads(sent)
    assert arrived == data.model_copy()
    np.testing.assert_array_equal(arrived.read_input(image), data.read_input(image))
