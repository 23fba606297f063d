"""Scenes under names that somebody else chose."""

from dataclasses import replace
from itertools import cycle
from typing import Literal

from decaf.studies.scenes.adapters import Shapes3D


class HostileNames(Shapes3D):
    """The scenes, each under one of the names; the types of pairs have hostile names, too."""

    adapter: Literal["hostile_names"]
    names: tuple[str, ...]
    types: tuple[str, ...]

    def pair_set(self):
        pairs = super().pair_set()
        sources = dict.fromkeys(pair.source_id for pair in pairs.pairs)
        names = dict(zip(sources, self.names, strict=True))
        types = dict(zip(sources, cycle(self.types), strict=False))
        renamed = {
            pair.plus: f"{names[pair.source_id]} {pairs.inputs[pair.plus].image_id}"
            for pair in pairs.pairs
        }
        return replace(
            pairs,
            inputs=tuple(
                replace(one, image_id=renamed.get(position, one.image_id))
                for position, one in enumerate(pairs.inputs)
            ),
            pairs=tuple(
                replace(
                    pair,
                    pair_id=f"{names[pair.source_id]} {pair.pair_type}",
                    source_id=names[pair.source_id],
                    pair_type=types[pair.source_id],
                    split=names[pair.source_id],
                )
                for pair in pairs.pairs
            ),
        )
