"""Command ``decaf history``: versions of models of a registry, with verdicts and means."""

from itertools import groupby

from rich.console import Console
from rich.text import Text

from decaf.errors import BadInput, UnknownName
from decaf.foundation.number_text import score_text
from decaf.registry.messages import verdict_text
from flows.commands.display import table_of
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage


def print_history(console: Console, store: Storage, model: str | None, study: str | None) -> None:
    """Print the versions of models of registries, then their E, C and F; the oldest first.

    Raises UnknownName if no registry of the warehouse has the model.
    """
    with connect_whole(store, study) as connection:
        values = {"study": study, "model": model}
        versions = connection.sql(query("registry/versions"), params=values).fetchall()
        means = connection.sql(query("registry/history"), params=values).fetchall()
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
        names = ("UTC", "version", "change", "verdict", "failed gates", "note")
        table = table_of(f"{study_name}: versions of {entry}", names, len(names))
        for _, _, moment, version, change, verdict, state, failed, note in of_entry:
            cells = (version, change, verdict_text(verdict, state), failed or "", note or "")
            table.add_row(f"{moment:%Y-%m-%d %H:%M}", *map(Text, cells))
        console.print(table)
        if (study_name, entry) not in means_of:
            continue
        names = ("UTC", "version", "change", "E", "C", "F")
        table = table_of(f"{study_name}: {entry}, means with 95 % intervals", names, 3)
        for (pair_type, path), points in groupby(means_of[study_name, entry], lambda row: row[2:4]):
            table.add_section()
            table.add_row(Text(f"{pair_type}, {path}", style="bold"))
            for _, _, _, _, moment, version, change, *values in points:
                cells = (_value(*values[at : at + 2]) for at in (0, 2, 4))
                table.add_row(f"{moment:%Y-%m-%d %H:%M}", Text(version), change, *cells)
        console.print(table)


def _value(value: float | None, limits: list[float] | None) -> Text:
    """Write a mean, and its interval below it, so that three fit into 80 columns."""
    if value is None:
        return Text("")
    if limits is None or None in limits:
        return Text(score_text(value))
    return Text(f"{score_text(value)}\n{score_text(limits[0])} to {score_text(limits[1])}")
