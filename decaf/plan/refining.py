"""Paths of a study whose stages a run doubles until their means stop moving."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ResponseError
from decaf.foundation.settings import fault
from decaf.reveal.path import RevealPath, stage_grid
from decaf.reveal.refinement import Refinement, Stages

FIRST_STAGES = 9
"""Stages with which a study starts that sets a rule for all its paths."""


def start_grid(stages: Stages) -> NDArray[np.float64]:
    """(n_stages,) the study's own stages, or those with which its rule starts."""
    return stage_grid(FIRST_STAGES if isinstance(stages, Refinement) else stages)


def list_rules(paths: Mapping[str, RevealPath], stages: Stages) -> dict[str, Refinement]:
    """Rule of every path that is refined: its own one, or the study's."""
    rules = {name: stages if path.stages is None else path.stages for name, path in paths.items()}
    return {name: rule for name, rule in rules.items() if isinstance(rule, Refinement)}


def check_rules(paths: Mapping[str, RevealPath], stages: Stages, *, can_stop: bool) -> None:
    """Refuse a largest number of stages that doubling does not reach, or a rule with `stop:`.

    Raises a fault, for pydantic, that names the key.
    """
    start = start_grid(stages).size
    for name, rule in list_rules(paths, stages).items():
        key = "stages" if paths[name].stages is None else "paths"
        if can_stop:
            raise fault(
                f"path {name} is refined until its means converge, which needs all pairs, but "
                "'stop' may leave some out; give the path a number of stages, or leave out 'stop'",
                key,
            )
        try:
            rule.check_start(start)
        except ResponseError as error:
            raise fault(f"path {name}: {error}", key) from error
