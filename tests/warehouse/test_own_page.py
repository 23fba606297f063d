"""The page of a plug-in's own tables."""

import pytest
from scenes_warehouse import MODELS, PATHS, STUDY

from decaf.errors import BadInput, QueryError, UnknownName, WarehouseError
from decaf.foundation.number_text import score_text
from warehouse.report import own_page
from warehouse.report.own_page import write_own_page

HEADER = "-- purpose: how far models respond\n-- grain: a model on a path\n"
QUERY = (
    "SELECT model_id, path, sum(abs_response) AS total, '<b>|' AS \"a|b\" FROM out_model_profiles "
    "WHERE study = $study GROUP BY ALL ORDER BY ALL"
)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def test_each_query_is_a_table_in_the_order_of_names(opened_scenes, folder, tmp_path):
    (folder / "b.sql").write_text(HEADER + QUERY)
    (folder / "a.sql").write_text(
        "-- purpose: models\n-- grain: a study\n"
        "SELECT count(DISTINCT model_id) AS models FROM out_model_profiles WHERE study = $study"
    )
    lines = (
        write_own_page(opened_scenes, STUDY, folder, tmp_path / "page.md").read_text().splitlines()
    )
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == ["## Models", "## How far models respond"]
    assert f"| {len(MODELS)} |" in lines
    assert "| --- | --- | --: | --- |" in lines
    assert r"| model_id | path | total | a/b |" in lines
    rows = opened_scenes.execute(QUERY, {"study": STUDY}).fetchall()
    assert len(rows) == len(MODELS) * len(PATHS)
    for model, path, total, _ in rows:
        assert rf"| {model} | {path} | {score_text(total)} | \<b\>/ |" in lines


def test_long_tables_end_and_say_so(opened_scenes, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(own_page, "LONGEST", 3)
    (folder / "a.sql").write_text(HEADER + QUERY)
    page = write_own_page(opened_scenes, STUDY, folder, tmp_path / "page.md").read_text()
    assert page.count(r"| \<b\>/ |") == 3
    assert f"The first 3 of {len(MODELS) * len(PATHS)} rows." in page


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (None, BadInput, "no .sql file"),
        (QUERY, WarehouseError, "purpose"),
        (HEADER + "SELECT nothing FROM out_runs WHERE study = $study", QueryError, "nothing"),
        (HEADER + "FROM out_runs", QueryError, "study"),
        (HEADER + "DROP VIEW out_runs", QueryError, "one SELECT"),
    ],
)
def test_unusable_queries_are_refused_and_named(
    opened_scenes, folder, tmp_path, text, error, words
):
    if text is not None:
        (folder / "a.sql").write_text(text)
    with pytest.raises(error, match=words) as raised:
        write_own_page(opened_scenes, STUDY, folder, tmp_path / "page.md")
    assert str(folder) in str(raised.value)
    assert not (tmp_path / "page.md").exists()


def test_an_unknown_study_is_refused(opened_scenes, folder, tmp_path):
    with pytest.raises(UnknownName, match=STUDY):
        write_own_page(opened_scenes, "other", folder, tmp_path / "page.md")
