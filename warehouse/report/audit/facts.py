"""Read the numbers of a report from the views of one study.

Each part is the result of a query in ``sql/queries/report``, in which ``$study`` is the study. The
page prints the same text below its table, so that a reader can run it.
"""

from collections import Counter, namedtuple
from collections.abc import Callable, Collection, Iterable
from functools import partial
from shlex import quote
from typing import Any, NamedTuple

import duckdb

from decaf.errors import UnknownName
from decaf.foundation.number_text import MISSING
from warehouse.query.materialized_views import materialize_views
from warehouse.query.views import query
from warehouse.report.cells import Cell, Field, Table, fields_of, runnable, table

METRICS = ("endpoint_magnitude", "evidence", "contradiction", "fragility", "abs_response")
"""Integrated responses with an interval, in the order of the report's columns."""
MEASURED = ("accuracy", "endpoint_delta", "active_frac", *METRICS)
"""Metrics that rows of a query may name; in a table of the report, each has a column."""
COMPONENTS = ("evidence", "contradiction", "fragility")
REGISTRY = ("standing", "verdicts", "drift", "roles", "changed_pairs", "history", "versions")
"""Parts that only a study with a registry has."""

PATH_COMPARISONS = ("path_ratios", "rank_transfer")
"""Parts that only a study with several paths has."""
PRINTED = {"names", "progress", "sample", "profiles", "findings", "warnings", "stops"}
"""Parts that commands print."""

Row = Any
"""A row of a query: a named tuple of its columns."""
Rows = tuple[Row, ...]


class Facts(NamedTuple):
    """Everything that the report shows of one audit: aggregates, and the strongest pairs.

    Every part has the name of its query, whose header states the grain of the rows.
    """

    study: str
    run: Row
    progress: Row
    sample: Row
    pair_types: Rows
    models: Rows
    names: Rows
    findings: Rows
    responses: Rows
    limits: Rows
    trust: Rows
    doubts: Rows
    accuracies: Rows
    profiles: Rows
    intervals: Rows
    stage_errors: Rows
    breakdowns: Rows
    path_ratios: Rows
    rank_transfer: Rows
    stage_means: Rows
    shown_pairs: Rows
    sweep: Rows
    costs: Rows
    warnings: Rows
    entries: Rows
    standing: Rows
    verdicts: Rows
    drift: Rows
    roles: Rows
    changed_pairs: Rows
    history: Rows
    versions: Rows
    stops: Rows
    looks: Rows

    @property
    def paths(self) -> tuple[str, ...]:
        """Reveal paths with results, in the order of the configuration."""
        return self._with_results("path")

    @property
    def profiled_types(self) -> tuple[str, ...]:
        """Pair types with results: what should not matter, what should, the others."""
        return self._with_results("pair_type")

    def _with_results(self, kind: str) -> tuple[str, ...]:
        names_with_results = {getattr(row, kind) for row in self.profiles}
        ordered_names = [row.display_name for row in self.names if row.kind == kind]
        return tuple(name for name in ordered_names if name in names_with_results)

    def of_models(self, count: int) -> "Facts":
        """Facts of the first models; averages over models stay."""
        model_ids = {row.model_id for row in self.models[:count]}
        parts = (
            *("models", "accuracies", "profiles", "intervals", "breakdowns", "stage_means"),
            *("shown_pairs", "costs"),
        )
        cut = {
            part: tuple(row for row in getattr(self, part) if row.model_id in model_ids)
            for part in parts
        }
        return self._replace(**cut)

    @property
    def ids(self) -> dict[str, str]:
        """Ids of models by other names: display names, or entries and versions of a registry."""
        names: dict[str, list[str]] = {}
        for row in (*self.entries, *self.history):
            name = f"{row.entry} {row.version}"
            if row.model_id is not None and name not in names.setdefault(row.model_id, []):
                names[row.model_id].append(name)
        display_names = {
            row.display_name: row.name
            for row in self.names
            if row.kind == "model_id" and row.name not in names and row.name != row.display_name
        }
        return display_names | {
            ", ".join(registry_names): model_id for model_id, registry_names in names.items()
        }

    @property
    def failed_models(self) -> set[str]:
        """Names for people of the models whose gates failed at the newest re-audit."""
        entries = {row.entry for row in self.verdicts if row.verdict == "fail"}
        failed_ids = {row.model_id for row in self.entries if row.entry in entries}
        return {name for name, model_id in self.ids.items() if model_id in failed_ids}

    def for_people(self) -> "Facts":
        """Facts with display names in every part.

        Models have their names in the registry instead of ids, except in parts that list both.
        Pair types and paths have display names; if several share one, their own name follows it.
        """
        names, entries = _shown_names(self.names), ("entries", "history")
        self = self._replace(names=tuple(_with_shown_name(row, names) for row in self.names))
        shown = {"model_id": {model_id: name for name, model_id in self.ids.items()}}
        shown |= dict.fromkeys(("path", "path_a", "path_b"), names["path"])
        shown |= dict.fromkeys(("pair_type", "control"), names["pair_type"])

        def with_shown_names(row: Row, columns: Iterable[str]) -> Row:
            values = {column: getattr(row, column) for column in columns}
            return row._replace(**{c: shown[c].get(name, name) for c, name in values.items()})

        parts: dict[str, Any] = {}
        for part, rows in self._asdict().items():
            if part in ("study", "run", "progress", "sample", "names") or not rows:
                continue
            named_columns = [column for column in shown if column in rows[0]._fields]
            columns = [
                column for column in named_columns if not (column == "model_id" and part in entries)
            ]
            parts[part] = tuple(with_shown_names(row, columns) for row in rows)
        return self._replace(**parts)

    def table(
        self,
        part: str,
        title: str,
        note: str = "",
        **cells: Callable[[Row], Cell],
    ) -> Table:
        """Table of a part, with the columns of :func:`warehouse.report.cells.fields_of`."""
        fields = fields_of(part, **cells).values()
        return table(title, fields, getattr(self, part), self.runnable(part), note)

    def metric_table(
        self,
        part: str,
        title: str,
        keys: Iterable[str],
        cell: Callable[[Row], Cell],
        note: str = "",
        **cells: Callable[[Row], Cell],
    ) -> Table:
        """Table of a part with one row for each metric; rows with equal ``keys`` become one line.

        Other fields of a line are read from its last row. A metric that no row has gets no column.
        ``cells`` are as in :meth:`table`.
        """
        lines: dict[tuple, dict[str, Row]] = {}
        for row in getattr(self, part):
            line = lines.setdefault(tuple(getattr(row, key) for key in keys), {})
            line[row.metric] = row

        def in_line(line: dict[str, Row], name: str, field: Field) -> Cell:
            if name not in MEASURED:
                return field.cell(next(reversed(line.values())))
            return cell(line[name]) if name in line else Cell(MISSING)

        fields = (
            Field(field.column, partial(in_line, name=name, field=field))
            for name, field in fields_of(part, paths=_paths, **cells).items()
            if name not in MEASURED or any(name in line for line in lines.values())
        )
        return table(title, fields, lines.values(), self.runnable(part), note)

    def runnable(self, part: str) -> str:
        """The query of a part as a reader can run it."""
        return runnable(query_of(part), self.study)

    def command(self, part: str, file: str) -> str:
        """Shell command that writes all rows of a query to a file."""
        return f"decaf sql {quote(' '.join(self.runnable(part).split()))} --output {file}"


def _shown_names(rows: Rows) -> dict[str, dict[str, str]]:
    """Unique display names of pair types, paths and models, by kind and name."""
    count = Counter((row.kind, row.display_name) for row in rows)
    names: dict[str, dict[str, str]] = {"pair_type": {}, "path": {}, "model_id": {}}
    for row in rows:
        is_shared = count[row.kind, row.display_name] > 1
        shown_name = f"{row.display_name} ({row.name})" if is_shared else row.display_name
        names[row.kind][row.name] = shown_name
    return names


def _with_shown_name(row: Row, names: dict[str, dict[str, str]]) -> Row:
    return row._replace(display_name=names[row.kind][row.name])


def _paths(row: Row) -> Cell:
    return Cell(f"{row.path_a} → {row.path_b}")


def query_of(part: str) -> str:
    """The query of a part, in which ``$study`` is the study."""
    return query(f"report/{part}")


def read_facts(
    connection: duckdb.DuckDBPyConnection, study: str, without: Collection[str] = ()
) -> Facts:
    """Read the views of one study; the parts in ``without`` get no rows.

    The part ``benchmark_warnings`` adds its rows to the warnings.

    Raises UnknownName when the warehouse has no run of the study.
    """
    facts: dict[str, Any] = {"study": study, "run": known_run(connection, study)}
    with materialize_views(connection, study):
        for part in Facts._fields[len(facts) :]:
            has_rows = part not in without
            if part in REGISTRY:
                has_rows &= bool(facts["entries"])
            elif part in PATH_COMPARISONS:
                has_rows &= sum(row.kind == "path" for row in facts["names"]) > 1
            facts[part] = rows_of(connection, part, study) if has_rows else ()
    if "benchmark_warnings" not in without:
        facts["warnings"] += rows_of(connection, "benchmark_warnings", study)
    return Facts(**facts | {part: facts[part][0] for part in ("progress", "sample")})


def read_printed(connection: duckdb.DuckDBPyConnection, study: str) -> Facts:
    """Read only the parts in ``PRINTED``; the other parts get no rows."""
    return read_facts(connection, study, set(Facts._fields) - PRINTED)


def known_run(connection: duckdb.DuckDBPyConnection, study: str) -> Row:
    """Read the newest run of a study.

    Raises UnknownName when the warehouse has none.
    """
    runs = rows_of(connection, "run", study)
    if not runs:
        studies = connection.sql("SELECT DISTINCT study FROM out_runs").fetchall()
        raise UnknownName.among("study", study, (name for (name,) in studies))
    return runs[0]


def rows_of(connection: duckdb.DuckDBPyConnection, part: str, study: str) -> Rows:
    """Run the query of a part for a study."""
    text = query_of(part)
    answer = connection.execute(text, {"study": study} if "$study" in text else None)
    row_type = namedtuple("Row", [column[0] for column in answer.description])
    return tuple(map(row_type._make, answer.fetchall()))


def at(rows: Rows, pair_type: str, path: str) -> Rows:
    """Rows of one pair type and path."""
    return tuple(row for row in rows if (row.pair_type, row.path) == (pair_type, path))
