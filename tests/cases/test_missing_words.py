"""Words such as None and NA in a CSV: values where a configuration declares them, else remarked."""

import numpy as np
import pandas as pd
import pytest

from decaf.data.adapters.table_pairs import TablePairs
from decaf.errors import DataError

JOBS = ["None", "NA", "cook"]


def adapter(folder, rows, other=None, **settings):
    """Adapter of a table that is given as the text of a CSV."""
    (folder / "rows.csv").write_text(rows)
    settings = {"adapter": "table_pairs", "table": str(folder / "rows.csv"), **settings}
    if other is not None:
        (folder / "other.csv").write_text(other)
        settings["counterfactuals"] = str(folder / "other.csv")
    return TablePairs.model_validate(settings)


def frame_of(data, variant="factual"):
    """Rows of one kind as a model gets them, by the name of the input, and the pairs."""
    pairs = data.pair_set()
    inputs = [image for image in pairs.inputs if image.variant == variant]
    frame = pairs.columns.decode(np.stack([data.read_input(image) for image in inputs]))
    return frame, pairs


def words_of(pairs):
    return [remark for remark in pairs.remarks if "words" in remark]


def test_declared_words_are_values_and_others_are_remarked(tmp_path):
    rows = "age,job,town\n40,None,NA\n,NA,\n31,cook,Ulm\nNA,n/a,n/a\n"
    data = adapter(
        tmp_path,
        rows,
        categories={"job": ["None", "NA", "n/a", "cook"]},
        changes={"older": {"add": {"age": 1}}, "job": {"set": {"job": "None"}}},
    )
    frame, pairs = frame_of(data)
    assert frame["job"].tolist() == ["None", "cook", "NA", "n/a"]  # in the order of the pairs
    assert frame["age"].isna().tolist() == [False, False, True, True]
    assert frame["town"].isna().tolist() == [True, False, True, True]
    (remark,) = words_of(pairs)
    for word in ("'age' 'NA' (1)", "'town' 'NA' (1)", "'town' 'n/a' (1)"):
        assert word in remark
    assert "'job'" not in remark


def test_an_empty_cell_is_missing_without_a_remark(tmp_path):
    data = adapter(
        tmp_path,
        "age,job\n40,None\n,\n31,cook\n",
        categories={"job": ["None", "cook"]},
        changes={"cook": {"set": {"job": "cook"}}},
    )
    frame, pairs = frame_of(data)
    assert frame["job"].isna().tolist() == [False, True]
    assert words_of(pairs) == []


def test_levels_that_are_words_and_numbers(tmp_path):
    data = adapter(
        tmp_path,
        "age,code\n40,1\n31,NA\n20,2\n",
        categories={"code": [1, 2, "NA"]},
        changes={"older": {"add": {"age": 1}}},
    )
    assert frame_of(data)[0]["code"].tolist() == [1, "NA", 2]


def test_a_value_that_a_change_sets_is_no_missing_value(tmp_path):
    rows = "age,job\n40,None\n31,cook\n20,NA\n"
    data = adapter(tmp_path, rows, changes={"none": {"set": {"job": "None"}}})
    frame, pairs = frame_of(data)
    assert frame["job"].tolist()[0] == "cook"
    assert frame["job"].isna().tolist() == [False, True]
    changed = frame_of(data, "none")[0]
    assert changed["job"].tolist() == ["None", "None"]
    assert "'job' 'NA' (1)" in words_of(pairs)[0]


def test_numbers_with_na_stay_numbers(tmp_path):
    data = adapter(tmp_path, "age\n40\nNA\n20\n", changes={"older": {"add": {"age": 1}}})
    frame, pairs = frame_of(data)
    assert frame["age"].dtype == np.float64
    assert frame["age"].tolist() == [40.0, 20.0]
    assert "'age' 'NA' (1)" in words_of(pairs)[0]


def test_names_are_never_missing(tmp_path):
    rows = (
        "who,country,kind,home,part,hired,age\n"
        "NA,NA,None,null,n/a,None,40\n"
        "DE,Germany,some,h1,train,NA,31\n"
        "None,NA,some,h1,train,yes,20\n"
    )
    names = {"id": "who", "groups": ["country"], "source": "home", "split": "part"}
    data = adapter(
        tmp_path,
        rows,
        **names,
        label="hired",
        drop=["kind"],
        changes={"older": {"add": {"age": 1}}},
    )
    pairs = data.pair_set()
    assert [pair.pair_id for pair in pairs.pairs] == ["NA__older", "DE__older", "None__older"]
    groups = [dict(pair.groups)["country"] for pair in pairs.pairs]
    assert groups == ["NA", "Germany", "NA"]
    assert [pair.source_id for pair in pairs.pairs] == ["null", "h1", "h1"]
    assert [pair.split for pair in pairs.pairs] == ["n/a", "train", "train"]
    assert pairs.class_names == ("NA", "None", "yes")
    (remark,) = words_of(pairs)
    assert "'country' 'NA' (2)" in remark
    assert "'kind'" not in remark  # the model does not take it


def test_a_table_of_one_country(tmp_path):
    changes = {"older": {"add": {"age": 1}}}
    rows = "country,age\nNA,40\nNA,31\n"
    pairs = adapter(tmp_path, rows, groups=["country"], changes=changes).pair_set()
    assert {pair.groups for pair in pairs.pairs} == {(("country", "NA"),)}


def test_words_of_a_column_that_permutes_are_remarked(tmp_path):
    permute = {"column": "age", "within": "town", "seed": 2}
    rows = "town,age\nNA,40\n,31\nUlm,20\nUlm,21\nNA,30\n"
    data = adapter(tmp_path, rows, drop=["town"], changes={"moved": {"permute": permute}})
    assert "'town' 'NA' (2)" in words_of(data.pair_set())[0]


def test_classes_declare_labels(tmp_path):
    rows = "hired,age\nNone,40\nNA,31\nNone,20\n"
    changes = {"older": {"add": {"age": 1}}}
    declared = adapter(tmp_path, rows, label="hired", classes=["NA", "None"], changes=changes)
    assert [pair.class_id for pair in declared.pair_set().pairs] == [1, 0, 1]
    with pytest.raises(DataError, match="'NA' is not among"):
        adapter(
            tmp_path, rows + "yes,2\n", label="hired", classes=["None", "yes"], changes=changes
        ).pair_set()


def test_a_number_that_is_missing_is_no_name(tmp_path):
    rows, settings = "hired,age\n1,40\nNA,31\n0,20\n", {"label": "hired"}
    with pytest.raises(DataError, match=r"no value in row 2\b"):
        adapter(tmp_path, rows, **settings, changes={"older": {"add": {"age": 1}}}).pair_set()


def test_words_of_the_second_table(tmp_path):
    """Its names and declared values are values, and so is what the first table has as a value."""
    other = "who,kind,age,job\na,None,40,None\nb,null,31,NA\nb,swap,31,cook\n"
    data = adapter(
        tmp_path,
        "who,age,job\na,40,cook\nb,31,cook\n",
        other,
        id="who",
        pair_type="kind",
        categories={"job": JOBS},
    )
    frame, pairs = frame_of(data, "None")
    assert [pair.pair_type for pair in pairs.pairs] == ["None", "null"]
    assert frame["job"].tolist() == ["None"]

    pd.DataFrame({"who": ["a", "b"], "age": [40, 31], "job": ["cook", "None"]}).to_parquet(
        tmp_path / "rows.parquet"
    )
    settings = {"table": str(tmp_path / "rows.parquet"), "id": "who", "pair_type": "kind"}
    frame, pairs = frame_of(adapter(tmp_path, "", other, **settings), "None")
    assert frame["job"].tolist() == ["None"]
    assert "'job' 'NA' (1)" in words_of(pairs)[0]
