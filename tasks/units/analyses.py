"""Compute tables from the labelled cases of all models: matched pairs and probes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.evaluation.matching import match_cases
from decaf.evaluation.probes import PROBES, ProbeResult, held_out_probabilities, leave_one_group_out
from tasks.units.labelled_cases import LABELS
from warehouse.tables.columns import Table
from warehouse.tables.declarations import (
    MATCHED_PAIRS,
    PROBE_PREDICTIONS,
    PROBE_SCORES,
    PROBE_UNITS,
)

Cases = dict[str, NDArray]
"""Columns of the labelled cases, as :func:`tasks.units.labelled_cases.read_cases` gives them."""
Definition = Mapping[str, Any]
"""Parameters of an analysis."""
Tables = dict[str, pa.Table]
"""Rows by table, without the column ``unit_key``."""


def _own_schema(table: Table) -> pa.Schema:
    return pa.schema([field for field in table.schema if field.name != "unit_key"])


def _table_of(table: Table, rows: Iterable[dict]) -> Tables:
    return {table.name: pa.Table.from_pylist(list(rows), _own_schema(table))}


def matched_pairs(cases: Cases, definition: Definition) -> Tables:
    """Match cases of about equal Abs and different labels one to one."""
    return _table_of(MATCHED_PAIRS, _pairs_of(cases, definition))


def _pairs_of(cases: Cases, definition: Definition) -> Iterator[dict]:
    if not cases["labels"].any():
        return
    pairs = match_cases(
        cases["abs_response"],
        cases["labels"],
        [cases["model_id"], cases["pair_id"]],
        definition["tolerance"],
    )
    for position, rows in enumerate(pairs.tolist()):
        sides = zip(("left", "right"), rows, strict=True)
        yield {"position": position} | {
            f"{side}_{name}": cases[name][row]
            for side, row in sides
            for name in ("model_id", "source_id", "abs_response")
        }


def probe_scores(cases: Cases, definition: Definition) -> Tables:
    """Scores of probes on every held-out family, and their probability for each of its cases."""
    scores, parts = [], []
    for representation, names in definition["features"].items():
        columns = [cases[name].astype(np.float64) for name in names]
        for probe in definition["probes"]:
            shared = {"representation": representation, "probe": probe}
            result, reason = _fit_probe(cases, columns, probe)
            scores += [shared | row for row in _scores_of(cases, result, reason)]
            probability = np.full(cases["labels"].shape, np.nan)
            if result is not None:
                probability = result.probability
            parts.append(_cases_of(cases, probability, shared))
    schema = _own_schema(PROBE_UNITS)
    tables = {"probe_units": pa.concat_tables(parts) if parts else schema.empty_table()}
    return _table_of(PROBE_SCORES, scores) | tables


def _fit_probe(
    cases: Cases, columns: list[NDArray], probe: str
) -> tuple[ProbeResult | None, str | None]:
    """Fit a probe; returns its result, or None and the reason without features or families."""
    if not columns:
        return None, "the study has no such features"
    if len(np.unique(cases["family"])) < 2:
        return None, "no other family"
    features = np.stack(columns, axis=1)
    return leave_one_group_out(features, cases["labels"], cases["family"], PROBES[probe]), None


def _scores_of(cases: Cases, result: ProbeResult | None, reason: str | None) -> Iterator[dict]:
    labels, family = cases["labels"], cases["family"]
    for number, name in enumerate(np.unique(family).tolist()):
        held_out = family == name
        for position, label in enumerate(LABELS):
            auroc = np.nan if result is None else result.auroc[number, position]
            of_label = labels[:, position]
            yield {
                "family": name,
                "label": label,
                "auroc": None if np.isnan(auroc) else float(auroc),
                "train_count": int((~held_out).sum()),
                "train_positives": int(of_label[~held_out].sum()),
                "test_count": int(held_out.sum()),
                "test_positives": int(of_label[held_out].sum()),
                "reason": reason or result.reasons.get((name, position)),
            }


def _cases_of(cases: Cases, probability: NDArray[np.float64], shared: dict[str, str]) -> pa.Table:
    """One row for each label and case, sorted by label."""
    count = len(cases["family"])
    columns = {name: pa.repeat(value, count * len(LABELS)) for name, value in shared.items()}
    columns |= {
        name: pa.array(np.tile(cases[name], len(LABELS)), pa.string())
        for name in ("model_id", "source_id", "family")
    }
    columns |= {
        "label": pa.array(np.repeat(LABELS, count), pa.string()),
        "is_shown": pa.array(cases["labels"].T.ravel()),
        "probability": pa.array(probability.T.ravel(), mask=np.isnan(probability.T.ravel())),
    }
    schema = _own_schema(PROBE_UNITS)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def probe_predictions(cases: Cases, definition: Definition) -> Tables:
    """Predict the mechanism of every model with probes of the other families."""
    return _table_of(PROBE_PREDICTIONS, _predictions_of(cases, definition))


def _predictions_of(cases: Cases, definition: Definition) -> Iterator[dict]:
    """Probabilities of the three mechanisms for every model, from a probe of other families."""
    family = cases["family"]
    missing = np.full(len(family), np.nan)
    for representation, names in definition["features"].items():
        features = np.stack([cases.get(name, missing).astype(np.float64) for name in names], axis=1)
        result = None
        if len(np.unique(family)) > 1:
            classes = cases["labels"].argmax(axis=1)
            result = held_out_probabilities(features, classes, LABELS, family)
        for row, name in enumerate(family):
            for position, label in enumerate(LABELS):
                probability = np.nan if result is None else result.probability[row, position]
                yield {
                    "representation": representation,
                    "model_id": cases["model_id"][row],
                    "family": name,
                    "label": label,
                    "probability": None if np.isnan(probability) else float(probability),
                    "feature_count": 0 if result is None else int(result.feature_count[row]),
                    "train_count": int((family != name).sum()),
                    "reason": "no other family" if result is None else result.reasons.get(name),
                }


CASE_TABLES = {
    "matched_pairs": matched_pairs,
    "probe_scores": probe_scores,
    "probe_predictions": probe_predictions,
}
"""Functions that compute tables from labelled cases, by name of the table."""
