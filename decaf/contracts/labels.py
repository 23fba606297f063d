"""Contracts of sources of labels. Measuring needs a model and a block, and is not tried."""

from typing import get_args

from decaf.contracts.base import Trial, require, same_twice
from decaf.evaluation.labels.base import CaseKind
from decaf.foundation.digests import json_sha256


def says_what_is_labelled(trial: Trial) -> None:
    """case_kind states whether sources or models are labelled; cases is their view."""
    kind = getattr(type(trial.member), "case_kind", None)
    expected = " or ".join(map(repr, get_args(CaseKind)))
    require(kind in get_args(CaseKind), f"case_kind is {kind!r}; expected {expected}")
    view = getattr(type(trial.member), "cases", None)
    require(
        isinstance(view, str) and view.isidentifier(),
        f"cases is {view!r}; expected the name of the view that has the cases",
    )


def names_its_variants(trial: Trial) -> None:
    """Variants are distinct names, and identity() is JSON of the settings that they depend on."""
    variants = trial.member.variants
    require(
        isinstance(variants, tuple) and all(isinstance(name, str) for name in variants),
        f"variants is {variants!r}; expected a tuple of names",
    )
    require(len(set(variants)) == len(variants), f"variants {variants} name something twice")
    same_twice(
        lambda: json_sha256(trial.member.identity()),
        "identity() gives something else when it is called again",
    )
