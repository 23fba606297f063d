"""Rows of a table and their counterfactuals: small tables by hand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from applicants import INPUTS, JOBS, applicants, section, written

from decaf.data.adapters.table_pairs import TablePairs
from decaf.errors import BadInput, DataError, SettingError
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches
from decaf.reveal.paths.removal import Removal
from decaf.scoring.planner import plan_states

ROWS = "who,age,pay,job,town,hired\na,40,2.5,cook,Ulm,1\nb,31,,smith,Bonn,0\nc,20,1.0,,Ulm,1\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def adapter(table, **settings):
    given = {"id": "who", "label": "hired", "adapter": "table_pairs", **settings}
    return TablePairs.model_validate({**given, "table": str(table)})


def pairs_of(data):
    """Every pair with both rows, decoded, as texts of what differs."""
    pair_set = data.pair_set()
    values = np.stack([data.read_input(image) for image in pair_set.inputs])
    frame = pair_set.columns.decode(values)
    found = {}
    for pair in pair_set.pairs:
        plus, minus = frame.iloc[pair.plus], frame.iloc[pair.minus]
        found[pair.pair_id] = {
            name: (plus[name], minus[name])
            for name in frame
            if plus[name] != minus[name] and not (pd.isna(plus[name]) and pd.isna(minus[name]))
        }
    return found, pair_set


def test_changes_of_named_columns(table):
    changes = {
        "older": {"add": {"age": 10, "pay": 1}},
        "smith": {"set": {"job": "smith"}},
        "jobless": {"set": {"job": None, "pay": None}},
    }
    data = adapter(table, changes=changes)
    found, pair_set = pairs_of(data)
    named = adapter(table, changes=changes, classes=["0", "1"]).pair_set()
    (jobless,) = (pair for pair in pair_set.pairs if pair.pair_id == "a__jobless")
    words, describe = "pay 2.5 → missing, job cook → missing", data.describe
    assert (describe(pair_set, jobless), describe(named, jobless)) == (words, f"1: {words}")
    gone = found.pop("a__jobless")
    assert (gone["job"][0], gone["pay"][0]) == ("cook", 2.5)
    assert pd.isna([gone["job"][1], gone["pay"][1]]).all()
    assert set(found.pop("b__jobless")) == {"job"}
    assert set(found.pop("c__jobless")) == {"pay"}
    smith = found.pop("c__smith")["job"]
    assert pd.isna(smith[0])
    assert smith[1] == "smith"
    assert found == {
        "a__older": {"age": (40, 50), "pay": (2.5, 3.5)},
        "b__older": {"age": (31, 41)},  # a number that is missing stays missing
        "c__older": {"age": (20, 30), "pay": (1.0, 2.0)},
        "a__smith": {"job": ("cook", "smith")},
    }
    equal, outside = pair_set.remarks
    assert equal.endswith(": 1 of 9 (smith 1 of 3)")
    assert "older" in outside  # 50 and 41, but no 30, are outside of 20 to 40
    assert "'age' 20 to 40 (66.7 % outside)" in outside
    assert "pay" not in outside  # 3.5, but no 2.0, is outside of 1.0 to 2.5
    assert [pair.class_id for pair in pair_set.pairs[:3]] == [1, 0, 1]
    assert {pair.source_id for pair in pair_set.pairs} == set("abc")
    assert len(pair_set.inputs) == 3 + len(pair_set.pairs)


def test_a_swap_moves_missing_values_to_a_column_without_any(table):
    table.write_text("who,own,partner\na,1.5,\nb,2.5,4.0\nc,3.0,3.0\n")
    data = TablePairs(
        adapter="table_pairs",
        table=str(table),
        id="who",
        changes={"partners": {"swap": ["own", "partner"]}, "more": {"add": {"own": 1}}},
    )
    found, _ = pairs_of(data)
    gone = found.pop("a__partners")
    assert pd.isna([gone["own"][1], gone["partner"][0]]).all()
    assert (gone["own"][0], gone["partner"][1]) == (1.5, 1.5)
    assert found == {
        "b__partners": {"own": (2.5, 4.0), "partner": (4.0, 2.5)},
        "a__more": {"own": (1.5, 2.5)},
        "b__more": {"own": (2.5, 3.5)},
        "c__more": {"own": (3.0, 4.0)},
    }


def test_the_weight_of_a_row_is_that_of_its_pairs_and_no_input(table):
    changes = {"paid": {"set": {"job": "cook"}}, "moved": {"set": {"town": "Ulm"}}}
    pairs = adapter(table, changes=changes, weight="age").pair_set()
    assert {pair.pair_id: pair.weight for pair in pairs.pairs} == {
        "b__paid": 31,
        "c__paid": 20,
        "b__moved": 31,
    }
    assert "age" not in [column.name for column in pairs.columns.columns]


def test_groups_are_values_of_the_row_and_inputs_unless_they_are_dropped(table):
    changes = {"paid": {"set": {"job": "cook"}}}
    pairs = adapter(table, changes=changes, groups=["town"]).pair_set()
    towns = {pair.pair_id: dict(pair.groups)["town"] for pair in pairs.pairs}
    rows = pd.read_csv(table).set_index("who")["town"]
    assert towns == {f"{who}__paid": rows[who] for who in "bc"}
    assert "town" in [column.name for column in pairs.columns.columns]
    with pytest.raises(DataError, match="names the column 'twon'.*'town'"):
        adapter(table, changes=changes, groups=["twon"]).pair_set()


def test_two_tables_are_joined_by_their_ids(table, tmp_path):
    """Floats that are whole stand for whole numbers, columns come in any order, rows too."""
    other = tmp_path / "other.csv"
    other.write_text("town,job,pay,age,who\nBonn,smith,7.0,31.0,b\nUlm,smith,2.5,45.0,a\n")
    found, pair_set = pairs_of(adapter(table, counterfactuals=str(other)))
    gone = found["b__pair"].pop("pay")
    assert np.isnan(gone[0])
    assert gone[1] == 7.0
    assert found == {"b__pair": {}, "a__pair": {"age": (40, 45), "job": ("cook", "smith")}}
    left_out, changed, outside = pair_set.remarks
    assert left_out.endswith("counterfactual: 1 of 3")
    assert "'pair': 'age' in 1 of 2, 'pay' in 1 of 2, 'job' in 1 of 2 pairs" in changed
    assert "'age' 20 to 40 (100 % outside)" in outside  # 45


def test_a_row_may_have_several_counterfactuals(table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(
        "who,age,pay,job,town,way\na,41,2.5,cook,Ulm,age\na,42,2.5,cook,Ulm,age\n"
        "a,40,2.5,cook,Bonn,town\na,40,2.5,cook,Ulm,age\n"
    )
    given = {"counterfactuals": str(other), "several": True, "pair_type": "way"}
    found, pair_set = pairs_of(adapter(table, **given))
    assert found == {
        "a__age__1": {"age": (40, 41)},
        "a__age__2": {"age": (40, 42)},
        "a__town__1": {"town": ("Ulm", "Bonn")},
    }
    equal, without, changed, outside = pair_set.remarks
    assert equal.endswith(": 1 of 4 (age 1 of 3)")
    assert without.endswith(": 2 of 3")
    assert "'age': 'age' in 2 of 2 pairs, of pair type 'town': 'town' in 1 of 1 pairs" in changed
    assert outside.startswith("counterfactuals: pair type 'age'")
    assert {pair.source_id for pair in pair_set.pairs} == {"a"}


def test_changes_and_a_second_table_give_the_pairs_of_both(table, tmp_path):
    """What the second table has beside the first one's columns and values is named."""
    other = tmp_path / "other.csv"
    other.write_text("who,age,pay,job,town,hired,note\na,40,2.5,cok,Ulm,0,x\nb,31,,smith,Ulm,0,y\n")
    older = {"older": {"add": {"age": 1}}}
    data = adapter(table, counterfactuals=str(other), changes=older)
    found, pair_set = pairs_of(data)
    assert found == {
        "a__older": {"age": (40, 41)},
        "b__older": {"age": (31, 32)},
        "c__older": {"age": (20, 21)},
        "a__pair": {"job": ("cook", "cok")},
        "b__pair": {"town": ("Bonn", "Ulm")},
    }
    unknown, unused, changed = pair_set.remarks
    assert changed.endswith("'pair': 'job' in 1 of 2, 'town' in 1 of 2 pairs")
    assert all(word in unknown for word in ("'job'", "'cok'", "'cook'?; known: cook, smith"))
    assert unused.endswith(": 'hired', 'note'")
    jobs = {"job": ["cook", "smith", "cok"]}
    given = {"counterfactuals": str(other), "categories": jobs, "drop": ["hired"], "label": None}
    without, unused, _ = adapter(table, **given).pair_set().remarks
    assert without.endswith(": 1 of 3")
    assert unused.endswith(": 'note'")


def test_a_change_multiplies_before_it_adds_and_rounds_whole_numbers(table):
    changes = {
        "more": {"multiply": {"age": 1.05, "pay": 0.1}, "add": {"pay": 1}},
        "less": {"multiply": {"pay": -0.5}},
    }
    found, _ = pairs_of(adapter(table, changes=changes))
    assert found == {
        "a__more": {"age": (40, 42), "pay": (2.5, 1.25)},
        "b__more": {"age": (31, 33)},  # 32.55; a number that is missing stays missing
        "c__more": {"age": (20, 21), "pay": (1.0, 1.1)},
        "a__less": {"pay": (2.5, -1.25)},
        "c__less": {"pay": (1.0, -0.5)},
    }


def test_a_setting_that_does_not_fit_the_table_is_known_by_its_keys(table):
    older = {"older": {"set": {"town": "Ulm"}, "add": {"agee": 1}}}
    with pytest.raises(SettingError, match="'agee'") as raised:
        adapter(table, changes=older).pair_set()
    assert raised.value.keys == ("changes", "older", "add", "agee")
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.keys) == (str(raised.value), raised.value.keys)


def test_a_column_is_a_feature_to_remove(table):
    data = adapter(table, removed=["job", "age"])
    pair_set = data.pair_set()
    assert [pair.pair_id for pair in pair_set.pairs[::3]] == ["a__without job", "a__without age"]
    assert [pair.feature for pair in pair_set.pairs[::3]] == [3, 1]
    block = pair_set.block((0, 1))
    assert (block.plus == block.minus).all()
    assert block.regions.tolist() == [[1, 2, 2, 4, 4, 8, 8]] * 2  # two jobs, two towns


@pytest.mark.parametrize("values", [["False", "True"], [0.5, 1.0], [True, None]])
def test_only_truth_values_are_read_as_such(values, tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"c": pd.Series(values, dtype=object), "n": [1, 2]}).to_parquet(path)
    data = TablePairs.model_validate(
        {"adapter": "table_pairs", "table": str(path), "dtypes": {"c": "bool"}, "removed": ["n"]}
    )
    with pytest.raises(DataError, match="'c' .* bool"):
        data.pair_set()


def test_a_second_table_without_truth_values_is_refused(tmp_path):
    (tmp_path / "one.csv").write_text("who,c,n\na,True,1\nb,False,2\n")
    (tmp_path / "other.csv").write_text("who,c,n\na,,2\nb,,3\n")
    data = adapter(tmp_path / "one.csv", label=None, counterfactuals=str(tmp_path / "other.csv"))
    with pytest.raises(DataError, match="'c'"):
        data.pair_set()


def test_a_change_beyond_the_type_of_the_rows_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"n": np.array([1, 2], np.float32)}).to_parquet(path)
    huge = {"more": {"add": {"n": 1e300}}}
    data = TablePairs.model_validate(
        {"adapter": "table_pairs", "table": str(path), "changes": huge}
    )
    with pytest.raises(DataError, match="'n'|float32"):
        data.pair_set()


def write_frame(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix.lower() == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)


@pytest.mark.parametrize("suffix", [".csv", ".CSV", ".parquet", ".jsonl", ".ndjson"])
def test_types_are_those_that_are_declared(tmp_path, suffix):
    frame = pd.DataFrame({"zip": ["01", "02"], "n": [1, 2], "job": ["b", "a"], "f": [1.0, 2.0]})
    path = tmp_path / f"t{suffix}"
    write_frame(frame, path)
    settings = {
        "table": str(path),
        "dtypes": {"zip": "object", "n": "float64", "f": "int64"},
        "categories": {"job": ["c", "b", "a"]},
        "changes": {"more": {"add": {"n": 1}}},
    }
    if suffix.lower() == ".csv":  # where 1.0 is no whole number
        settings["dtypes"].pop("f")
    data = TablePairs.model_validate({"adapter": "table_pairs", **settings})
    pair_set = data.pair_set()
    decoded = pair_set.columns.decode(data.read_input(pair_set.inputs[0])[None])
    expected = ["object", "float64", "category", "float64" if suffix.lower() == ".csv" else "int64"]
    assert list(map(str, decoded.dtypes)) == expected
    assert decoded["zip"][0] == "01"
    assert decoded["job"].cat.categories.to_list() == ["c", "b", "a"]


def test_a_table_of_applicants(tmp_path):
    data = TablePairs.model_validate(section(tmp_path, drop=["town"], inputs=None))
    pair_set = data.pair_set()
    assert [column.name for column in pair_set.columns.columns] == INPUTS[:-1]
    assert pair_set.columns.columns[3].categories == tuple(JOBS)
    frame = applicants()
    assert len(pair_set.pairs) == (frame["job"] != "smith").sum()
    houses = dict(zip(frame["who"], frame["house"], strict=True))
    labels = dict(zip(frame["who"], frame["hired"] == "yes", strict=True))
    for pair in pair_set.pairs:
        who = pair.pair_id.partition("__")[0]
        assert (pair.source_id, pair.class_id) == (houses[who], labels[who])
    copy = pickle.loads(pickle.dumps(data))
    assert "_built" not in copy.__dict__
    assert copy.pair_set() == pair_set


def test_other_rows_types_or_categories_are_other_content(tmp_path):
    def digests(**changes):
        pair_set = TablePairs.model_validate(section(tmp_path, **changes)).pair_set()
        return pair_set.digest, pair_set.input_set.digest

    frame = applicants()
    frame["age"] += 1
    base = digests()
    others = [
        digests(categories={"job": [*JOBS, "vicar"]}),
        digests(categories=None, inputs=[*INPUTS]),
        digests(dtypes={"age": "float64"}),
        digests(table=written(tmp_path, frame, "other.csv")),
    ]
    assert digests() == base
    assert len({base, *others}) == 5


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (Blend(sigma=8.0), r"path path .* \(sigma 8.0\)"),
        (Removal(baseline="blur"), r"\(sigma 12.0\)"),
        (Removal(), "feature 0"),
        (Patches(), "images"),
    ],
)
def test_a_path_that_needs_images_is_refused_when_it_is_planned(table, path, words):
    data = adapter(table, changes={"older": {"add": {"age": 1}}})
    pair_set = data.pair_set()
    inputs = np.stack([data.read_input(image) for image in pair_set.inputs])
    block = pair_set.block(tuple(range(len(pair_set.pairs))))
    with pytest.raises(BadInput, match=words):
        plan_states(block, inputs, {"path": path}, np.array([0.0, 0.5, 1.0]))


def test_changes_to_far_numbers_are_mentioned(table):
    changes = {
        "rich": {"multiply": {"pay": 1000}, "set": {"age": 500}},
        "gone": {"set": {"pay": None}},
        "usual": {"set": {"age": 35, "pay": 2.5}},
    }
    outside = [r for r in adapter(table, changes=changes).pair_set().remarks if "outside" in r]
    assert len(outside) == 1
    for words in ("rich", "'age' 20 to 40 (100 % outside)", "'pay' 1 to 2.5 (100 % outside)"):
        assert words in outside[0]


def test_a_change_may_fill_a_column_without_values(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("id,a,b\n1,1,\n2,2,\n")
    changes = {"filled": {"set": {"b": 1.0}}}
    pair_set = TablePairs(adapter="table_pairs", table=rows, id="id", changes=changes).pair_set()
    assert len(pair_set.pairs) == 2
    assert not any("outside" in remark for remark in pair_set.remarks)
