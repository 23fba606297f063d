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
    """Rows that methods with a common game still need."""

    methods: tuple[str, ...]
    forward: int
    backward: int
    separate: int
    """Forward rows without sharing, if every method scored all its own requests."""


def count_rows_left(plan: AuditPlan) -> Iterator[RowsLeft]:
    """Count the missing rows of each method, or of all methods with a common game.

    Models that wait for training count with all their rows. Features without a pixel are counted
    like other features, since no mask is read.
    """
    methods = plan.study.attributions
    games: dict[str, list[str]] = {}
    for name, method in methods.items():
        key = json_sha256(method.game) if isinstance(method, CoalitionMethod) else name
        games.setdefault(key, []).append(name)
    names_of_block: dict[tuple[str | None, int | None], set[str]] = defaultdict(set)
    for unit in of_kind(plan.work.pending, "attribute"):
        names_of_block[unit.model_id, unit.block].add(unit.name)
    for card in plan.waiting:
        names_of_block |= {(card.id, block): {*methods} for block in range(len(plan.blocks))}

    @cache
    def images(block: int) -> list[tuple[int, str]]:
        """Number of features and source of each image of a block."""
        features: dict[int, set[int]] = defaultdict(set)
        sources: dict[int, str] = {}
        for pair in map(plan.pairs.pairs.__getitem__, plan.blocks[block]):
            features[pair.plus].add(pair.feature)
            sources.setdefault(pair.plus, pair.source_id)
        return [(len(played_names), sources[image]) for image, played_names in features.items()]

    @cache
    def calls(name: str, features: int) -> tuple[int, int]:
        return methods[name].calls(features)

    @cache
    def distinct(names: tuple[str, ...], block: int) -> int:
        played = [methods[name] for name in names]
        players = ((np.arange(count) + 1, source) for count, source in images(block))
        return sum(
            game_of(played, played_names, source).states.size for played_names, source in players
        )

    for names in games.values():
        forward = backward = separate = 0
        for (_, block), missing in names_of_block.items():
            played_names = tuple(name for name in names if name in missing)
            alone = [calls(name, count) for name in played_names for count, _ in images(block)]
            separate += sum(rows for rows, _ in alone)
            backward += sum(rows for _, rows in alone)
            is_game = played_names and isinstance(methods[played_names[0]], CoalitionMethod)
            forward += distinct(played_names, block) if is_game else sum(rows for rows, _ in alone)
        yield RowsLeft(tuple(names), forward, backward, separate)
