"""Store the remarks of trials on models, which hold until a model or its data are tried again."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from decaf.foundation.digests import json_sha256, short
from decaf.models.card import ModelCard
from decaf.models.network_faults import OUTPUTS_LIKE_PROBABILITIES
from decaf.models.sources.network import NetworkCard
from decaf.plan.units import Unit
from tasks.run_work import SCORED, RunWork
from tasks.units.scope import of_kind
from warehouse.commits import receipts
from warehouse.commits.stored import read_file
from warehouse.commits.writer import commit, next_moment
from warehouse.storage import Storage
from warehouse.tables.declarations import MODEL_TRIALS

TRIALS = "trials"
"""Kind of commits with the remarks of one trial."""


def commit_trial(
    store: Storage, study: str, units: Sequence[Unit], remarks: Mapping[str, Sequence[str]]
) -> None:
    """Commit the remarks of a trial, by tried model, with the units that they are about.

    A model without remarks replaces those of its earlier trial. Writes nothing if there is nothing
    to store or to replace.
    """
    if not any(remarks.values()) and not receipts.keys(store, TRIALS, study):
        return
    tried_at = next_moment(store, TRIALS, study)
    rows: list[dict[str, Any]] = [
        {
            "model_id": model_id,
            "unit_keys": [u.key for u in of_kind(units, "predict") if u.model_id == model_id],
            "remarks": list(remarks_on_model),
        }
        for model_id, remarks_on_model in remarks.items()
    ]
    trial_id = short(json_sha256([tried_at.isoformat(), rows]))
    rows = [{"trial_id": trial_id, "tried_at": tried_at, **row} for row in rows]
    table = pa.Table.from_pylist(rows, schema=MODEL_TRIALS.schema)
    commit(store, TRIALS, study, trial_id, {MODEL_TRIALS.name: table}, at=tried_at)


def stored_remarks(
    store: Storage, study: str, work: RunWork, cards: Iterable[ModelCard]
) -> dict[str, tuple[str, ...]]:
    """Remarks of the newest trials on models whose scores are all stored, by model.

    Other models are tried again before their run. Remarks that a key of the card has answered since
    are left out (:func:`update_remarks`).
    """
    by_model = _newest_remarks(store, study, work)
    pending = {unit.model_id for unit in work.pending if unit.kind in SCORED}
    return {
        card.id: tuple(remark for remark in by_model[card.id] if not _is_answered(remark, card))
        for card in cards
        if card.id in by_model.keys() - pending
    }


def update_remarks(store: Storage, study: str, work: RunWork, cards: Iterable[ModelCard]) -> None:
    """Commit the newest remarks again, without those that keys of cards have answered since.

    Such a key changes no score, so that no trial would replace the remarks.
    """
    by_model = _newest_remarks(store, study, work)
    answered = {
        card.id: [remark for remark in by_model[card.id] if not _is_answered(remark, card)]
        for card in cards
        if any(_is_answered(remark, card) for remark in by_model.get(card.id, ()))
    }
    if answered:
        commit_trial(store, study, work.units, answered)


def _is_answered(remark: str, card: ModelCard) -> bool:
    is_on_outputs = remark == OUTPUTS_LIKE_PROBABILITIES and isinstance(card, NetworkCard)
    return is_on_outputs and "output" in card.model_fields_set


def _newest_remarks(store: Storage, study: str, work: RunWork) -> dict[str, list[str]]:
    keys = {unit.key for unit in of_kind(work.units, "predict")}
    newest: dict[str, tuple[datetime, list[str]]] = {}
    for receipt in receipts.read_kind(store, TRIALS, study):
        for file in receipt.files:
            for row in read_file(store, file).to_pylist():
                model_id, trial = row["model_id"], (row["tried_at"], row["remarks"])
                if not keys.isdisjoint(row["unit_keys"]):
                    newest[model_id] = max(trial, newest.get(model_id, trial))
    return {model_id: remarks for model_id, (_, remarks) in newest.items()}
