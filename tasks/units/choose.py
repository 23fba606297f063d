"""Choices: a rule of the study chooses epochs of a training by their measurements."""

import json
from collections.abc import Iterator, Sequence

import pyarrow as pa

from decaf.errors import ModelError
from decaf.foundation.third_party import code_of
from decaf.models.epoch_rules.base import Epoch
from decaf.plan.units import Unit
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.scope import Scope, of_kind
from tasks.units.train import has_recipe, training_of
from warehouse.tables.declarations import CHOSEN_EPOCHS


class Choose(Kind):
    """One unit for each model with a rule for the epochs of its training."""

    name = "choose"
    code = 1
    tables = (CHOSEN_EPOCHS,)
    uses_model = False
    prepares = True

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every model with a rule."""
        for card in filter(has_recipe, scope.study.models):
            if (rule := card.chooser) is not None:
                parts = {
                    "rule": json.dumps(rule.model_dump(mode="json"), sort_keys=True),
                    **code_of(rule),
                    "code": str(self.code),
                }
                training = training_of(card, of_kind(planned, "train"))
                yield Unit(self.name, card.id, None, None, parts, needs=(training,))

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Choose epochs by the model's rule.

        Raises ModelError if the rule chooses no epoch, or one that the training did not keep.
        """
        (unit,) = units
        (card,) = bench.task.study.models
        epochs = _read_epochs(bench, unit.needs[0])
        kept_epochs = {epoch.number for epoch in epochs}
        chosen = sorted(set(card.chooser.choose(epochs)))
        if not chosen or not kept_epochs.issuperset(chosen):
            raise ModelError(
                f"model {card.id}: 'epoch_rule:' chose the epochs {chosen}; expected at least one "
                f"of the epochs that training kept: {sorted(kept_epochs)}"
            )
        rows = [{"unit_key": unit.key, "model": card.id, "epoch": epoch} for epoch in chosen]
        return {"chosen_epochs": pa.Table.from_pylist(rows, schema=CHOSEN_EPOCHS.schema)}


def _read_epochs(bench: Bench, training: Unit) -> list[Epoch]:
    rows = bench.rows_of(training, "made_files").to_pylist()
    epochs = [
        Epoch(row["epoch"], json.loads(row["outcome"])) for row in rows if row["epoch"] is not None
    ]
    return sorted(epochs, key=lambda epoch: epoch.number)
