"""The report's tables of the paper, for views that it knows and for any other."""

import pytest
from stub_audit import Audit, insert, six_models

from warehouse.query.views import View
from warehouse.report.paper import reading
from warehouse.report.paper import tables as paper_tables
from warehouse.report.paper.reading import DataNote, read_paper

NUMBERS = (
    "estimate DOUBLE, lower_90 DOUBLE, upper_90 DOUBLE, lower_95 DOUBLE, upper_95 DOUBLE, "
    "published DOUBLE, reason VARCHAR"
)
SIX = six_models()
FEW_NUMBERS = "estimate DOUBLE, published DOUBLE, difference DOUBLE, reason VARCHAR"


@pytest.fixture
def any_view(monkeypatch):
    """Add a table of the paper that the report has never heard of: any_view(columns, rows)."""

    def added(connection, columns, rows, name="paper_strange", numbers=NUMBERS):
        view = View(name, "paper", "how strange: <b>very</b>", "one row", (), "section 99", "")
        monkeypatch.setattr(reading, "views", lambda: [view])
        connection.execute(f"CREATE TABLE {name} (study VARCHAR, {columns}, {numbers})")
        insert(connection, name, rows)

    return added


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("blend", "blend"),
        (None, "–"),
        (True, "yes"),
        (3, "3"),
        (8289.0, "8,289"),
        (2.0, "2"),
        (1.0, "1.000"),
        (0.00031234, "<0.001"),
        (-0.5, "−0.500"),
    ],
)
def test_whatever_a_row_is_of_can_be_written(value, text):
    assert paper_tables.write_value(value) == text


def test_a_study_without_such_rows_has_no_section(stub, report):
    reader = report(stub(Audit()))
    assert "paper" not in reader.ids
    assert "Tables of the paper" not in reader.text


def test_estimates_stand_with_published_values_that_are_said_not_to_compare(stub, report):
    reader = report(stub(SIX))
    assert "paper" in reader.ids
    label = "Not the official data: not comparable (20 foregrounds, not 1496 to 1744)."
    assert label in reader.text
    row = ["mixed_rand", "abs_response", "blend", "patch_a", "1.740", "[1.700, 1.780]"]
    assert [*row, "[1.690, 1.790]", "1.737 not comparable", "+0.003"] in reader.rows
    row[1] = "evidence"
    assert [*row, "[1.690, 1.790]", "–", "–"] in reader.rows
    reason = "– all values of one side are equal"
    assert ["mixed_rand", "evidence", "blend", "patch_a", reason] in reader.rows
    assert ["accuracy", "mixed_same", "–", "0.950"] in reader.rows
    assert "Paper: section 6.3, figure 4a" in reader.text


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (None, "comparability unknown"),
        (DataNote(True, "counts are right"), "Published values stand beside ours: counts are"),
        (DataNote(False, "3 models, not 72"), "not comparable (3 models, not 72)"),
    ],
)
def test_what_is_known_of_the_data_is_said(note, words):
    assert words in paper_tables.data_note(note)


def test_official_data_carry_no_label(stub, report):
    connection = stub(SIX)
    official = "UPDATE paper_imagenet9_data SET is_official = true, why = 'counts are right'"
    connection.execute(official)
    reader = report(connection)
    assert "not comparable" not in reader.text
    assert any(row[-2:] == ["1.737", "+0.003"] for row in reader.rows)


def test_a_view_that_nobody_foresaw_becomes_a_table(stub, report, any_view):
    connection = stub(Audit())
    values = (0.5, None, None, 0.25, 0.75, 0.875, None)
    rows = [("demo", "decaf", 3, *values), ("demo", None, 4, *[None] * 6, "no pairs")]
    any_view(connection, "method VARCHAR, bin INTEGER", [*rows, ("other", "x", 1, *values)])
    reader = report(connection)
    assert ["decaf", "3", "0.500", "[0.250, 0.750]", "0.875 comparability unknown"] in reader.rows
    assert ["–", "4", "– no pairs", "–", "–"] in reader.rows
    assert not any(row and row[0] == "x" for row in reader.rows)
    assert "How strange: <b>very</b>" in reader.text
    query = next(query for query in reader.queries if "paper_strange" in query)
    assert query == "SELECT *\nFROM paper_strange\nWHERE study = 'demo'"


def test_statistics_without_intervals_stand_side_by_side(stub, report, any_view):
    connection = stub(Audit())
    rows = [
        ("demo", "mlp", "models", 45.0, 44.0, 1.0, None),
        ("demo", "mlp", "rate", None, 0.25, None, "no row"),
        ("demo", "forest", "rate", 0.5, None, None, None),
    ]
    any_view(connection, "family VARCHAR, statistic VARCHAR", rows, numbers=FEW_NUMBERS)
    reader = report(connection)
    models, rate = "45 paper 44, +1 comparability unknown", "– paper 0.250"
    assert ["mlp", models, f"{rate} comparability unknown"] in reader.rows
    assert ["forest", "–", "0.500"] in reader.rows


def test_a_long_table_lists_its_first_lines(stub, report, any_view):
    connection = stub(Audit())
    rows = [
        ("demo", number, name, 0.5, None, None, "why" if number > reading.LONGEST else None)
        for number in range(1, 1051)
        for name in ("rate", "share")
    ]
    any_view(connection, "line INTEGER, statistic VARCHAR", rows, numbers=FEW_NUMBERS)
    reader = report(connection)
    assert "The first lines, 300 of 1,050; its view has all." in reader.text
    assert ["300", "0.500", "0.500"] in reader.rows
    assert not any(row and row[0] == "301" for row in reader.rows)


def test_what_an_estimate_differs_by_has_a_column_of_its_own(stub, report, any_view):
    published = "published_lower_95 DOUBLE, published_upper_95 DOUBLE, difference DOUBLE"
    connection = stub(Audit())
    values = (0.5, None, None, 0.25, 0.75, 0.875, None, 0.8, 0.9, -0.375)
    rows = [("demo", "decaf", *values)]
    any_view(connection, "method VARCHAR", rows, numbers=f"{NUMBERS}, {published}")
    reader = report(connection)
    shown = ["decaf", "0.500", "[0.250, 0.750]", "0.875 [0.800, 0.900] comparability unknown"]
    assert [*shown, "−0.375"] in reader.rows


@pytest.mark.parametrize("is_official", [True, False])
def test_whatever_view_knows_the_data_says_so(stub, report, is_official):
    connection = stub(Audit())
    rows = [("demo", "abc", "e0", 120_000, 48_000, 135, is_official, "counted")]
    insert(connection, "paper_covertype_data", rows)
    design = ("demo", "all", "models", 3.0, 135.0, -132.0, None)
    insert(connection, "paper_covertype_design", [design])
    reader = report(connection)
    label = "" if is_official else " not comparable"
    assert ["all", f"3 paper 135, −132{label}"] in reader.rows
    assert "Fingerprints: pairs abc , training e0 ." in reader.text


def test_budgets_that_differ_are_said(stub, report):
    row = ("demo", "lime", "share_of_papers_budget", 0.25, 1.0, -0.75, None)
    connection = stub(Audit())
    insert(connection, "paper_covertype_data", [("demo", "abc", None, 9, 9, 9, False, "few")])
    insert(connection, "paper_covertype_budgets", [row])
    text = report(connection).text
    assert "Other budgets than the paper's, as shares of it: lime 0.250." in text
    assert "Fingerprints: pairs abc ." in text


def test_tables_of_another_data_set_are_not_asked(stub):
    """They may take minutes on the trajectories of a study that they know nothing of."""
    connection = stub(SIX)
    row = (SIX.study, "abc", "e0", 120_000, 48_000, 135, True, "counted")
    insert(connection, "paper_covertype_data", [row])
    row = (SIX.study, "all", "models", 3.0, 135.0, -132.0, None)
    insert(connection, "paper_covertype_design", [row])
    connection.execute("DELETE FROM paper_imagenet9_data")
    found = read_paper(connection, SIX.study)
    assert [table.name for table in found.tables] == ["paper_covertype_design"]
    assert found.data == DataNote(True, "counted", "abc", "e0")


def test_a_view_without_estimates_is_no_table(stub):
    names = {table.name for table in read_paper(stub(SIX), SIX.study).tables}
    assert "paper_imagenet9_protocol" in names
    assert "paper_imagenet9_data" not in names


def test_models_that_are_left_out_are_left_out_of_the_tables(stub):
    shown = read_paper(stub(SIX), SIX.study).without_models(set(SIX.models[2:]))
    rows = shown.table("paper_imagenet9_accuracy")
    assert [row.keys["model_id"] for row in rows] == [None, *SIX.models[:2]]
    assert len(shown.table("paper_imagenet9_protocol")) == 2 * 5
