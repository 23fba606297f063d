"""When an audit may stop before it has scored every pair."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from decaf.errors import SettingError, number_of, suggestion
from decaf.foundation.settings import LARGEST_SEED, Settings, fault
from decaf.registry.gates import METRICS
from decaf.scoring.scores.base import ScoreDefinition

AMOUNT = re.compile(r"(?P<blocks>[1-9]\d*) blocks?|(?P<percent>\d+(\.\d+)?) ?%")


def _is_amount(text: str) -> str:
    amount = AMOUNT.fullmatch(text)
    if amount is None or not 0 < float(amount["percent"] or 1) <= 100:
        raise fault(
            f"it is {text!r}; expected a number of blocks, as '2 blocks', or a share, as '25 %'"
        )
    return text


Amount = Annotated[str, AfterValidator(_is_amount)]


class Stop(Settings):
    """Conditions under which an audit stops early; blocks then come in a random order."""

    when: Literal["gates_decided", "interval"] = Field(
        description="`gates_decided`: a version of a registry needs no more blocks once every gate "
        "is decided; `interval`: a model needs none once all intervals of `metric` are narrow"
    )
    metric: str | None = Field(
        None,
        description="metric whose intervals must be narrow, one that gates can limit",
    )
    half_width: float | None = Field(
        None, gt=0, description="largest half width of an interval of `metric`, its unit"
    )
    error: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="largest probability of a wrong early decision, over all gates, models, pair "
        "types and paths together",
    )
    at_least: Amount = Field(
        "2 blocks", description="smallest part to score: `2 blocks`, or `10 %` of all"
    )
    at_most: Amount = Field("100 %", description="largest part to score, decided or not")
    every: int = Field(
        1,
        gt=0,
        le=1_000_000,
        description="blocks of each model that are scored between two looks, in parallel if there "
        "are workers",
    )
    seed: int = Field(0, ge=0, le=LARGEST_SEED, description="seed of the order of the sources")
    by_class: bool = Field(
        False,
        description="distribute the sources of each class over all blocks; needs many more blocks, "
        "because blocks are then drawn instead of sources",
    )
    bounds: tuple[float, float] | None = Field(
        None,
        description="smallest and largest possible value of q; required for scores without bounds",
    )

    @field_validator("metric")
    @classmethod
    def _is_column(cls, metric: str | None) -> str | None:
        if metric is not None and metric not in METRICS:
            raise fault(f"there is no column '{metric}'{suggestion(metric, METRICS)}")
        return metric

    @model_validator(mode="after")
    def _is_complete(self) -> "Stop":
        is_interval = self.when == "interval"
        for key in ("metric", "half_width"):
            if (getattr(self, key) is not None) != is_interval:
                raise fault(
                    f"'when: interval' needs '{key}'"
                    if is_interval
                    else f"'{key}' belongs to 'when: interval'; leave it out for gates",
                    key,
                )
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise fault(
                f"'bounds' is {list(self.bounds)}; expected the smaller value first", "bounds"
            )
        return self

    def to_the_end(self) -> "Stop":
        """The same order, with every block scored."""
        return self.model_copy(update={"at_least": "100 %", "at_most": "100 %"})

    def span(self, block_count: int) -> tuple[int, int]:
        """Number of blocks before the first look, and largest number of blocks.

        Raises SettingError, with the keys that lead to it, if the study has fewer blocks than the
        first number, or if the last number is below the first.
        """
        first, last = (_blocks(amount, block_count) for amount in (self.at_least, self.at_most))
        if first > block_count:
            raise SettingError(
                f"it is {self.at_least!r}, and the study has {number_of(block_count, 'block')}; "
                "lower it, or make blocks smaller with 'sources_per_block:'",
                *("stop", "at_least"),
            )
        if first > last:
            raise SettingError(
                f"it is {self.at_most!r} ({last} of {number_of(block_count, 'block')}), but "
                f"'at_least' is {self.at_least!r} ({number_of(first, 'block')}); expected no fewer "
                "blocks than 'at_least'",
                *("stop", "at_most"),
            )
        return first, min(last, block_count)


def _blocks(amount: str, block_count: int) -> int:
    match = AMOUNT.fullmatch(amount)
    assert match is not None  # as it was checked
    if match["blocks"]:
        return int(match["blocks"])
    return max(1, -int(-block_count * float(match["percent"]) // 100))


def check_stop(
    stop: Stop, score: ScoreDefinition, *, has_gates: bool, whole: Sequence[str]
) -> None:
    """Refuse a study that cannot stop early; ``whole`` lists its keys that need all pairs.

    Raises a fault, for pydantic, that names the key.
    """
    if stop.when == "gates_decided" and not has_gates:
        raise fault(
            "'when: gates_decided' needs 'gates', and so a 'registry': add both, or use "
            "'when: interval'",
            "stop",
        )
    for key in whole:
        raise fault(f"'{key}' needs all pairs, so scoring cannot stop early", "stop")
    if stop.bounds is None and score.bounds is None:
        raise fault(
            "'stop' needs 'bounds': the smallest and the largest value that the score "
            f"{score.kind} can have",
            "stop",
        )
    if stop.bounds is not None and score.bounds is not None:
        raise fault(f"the score {score.kind} already has bounds; remove 'bounds'", "stop")
