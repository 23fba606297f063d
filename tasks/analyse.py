"""Analyses of a run over all its models, from the units that the warehouse holds by then."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.analyses import Analysis
from decaf.matching import match_units
from decaf.probes import PROBES, leave_one_group_out
from tasks.plan import AuditPlan, software
from warehouse import receipts
from warehouse.catalog import connect
from warehouse.schemas import MATCHED_PAIRS, PROBE_SCORES
from warehouse.writer import commit

LABELS = ("evidence", "contradiction", "fragility")


def make_analyses(plan: AuditPlan) -> None:
    """Make the analyses of a run that have no receipt; each is one commit.

    Reads the units that take part in the benchmark; a unit that misses anything takes no part.
    """
    study = plan.study.study
    done = receipts.keys(plan.root, "analyses", study)
    left = [one for one in plan.analyses if one.key not in done]
    if not left:
        return
    with connect(plan.root) as connection:
        units = _units(connection, plan)
    make = {"matched_pairs": _matched_pairs, "probe_scores": _probe_scores}
    for analysis in left:
        identity = {"analysis_key": analysis.key, "run_id": plan.run_id}
        rows = [identity | row for row in make[analysis.kind](units, analysis)]
        schema = {"matched_pairs": MATCHED_PAIRS, "probe_scores": PROBE_SCORES}[analysis.kind]
        commit(
            plan.root,
            "analyses",
            study,
            analysis.key,
            {analysis.kind: pa.Table.from_pylist(rows, schema=schema.schema)},
            inputs={"run_id": plan.run_id, "kind": analysis.kind, "definition": analysis.text},
            software=software(),
        )


def _units(connection: duckdb.DuckDBPyConnection, plan: AuditPlan) -> dict[str, NDArray]:
    """Columns of the units, those of the spatial methods by name; sorted by model and pair."""
    study = plan.study.study
    columns = connection.sql(
        "SELECT * FROM core_units WHERE study = $study AND reason IS NULL "
        "ORDER BY model_id, pair_id",
        params={"study": study},
    ).to_arrow_table()
    units = {name: columns[name].to_numpy() for name in columns.column_names}
    for method in plan.study.attributions:
        scores = connection.sql(
            "SELECT region_score FROM core_units JOIN core_attributions "
            "USING (study, model_id, pair_id) WHERE study = $study AND method = $method "
            "AND reason IS NULL ORDER BY model_id, pair_id",
            params={"study": study, "method": method},
        ).to_arrow_table()
        units[method] = scores["region_score"].to_numpy()
    units["labels"] = np.stack([units[f"y_{label}"] for label in LABELS], axis=1).astype(bool)
    # The active flag tells this 0 from that of a pair whose stages all agree.
    units["sign_flip_frac"] = np.nan_to_num(units["sign_flip_frac"].astype(np.float64), nan=0.0)
    return units


def _matched_pairs(units: dict[str, NDArray], analysis: Analysis) -> Iterator[dict]:
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


def _probe_scores(units: dict[str, NDArray], analysis: Analysis) -> Iterator[dict]:
    for representation, names in analysis.definition["features"].items():
        for probe in analysis.definition["probes"]:
            columns = [units[name].astype(np.float64) for name in names]
            for row in _probed(units, columns, probe):
                yield {"representation": representation, "probe": probe} | row


def _probed(units: dict[str, NDArray], columns: list[NDArray], probe: str) -> Iterator[dict]:
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
