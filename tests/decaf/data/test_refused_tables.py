"""Tables and changes that cannot be audited: each is refused by its name, before anything runs."""

import pytest
from ended_commands import refused
from pydantic import ValidationError

from decaf.data.adapters.table_pairs import TablePairs
from decaf.errors import DataError

BLUR = {"kind": "blend"}
ROWS = "who,age,pay,job,town,hired\na,40,2.5,cook,Ulm,1\nb,31,,smith,Bonn,0\nc,20,1.0,,Ulm,1\n"


def adapter(table, **settings):
    given = {"id": "who", "label": "hired", "adapter": "table_pairs", **settings}
    return TablePairs.model_validate({**given, "table": str(table)})


REFUSED = {
    "column missing": ({"other": "who,age,pay,job\na,1,1,cook\n"}, "lack the column 'town'"),
    "doubled id": ({"rows": ROWS + "a,1,1,cook,Ulm,1\n"}, "two rows with the who a; give each"),
    "no id": ({"rows": ROWS + ",1,1,cook,Ulm,1\n"}, "'who' has no value in row 3"),
    "twice": (
        {"other": "who,age,pay,job,town\na,1,1,cook,Ulm\na,2,1,cook,Ulm\n"},
        r"two rows of the who a \(pair\); give each its 'pair_type', or set 'several",
    ),
    "no partner": ({"other": "who,age,pay,job,town\nz,1,1,cook,Ulm\n"}, "rows of the who z, which"),
    "no id there": ({"other": "age,pay,job,town\n1,1,cook,Ulm\n"}, "lack the column 'who'; add"),
    "no type there": (
        {"other": "who,age,pay,job,town,way\na,1,1,cook,Ulm,x\n", "pair_type": "wai"},
        "other.csv lacks the column 'wai'; did you mean 'way'",
    ),
    "text": ({"other": "who,age,pay,job,town\na,old,1,cook,Ulm\n"}, "'age' is int64 in the table"),
    "fractions": (
        {"other": "who,age,pay,job,town\na,1.5,1,cook,Ulm\n"},
        "'age' is int64 in the table, and the counterfactuals' float64 cannot be that: it would",
    ),
    "infinite": (
        {"rows": ROWS.replace("2.5", "inf")},
        "column 'pay' is inf in row 0; expected",
    ),
    "huge": ({"rows": ROWS.replace("40", "9007199254740993")}, "'age' is 9.0072e.15 in row 0"),
    "set absent": (
        {"changes": {"c": {"set": {"wage": 1}}}},
        "no input of the table is called ",
    ),
    "set the id": (
        {"changes": {"c": {"set": {"who": "z"}}}},
        "no input of the table is called ",
    ),
    "set unknown": (
        {"changes": {"c": {"set": {"job": "smiht"}}}},
        "gives column 'job' 'smiht', which no row has; did you mean 'smith'",
    ),
    "set text": (
        {"changes": {"c": {"set": {"age": "old"}}}},
        "'age' 'old'; expected a whole v",
    ),
    "set half": (
        {"changes": {"c": {"set": {"age": 1.5}}}},
        "'age' 1.5; expected whole numbers ",
    ),
    "set true": ({"changes": {"c": {"set": {"age": True}}}}, "'age' True; expected a whole value"),
    "set gone": ({"changes": {"c": {"set": {"age": None}}}}, "'age' missing, and no row lacks it"),
    "add text": ({"changes": {"c": {"add": {"job": 1}}}}, "'job', which holds a category"),
    "multiply text": (
        {"changes": {"c": {"multiply": {"job": 2}}}},
        "'multiply' names column 'job', which holds a category; expected numbers",
    ),
    "multiply far": (
        {"changes": {"c": {"multiply": {"age": 1e300}}}},
        "makes column 'age' 4e.301; expected whole numbers of int64",
    ),
    "multiply and add far": (
        {"changes": {"c": {"multiply": {"pay": 1e308}}}},
        "makes values that float64 cannot hold; expected smaller",
    ),
    "nothing changes": (
        {"rows": "who,town,hired\na,Ulm,1\n", "changes": {"c": {"set": {"town": "Ulm"}}}},
        r"left out: 1 of 1 \(c 1 of 1\); so there are no pairs: change something else",
    ),
    "semicolons": (
        {"rows": ROWS.replace(",", ";")},
        "its header is one column, 'who;age;.*separated by ';'; expected commas, and points",
    ),
    "commas of decimals": (
        {"rows": "who;age\na;1,5\nb;2\nc;2,25,1\n"},
        "the file seems to be separated by ';'",
    ),
    "tabs": ({"rows": ROWS.replace(",", "\t")}, r"seems to be separated by '.t'; expected commas"),
    "more cells": (
        {"rows": "who,age,hired\na,40,1,\nb,31,0,\n"},
        "rows.csv cannot be read: its rows have more cells than its header",
    ),
    "add half": (
        {"changes": {"c": {"add": {"age": 0.5}}}},
        "'age' 40.5; expected whole number",
    ),
    "swap types": (
        {"changes": {"c": {"swap": ["age", "pay"]}}},
        "expected two columns of one ",
    ),
    "no group": (
        {"changes": {"c": {"permute": {"column": "age", "within": "g"}}}},
        "'within: g' is no column of",
    ),
    "groups of one": (
        {"changes": {"c": {"permute": {"column": "age", "within": "who"}}}},
        "so there are no pairs",
    ),
    "removed": ({"changes": {}, "removed": ["wage"]}, "'removed:' names the column 'wage'"),
    "removed id": ({"changes": {}, "removed": ["who"]}, "'who', which is no input of the model"),
    "label": ({"label": "job"}, "column .job. has no value in row 2"),
    "class": ({"classes": [1, 2]}, "label '0' is not among 'classes'; known: 1, 2"),
    "source": ({"source": "hose"}, "'source:' names the column 'hose', which"),
    "category": (
        {"categories": {"job": ["cook"]}},
        "'job' of .* has 'smith', which 'categories:' lacks",
    ),
    "dtype": ({"dtypes": {"job": "float64"}}, "could not convert string to float: .*'dtypes:'"),
    "category twice": (
        {"categories": {"job": ["cook", "smith", "cook"]}},
        "'categories:' names a value of 'job' twice",
    ),
    "no column": ({"drop": ["age", "pay", "job", "town"]}, "has no column that is an input"),
    "empty file": ({"rows": ""}, "cannot be read: No columns to parse from file"),
    "no rows": ({"rows": "who,age,hired\n"}, "column 'age' holds empty; expected numbers"),
    "ragged": ({"rows": "who,age,hired\na,1,1\nb,1,1,1,1\n"}, "Expected 3 fields in line 3, saw 5"),
    "no file": ({"table": "none.csv"}, "cannot be read: No such file"),
    "folder": ({"table": "."}, "is no .csv, .parquet, .jsonl or .ndjson; save"),
    "pickle": ({"table": "rows.pkl"}, "rows.pkl is no .csv, .parquet"),
    "no JSON": ({"table": "text.jsonl"}, "text.jsonl: row 1 is no JSON"),
    "lists": ({"table": "lists.ndjson"}, "column 'age' holds mixed; expected numbers, truth"),
    "no parquet": ({"table": "text.parquet"}, "text.parquet cannot be read: "),
    "dates": (
        {"rows": ROWS.replace("a,40", "a,2020-01-01"), "dtypes": {"age": "int64"}},
        "cannot be read: .*2020-01-01.*; save it again, or correct 'dtypes:'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_by_name(tmp_path, name):
    given, words = REFUSED[name]
    (tmp_path / "rows.csv").write_text(given.get("rows", ROWS))
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    (tmp_path / "text.jsonl").write_text("no JSON at all")
    (tmp_path / "lists.ndjson").write_text('{"who": "a", "hired": 1, "age": [1]}')
    settings = {key: value for key, value in given.items() if key not in ("rows", "other")}
    table = tmp_path / settings.pop("table", "rows.csv")
    if "other" in given:
        (tmp_path / "other.csv").write_text(given["other"])
        settings["counterfactuals"] = str(tmp_path / "other.csv")
    elif "changes" not in settings:
        settings["changes"] = {"older": {"add": {"age": 1}}}
    with pytest.raises(DataError, match=words):
        adapter(table, **settings).pair_set()


MORE = {
    "no pairs": ({}, "give 'counterfactuals' .a table., 'changes', or 'removed'"),
    "both": (
        {"removed": ["age"], "inputs": ["age"], "drop": ["pay"]},
        "'inputs' or 'drop', no",
    ),
    "no key": ({"counterfactuals": "other.csv", "id": None}, "'counterfactuals' needs an 'id' to"),
    "one table": ({"removed": ["age"], "several": True}, "'several' needs 'counterfactuals'"),
    "types": ({"removed": ["age"], "pair_type": "way"}, "'pair_type' needs 'counterfactuals'"),
    "classes": ({"removed": ["age"], "label": None, "classes": [1]}, "'classes' needs a 'label'"),
    "nothing": ({"changes": {"c": {}}}, "it changes nothing; give 'set', 'multiply', 'add', "),
    "one column": ({"changes": {"c": {"swap": ["age"]}}}, "swap"),
    "no number": ({"changes": {"c": {"add": {"age": True}}}}, "'add' is true; expected a number"),
    "a list": ({"changes": {"c": {"set": {"age": [1]}}}}, "set.age"),
    "dates": (
        {"removed": ["age"], "dtypes": {"age": "datetime64"}},
        "Input should be 'bool', ",
    ),
    "no name": ({"changes": {"": {"add": {"age": 1}}}}, "'' has 0 letters; expected 1 to 500"),
    "a key": ({"changes": {"c": {"added": {"age": 1}}}}, "unknown key 'added'; did you mean '"),
}


@pytest.mark.parametrize("name", MORE)
def test_settings_that_make_no_pairs_are_refused(name):
    given, words = MORE[name]
    with pytest.raises(ValidationError, match=words):
        adapter("rows.csv", **given)


def test_a_table_that_cannot_be_used_ends_the_command(tmp_path, study, write, decaf):
    (tmp_path / "rows.csv").write_text(ROWS)
    data = {"adapter": "table_pairs", "table": str(tmp_path / "rows.csv"), "id": "town"}
    data["changes"] = {"older": {"add": {"age": 1}}}
    done = decaf("plan", write({**study, "data": data}))
    refused(done, "rows.csv has two rows with the town Ulm; give each its own")
    given = {**study, "data": data | {"id": "who", "label": "hired"}, "paths": {"mist": BLUR}}
    paths = "path mist (kind: blend): an input has shape (7,); a blur (sigma 8.0) needs images"
    for command in ("plan", "run"):
        refused(decaf(command, write(given)), paths, "write 'sigma: 0'")
    given["data"] |= {"changes": {"older": {"set": {"agee": 1}}}}
    config = write(given)
    lines = config.read_text().splitlines()
    line = 1 + next(place for place, text in enumerate(lines) if "agee" in text)
    words = f"{config.name}:{line}: 'data.changes.older.set.agee': no input of the table is called"
    refused(decaf("data", config), words)
    typo = ROWS.replace(",1\n", ",yes\n").replace("Bonn,0", "Bonn,no") + "d,1,1,cook,Ulm,yse\n"
    (tmp_path / "typo.csv").write_text(typo)
    given["data"] |= {"changes": data["changes"], "table": str(tmp_path / "typo.csv")}
    words = "the labels are 3 names ('no', 'yes', 'yse') and the score has 2 classes"
    for command in ("data", "plan"):
        refused(decaf(command, write(given)), words, "'classes:' of 'data:'")
    given["data"] |= {"table": "absent.csv"}
    words = ["absent.csv cannot be read: No such file", "(relative paths start from the current"]
    refused(decaf("data", write(given)), *words)
