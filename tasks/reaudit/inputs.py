"""Digests of the inputs of a re-audit other than the registry's models."""

from typing import Any

from decaf.data.pairs import PairSet
from decaf.foundation.digests import json_sha256
from decaf.foundation.third_party import code_of
from decaf.models.card import ModelCard
from decaf.plan.expectations import json_of, kinds_of
from decaf.plan.refining import list_rules
from decaf.plan.study import Study
from decaf.registry.gates import on_pair_types
from tasks.units.kinds import KINDS
from tasks.units.train import has_recipe

AUDITED_EPOCHS = {"epoch", "epoch_rule"}
"""Keys of a card that choose the audited weights of its training."""


def study_inputs(study: Study, pairs: PairSet) -> dict[str, str]:
    """Digests, by name, of all inputs that determine results, except the registry's models."""
    measured = {
        "labels": study.labels and study.labels.model_dump(mode="json"),
        "attributions": {
            name: method.model_dump(mode="json") for name, method in study.attributions.items()
        },
        "baselines": {
            name: baseline.model_dump(mode="json") for name, baseline in study.baselines.items()
        },
    }
    # Scoring stops after a number of blocks, so blocks must be equal to compare stops.
    stop = study.stop
    blocks = [stop.seed, stop.by_class, study.sources_per_block] if stop else []
    configured = [[card.id, _origin(card), card.scoring_digest] for card in study.models]
    images, paths = pairs.input_set.digest, study.paths.items()
    rules = list_rules(study.paths, study.stages)
    return {
        "score": json_sha256(study.score.identity()),
        "paths": json_sha256(
            {name: [path.identity(images), path.pair_types] for name, path in paths}
        ),
        "stages": json_sha256(
            {name: path.grid(study.grid).tolist() for name, path in paths}
            | {name: [rule.until, rule.at_most] for name, rule in rules.items()}
        ),
        "pairs": pairs.analysed_digest,
        "epsilon": repr(study.epsilon),
        "quarantine": repr(study.quarantine),
        "code": " ".join(f"{kind.name}/{kind.code}" for kind in KINDS.values()),
        "measurements": json_sha256(measured),
        "models": json_sha256(configured),
        "words": json_sha256([json_of(study.expect), study.names]),
        "gates": json_sha256(
            [study.compare_with, *([stop.error] if stop else [])]
            + [
                [metric, *(gate.model_dump(mode="json") for gate in gates)]
                for metric, gates in on_pair_types(study.gates, kinds_of(study.expect)).items()
            ]
        ),
        **({"blocks": json_sha256(blocks)} if blocks else {}),
        **code_of(*study.plugin_sections),
    }


def _origin(card: ModelCard) -> Any:
    """Digest of the weights of a configured model, or the settings of its training."""
    if has_recipe(card):
        return [card.training_parts, card.model_dump(mode="json", include=AUDITED_EPOCHS)]
    return card.weights_digest()
