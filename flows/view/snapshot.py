"""Answers of a warehouse at one moment, and display names."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import duckdb
import pyarrow as pa

from warehouse.query.catalog import connect, run_query
from warehouse.query.damage import describe_damage, list_unreadable_files, report_damage
from warehouse.query.materialized_views import materialize_views
from warehouse.query.pages import Question
from warehouse.query.views import query
from warehouse.report.pair_card import is_of_probability
from warehouse.storage import Storage

MOST_ANSWERS = 200
NAMED = ("pair_type", "path", "model_id")
"""Columns whose values have display names."""

SHARED = (
    "core_current_runs",
    "core_run_units",
    "core_paths",
    "core_display_names",
    "core_sources",
    "core_accuracy_counts",
    "core_factual_accuracy",
    "core_chance_warnings",
    "out_responses",
    "out_limits",
    "core_decisions",
    "out_findings",
)
"""Views below the findings of models, each computed once for the questions of a page."""

Record = dict[str, Any]
"""A row of an answer by column."""


class Snapshot:
    """One connection, which sees the commits of the moment at which it was opened.

    Queries of several threads run one after another, but :meth:`ask_together` has its own
    connection. The last :data:`MOST_ANSWERS` answers are cached. Raises WarehouseError if the
    warehouse cannot be opened.

    Attributes
    ----------
    store, moment
        The opened warehouse, and the moment it was read, UTC.
    registries
        Studies with re-audits.
    damage
        Message about missing or damaged files, which are left out; empty without such files.
    """

    def __init__(self, store: Storage) -> None:
        self.store = store
        self.moment = datetime.now(UTC)
        self._connection = connect(store)
        self._lock = Lock()
        # Tables of materialized views replace the views, so queries of other pages need a
        # connection without these tables.
        self._materializing_connection = connect(store)
        self._materializing_lock = Lock()
        self._answers_lock = Lock()
        self._answers: OrderedDict[tuple[str, str], pa.Table] = OrderedDict()
        reaudits = self._connection.execute("SELECT study FROM receipts WHERE kind = 'reaudits'")
        self.registries = {study for (study,) in reaudits.fetchall()}
        damage = list_unreadable_files(self._connection)
        self.damage = describe_damage(store, damage) if damage else ""

    def ask(self, question: Question) -> pa.Table:
        """Rows of a question.

        Raises QueryError if it needs too much memory; WarehouseError, which names the files, if
        some are damaged.
        """
        with self._lock:
            return self._answer(self._connection, question)

    def ask_together(self, study: str, questions: Sequence[Question]) -> list[pa.Table]:
        """Rows of questions about one study, which share its responses; errors as for ask."""
        connection = self._materializing_connection
        with self._materializing_lock:
            if all(self._find_answer(question) is not None for question in questions):
                return [self._answer(connection, question) for question in questions]
            with report_damage(self.store), materialize_views(connection, study, SHARED):
                return [self._answer(connection, question) for question in questions]

    def _answer(self, connection: duckdb.DuckDBPyConnection, question: Question) -> pa.Table:
        """Answer from the cache or the warehouse; the caller has the lock of the connection."""
        answer = self._find_answer(question)
        if answer is None:
            with report_damage(self.store):
                answer = run_query(connection, question.sql, question.values)
            with self._answers_lock:
                self._answers[_key_of(question)] = answer
                if len(self._answers) > MOST_ANSWERS:
                    self._answers.popitem(last=False)
        return answer

    def _find_answer(self, question: Question) -> pa.Table | None:
        """Cached answer, which then leaves the cache last; None if the question is not cached."""
        key = _key_of(question)
        with self._answers_lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def ask_query(self, name: str, **values: object) -> list[Record]:
        """Rows of a query of ``sql/queries/view`` by its name."""
        return self.ask(Question(query(f"view/{name}"), values)).to_pylist()

    def columns_of(self, page: str) -> pa.Schema:
        """Columns of the query of a page; reads no rows."""
        return self.ask(Question(f"FROM (\n{query(f'view/{page}')}\n) LIMIT 0", {})).schema

    def display_name(self, study: str, kind: str, name: str) -> str:
        """Display name of a pair type, path or model; its stored name if it has no display name."""
        names = (row for row in self.ask_query("names") if row["name"] == name)
        shown = {(row["study"], row["kind"]): row["display_name"] for row in names}
        return shown.get((study, kind), name)

    def names_with(self, kind: str, part: str) -> set[str]:
        """Pair types or paths of any study whose display name contains a text, in any case."""
        rows = (row for row in self.ask_query("names") if row["kind"] == kind)
        return {row["name"] for row in rows if part.lower() in row["display_name"].lower()}

    def names_of(self, study: str, kind: str) -> list[Record]:
        """Pair types or paths of a study in its order, with display name and expectation."""
        rows = self.ask_query("names")
        return [row for row in rows if (row["study"], row["kind"]) == (study, kind)]

    def studies(self) -> list[str]:
        """Studies by name."""
        return list(dict.fromkeys(row["study"] for row in self.ask_query("contents")))

    def models_of(self, study: str) -> Iterator[str]:
        """Models of a study, in its order."""
        for row in self.ask_query("contents"):
            if row["study"] == study and row["model_id"] is not None:
                yield row["model_id"]

    def score_of(self, study: str) -> str:
        """Definition of the scores of a study in JSON."""
        return next(row["score"] for row in self.ask_query("contents") if row["study"] == study)

    def has_probabilities(self, study: str | None) -> bool:
        """True if all scores of a study, or of every study, are probabilities."""
        rows = self.ask_query("contents")
        return all(is_of_probability(row["score"]) for row in rows if study in (None, row["study"]))


def _key_of(question: Question) -> tuple[str, str]:
    return question.sql, repr(question.values)
