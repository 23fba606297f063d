"""Rows that the attribution methods of a plan still send through models."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from decaf.evaluation.attributions.coalitions import CoalitionMethod, game_of
from decaf.foundation.digests import json_sha256
from tasks.plan import AuditPlan
from tasks.units.scope import of_kind


class RowsLeft(NamedTuple):
    """What methods that share their rows still take."""

    methods: tuple[str, ...]
    forward: int
    backward: int
    separate: int
    """Forward rows if every method scored what it asks for, as often as it does."""


def attribution_rows_left(plan: AuditPlan) -> Iterator[RowsLeft]:
    """Method by method, those of one game together; all of the rows of what is to be trained.

    Features that lie nowhere are counted as the others, since no mask is read.
    """
    methods = plan.study.attributions
    games: dict[str, list[str]] = {}
    for name, method in methods.items():
        key = json_sha256(method.game) if isinstance(method, CoalitionMethod) else name
        games.setdefault(key, []).append(name)
    left: dict[tuple[str | None, int | None], set[str]] = defaultdict(set)
    for unit in of_kind(plan.pending, "attribute"):
        left[unit.model_id, unit.block].add(unit.name)
    for card in plan.waiting:
        left |= {(card.id, block): {*methods} for block in range(len(plan.blocks))}

    @cache
    def images(block: int) -> list[tuple[int, str]]:
        """How many features each image of a block has, and its source."""
        features: dict[int, set[int]] = defaultdict(set)
        sources: dict[int, str] = {}
        for pair in map(plan.pairs.pairs.__getitem__, plan.blocks[block]):
            features[pair.plus].add(pair.feature)
            sources.setdefault(pair.plus, pair.source_id)
        return [(len(own), sources[image]) for image, own in features.items()]

    @cache
    def calls(name: str, features: int) -> tuple[int, int]:
        return methods[name].calls(features)

    @cache
    def distinct(names: tuple[str, ...], block: int) -> int:
        played = [methods[name] for name in names]
        players = ((np.arange(count) + 1, source) for count, source in images(block))
        return sum(game_of(played, own, source).states.size for own, source in players)

    for names in games.values():
        forward = backward = separate = 0
        for (_, block), missing in left.items():
            own = tuple(name for name in names if name in missing)
            alone = [calls(name, count) for name in own for count, _ in images(block)]
            separate += sum(rows for rows, _ in alone)
            backward += sum(rows for _, rows in alone)
            is_game = own and isinstance(methods[own[0]], CoalitionMethod)
            forward += distinct(own, block) if is_game else sum(rows for rows, _ in alone)
        yield RowsLeft(tuple(names), forward, backward, separate)
