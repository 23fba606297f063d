"""Attributions: the sum of another method's map over the region in which a pair differs.

The region has the pixels in which both inputs differ, or those of the removed feature.
"""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from decaf.data.cells import feature_words
from decaf.data.pairs import PairSet
from decaf.errors import DataError
from decaf.evaluation.attributions.base import attribution_inside, attribution_of_features
from decaf.evaluation.attributions.coalitions import CoalitionMethod, Features, Played, play
from decaf.evaluation.image_masks import difference_region
from decaf.foundation.digests import json_sha256
from decaf.foundation.third_party import code_of
from decaf.plan.study import Study
from decaf.plan.units import PAIRS, Unit
from decaf.scoring.image_scores import score_of
from decaf.scoring.states import on_device
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import attribution_rows
from tasks.units.scope import Scope, score_digest
from warehouse.tables.declarations import ATTRIBUTIONS


class Attribute(Kind):
    """One unit for each model, block and method."""

    name = "attribute"
    code = 1
    tables = (ATTRIBUTIONS,)

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every model, block and attribution method of the study.

        Raises DataError if a method does not fit the pairs (:func:`check_methods`).
        """
        check_methods(scope.study, scope.pairs)
        methods = {}
        for name, method in scope.study.attributions.items():
            settings = method.model_dump(mode="json", exclude={"own_score"})
            methods[name] = {"method": name, "definition": json_sha256([settings, code_of(method)])}
            if method.own_score is not None:
                methods[name]["score"] = score_digest(method.own_score)
            if isinstance(method, CoalitionMethod):
                methods[name]["game"] = json_sha256(method.game)
        code = {"code": str(self.code)}
        for card in scope.study.models if methods else ():
            made_by = scope.made_by(card.id)
            shared = {
                name: scope.scored_parts(card.id, code | parts) for name, parts in methods.items()
            }
            for block in scope.blocks:
                for name, parts in shared.items():
                    slot = self.name, name, card.id, block.number
                    yield Unit(*slot, {PAIRS: block.digest, **parts}, made_by=made_by)

    def group_key(self, unit: Unit) -> Hashable:
        """Group methods of a block that play the same game, since they share coalitions."""
        game = unit.parts.get("game")
        return (unit.model_id, unit.block, game) if game else unit.key

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Attribute q of every factual image; sum the map over the region of each of its pairs."""
        import torch

        block, study = bench.block, bench.task.study
        methods = [study.attributions[unit.name] for unit in units]
        definition = methods[0].own_score or study.score
        used, first, of_pair = np.unique(block.plus, return_index=True, return_inverse=True)
        images = on_device(bench.clean, bench.model.device)
        columns = definition.columns(block.class_id)[first]
        sources = [block.source_ids[block.source[row]] for row in first]
        bench.cost.item_count = used.size

        def attribute(batch_size: int) -> tuple:
            score = score_of(bench.model, definition)
            arguments = (score, images[used], columns, sources, batch_size)
            if not isinstance(methods[0], CoalitionMethod):
                return score, methods[0].maps(*arguments)
            named = np.zeros(used.size, np.uint64)
            np.bitwise_or.at(named, of_pair, feature_words(block.feature))
            return score, play(methods, Features(block.regions[used], named), *arguments)

        score, attributions = bench.compute_within_memory(attribute)
        if block.regions is None:
            region = difference_region(images[block.plus], images[block.minus])
        else:
            region = torch.from_numpy(block.removed_region()).to(images.device)
        if isinstance(attributions, Played):
            inside = attributions.scores[:, of_pair, block.feature - 1]
            bench.cost.naive_rows = attributions.asked_rows
        elif block.regions is None:
            inside = [attribution_inside(attributions[of_pair], region)]
        else:
            inside = [attribution_of_features(attributions, of_pair, region)]
        pixels = region.sum(dim=(1, 2)).cpu().numpy()
        bench.cost.forward_rows = score.forward_rows
        bench.cost.backward_rows = score.backward_rows
        rows = [
            attribution_rows(unit.key, block.pair_ids, unit.name, scores, pixels)
            for unit, scores in zip(units, inside, strict=True)
        ]
        return {"attributions": pa.concat_tables(rows)}


def check_methods(study: Study, pairs: PairSet) -> None:
    """Raise DataError if a pair lacks the class or features of a method, or has too many."""
    methods = study.attributions.items()
    for _, method in methods:
        if method.own_score is not None:
            method.own_score.columns(np.unique(pairs.pairs.class_ids))
    players = [(name, method) for name, method in methods if isinstance(method, CoalitionMethod)]
    if not players:
        return
    features, images = pairs.pairs.features, pairs.pairs.plus
    for row in np.flatnonzero((features == 0) | (not pairs.masks))[:1]:
        pair = pairs.pairs[row]
        raise DataError(
            f"attribution {players[0][0]} (kind: {players[0][1].kind}) compares an image with "
            f"and without its features, and pair {pair.pair_id!r} has none; choose another "
            "method, or data with features (adapter: image_features)"
        )
    of_image = np.unique(np.stack([images, features]), axis=1)[0]
    for _, method in players:
        method.check(int(np.bincount(of_image).max()))
