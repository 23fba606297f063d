"""Names that somebody else chose: shown as they are everywhere, run nowhere, or refused."""

import csv
import io
import json
import re
from html import unescape
from types import SimpleNamespace

import in_process
import pyarrow.parquet as pq
import pytest
import yaml
from ended_commands import refused, succeeded
from registry_folder import NETWORKS, put_small_cnn
from small_studies import network_card, of_scenes, untrained

from decaf.errors import BadInput
from decaf.plan.study import load_study
from tasks.manifest import commit_outcome
from tasks.reaudit.plan import commit_reaudit, discover
from warehouse.commits.writer import open_root
from warehouse.report.templates import TABLE_SCRIPT

RUN = "window.hostile=1"
TAKEN = {
    "script": f"<script>{RUN}</script>",
    "end of a script": f"</script><!--<script>{RUN}//-->",
    "image": f'"><img src=x onerror="{RUN}">',
    "drawing": f"<svg onload={RUN}>",
    "frame": "<iframe srcdoc='<script>parent.hostile=1</script>'>",
    "style": f"</style><script>{RUN}</script>",
    "title": f"</title></svg><script>{RUN}</script>",
    "attribute": f"' onmouseover='{RUN}' x=\"{RUN}",
    "address": f"javascript:{RUN}",
    "entities": "&lt;script&gt;&#60;&amp;",
    "CDATA": f"]]><script>{RUN}</script><![CDATA[",
    "templates": f"${{{RUN}}} {{{{7*7}}}} {{% raw %}} #{{x}} %s %d {{0}}",
    "Markdown": f"`|[x](javascript:{RUN})|**",
    "console": "[/bold][red][link=https://x.example]:warning:",
    "formula": '=HYPERLINK("http://x.example","x")',
    "plus": "+1+1",
    "minus": "-1-1",
    "at": "@SUM(A1:A9)",
    "above": "../../../etc/passwd",
    "root": "/etc/passwd",
    "device": "CON",
    "dots": "name...",
    "SQL": "'; DROP TABLE x; -- $study ?",
    "quotes": "''\"\"\\",
    "emoji": "\N{GRINNING FACE}",
    "from right to left": "\u05e9\u05dc\u05d5\u05dd",
    "number": "007",
    "null": "NULL",
    "glob": "*?[a-z]=",
    "400 letters": "x" * 400,
}
REFUSED = {
    "line": "two\nlines",
    "tab": "a\ttab",
    "return": "over\rwritten",
    "NUL": "cut\0",
    "escape": "\x1b[31mred\x1b]0;title\x07",
    "turned": "\u202egpj.exe",
    "invisible": "a\u200bb",
    "half a letter": "\udcff",
    "nothing": "",
    "5,000 letters": "x" * 5000,
}
ENTRIES = [f"<script>{RUN}<script>", f'"><img src=x onerror={RUN}>']
ENTRIES += ["=1+1 [bold]x[link=y] `|x|` ${x}{{7*7}} \N{GRINNING FACE} CON.."]
UNPRINTABLE = ["\x1b[31mred", "two\nlines", "\u202egpj"]
NAMES = list(TAKEN.values())
TYPES = [" ".join(NAMES[first:-1:4]) for first in range(4)]
"""Of pairs: the report has tables and pictures of each."""


def adapter(names):
    settings = {"adapter": "hostile_names:HostileNames", "names": names, "types": TYPES}
    return settings | {"sources": len(names), "seed": 1, "changes": {"wall_hue": 1}}


@pytest.fixture(scope="module")
def audited(tmp_path_factory, warm_command):
    """A re-audit of entries and data with all of these names, and commands in its folder."""
    folder = tmp_path_factory.mktemp("names")
    for seed, name in enumerate(ENTRIES + UNPRINTABLE):
        put_small_cnn(folder / "zoo" / name, seed)
    settings = of_scenes(
        folder,
        [untrained(folder, "own", family=TYPES[0])],
        data=adapter(NAMES),
        registry={"kind": "folder", "root": str(folder / "zoo")},
        python_path=[str(NETWORKS)],
        report=str(folder / "report.html"),
        sources_per_block=64,
    )
    (folder / "study.yaml").write_text(yaml.safe_dump(settings))
    study = load_study(folder / "study.yaml")
    diff = discover(study, open_root(study.warehouse), study.pair_set())
    plan = in_process.compute(diff.audited_study)
    commit_outcome(plan, forward_rows=1, quarantined_count=0)
    commit_reaudit(diff, plan.run_id)

    def decaf(*arguments):
        return warm_command.start(arguments, folder, {}).completed()

    return SimpleNamespace(folder=folder, decaf=decaf, root=("-w", folder / "warehouse"))


def test_entries_that_cannot_be_shown_fail_by_their_codes_and_the_others_are_audited(audited):
    asked = "SELECT DISTINCT entry, state FROM out_entries ORDER BY ALL"
    rows = json.loads(succeeded(audited.decaf("sql", *audited.root, "--format", "json", asked)))
    states = {row["entry"]: row["state"] for row in rows}
    failed = [r"\x1b[31mred", r"two\nlines", r"\u202egpj"]
    assert states == dict.fromkeys(ENTRIES, "audited") | dict.fromkeys(failed, "failed")


COMMANDS = {
    "plan": ("reaudit", "study.yaml", "--plan"),
    "status": ("status", "-w", "warehouse"),
    "history": ("history", "-w", "warehouse"),
    "sql": ("sql", "-w", "warehouse", "--format", "table", "FROM out_pair_types"),
    "gc": ("gc", "-w", "warehouse", "--older-than", "0", "--delete"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_names_as_they_are(audited, command):
    done = audited.decaf(*COMMANDS[command])
    if command == "plan":  # three entries cannot be audited
        refused(done, code=1)
    shown = done.stdout if command == "plan" else succeeded(done)
    assert not set(shown) & set("\x1b\u202e")
    expected = {"plan": ENTRIES, "history": ENTRIES, "sql": TYPES}.get(command, [])
    assert [name for name in expected if name not in shown] == []


def test_names_come_back_from_the_warehouse_letter_by_letter(audited):
    query = "SELECT pair_id, source_id FROM core_pairs WHERE list_contains($names, source_id)"
    asked = ("sql", *audited.root, "--param", f"names={json.dumps(NAMES)}", "--format", "json")
    rows = json.loads(succeeded(audited.decaf(*asked, query)))
    assert {row["source_id"]: row["pair_id"] for row in rows} == {
        name: f"{name} wall_hue" for name in NAMES
    }


def test_exports_have_all_names_and_no_file_is_called_after_one(audited):
    succeeded(audited.decaf("export", *audited.root, "copies", "core_pairs"))
    stored = pq.read_table(audited.folder / "copies" / "core_pairs.parquet")
    assert set(stored["source_id"].to_pylist()) == set(NAMES)
    succeeded(audited.decaf("export", *audited.root, "--format", "csv", "copies", "core_pairs"))
    with (audited.folder / "copies" / "core_pairs.csv").open(newline="") as file:
        assert {row["source_id"] for row in csv.DictReader(file)} == set(NAMES)
    made = [audited.folder / "workspace", audited.folder / "warehouse", audited.folder / "copies"]
    paths = [path.name for folder in made for path in folder.rglob("*")]
    assert not [path for path in paths if re.search(r"[<>\"'|*?\\\s]", path)]


def test_a_csv_for_spreadsheets_holds_no_formula_and_the_same_numbers(audited):
    query = "SELECT source_id, -0.5 AS number, '=1' AS \"=head\" FROM core_pairs"
    table = audited.decaf("sql", *audited.root, "--format", "spreadsheet", query)
    rows = list(csv.DictReader(io.StringIO(succeeded(table), newline="")))
    assert {row["number"] for row in rows} == {"-0.5"}
    assert {row["'=head"] for row in rows} == {"'=1"}
    expected = {f"'{name}" if name[0] in "=+-@" else name for name in NAMES}
    assert {row["source_id"] for row in rows} == expected
    succeeded(audited.decaf("export", *audited.root, "--format", "spreadsheet", "copies", "models"))
    assert (audited.folder / "copies" / "models.csv").exists()


@pytest.mark.slow
def test_the_report_shows_every_name_and_runs_none(audited, browser):
    succeeded(audited.decaf("report", "study.yaml"))
    page = (audited.folder / "report.html").read_text()
    own = f"<script>{TABLE_SCRIPT}</script>"
    assert page.count(own) == 1
    assert not re.search("<(script|iframe|img)|onerror=.window", page.replace(own, ""))
    assert [name for name in TYPES + ENTRIES if name not in unescape(page)] == []
    # Not the page's own policy alone must hold it: without one, nothing may run either.
    unguarded = audited.folder / "unguarded.html"
    unguarded.write_text(page.replace("Content-Security-Policy", "X-None"))
    for path in (audited.folder / "report.html", unguarded):
        browser.get(path.as_uri())
        browser.execute_script(
            "for (const fold of document.querySelectorAll('details')) fold.open = 1"
        )
        found = browser.execute_script(
            "return [window.hostile ?? null, document.scripts.length, document.images.length,"
            "document.querySelectorAll('iframe, [onerror], [onload], [onmouseover]').length]"
        )
        assert found == [None, 1, 0, 0]  # the script is our own


def test_the_browser_would_show_that_a_name_ran(browser, tmp_path):
    (tmp_path / "page.html").write_text(f"<!DOCTYPE html>{TAKEN['image']}<p>")
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.execute_script("return window.hostile") == 1


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_of_the_data_that_cannot_be_shown(name, tmp_path, write):
    changed = {"data": adapter([REFUSED[name], "good"]), "python_path": [str(NETWORKS)]}
    config = write(of_scenes(tmp_path, [untrained(tmp_path, "net")], **changed))
    with pytest.raises(BadInput) as refusal:
        load_study(config).pair_set()
    assert not set(str(refusal.value)) & set("\x1b\x07\u202e\0\r")


@pytest.mark.parametrize("name", REFUSED)
def test_a_family_that_cannot_be_shown(name, tmp_path, write):
    card = network_card("net", family=REFUSED[name])
    with pytest.raises(BadInput) as refusal:
        load_study(write(of_scenes(tmp_path, [card])))
    assert "family" in str(refusal.value)
    assert not set(str(refusal.value)) & set("\x1b\x07\u202e\0\r")


NO_NAMES = ["<b>", "../..", "a/b", ".hidden", "-dash", "=1", "two words", "end\n", "caf\xe9"]


@pytest.mark.parametrize("name", [*NO_NAMES, "x" * 121])
def test_a_study_a_model_and_a_path_have_plain_names(name, tmp_path, write):
    settings = of_scenes(tmp_path, [network_card(name)], study=name)
    settings["paths"] = {name: {"kind": "blend"}}
    with pytest.raises(BadInput) as refusal:
        load_study(write(settings))
    for word in ("study.yaml:", "'study'", "'models.0.id'", "'paths"):
        assert word in str(refusal.value)
