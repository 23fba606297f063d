"""Every open place of a study, and all that is offered there."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import NamedTuple

from decaf.data.adapters.base import Adapter
from decaf.errors import ConfigError
from decaf.evaluation.attributions.base import AttributionMethod
from decaf.evaluation.baselines.base import Baseline
from decaf.evaluation.labels.base import LabelSource
from decaf.foundation import third_party
from decaf.foundation.place import Placed
from decaf.foundation.plugins import clash, members, name_of
from decaf.models.card import ModelCard
from decaf.models.epoch_rules.base import EpochRule
from decaf.models.recipes.base import EstimatorRecipe, NetworkRecipe
from decaf.registry.entries import Registry
from decaf.reveal.path import RevealPath
from decaf.scoring.scores.base import ScoreDefinition

BASES: tuple[type[Placed], ...] = (
    Adapter,
    RevealPath,
    ScoreDefinition,
    ModelCard,
    NetworkRecipe,
    EstimatorRecipe,
    EpochRule,
    AttributionMethod,
    Baseline,
    LabelSource,
    Registry,
)
"""Base classes of the members of every place."""
PLACES = tuple(dict.fromkeys(base.place.name for base in BASES))


class Offered(NamedTuple):
    """One member of a place, with its provider."""

    place: str
    name: str
    provider: str
    """decaf, a study of decaf, or a package and its version."""
    defined_in: str
    """``module:Class``."""
    problem: str | None = None
    """Why it cannot be used."""


def list_members() -> list[Offered]:
    """All members of all places, decaf's own first; imports every one of them."""
    return [*_own(), *map(_foreign, third_party.installed_entry_points())]


def base_of(member: type[Placed]) -> type[Placed]:
    """Base class of the place of a class."""
    return next(base for base in BASES if issubclass(member, base))


def load_anywhere(entry: EntryPoint, place: str | None = None) -> type[Placed]:
    """Load the class of an entry point as a member of a place, or of the place of its base class.

    Raises ConfigError when it cannot be a member.
    """
    bases = [base for base in BASES if place in (None, base.place.name)]
    if not bases:
        raise ConfigError(
            f"{third_party.provider(entry)} is for the place {place!r}, which does not exist; "
            f"begin its name with one of: {', '.join(PLACES)}"
        )
    member = third_party.load_object(entry)
    fitting = [base for base in bases if isinstance(member, type) and issubclass(member, base)]
    if not fitting and place is None:
        names = ", ".join(base.__name__ for base in bases)
        raise ConfigError(f"{third_party.provider(entry)} derives from none of: {names}")
    return third_party.load(entry, (fitting or bases)[0])


def _own() -> Iterator[Offered]:
    for base in BASES:
        for member in members(base):
            _, room, study, *_ = member.__module__.split(".")
            provider = f"decaf, study {study}" if room == "studies" else "decaf"
            problem = clash(base, name_of(member))
            yield Offered(
                base.place.name,
                name_of(member),
                provider,
                third_party.reference_of(member),
                problem,
            )


def _foreign(entry: EntryPoint) -> Offered:
    place, _, name = entry.name.partition(".")
    provider = third_party.package(entry)
    problem = None
    try:
        base = base_of(load_anywhere(entry, place))
        problem = clash(base, name)
    except ConfigError as error:
        problem = str(error)
    return Offered(place, name, provider, entry.value, problem)
