"""What ``decaf gc --keep`` reads and prints."""

import re
from datetime import timedelta

import pytest
from old_runs_warehouse import three_runs
from typer.testing import CliRunner

from decaf.errors import BadInput
from flows.commands.app import app
from flows.commands.upkeep import parse_keep
from warehouse.commits import receipts
from warehouse.upkeep.retention import Keep


@pytest.mark.parametrize(
    ("texts", "keep"),
    [
        (["30"], Keep(30)),
        (["90d"], Keep(None, timedelta(days=90))),
        (["90d", "1"], Keep(1, timedelta(days=90))),
    ],
)
def test_what_is_kept(texts, keep):
    assert parse_keep(texts) == keep


@pytest.mark.parametrize("text", ["", "0", "0d", "-3", "3.5", "3w", "d", "90 d", "1" * 7])
def test_what_is_no_number_of_runs_or_days(text):
    with pytest.raises(BadInput, match=re.escape(f"--keep {text!r}; expected a number of runs")):
        parse_keep([text])


def test_two_numbers_of_one_kind():
    with pytest.raises(BadInput, match="--keep has two numbers of days; expected one"):
        parse_keep(["3d", "4d"])


def test_the_command_says_what_goes_and_deletes_when_told(tmp_path):
    store = three_runs(tmp_path / "warehouse")

    def gc(*options):
        command = ["gc", "-w", store.address, *options]
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    said = gc("--keep", "1")
    assert "study s: 2 of 3 runs" in said
    assert re.search(r"r1 +2026-03-01 00:00 +11 units +\d\d,\d{3}\n", said)
    assert re.search(r"2 runs \(13 units, 0\.0\d MB\) can be withdrawn: --delete\n", said)
    assert "nothing to delete" in said
    assert receipts.keys(store, "runs", "s") == {"r1", "r2", "r3"}
    assert "no run to withdraw" in gc("--keep", "1", "--keep", "9999d")
    did = gc("--keep", "1", "--study", "s", "--delete")
    assert "2 runs (13 units" in did
    assert "are withdrawn" in did
    assert "nothing to delete" in did
    assert receipts.keys(store, "runs", "s") == {"r3"}
    assert "no run to withdraw" in gc("--keep", "1", "--delete")
    assert re.search(r"\d\d files .* deleted", gc("--older-than", "0", "--delete"))
    assert "nothing to delete" in gc("--older-than", "0")
