"""Map class names of the data to outputs of the score, by stated mappings.

Names are outputs where somebody states which: ``classes:`` of the data, the class map of the
score, an estimator's ``classes:``, or the library that publishes a network's weights.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from decaf.data.class_ids import CLASS_NAMES, GUESSED, names_of
from decaf.data.class_maps import load_shipped_maps
from decaf.data.pairs import PairSet
from decaf.errors import (
    MOST_KNOWN,
    DataError,
    DecafError,
    ModelError,
    SettingError,
    abridge,
    suggestion,
)
from decaf.foundation.names import quote
from decaf.foundation.settings import fault, setting
from decaf.models import architectures
from decaf.models.card import ModelCard
from decaf.models.sources.estimator import EstimatorCard
from decaf.models.sources.network import NetworkCard
from decaf.registry.entries import Registry
from decaf.registry.kinds.names import Names
from decaf.scoring.scores.base import ClassScore, ScoreDefinition
from decaf.scoring.scores.superclass_probability import SuperclassProbability

WAYS = (
    "State the output of each name in one of three ways: all {count} names in the order of the "
    "outputs as 'classes:' of 'data:' (a list, or a JSON file such as config.json with its "
    "id2label); a score or a model that names its outputs (a shipped 'class_map:', 'pretrained:' "
    "weights, 'classes:' of an estimator); or numbers of outputs from 0 as labels"
)
NUMBERED = re.compile(r"^\d+[\s_-]+")
SEPARATORS = re.compile(r"[\s_-]+")


@dataclass(frozen=True)
class OutputNames:
    """Names of the outputs of a score or a model."""

    owner: str
    """Owner of the names in a sentence, as ``the class map NAME``."""
    names: tuple[tuple[str, ...], ...]
    """Names of output 0, 1, …, each under all that its owner calls it."""
    kind: Literal["score", "estimator", "library"]

    def place_of(self, word: str) -> int | None:
        """Output that a word names, or None; spelling counts less than the words themselves."""
        for spelling, places in self._places:
            if named := places.get(spelling(word)):
                return next(iter(named)) if len(named) == 1 else None
        return None

    @cached_property
    def _places(self) -> list[tuple[Callable[[str], str], dict[str, set[int]]]]:
        """Outputs by their names, in each spelling."""
        indices: list[tuple[Callable[[str], str], dict[str, set[int]]]] = []
        for spelling in (str, _plain, _without_number):
            index: dict[str, set[int]] = {}
            for place, names in enumerate(self.names):
                for name in names:
                    index.setdefault(spelling(name), set()).add(place)
            indices.append((spelling, index))
        return indices


def check_labels(pairs: PairSet, score: ScoreDefinition, *keys: str) -> None:
    """Raise SettingError if q is the score of the pair's class, and pairs have no class.

    ``keys`` lead to the score in its study.
    """
    if isinstance(score, ClassScore) and score.target is None and not pairs.has_labels:
        raise SettingError(
            f"the data have no labels and the score {score.kind} has no 'target:'; expected one "
            "of them, because q is the score of one class: set 'target:' to the name or the "
            "number of this class, or label the pairs (a column or a file 'label', or photos in "
            "subfolders named by class)",
            *keys,
        )


def match_classes(
    pairs: PairSet,
    data: Any,
    score: ScoreDefinition,
    models: Iterable[ModelCard],
    registry: Registry | None,
) -> PairSet:
    """Pairs whose classes are the outputs of the score that their class names mean.

    Raises SettingError if the output of a name is not stated, or two statements contradict
    each other. Where the score has a target, q depends on no label: then a remark says so, and no
    accuracy is measured.
    """
    is_declared = bool(_declared_names(data))
    if not isinstance(score, ClassScore) and pairs.has_sorted_names:
        unused = f"the labels are no classes of the score {score.kind}: they only divide the pairs"
        return replace(pairs, remarks=(*_others(pairs.remarks), unused))
    if not isinstance(score, ClassScore) or not (pairs.has_sorted_names or is_declared):
        return pairs
    words = pairs.class_names
    if not words:
        return pairs
    outputs = [naming for naming in _output_names(score, models, registry) if _fits(naming, score)]
    if is_declared and len(words) == score.classes:
        with setting("classes"):
            for naming in outputs:
                _check_order(words, naming)
        return pairs
    try:
        if is_declared:
            raise DataError(_wrong_count(len(words), score.classes))
        places, remark = _places(words, outputs, score.classes)
    except DataError as error:
        if score.target is None:
            raise SettingError(str(error), "classes") from None
        lost = f"{CLASS_NAMES}no accuracy is measured, because {error}"
        remarks = (*_others(pairs.remarks), lost)
        return replace(pairs, has_labels=False, remarks=remarks, class_names=())
    return _renumber(pairs, places, score.classes, remark)


def target_number(
    word: str, data: Any, score: Mapping[str, Any], models: Iterable[ModelCard]
) -> int:
    """Number of the class that a target names, of a score as it is configured.

    Raises a fault of the configuration if the output of the name is not stated, and DataError
    when a file of names cannot be read.
    """
    default = SuperclassProbability.model_fields["classes"].default
    count, names = score.get("classes", default), _declared_names(data)
    if names:
        if isinstance(count, int) and len(names) != count:
            raise fault(_wrong_count(len(names), count), "target")
        namings = [OutputNames("the data", tuple((name,) for name in names), "score")]
    elif (name := str(score.get("class_map"))) in load_shipped_maps():
        namings = [_of_map(name, load_shipped_maps()[name].classes)]
    else:
        namings = [naming for naming in _of_models(models) if len(naming.names) == count]
    places = {place for naming in namings if (place := naming.place_of(word)) is not None}
    if len(places) != 1:
        spellings = [name for naming in namings for same in naming.names for name in same]
        unnamed = "; name them with 'classes:' in 'data:'"
        hint = suggestion(word, spellings) if spellings else unnamed
        problem = "several outputs have this name" if places else "nothing names such a class"
        raise fault(f"'target' is {word!r}, and {problem}{hint}", "target")
    return places.pop()


def class_name_errors(
    cards: Mapping[str, ModelCard], pairs: PairSet, score: ScoreDefinition
) -> dict[str, DecafError]:
    """Errors of the models whose output names contradict the class names of the data."""
    errors: dict[str, DecafError] = {}
    if not pairs.class_names or not isinstance(score, ClassScore):
        return errors
    for model_id, card in cards.items():
        try:
            for naming in _of_model(card):
                if _fits(naming, score):
                    _check_order(pairs.class_names, naming)
        except DataError as error:
            errors[model_id] = ModelError(f"model {card.id}: {error}")
    return errors


def _declared_names(data: Any) -> list[str]:
    classes = getattr(data, "classes", ())
    return names_of(classes) if isinstance(classes, Path | tuple | list) else []


def _output_names(
    score: ClassScore, models: Iterable[ModelCard], registry: Registry | None
) -> list[OutputNames]:
    """Names of outputs that the score, or else the models, state."""
    if isinstance(score, SuperclassProbability):
        maps = load_shipped_maps().items()
        # Outputs of models are other classes than those of the map.
        return [
            _of_map(name, class_map.classes)
            for name, class_map in maps
            if class_map.mapping == score.mapping
        ]
    return [*_of_models(models), *_of_registry(registry)]


def _of_map(name: str, classes: Iterable[str]) -> OutputNames:
    names = tuple((superclass,) for superclass in classes)
    return OutputNames(f"the class map {name}", names, "score")


def _of_models(models: Iterable[ModelCard]) -> Iterator[OutputNames]:
    for card in models:
        yield from _of_model(card)


def _of_model(card: ModelCard) -> Iterator[OutputNames]:
    if isinstance(card, NetworkCard) and card.pretrained:
        yield from _library_names(f"model {card.id}", card.architecture, card.pretrained)
    if isinstance(card, EstimatorCard) and card.classes:
        yield from _of_estimator(f"model {card.id}", card.classes)


def _of_registry(registry: Registry | None) -> Iterator[OutputNames]:
    """Names that entries of a registry state, as far as the configuration tells."""
    for name, card in getattr(registry, "cards", {}).items():
        if isinstance(card.get("classes"), list | tuple):
            yield from _of_estimator(f"the card of {name}", card["classes"])
    for name in registry.names if isinstance(registry, Names) else ():
        architecture, _, tag = name.partition(".")
        yield from _library_names(f"{name}", architecture, tag)


def _of_estimator(owner: str, classes: Sequence[Any]) -> Iterator[OutputNames]:
    # Numbers are what an estimator calls classes that have no names.
    if any(isinstance(name, str) and not name.isdecimal() for name in classes):
        yield OutputNames(
            f"'classes:' of {owner}", tuple((str(name),) for name in classes), "estimator"
        )


def _library_names(owner: str, architecture: str, tag: str) -> Iterator[OutputNames]:
    if names := architectures.class_names(architecture, tag):
        library = architecture.partition(":")[0]
        yield OutputNames(f"{library}'s names of the outputs of {owner}", names, "library")


def _fits(naming: OutputNames, score: ClassScore) -> bool:
    return len(naming.names) == score.classes


def _wrong_count(found: int, count: int) -> str:
    return (
        f"'classes:' of the data has {found} names and the score has {count} classes; expected "
        f"one name for each output: if the model has {count} outputs, list all {count} names in "
        "their order, or give numbers of outputs from 0 as labels; if not, correct 'classes:' of "
        "the score"
    )


def _check_order(names: Sequence[str], naming: OutputNames) -> None:
    """Refuse names that the owner gives to another output, or that the score does not know.

    Models may have other names: an estimator's ``no`` is the class that data call ``good``.
    """
    for place, name in enumerate(names):
        theirs = naming.place_of(name)
        if theirs == place or (theirs is None and naming.kind != "score"):
            continue
        their_name = quote(naming.names[place][0])
        raise DataError(
            f"class {place} is {quote(name)} in the data, but {their_name} in {naming.owner}"
            f"{'' if theirs is None else f', where class {theirs} has that name'}; expected one "
            "order of classes: correct 'classes:'"
        )


def _places(
    words: Sequence[str], outputs: Sequence[OutputNames], count: int
) -> tuple[list[int], str]:
    """Output of every word, and a remark on who states it."""
    statements: list[tuple[OutputNames, list[int]]] = []
    for naming in outputs:
        places = [place for word in words if (place := naming.place_of(word)) is not None]
        unknown = [word for word in words if naming.place_of(word) is None]
        if not unknown:
            statements.append((naming, places))
        elif naming.kind != "library" or places:
            spellings = [name for names in naming.names for name in names]
            raise DataError(
                f"label {quote(unknown[0])} is not exactly one of {naming.owner}"
                f"{suggestion(unknown[0], spellings)}; correct the label, or list the names of all "
                "classes in the order of the outputs as 'classes:' of 'data:'"
            )
    for naming, places in statements[1:]:
        if places != statements[0][1]:
            raise DataError(
                f"{naming.owner} and {statements[0][0].owner} have the labels in different orders; "
                "expected one order of classes for all models"
            )
    if statements:
        naming, places = statements[0]
        return places, f"{CLASS_NAMES}{_number_words(words, places)}, by {naming.owner}"
    places = list(range(len(words)))
    if len(words) != count:
        names = abridge([*map(quote, words)], MOST_KNOWN)
        raise DataError(
            f"the labels are {len(words)} names ({names}), but the score has {count} classes. "
            f"{WAYS.format(count=count)}"
        )
    if [word.casefold() for word in words] == ["false", "true"]:
        return places, f"{CLASS_NAMES}{_number_words(words, places)}"
    return places, (
        f"{CLASS_NAMES}{_number_words(words, places)}, {GUESSED}, since the order of the "
        "outputs is not stated; if a model has another order, decaf scores the wrong classes: list "
        "the names in its order as 'classes:' of 'data:'"
    )


def _number_words(words: Sequence[str], places: Sequence[int]) -> str:
    return abridge([f"{n} {word}" for n, word in zip(places, words, strict=True)], MOST_KNOWN)


def _renumber(pairs: PairSet, places: Sequence[int], count: int, remark: str) -> PairSet:
    """Pairs whose classes have the numbers of their places, and a remark on them."""
    remarks = (*_others(pairs.remarks), remark)
    if list(places) == list(range(len(places))):
        return replace(pairs, remarks=remarks)
    names = [f"class {number}" for number in range(count)]
    for place, word in zip(places, pairs.class_names, strict=True):
        names[place] = word
    class_ids = np.array(places)[pairs.pairs.class_ids]
    moved = replace(pairs.pairs, class_ids=class_ids)
    return replace(pairs, pairs=moved, remarks=remarks, class_names=tuple(names))


def _others(remarks: Iterable[str]) -> Iterator[str]:
    return (remark for remark in remarks if not remark.startswith(CLASS_NAMES))


def _plain(name: str) -> str:
    """Name without capitals, and with single spaces between its words."""
    return SEPARATORS.sub(" ", name).strip().casefold()


def _without_number(name: str) -> str:
    """Plain name without the number of the class before it, as in ``00_dog``."""
    return _plain(NUMBERED.sub("", name))
