"""Tables and changes that cannot be audited: each is refused by its name, before anything runs."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data_looks import refuse_to_look
from pydantic import ValidationError
from small_studies import of_scenes, untrained

from decaf.data.adapters.table_pairs import TablePairs
from decaf.data.typed_frames import read_frame
from decaf.errors import BadInput, DataError
from decaf.plan.study import Study, load_study
from tasks.plan import plan_audit

ROWS = "who,age,pay,job,town,hired\na,40,2.5,cook,Ulm,1\nb,31,,smith,Bonn,0\nc,20,1.0,,Ulm,1\n"


def adapter(table, **settings):
    given = {"id": "who", "label": "hired", "adapter": "table_pairs", **settings}
    return TablePairs.model_validate({**given, "table": str(table)})


HEADER = "who,age,pay,job,town"


def changed(**change):
    return {"changes": {"c": change}}


REFUSED = {
    "column missing": ({"other": "who,age,pay,job\na,1,1,cook\n"}, "'town'"),
    "doubled id": ({"rows": ROWS + "a,1,1,cook,Ulm,1\n"}, "who a"),
    "no id": ({"rows": ROWS + ",1,1,cook,Ulm,1\n"}, "'who' .* row 4"),
    "twice": ({"other": f"{HEADER}\na,1,1,cook,Ulm\na,2,1,cook,Ulm\n"}, r"who a \(pair\)"),
    "no partner": ({"other": f"{HEADER}\nz,1,1,cook,Ulm\n"}, "who z"),
    "no id there": ({"other": "age,pay,job,town\n1,1,cook,Ulm\n"}, "'who'"),
    "no type there": (
        {"other": f"{HEADER},way\na,1,1,cook,Ulm,x\n", "pair_type": "wai"},
        r"other\.csv .* 'wai'.* 'way'",
    ),
    "text": ({"other": f"{HEADER}\na,old,1,cook,Ulm\n"}, "'age' .* int64"),
    "fractions": ({"other": f"{HEADER}\na,1.5,1,cook,Ulm\n"}, "'age' .* int64 .* float64"),
    "infinite": ({"rows": ROWS.replace("2.5", "inf")}, "'pay' is inf in row 1"),
    "huge": ({"rows": ROWS.replace("40", "9007199254740993")}, "'age' is 9.0072e.15 in row 1"),
    "set absent": (changed(set={"wage": 1}), "'wage'"),
    "set the id": (changed(set={"who": "z"}), "'who'"),
    "set unknown": (changed(set={"job": "smiht"}), "'job' .*'smiht'.* 'smith'"),
    "set text": (changed(set={"age": "old"}), "'age' 'old'"),
    "set half": (changed(set={"age": 1.5}), "'age' .* 1.5"),
    "set true": (changed(set={"age": True}), "'age' True"),
    "set gone": (changed(set={"age": None}), "'age' missing"),
    "add text": (changed(add={"job": 1}), "'job', which holds categories"),
    "add true": (
        {"rows": "who,age,owner,hired\na,40,True,1\nb,31,False,0\n", **changed(add={"owner": 1})},
        "'owner', which holds true and false",
    ),
    "no weight": ({"weight": "pay", **changed(set={"age": 1})}, "'pay' .* a number"),
    "add half": (changed(add={"age": 0.5}), "'age' .* 40.5"),
    "multiply text": (changed(multiply={"job": 2}), "'multiply' .* 'job'"),
    "multiply far": (changed(multiply={"age": 1e300}), "'age' .*4e.301.* int64"),
    "multiply and add far": (changed(multiply={"pay": 1e308}), "float64"),
    "nothing changes": (
        {"rows": "who,town,hired\na,Ulm,1\n", **changed(set={"town": "Ulm"})},
        r"1 of 1 \(c 1 of 1\)",
    ),
    "column twice": ({"rows": "who,age,hired,age\na,40,1,40\nb,31,0,32\n"}, "'age' more than once"),
    "semicolons": ({"rows": ROWS.replace(",", ";")}, "'who;age;.* ';'"),
    "commas of decimals": ({"rows": "who;age\na;1,5\nb;2\nc;2,25,1\n"}, "';'"),
    "tabs": ({"rows": ROWS.replace(",", "\t")}, r"'.t'"),
    "more cells": ({"rows": "who,age,hired\na,40,1,\nb,31,0,\n"}, r"rows\.csv"),
    "Latin-1": ({"rows": ROWS.replace("Ulm", "Köln"), "encoding": "latin-1"}, "UTF-8.*0xf6"),
    "UTF-16": ({"rows": ROWS, "encoding": "utf-16"}, "UTF-8.*0xff"),
    "decimal commas": (
        {"rows": 'who,pay,hired\na,"2,5",1\nb,,0\nc,3,1\n'},
        "'pay' .* '2,5' .* points.*dtypes: {pay: str}",
    ),
    "commas of thousands": (
        {"rows": 'who,pay,hired\na,"32,878",1\nb,,0\nc,"1,250",1\n'},
        "'pay' .* '32,878' .* thousands.*dtypes: {pay: str}",
    ),
    "points of thousands": (
        {"rows": "who,pay,hired\na,900,1\nb,32.878,0\nc,1.234.567,1\n"},
        "'pay' .* '1.234.567' .* thousands.*dtypes: {pay: str}",
    ),
    "both marks": (
        {"rows": 'who,pay,hired\na,"1.234,50",1\nb,"900,00",0\nc,"2,5",1\n'},
        "'pay' .* '1.234,50' .* decimal.*dtypes: {pay: str}",
    ),
    "swap types": (changed(swap=["age", "pay"]), "one type|two columns"),
    "no group": (changed(permute={"column": "age", "within": "g"}), "'within:' .* 'g'"),
    "another group": (changed(permute={"column": "age", "within": "Town"}), "mean 'town'"),
    "groups of one": (changed(permute={"column": "age", "within": "who"}), "no pairs"),
    "removed": ({"changes": {}, "removed": ["wage"]}, "'removed:' .* 'wage'"),
    "removed id": ({"changes": {}, "removed": ["who"]}, "'who'"),
    "label": ({"label": "job"}, "job. .* row 3"),
    "class": ({"classes": [1, 2]}, "'0' .* 1, 2"),
    "source": ({"source": "hose"}, "'source:' .* 'hose'"),
    "category": ({"categories": {"job": ["cook"]}}, "'job' .* 'smith'"),
    "category twice": (
        {"categories": {"job": ["cook", "smith", "smith"]}},
        "'smith' twice.*'job'",
    ),
    "dtype": ({"dtypes": {"job": "float64"}}, "'dtypes:'"),
    "no column": ({"drop": ["age", "pay", "job", "town"]}, "no column"),
    "empty file": ({"rows": ""}, "cannot be read"),
    "no rows": ({"rows": "who,age,hired\n"}, "'age'"),
    "ragged": ({"rows": "who,age,hired\na,1,1\nb,1,1,1,1\n"}, "3 fields in line 3, saw 5"),
    "no file": ({"table": "none.csv"}, r"none\.csv .* No such file"),
    "folder": ({"table": "."}, r"\.parquet"),
    "pickle": ({"table": "rows.pkl"}, r"rows\.pkl .*\.parquet"),
    "no JSON": ({"table": "text.jsonl"}, r"text\.jsonl: row 1"),
    "lists": ({"table": "lists.ndjson"}, "'age' holds mixed"),
    "no parquet": ({"table": "text.parquet"}, r"text\.parquet cannot be read"),
    "dates": (
        {"rows": ROWS.replace("a,40", "a,2020-01-01"), "dtypes": {"age": "int64"}},
        "2020-01-01.* 'dtypes:'",
    ),
}
"""Rows and settings, and values that the message of their refusal has."""
TEXTS = ("rows", "other", "encoding")


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_by_name(tmp_path, name):
    given, words = REFUSED[name]
    encoding = given.get("encoding", "utf-8")
    (tmp_path / "rows.csv").write_text(given.get("rows", ROWS), encoding=encoding)
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    (tmp_path / "text.jsonl").write_text("no JSON at all")
    (tmp_path / "lists.ndjson").write_text('{"who": "a", "hired": 1, "age": [1]}')
    settings = {key: value for key, value in given.items() if key not in TEXTS}
    table = tmp_path / settings.pop("table", "rows.csv")
    if "other" in given:
        (tmp_path / "other.csv").write_text(given["other"])
        settings["counterfactuals"] = str(tmp_path / "other.csv")
    elif "changes" not in settings:
        settings["changes"] = {"older": {"add": {"age": 1}}}
    with pytest.raises(DataError, match=words):
        adapter(table, **settings).pair_set()


MORE = {
    "no pairs": ({}, "'counterfactuals'"),
    "both": ({"removed": ["age"], "inputs": ["age"], "drop": ["pay"]}, "'inputs' or 'drop'"),
    "no key": ({"counterfactuals": "other.csv", "id": None}, "'counterfactuals' needs an 'id'"),
    "one table": ({"removed": ["age"], "several": True}, "'several' needs 'counterfactuals'"),
    "types": ({"removed": ["age"], "pair_type": "way"}, "'pair_type' needs 'counterfactuals'"),
    "classes": ({"removed": ["age"], "label": None, "classes": [1]}, "'classes' needs a 'label'"),
    "nothing": (changed(), "'set'"),
    "one column": (changed(swap=["age"]), "swap"),
    "no number": (changed(add={"age": True}), "'add' is true"),
    "a list": (changed(set={"age": [1]}), "set.age"),
    "dates": ({"removed": ["age"], "dtypes": {"age": "datetime64"}}, "'bool'"),
    "no name": ({"changes": {"": {"add": {"age": 1}}}}, "0 letters"),
    "a key": (changed(added={"age": 1}), "'added'.* 'add'"),
}


@pytest.mark.parametrize("name", MORE)
def test_settings_that_make_no_pairs_are_refused(name):
    given, words = MORE[name]
    with pytest.raises(ValidationError, match=words):
        adapter("rows.csv", **given)


def test_a_setting_that_does_not_fit_is_named_by_its_line(tmp_path, write):
    (tmp_path / "rows.csv").write_text(ROWS)
    data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv"), "id": "who"}
    config = write(
        of_scenes(tmp_path, [untrained(tmp_path, "net")], data=data | changed(set={"agee": 1}))
    )
    lines = config.read_text().splitlines()
    line = 1 + next(place for place, text in enumerate(lines) if "agee" in text)
    refuse_to_look(config, f"{config.name}:{line}: 'data.changes.c.set.agee'")


def test_a_path_that_needs_images_is_refused_by_the_plan(tmp_path, write):
    (tmp_path / "rows.csv").write_text(ROWS)
    data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv"), "id": "who"}
    models = [untrained(tmp_path, "net")]
    keys = {
        "data": data | changed(add={"age": 1}),
        "score": {"kind": "class_probability", "classes": 2, "target": 1},
        "paths": {"blend": {"kind": "blend", "sigma": 2}},
    }
    study = Study(**of_scenes(tmp_path, models, **keys))
    with pytest.raises(BadInput, match=r"blend .*\(8,\).*sigma 2.0"):
        plan_audit(study, study.pair_set())


def test_more_labels_than_classes_are_named(tmp_path, write):
    labels = ("yes", "no", "yse")
    rows = "".join(f"{place},{label}\n" for place, label in enumerate(labels))
    (tmp_path / "typo.csv").write_text(f"age,hired\n{rows}")
    data = {"adapter": "table_pairs", "table": str(tmp_path / "typo.csv"), "label": "hired"}
    loaded = load_study(
        write(
            of_scenes(tmp_path, [untrained(tmp_path, "net")], data=data | changed(add={"age": 1}))
        )
    )
    with pytest.raises(BadInput, match=r"'no', 'yes', 'yse'\).* 2 classes"):
        loaded.pair_set()


def test_a_parquet_file_with_two_columns_of_one_name(tmp_path):
    numbers = pa.array([1, 2])
    pq.write_table(pa.table([numbers, numbers], names=["age", "age"]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="'age' more than once"):
        read_frame(tmp_path / "t.parquet", {}, {})
