"""Turn the entries of a registry into models of a study; an unusable entry stops no other."""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from decaf.errors import (
    BadInput,
    DecafError,
    ModelError,
    RegistryError,
    UnknownEntry,
    abridge,
    number_of,
)
from decaf.foundation.digests import json_sha256
from decaf.foundation.names import fault_of, printable
from decaf.foundation.settings import FOLDER
from decaf.foundation.yaml_source import faults, wording
from decaf.models.card import ModelCard
from decaf.models.sources.estimator import EstimatorCard
from decaf.models.sources.function import FunctionCard
from decaf.models.sources.network import NetworkCard
from decaf.plan.study import Card, Study
from decaf.registry.entries import (
    CARD_FILE,
    LATEST,
    CardRegistry,
    Entry,
    Fetched,
    Registry,
    texts_in,
)

FACTORY = "factory"
NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9._+-]+")
LONGEST_NAME, DIGITS = 100, 8
RESTRICTED_KEYS = ("training", "arguments", "architecture", "function", "trusted")
"""Keys whose values only a card of the study itself may choose freely."""
LEAVES_FOLDER = re.compile(r"^[/\\~]|^\w:|://|(^|[/\\])\.\.([/\\]|$)")
"""An absolute path, an address, or a path with ``..``, here or on another system."""


@dataclass(frozen=True)
class Resolved:
    """An entry of a registry with its model, or the problem that prevents an audit."""

    entry: Entry
    card: ModelCard | None = None
    weights: str | None = None
    """Digest of the weights, at this moment."""
    preprocessing: str | None = None
    """Digest of everything else that changes outputs."""
    problem: str | None = None

    @property
    def model_id(self) -> str | None:
        """Name of the model in the study; entries of equal content and name share it."""
        return None if self.card is None else self.card.id

    def without_model(self, problem: str) -> "Resolved":
        """The same entry without its model."""
        return replace(self, card=None, problem=problem)


def list_entries(registry: Registry, only: Collection[str] = ()) -> list[Entry]:
    """List the entries of a registry, each once, in its order.

    ``only`` adds versions that are not followed, as ``name@version``. Raises RegistryError if the
    registry cannot be reached, lists nothing, or has two entries with one name, and UnknownEntry
    for an alias in ``only`` that is not followed.
    """
    entries = registry.entries()
    if not entries:
        raise RegistryError(
            f"the registry has no model that 'follow:' selects{_without_alias(registry)}; correct "
            "the path of the registry, or 'follow:'"
        )
    if isinstance(registry, CardRegistry):
        names = {entry.label for entry in entries} | {entry.name for entry in entries}
        for label in (label for label in only if label not in names):
            name, _, version = label.rpartition("@")
            if name and (entry_of_version := registry.version_of(name, version)):
                entries = [*entries, entry_of_version]
            elif name and label in _list_alias_labels(registry, version):
                raise UnknownEntry(
                    f"the registry has the alias {label!r}, but does not follow it; add {version} "
                    "to 'follow:', or give the number of the version after the @"
                )
    places: dict[str, str] = {}
    for entry in entries:
        if entry.label in places:
            raise RegistryError(
                f"the registry lists {entry.label!r} twice: {places[entry.label]} and "
                f"{entry.place}; rename one of them"
            )
        places[entry.label] = entry.place
    return [_printable(_with_card(registry, entry)) for entry in entries]


def _list_alias_labels(registry: CardRegistry, alias: str) -> list[str]:
    followed = registry.model_copy(update={"follow": (alias,)}).entries()
    return [entry.label for entry in followed if not entry.problem]


def _without_alias(registry: Registry) -> str:
    """Clause that counts models without a followed alias, for a message; empty without any."""
    if not isinstance(registry, CardRegistry) or LATEST in registry.follow:
        return ""
    count = len(registry.model_copy(update={"follow": (LATEST,)}).entries())
    aliases = " or ".join(map(repr, registry.follow))
    return f": {number_of(count, 'model')} there, with no alias {aliases}" if count else ""


def resolve(study: Study, entries: Sequence[Entry]) -> list[Resolved]:
    """Bring every entry here and make a model card of it, in the order of the entries.

    The card's ``id`` ends in the first digits of a digest of weights and preprocessing: a version
    that was uploaded twice, or has two aliases, is one model, and is scored once.
    """
    resolved = [_resolve_entry(study, entry) for entry in entries]
    names = {card.id.casefold(): card.id for card in study.models}
    for position, entry in enumerate(resolved):
        if entry.card is not None:
            first_id = names.setdefault(entry.card.id.casefold(), entry.card.id)
            if first_id != entry.card.id:
                problem = f"its name differs from {first_id} only in letter case; rename it"
                resolved[position] = entry.without_model(problem)
    return resolved


def models_of(study: Study, resolved: Sequence[Resolved]) -> Study:
    """The study with the models of its configuration and those of the registry, each once."""
    cards = {entry.card.id: entry.card for entry in resolved if entry.card is not None}
    configured = {card.id: card for card in study.models}
    return study.model_copy(update={"models": (*configured.values(), *(cards[i] for i in cards))})


def recorded_card(study: Study, name: str, text: str, weights: str) -> ModelCard:
    """The card of a version that a registry had, as a run of the study has recorded it.

    ``name`` is that of its model, ``text`` its JSON, ``weights`` its recorded digest. Raises
    BadInput if it would run code that neither the registry nor its card under ``cards:`` trusts, or
    if its files are missing or have changed.
    """
    try:
        card = TypeAdapter(Card).validate_json(text)
    except ValidationError as error:
        problem = wording(error.errors(include_url=False)[0])
        raise ModelError(f"its card, of an earlier run, cannot be used: {problem}") from None
    registry = study.registry if isinstance(study.registry, CardRegistry) else None
    own_card, recorded = registry.cards.get(name) if registry else None, json.loads(text)
    if own_card is None or any(
        recorded.get(key) and recorded[key] != own_card.get(key) for key in RESTRICTED_KEYS
    ):
        trusted = registry.trusted if registry else ()
        _refuse_untrusted(card, trusted, "its card, of an earlier run,")
    if getattr(card, "unpickle", False):
        raise ModelError(
            "it is an earlier version stored as a pickle, and decaf opens only the current version "
            "of a pickle"
        )
    if card.weights_digest() != weights:
        raise ModelError("its files have changed since that run")
    return card


def _list_trusted_names(study: Study) -> tuple[str, ...]:
    return study.registry.trust if isinstance(study.registry, CardRegistry) else ()


def _with_card(registry: Registry, entry: Entry) -> Entry:
    """The entry; if the configuration has a card for it, the card is part of its digest."""
    card = registry.cards.get(entry.name) if isinstance(registry, CardRegistry) else None
    if card is None or entry.problem:
        return entry
    return replace(entry, digest=json_sha256([entry.digest, card]))


def _printable(entry: Entry) -> Entry:
    """The entry under a name that can be shown; if its name had to change, it is not audited."""
    texts = {"name": entry.name, "version": entry.version, "alias": entry.alias or "none"}
    for key, text in texts.items():
        if fault := fault_of(text):
            codes: dict[str, Any] = {key: printable(text)[:LONGEST_NAME] or "nameless"}
            return replace(entry, **codes, problem=f"its {key} {fault}; rename it")
    return entry


def _resolve_entry(study: Study, entry: Entry) -> Resolved:
    if entry.problem:
        return Resolved(entry, problem=entry.problem)
    try:
        card = _card(entry, cast("Registry", study.registry).fetch(entry, study.workspace))
        if getattr(card, "unpickle", False) and entry.name not in _list_trusted_names(study):
            raise ModelError(
                f"{entry.label} is a pickle, and opening it can run any code with your rights: if "
                f"you trust everybody who can register it, add 'trust: [{entry.name}]' to the "
                "registry; otherwise let a separate server score it with 'source: mlflow_server'"
            )
        weights, preprocessing = card.weights_digest(), card.scoring_digest
    except BadInput as error:
        return Resolved(entry, problem=str(error))
    except DecafError:
        raise
    # Somebody else wrote the card and its files, and several libraries read them. An error in one
    # of them concerns only this entry. It is recorded, and reported like any failed entry.
    except Exception as error:  # noqa: BLE001
        return Resolved(
            entry, problem=f"it cannot be read: {type(error).__name__}: {str(error)[:300]}"
        )
    name = NOT_OF_A_NAME.sub("_", entry.name).lstrip("._+-")[:LONGEST_NAME] or "model"
    content = json_sha256([weights, preprocessing])
    named = card.model_copy(update={"id": f"{name}-{content[:DIGITS]}"})
    return Resolved(entry, named, weights, preprocessing)


def _card(entry: Entry, fetched: Fetched) -> ModelCard:
    if isinstance(fetched.model, ModelCard):
        return fetched.model
    where = f"the card of {entry.label} ({entry.place})"
    if "id" in fetched.model:
        raise ModelError(f"{where} has an 'id'; leave it out, the registry names its models")
    values: dict[str, Any] = {"family": entry.name, **fetched.model, "id": "entry"}
    context = None if fetched.folder is None else {FOLDER: fetched.folder}
    try:
        card = TypeAdapter(Card).validate_python(values, context=context)
    except ValidationError as error:
        if fetched.folder is None or fetched.trusted is None:
            problems = [
                f"{'.'.join(map(str, problem['loc']))!r}: {wording(problem)}"
                if problem["loc"]
                else wording(problem)
                for problem in error.errors(include_url=False)
            ]
            raise ModelError(f"{where} cannot be used: {abridge(problems, 5)}") from None
        faults_text = faults(fetched.folder / CARD_FILE, error)
        raise ModelError(f"the card of {entry.label} cannot be used: {faults_text}") from None
    if fetched.folder is not None and fetched.trusted is not None:
        _refuse_untrusted(card, fetched.trusted, where)
    return card


def _refuse_untrusted(card: ModelCard, trusted: Sequence[str], where: str) -> None:
    """Refuse a card that would run untrusted code, or send inputs to another machine."""
    if getattr(card, "training", None) is not None:
        raise ModelError(f"{where} has 'training:'; an entry of a registry is a finished model")
    for text in texts_in(getattr(card, "arguments", None)):
        if LEAVES_FOLDER.search(text):
            raise ModelError(
                f"{where}: 'arguments' has {text[:LONGEST_NAME]!r}, which may lie outside of the "
                "folder of the card; name files only in 'weights:', 'file:' and 'files:'"
            )
    named: list[str] = []
    if isinstance(card, NetworkCard):
        source, _, name = card.architecture.partition(":")
        named = [name] if source == FACTORY else []
    elif isinstance(card, FunctionCard):
        named = [card.function]
    elif isinstance(card, EstimatorCard):
        named = list(card.trusted)
    else:
        raise ModelError(
            f"{where} has 'source: {card.source}'; a registry takes cards of networks, estimators "
            "and trusted functions"
        )
    for name in named:
        if not any(
            name == module or name.startswith((f"{module}.", f"{module}:")) for module in trusted
        ):
            raise ModelError(
                f"{where} names {name}, whose code would run here; if you trust it, write "
                f"'trusted: [{name.partition(':')[0]}]' under 'registry:'"
            )
