"""Analyses of a run over all its models, from the units that the warehouse holds by then."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.evaluation.matching import match_units
from decaf.evaluation.probes import PROBES, ProbeResult, held_out_probabilities, leave_one_group_out
from decaf.plan.analyses import Analysis
from decaf.studies.covertype.analyses import context_streams
from tasks.plan import AuditPlan, software
from tasks.units import LABELS, read_units
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.query.catalog import connect
from warehouse.tables.declarations import TABLES

Units = dict[str, NDArray]
Tables = dict[str, pa.Table]
"""Rows by table, without the columns that all of them share."""


def make_analyses(plan: AuditPlan) -> None:
    """Make the analyses of a run that have no receipt; each is one commit.

    What needs no units is made first: behaviours are told by it.
    """
    study = plan.study.study
    done = receipts.keys(plan.root, "analyses", study)
    left = [one for one in plan.analyses if one.key not in done]
    for analysis in left:
        if analysis.kind == "factual_contexts":
            contexts = _factual_contexts(plan, analysis)
            _commit(plan, analysis, {analysis.kind: contexts})
    of_units = [one for one in left if one.kind in MAKERS]
    if not of_units:
        return
    with connect(plan.root) as connection:
        units = read_units(connection, plan.study)
    for analysis in of_units:
        _commit(plan, analysis, MAKERS[analysis.kind](units, analysis))


def _commit(plan: AuditPlan, analysis: Analysis, tables: Tables) -> None:
    for name, value in (("run_id", plan.run_id), ("analysis_key", analysis.key)):
        tables = {
            table: rows.add_column(0, name, pa.repeat(value, len(rows)))
            for table, rows in tables.items()
        }
    commit(
        plan.root,
        "analyses",
        plan.study.study,
        analysis.key,
        tables,
        inputs={"run_id": plan.run_id, "kind": analysis.kind, "definition": analysis.text},
        software=software(),
    )


def _own_schema(table: str) -> pa.Schema:
    """Columns of a table without those that all its rows share."""
    schema = TABLES[table].schema
    return pa.schema([f for f in schema if f.name not in ("run_id", "analysis_key")])


def _table_of(name: str, rows: Iterable[dict]) -> Tables:
    return {name: pa.Table.from_pylist(list(rows), _own_schema(name))}


def _factual_contexts(plan: AuditPlan, analysis: Analysis) -> pa.Table:
    """Contexts of every audited row under every stream; a pair of the data set is such a row."""
    sources = pa.array([pair.source_id for pair in plan.pairs.pairs], pa.string())
    recipes = context_streams(plan.study)
    parts = []
    for module, seed in map(tuple, analysis.definition["streams"]):
        own = plan.study.data.factual_rows(recipes[module, seed])
        columns = {
            "module": pa.repeat(module, len(sources)),
            "seed": pa.repeat(seed, len(sources)),
            "source_id": sources,
            "context": pa.array(own.inputs[:, own.context].astype(np.int64)),
        }
        parts.append(pa.table(columns, _own_schema(analysis.kind)))
    return pa.concat_tables(parts)


def _matched_pairs(units: Units, analysis: Analysis) -> Tables:
    return _table_of("matched_pairs", _pairs_of(units, analysis))


def _pairs_of(units: Units, analysis: Analysis) -> Iterator[dict]:
    if not units["labels"].any():
        return
    pairs = match_units(
        units["abs_response"],
        units["labels"],
        [units["model_id"], units["pair_id"]],
        analysis.definition["tolerance"],
    )
    for position, rows in enumerate(pairs.tolist()):
        sides = zip(("left", "right"), rows, strict=True)
        yield {"position": position} | {
            f"{side}_{name}": units[name][row]
            for side, row in sides
            for name in ("model_id", "source_id", "abs_response")
        }


def _probe_scores(units: Units, analysis: Analysis) -> Tables:
    """Scores of every held-out family, and what the probes said of each of its units."""
    scores, parts = [], []
    for representation, names in analysis.definition["features"].items():
        columns = [units[name].astype(np.float64) for name in names]
        for probe in analysis.definition["probes"]:
            shared = {"representation": representation, "probe": probe}
            found, reason = _probed(units, columns, probe)
            scores += [shared | row for row in _scores_of(units, found, reason)]
            probability = np.full(units["labels"].shape, np.nan)
            if found is not None:
                probability = found.probability
            parts.append(_units_of(units, probability, shared))
    schema = _own_schema("probe_units")
    tables = {"probe_units": pa.concat_tables(parts) if parts else schema.empty_table()}
    return _table_of("probe_scores", scores) | tables


def _probed(
    units: Units, columns: list[NDArray], probe: str
) -> tuple[ProbeResult | None, str | None]:
    """What a probe finds; without features or another family none is fitted, for a reason."""
    if not columns:
        return None, "the study has no such features"
    if len(np.unique(units["family"])) < 2:
        return None, "no other family"
    features = np.stack(columns, axis=1)
    return leave_one_group_out(features, units["labels"], units["family"], PROBES[probe]), None


def _scores_of(units: Units, found: ProbeResult | None, reason: str | None) -> Iterator[dict]:
    labels, family = units["labels"], units["family"]
    for number, name in enumerate(np.unique(family).tolist()):
        held_out = family == name
        for position, label in enumerate(LABELS):
            auroc = np.nan if found is None else found.auroc[number, position]
            of_label = labels[:, position]
            yield {
                "family": name,
                "label": label,
                "auroc": None if np.isnan(auroc) else float(auroc),
                "train_count": int((~held_out).sum()),
                "train_positives": int(of_label[~held_out].sum()),
                "test_count": int(held_out.sum()),
                "test_positives": int(of_label[held_out].sum()),
                "reason": reason or found.reasons.get((name, position)),
            }


def _units_of(units: Units, probability: NDArray[np.float64], shared: dict[str, str]) -> pa.Table:
    """One row per unit and label, labels together."""
    count = len(units["family"])
    columns = {name: pa.repeat(value, count * len(LABELS)) for name, value in shared.items()}
    columns |= {
        name: pa.array(np.tile(units[name], len(LABELS)), pa.string())
        for name in ("model_id", "source_id", "family")
    }
    columns |= {
        "label": pa.array(np.repeat(LABELS, count), pa.string()),
        "is_shown": pa.array(units["labels"].T.ravel()),
        "probability": pa.array(probability.T.ravel(), mask=np.isnan(probability.T.ravel())),
    }
    schema = _own_schema("probe_units")
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _probe_predictions(units: Units, analysis: Analysis) -> Tables:
    return _table_of("probe_predictions", _predictions_of(units, analysis))


def _predictions_of(units: Units, analysis: Analysis) -> Iterator[dict]:
    """Probabilities of the three mechanisms for every model, from a probe of other families."""
    family = units["family"]
    missing = np.full(len(family), np.nan)
    for representation, names in analysis.definition["features"].items():
        features = np.stack([units.get(name, missing).astype(np.float64) for name in names], axis=1)
        found = None
        if len(np.unique(family)) > 1:
            classes = units["labels"].argmax(axis=1)
            found = held_out_probabilities(features, classes, LABELS, family)
        for row, name in enumerate(family):
            for position, label in enumerate(LABELS):
                probability = np.nan if found is None else found.probability[row, position]
                yield {
                    "representation": representation,
                    "model_id": units["model_id"][row],
                    "family": name,
                    "label": label,
                    "probability": None if np.isnan(probability) else float(probability),
                    "feature_count": 0 if found is None else int(found.feature_count[row]),
                    "train_count": int((family != name).sum()),
                    "reason": "no other family" if found is None else found.reasons.get(name),
                }


MAKERS = {
    "matched_pairs": _matched_pairs,
    "probe_scores": _probe_scores,
    "probe_predictions": _probe_predictions,
}
"""Makers of the tables of every kind of analysis that is made of units."""
