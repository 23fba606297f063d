"""Expectations: whether a change of the input should move the score, and how far it may."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from decaf.foundation.settings import Limit, Settings, fault

Kind = Literal["should_matter", "should_not_matter", "control", "unknown"]
EXAMPLE = "{should_not_matter: {at_most: 0.05}}"


class AtMost(Settings):
    """Limit of a response that should not be there."""

    at_most: Limit = Field(ge=0, description="largest Abs and M, in score units, that are safe")


class AtLeast(Settings):
    """Limit of a response that should be there."""

    at_least: Limit = Field(gt=0, description="smallest Abs or M, in score units, that suffices")


class LimitedExpectation(Settings):
    """An expectation with a limit on Abs and M; the report states safe, not safe or undecided."""

    should_not_matter: AtMost | None = Field(
        None, description="the change should not move the score further than this"
    )
    should_matter: AtLeast | None = Field(
        None, description="the change should move the score at least this far"
    )

    @model_validator(mode="after")
    def _states_one(self) -> "LimitedExpectation":
        if (self.should_not_matter is None) == (self.should_matter is None):
            count = "both" if self.should_matter else "neither"
            raise fault(
                f"found {count} of 'should_not_matter' and 'should_matter'; give exactly one, with "
                "its limit"
            )
        return self


def _check_word(stated: Any) -> Any:
    if isinstance(stated, dict | LimitedExpectation) or stated in get_args(Kind):
        return stated
    words = ", ".join(f"'{word}'" for word in get_args(Kind))
    raise fault(f"expected one of {words}, or a limit as in {EXAMPLE}")


Expectation = Annotated[
    Annotated[Kind, Tag("word")] | Annotated[LimitedExpectation, Tag("limit")],
    Discriminator(lambda stated: "word" if isinstance(stated, str) else "limit"),
    BeforeValidator(_check_word),
]
"""What a change of the input should do to the score: a word, or a word with a limit."""


def kinds_of(expect: Mapping[str, Expectation]) -> dict[str, Kind]:
    """Kinds of expectations by pair type, without their limits.

    >>> kinds_of({"wall": LimitedExpectation(should_not_matter=AtMost(at_most=0.05))})
    {'wall': 'should_not_matter'}
    """
    return {
        name: stated
        if isinstance(stated, str)
        else ("should_matter" if stated.should_matter else "should_not_matter")
        for name, stated in expect.items()
    }


def json_of(expect: Mapping[str, Expectation]) -> dict[str, Any]:
    """Expectations as JSON has them, for digests: a word, or a mapping with the limit."""
    return {
        name: stated if isinstance(stated, str) else stated.model_dump(exclude_none=True)
        for name, stated in expect.items()
    }
