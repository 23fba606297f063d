"""Spatial attributions: what another method says of the region in which a pair differs.

That is where both inputs differ, or where the feature lies that an input is shown without.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from decaf.evaluation.attributions.base import attribution_inside, attribution_of_features
from decaf.evaluation.image_masks import difference_region
from decaf.foundation.digests import json_sha256
from decaf.foundation.strangers import code_of
from decaf.plan.units import Unit
from decaf.scoring.image_scores import score_of
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import attribution_rows
from tasks.units.scope import Scope
from warehouse.tables.declarations import ATTRIBUTIONS


class Attribute(Kind):
    """One unit a model, block and method."""

    name = "attribute"
    code = 1
    tables = (ATTRIBUTIONS,)

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One for every model, block and attribution method of the study."""
        methods = {
            name: {
                "method": name,
                "definition": json_sha256([method.model_dump(mode="json"), code_of(method)]),
            }
            for name, method in scope.study.attributions.items()
        }
        for card in scope.study.models if methods else ():
            for block in scope.blocks:
                shared = scope.scored(card.id, block) | {"code": str(self.code)}
                for name, own in methods.items():
                    made_by, parts = scope.made_by(card.id), shared | own
                    yield Unit(self.name, name, card.id, block.number, parts, made_by=made_by)

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Attribute q of every factual image; sum what lies where each of its pairs differs."""
        import torch

        (unit,) = units
        block, study = bench.block, bench.order.study
        used, first, of_pair = np.unique(block.plus, return_index=True, return_inverse=True)
        images = bench.images(block.input_positions)
        columns = study.score.columns(block.class_id)[first]
        sources = [block.source_ids[block.source[row]] for row in first]

        def mapped(batch_size: int) -> tuple:
            score = score_of(bench.model, study.score)
            method = study.attributions[unit.name]
            return score, method.maps(score, images[used], columns, sources, batch_size)

        score, maps = bench.within_memory(mapped)
        if block.regions is None:
            region = difference_region(images[block.plus], images[block.minus])
            inside = attribution_inside(maps[of_pair], region)
        else:
            region = torch.from_numpy(block.removed()).to(maps.device)
            inside = attribution_of_features(maps, of_pair, region)
        pixels = region.sum(dim=(1, 2)).cpu().numpy()
        bench.cost.item_count = used.size
        bench.cost.forward_rows = score.forward_rows
        bench.cost.backward_rows = score.backward_rows
        rows = attribution_rows(unit.key, block.pair_ids, unit.name, inside, pixels)
        return {"attributions": rows}
