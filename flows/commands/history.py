"""Command ``decaf history``: versions of models of a registry, with verdicts and means."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.text import Text

from decaf.errors import BadInput, UnknownName
from decaf.foundation.names import shown_name
from decaf.foundation.number_text import score_text
from decaf.registry.messages import finding, verdict_text
from flows.commands.display import table_of
from flows.commands.terminal import say, say_sentence
from tasks.terminal import Terminal
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage

DISPLAY_NAMES = """
SELECT study, map_from_entries(list(DISTINCT (name, display_name))) FROM core_display_names
WHERE kind IN ('pair_type', 'path') AND ($study IS NULL OR study = $study)
GROUP BY study
"""
MINUTE = "%Y-%m-%d %H:%M"
NOTE_LETTERS = 60
"""Longest line of a note, also in a pipe: reasons and problems can be long."""


def print_history(console: Terminal, store: Storage, model: str | None, study: str | None) -> None:
    """Print versions of models of registries, failed gates, then M, E, C and F; the oldest first.

    Raises UnknownName if no registry of the warehouse has the model.
    """
    with connect_whole(store, study) as connection:
        values = {"study": study, "model": model}
        versions = connection.sql(query("registry/versions"), params=values).fetchall()
        means = connection.sql(query("registry/history"), params=values).fetchall()
        names_of = dict(connection.sql(DISPLAY_NAMES, params={"study": study}).fetchall())
        model_names = connection.sql(
            "SELECT DISTINCT name FROM stg_registry_entries WHERE $study IS NULL OR study = $study",
            params={"study": study},
        ).fetchall()
    if not model_names:
        raise BadInput(
            f"the warehouse {store.address} has no re-audit yet; run decaf reaudit CONFIG first"
        )
    if not versions:
        raise UnknownName.among(
            "model of a registry", model or "", (name for (name,) in model_names)
        )
    means_of = {of: list(rows) for of, rows in groupby(means, lambda row: row[:2])}
    for (study_name, entry), of_entry in groupby(versions, lambda row: row[:2]):
        rows, shown_names = list(of_entry), names_of.get(study_name, {})
        names = ("UTC", "version", "change", "verdict", "note")
        table = table_of(f"{study_name}: versions of {entry}", names, len(names))
        table.columns[-1].max_width = NOTE_LETTERS
        for _, _, moment, version, change, verdict, state, note, _ in rows:
            cells = (version, change, verdict_text(verdict, state), note or "")
            table.add_row(f"{moment:{MINUTE}}", *map(Text, cells))
        console.print(table)
        if first_failures := list_first_failures(rows):
            say(console, f"first failed version: {', then '.join(first_failures)}")
        for _, _, moment, version, *_, failed_gates in rows:
            if failed_gates:
                say(console, f"version {version} ({moment:{MINUTE}}) failed:")
            for gate in failed_gates or ():
                say_sentence(console, f"  {finding(gate, shown_names)}")
        if (study_name, entry) in means_of:
            title, rows = f"{study_name}: {entry}", means_of[study_name, entry]
            _print_means(console, title, rows, shown_names)


def list_first_failures(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Version and moment at which each series of failed verdicts began; the oldest first.

    ``rows`` are those of ``registry/versions``. A version without a verdict ends no series.
    """
    judged = [(moment, version, verdict) for _, _, moment, version, _, verdict, *_ in rows]
    series = groupby(filter(itemgetter(2), judged), lambda row: row[2] == "fail")
    firsts = (next(members) for is_failed, members in series if is_failed)
    return [f"{version} ({moment:{MINUTE}})" for moment, version, _ in firsts]


def _print_means(
    console: Terminal,
    title: str,
    means: Iterable[tuple[Any, ...]],
    shown_names: Mapping[str, str],
) -> None:
    """Print M, E, C and F of each version, by pair type and path."""
    names = ("UTC", "version", "M", "E", "C", "F")
    table = table_of(f"{title}, means with 95 % intervals", names, 2)
    for column in table.columns:
        column.no_wrap = False  # an interval takes two lines if four columns are too wide
    for place, points in groupby(means, lambda row: row[2:4]):
        table.add_section()
        place_text = ", ".join(shown_name(name, shown_names) for name in place)
        table.add_row(Text(place_text, style="bold"))
        for _, _, _, _, moment, version, *values in points:
            cells = (_value(*values[at : at + 2]) for at in range(0, len(values), 2))
            table.add_row(f"{moment:{MINUTE}}", Text(version), *cells)
    console.print(table)


def _value(value: float | None, limits: list[float] | None) -> Text:
    """Write a mean, and its interval below it, so that four fit into 80 columns."""
    if value is None:
        return Text("")
    if limits is None or None in limits:
        return Text(score_text(value))
    return Text(f"{score_text(value)}\n{score_text(limits[0])} to {score_text(limits[1])}")
