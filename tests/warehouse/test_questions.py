"""The page of worked questions: every query runs, and answers in the columns that are shown."""

import re
from pathlib import Path

import pytest
from scenes_warehouse import MODELS, SCENES

from warehouse.query.catalog import run_query
from warehouse.query.checks import run_checks

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
QUESTIONS = re.findall(
    r"^## ([^\n]+)\n(?:(?!^## ).)*?```sql\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S | re.M
)


def shown_columns(table):
    return [cell.strip() for cell in table.splitlines()[1].strip("┃").split("┃")]


def test_every_block_of_sql_has_its_answer():
    assert len(QUESTIONS) >= 10
    assert len(QUESTIONS) == PAGE.count("```sql") == PAGE.count("```text")


@pytest.mark.parametrize(("question", "query", "answer"), QUESTIONS, ids=lambda text: text[:40])
def test_a_question_is_answered(opened_scenes, question, query, answer):
    rows = run_query(opened_scenes, query)
    assert rows.num_rows > 0, question
    assert rows.column_names == shown_columns(answer)


def test_the_warehouse_of_the_questions_is_sound(opened_scenes):
    assert not any(result.offending_count for result in run_checks(opened_scenes, None))
    counted = run_query(opened_scenes, "SELECT count(*) AS n FROM core_profiles").to_pylist()
    assert counted == [{"n": len(MODELS) * len(SCENES) * 2 * 2}]


def test_the_python_example_runs(scenes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "warehouse").symlink_to(scenes)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    names = {}
    exec(compile(example, "sql.md", "exec"), names)
    assert set(names["profiles"]["model_id"].to_pylist()) == set(MODELS)
