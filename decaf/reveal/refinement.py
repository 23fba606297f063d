"""Stages that a run doubles until the means of a path stop moving."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, get_args

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ResponseError, suggestion

MOST_STAGES = 10_000
SET_BY_RUN = {"is_key": False}
"""Metadata of fields that a configuration does not have."""


@dataclass(frozen=True)
class Refinement:
    """Rule for the stages of a path, with the grid that a run has come to."""

    until: float = field(
        metadata={
            "description": "largest distance from 0 of the 95 % interval of the change of a mean "
            "E, C, F or Abs, score units"
        }
    )
    at_most: int = field(
        metadata={"description": "largest number of stages, which doubling must reach, as 65"}
    )
    grid: tuple[float, ...] | None = field(default=None, metadata=SET_BY_RUN)
    """Stages of a run, from 0 to 1; None before the first run."""
    exact: int | None = field(default=None, metadata=SET_BY_RUN)
    """Number of stages that shows every state of the path; None where states are continuous."""

    def __post_init__(self) -> None:
        if not self.until > 0:
            raise ResponseError(f"'until' is {self.until:g}; expected a number above 0")
        if not 2 <= self.at_most <= MOST_STAGES:
            raise ResponseError(f"'at_most' is {self.at_most}; expected 2 to {MOST_STAGES} stages")

    def check_start(self, start: int) -> None:
        """Raise ResponseError if doubling ``start`` stages never gives ``at_most`` stages."""
        counts = list(_doubled_counts(start, max(4 * start, 2 * self.at_most)))
        if self.at_most not in counts:
            raise ResponseError(
                f"'at_most' is {self.at_most}, and the path starts at {start} stages; expected "
                f"one of {', '.join(map(str, counts))}, …"
            )

    def settle(
        self, start: NDArray[np.float64], exact: int | None, recorded: tuple[float, ...] | None
    ) -> "Refinement":
        """Set the grid: the recorded one of an earlier run if refining reaches it, else the start.

        Parameters
        ----------
        start
            (n_stages,) grid of the first run.
        exact
            Number of stages that shows every state of the path, if there is one.
        recorded
            Grid of the newest run; None without one.
        """
        rule = replace(self, grid=tuple(start.tolist()), exact=exact)
        reached: Refinement | None = rule
        while reached is not None and reached.grid != recorded:
            reached = reached.refine()
        return reached or rule

    def refine(self) -> "Refinement | None":
        """Double the stages, or show every state; None beyond ``at_most`` or ``exact``."""
        if self.grid is None or (self.exact is not None and len(self.grid) >= self.exact):
            return None
        finer = double_grid(np.array(self.grid))
        if self.exact is not None and finer.size > self.exact:
            finer = np.linspace(0, 1, self.exact)
        return replace(self, grid=tuple(finer.tolist())) if finer.size <= self.at_most else None

    def finest(self) -> "Refinement":
        """Refine as often as possible."""
        finer = self.refine()
        return self if finer is None else finer.finest()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Take `until` and `at_most` from a configuration, and no other key."""
        from pydantic_core import core_schema

        from decaf.foundation.settings import checked_dataclass, fault

        keys = [each.name for each in fields(cls) if each.metadata != SET_BY_RUN]

        def check_keys(stated: Any) -> Any:
            for key in stated if isinstance(stated, dict) else ():
                if key not in keys:
                    raise fault(f"unknown key '{key}'{suggestion(str(key), keys)}", str(key))
            return stated

        schema = checked_dataclass(cls, handler(source))
        return core_schema.no_info_before_validator_function(check_keys, schema)


class RuleOrStages:
    """Annotation of ``int | tuple[float, ...] | Refinement``: a mapping always means a rule."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Choose by the form of a value, so that errors name the expected form."""
        from pydantic_core import core_schema

        plain = [each for each in get_args(source) if each is not Refinement]
        forms = {
            "rule": handler.generate_schema(Refinement),
            "plain": core_schema.union_schema([handler.generate_schema(each) for each in plain]),
        }

        def choose_form(stated: Any) -> str:
            return "rule" if isinstance(stated, dict | Refinement) else "plain"

        return core_schema.tagged_union_schema(forms, choose_form)


Stages = Annotated[int | tuple[float, ...] | Refinement, RuleOrStages()]
"""Number of evenly spaced stages, the stages from 0 to 1, or a rule that doubles them."""


def double_grid(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add a stage halfway between neighbouring stages; (n_stages,) → (2 n_stages - 1,) float64.

    An evenly spaced grid gives the bits of ``np.linspace``, so a study that sets that number of
    stages has the same units.

    >>> double_grid(np.array([0.0, 0.2, 1.0])).tolist()
    [0.0, 0.1, 0.2, 0.6, 1.0]
    """
    finer = np.linspace(0, 1, 2 * grid.size - 1)
    if not np.array_equal(finer[::2], grid):
        finer[::2], finer[1::2] = grid, (grid[1:] + grid[:-1]) / 2
    return finer


def _doubled_counts(start: int, most: int) -> Iterator[int]:
    """Numbers of stages that doubling reaches, up to ``most``."""
    while start <= most:
        yield start
        start = 2 * start - 1
