"""Settings of how a study is shown; they change no number and no unit."""

from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from decaf.errors import SettingError, suggestion
from decaf.foundation.settings import Settings, ShownName
from decaf.plan.expectations import Expectation
from decaf.reveal.path import RevealPath

DisplayName = Annotated[ShownName, Field(max_length=60)]

Section = Literal[
    "registry",
    "stops",
    "breakdowns",
    "pairs",
    "paper",
    "profiles",
    "paths",
    "trajectories",
    "epsilon",
    "reading",
    "made",
    "costs",
]
"""A part of the page below its verdict, in the usual order."""


class Report(Settings):
    """The HTML page of a study."""

    page: Path | Literal[False] | None = Field(
        None, description="file of the page; `runs/<study>.html` when absent, `false` for none"
    )
    inputs: bool = Field(
        True,
        description="store and show thumbnails of the strongest pairs; `false` for private inputs",
    )
    paper: bool = Field(False, description="show the tables of the paper too")
    sections: tuple[Section, ...] | None = Field(
        None,
        description="sections below the verdict, in this order, all unfolded; by default all "
        "sections, in the usual order",
    )

    @model_validator(mode="before")
    @classmethod
    def _page_alone(cls, given: Any) -> Any:
        return given if isinstance(given, dict | Report) else {"page": given}


def check_shown(
    expect: Mapping[str, Expectation],
    names: Mapping[str, str],
    pair_types: Collection[str],
    paths: Mapping[str, RevealPath],
    models: Iterable[str],
) -> None:
    """Refuse words about pair types, paths and models that the study does not have.

    Also refuse expectations of pair types that no path scores, since nothing checks them. Raises
    SettingError with the keys that lead to the first of them.
    """
    for key, chosen, available in (
        ("expect", expect, pair_types),
        ("names", names, (*pair_types, *paths, *models)),
    ):
        for name in chosen:
            if name not in available:
                kind = "pair type" if key == "expect" else "pair type, path or model"
                raise SettingError(
                    f"there is no {kind} {name!r}{suggestion(name, available)}", key, name
                )
    chosen_types = [path.pair_types for path in paths.values()]
    scored = {*pair_types} if None in chosen_types else {*chain(*filter(None, chosen_types))}
    for name, stated in expect.items():
        if stated != "unknown" and name not in scored:
            raise SettingError(
                f"no path scores the pair type {name!r}, so nothing checks what it should do; "
                "expected a path for it: add it to 'pair_types:' of a path, or leave it out here",
                "expect",
                name,
            )
