"""Scope of planning: the study, its blocks of pairs, and its models."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from decaf.data.pairs import InputSet, PairSet, Rows
from decaf.errors import DataError
from decaf.foundation.digests import json_sha256
from decaf.foundation.third_party import code_of
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from decaf.plan.units import Unit
from decaf.reveal.path import RevealPath
from decaf.scoring.scores.base import ScoreDefinition


class Block(NamedTuple):
    """Pairs that are scored and committed together."""

    number: int
    rows: Rows
    digest: str
    """Digest of the pairs and the content of their inputs."""


@dataclass(frozen=True)
class Scope:
    """Inputs of planning a study's units, with cached digests."""

    study: Study
    pairs: PairSet
    trained_by: Mapping[str, Unit] = field(default_factory=dict)
    """Trainings of the models that have one, by the id of the model."""

    @cached_property
    def foregrounds(self) -> InputSet | None:
        """Further images that the study's labels need.

        Raises DataError if the data set does not have them.
        """
        return self.study.foregrounds(self.pairs)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks of pairs, in the order of their sources."""
        rows = self.study.blocks(self.pairs)
        return tuple(
            Block(number, block_rows, self.pairs.block_digest(block_rows))
            for number, block_rows in enumerate(rows)
        )

    @cached_property
    def blocks_by_path(self) -> dict[str, tuple[Block, ...]]:
        """Blocks with the pairs that each path scores, by path; some blocks may be empty.

        Raises DataError if a path names a type of pairs that the data do not have, or does not fit
        the kind of its pairs.
        """
        types = self.pairs.pairs.pair_types.values.to_list()
        for name, path in self.study.paths.items():
            for pair_type in path.pair_types or ():
                if pair_type not in types:
                    raise DataError(
                        f"path {name} is for pairs of type {pair_type!r}, which the data do not "
                        f"have; name some of: {', '.join(types)}"
                    )
            self._check_kind(name, path)
        limits = {path.pair_types for path in self.study.paths.values()}
        limited = {limit: tuple(self._limit_blocks(limit)) for limit in limits}
        return {name: limited[path.pair_types] for name, path in self.study.paths.items()}

    def _check_kind(self, name: str, path: RevealPath) -> None:
        """Raise DataError for a removal without a feature, or another path with one input."""
        types = path.pair_types
        pairs = self.pairs.pairs
        is_unfit = (pairs.plus == pairs.minus) != path.removes_features
        if types is not None:
            is_unfit &= pairs.are_of_types(types)
        for row in np.flatnonzero(is_unfit)[:1]:
            pair = pairs[row]
            raise DataError(
                f"path {name} (kind: {path.kind}) removes a feature, and pair {pair.pair_id!r} has "
                "none to remove; choose another path, data with features (adapter: "
                "image_features), or the types of pairs that have some ('pair_types:')"
                if path.removes_features
                else f"path {name} (kind: {path.kind}) shows two inputs, and pair {pair.pair_id!r} "
                "is an input with and without a feature; use kind: removal"
            )
        if self.pairs.masks and path.removes_features and getattr(path, "side", None):
            raise DataError(
                f"path {name} makes square features with 'side', but the data have features; "
                "leave 'side' out"
            )

    def _limit_blocks(self, pair_types: tuple[str, ...] | None) -> Iterator[Block]:
        """Blocks with only the pairs of some types; whole blocks if ``pair_types`` is None."""
        if pair_types is None:
            yield from self.blocks
            return
        is_of_types = self.pairs.pairs.are_of_types(pair_types)
        for block in self.blocks:
            rows = block.rows[is_of_types[block.rows]]
            has_all_rows = rows.size == block.rows.size
            digest = block.digest if has_all_rows else self.pairs.block_digest(rows)
            yield Block(block.number, rows, digest)

    @cached_property
    def models(self) -> dict[str, dict[str, str]]:
        """Parts of keys that identify each model, by its id.

        Raises BadInput if a file of a model cannot be used.
        """
        return {card.id: self._model_parts(card) for card in self.study.models}

    def scored_parts(self, model_id: str, parts: Mapping[str, str]) -> dict[str, str]:
        """Parts of scored units of one model, equal in all its blocks; ``parts`` are added."""
        return {**self.models[model_id], "score": self._score_digest, **parts}

    def made_by(self, model_id: str) -> dict[str, Unit]:
        """Units that made the weights of a model: its training, if it has one."""
        training = self.trained_by.get(model_id)
        return {} if training is None else {"weights": training}

    @cached_property
    def _score_digest(self) -> str:
        return score_digest(self.study.score)

    def _model_parts(self, card: ModelCard) -> dict[str, str]:
        return {
            "model": card.id,
            "weights": card.weights_digest(),
            "preprocessing": card.scoring_digest,
            **code_of(card),
        }


def score_digest(score: ScoreDefinition) -> str:
    """Digest of the definition of q."""
    return json_sha256([score.identity(), code_of(score)])


def of_kind(units: Iterable[Unit], kind: str) -> list[Unit]:
    """Select the units of one kind, in their order."""
    return [unit for unit in units if unit.kind == kind]
