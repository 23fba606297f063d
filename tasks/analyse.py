"""Analyses of a run over all its models, from the units that the warehouse holds by then."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.analyses import Analysis
from decaf.covertype.analyses import context_streams
from decaf.matching import match_units
from decaf.probes import PROBES, held_out_probabilities, leave_one_group_out
from tasks.plan import AuditPlan, software
from tasks.units import LABELS, read_units
from warehouse import receipts
from warehouse.catalog import connect
from warehouse.schemas import TABLES
from warehouse.writer import commit

Units = dict[str, NDArray]


def make_analyses(plan: AuditPlan) -> None:
    """Make the analyses of a run that have no receipt; each is one commit.

    What needs no units is made first: behaviours are told by it.
    """
    study = plan.study.study
    done = receipts.keys(plan.root, "analyses", study)
    left = [one for one in plan.analyses if one.key not in done]
    for analysis in left:
        if analysis.kind == "factual_contexts":
            _commit(plan, analysis, _factual_contexts(plan, analysis))
    of_units = [one for one in left if one.kind in MAKERS]
    if not of_units:
        return
    with connect(plan.root) as connection:
        units = read_units(connection, plan.study)
    for analysis in of_units:
        rows = list(MAKERS[analysis.kind](units, analysis))
        _commit(plan, analysis, pa.Table.from_pylist(rows, _own_schema(analysis)))


def _commit(plan: AuditPlan, analysis: Analysis, rows: pa.Table) -> None:
    for name, value in (("run_id", plan.run_id), ("analysis_key", analysis.key)):
        rows = rows.add_column(0, name, pa.repeat(value, len(rows)))
    commit(
        plan.root,
        "analyses",
        plan.study.study,
        analysis.key,
        {analysis.kind: rows},
        inputs={"run_id": plan.run_id, "kind": analysis.kind, "definition": analysis.text},
        software=software(),
    )


def _own_schema(analysis: Analysis) -> pa.Schema:
    """Columns of a table without those that all its rows share."""
    schema = TABLES[analysis.kind].schema
    return pa.schema([f for f in schema if f.name not in ("run_id", "analysis_key")])


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
        parts.append(pa.table(columns, _own_schema(analysis)))
    return pa.concat_tables(parts)


def _matched_pairs(units: Units, analysis: Analysis) -> Iterator[dict]:
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


def _probe_scores(units: Units, analysis: Analysis) -> Iterator[dict]:
    for representation, names in analysis.definition["features"].items():
        for probe in analysis.definition["probes"]:
            columns = [units[name].astype(np.float64) for name in names]
            for row in _probed(units, columns, probe):
                yield {"representation": representation, "probe": probe} | row


def _probed(units: Units, columns: list[NDArray], probe: str) -> Iterator[dict]:
    """Scores of one probe, family by family; without features or another family none is fitted."""
    labels, family = units["labels"], units["family"]
    families = np.unique(family).tolist()
    reason = None if len(families) > 1 else "no other family"
    if not columns:
        reason = "the study has no such features"
    found = None
    if reason is None:
        features = np.stack(columns, axis=1)
        found = leave_one_group_out(features, labels, family, PROBES[probe])
    for number, name in enumerate(families):
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


def _probe_predictions(units: Units, analysis: Analysis) -> Iterator[dict]:
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
"""Makers of the rows of every kind of analysis that is made of units."""
