"""Summary that a re-audit prints, by hand."""

from types import SimpleNamespace

import pytest
from rich.console import Console

from decaf.registry.messages import AGAINST
from flows.commands.reaudit_summary import _print_drift, _say_reasons

NAMES = ("entry", "version", "state", "change", "verdict", "accepted_at", "compared_entry")


def entry(*values, **more):
    return dict(zip(NAMES, values, strict=True)) | {"version_compared": "4"} | more


@pytest.mark.parametrize(
    ("verdict", "accepted_at", "word"),
    [
        ("fail", None, "failed"),
        (None, None, "never judged"),
        ("no gate applies", None, "no gate"),
        ("undecided", None, "undecided"),
        ("fail", "2026-03-01", ""),
        ("pass", None, ""),
    ],
)
def test_a_version_that_did_not_pass_is_remarked_on(capsys, verdict, accepted_at, word):
    champion = entry("net@champion", "4", "audited", "none", verdict, accepted_at, None)
    judged = entry("net", "7", "audited", "compared", "pass", None, "net@champion")
    _say_reasons(Console(width=200), [judged, champion])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "compared with" in line]
    assert line.startswith("net 7 is compared with version 4 of net@champion")
    assert word in line.partition("net@champion")[2]
    assert bool(line.partition("net@champion")[2]) is bool(word)


@pytest.mark.parametrize(
    ("state", "change"), [("gone", "gone"), ("failed", "failed"), ("audited", "none")]
)
def test_only_judged_entries_name_their_comparison(capsys, state, change):
    row = entry("net@reorder", "5", state, change, "pass", None, "net@champion")
    _say_reasons(Console(width=200), [row])
    assert capsys.readouterr().out == ""


def test_a_change_since_a_version_that_is_compared_twice_is_printed_once(capsys):
    row = {"entry": "net", "version_before": "4", "version": "5", "pair_type": "wall"}
    row |= {"path": "blend", "variant": None, "metric": "evidence", "value_before": 0.1}
    row |= {"value": 0.3, "change": 0.2, "change_lower": 0.1, "change_upper": 0.3}
    rows = [row | {"against": against} for against in ("last_passed", "previous", "another_entry")]
    rows.append(row | {"against": "previous", "version_before": "3"})
    study = SimpleNamespace(names={}, study="try")
    _print_drift(Console(width=200), study, rows)
    lines = capsys.readouterr().out.splitlines()
    assert sum("net 4 → 5" in line and "+0.2" in line for line in lines) == 1
    assert sum("net 3 → 5" in line and "+0.2" in line for line in lines) == 1
    assert [AGAINST["another_entry"] in line for line in lines if "net 4 → 5: " in line] == [True]
