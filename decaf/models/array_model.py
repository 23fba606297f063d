"""A callable on numpy arrays as a model."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.frame_libraries import Frame
from decaf.data.frames import FrameSchema
from decaf.errors import ModelError, listed, suggestion
from decaf.foundation.arrays import Tensor, as_array, as_real, to_numpy
from decaf.models.card import Output


class ArrayModel:
    """Inputs as a numpy array → outputs of a callable, on the CPU.

    ``answer`` takes float32 inputs and returns (n,) or (n, outputs) numbers, ``name`` is what
    messages call it, ``estimator`` is what answers, for explanations that look inside.
    ``seed_argument`` is the keyword argument of ``answer`` that gets the seed of a query, if any.
    ``frame_columns`` are those of the frame that it is called with where the data are a table: none
    for all that the table has, None for a model that takes arrays alone.
    """

    def __init__(
        self,
        answer: Callable[..., Any],
        output: Output,
        name: str,
        estimator: Any = None,
        frame_columns: Sequence[str] | None = None,
        seed_argument: str | None = None,
    ) -> None:
        import torch

        self.output = output
        self.estimator = estimator
        self.device = torch.device("cpu")
        self._answer = answer
        self._name = name
        self._frame_columns = frame_columns
        self._seed_argument = seed_argument
        self._frame: Callable[[NDArray[np.floating]], Frame] | None = None

    def of_frames(self, columns: FrameSchema) -> "ArrayModel | None":
        """The same model for rows of a table, called with frames; None if it takes arrays alone.

        Raises ModelError when the table lacks a column that the model was fitted on.
        """
        wanted = self._frame_columns
        if wanted is None:
            return None
        known = [column.name for column in columns.columns]
        if lacking := [name for name in wanted if name not in known]:
            raise ModelError(
                f"{self._name} was fitted on the columns {listed(wanted)}; the table lacks "
                f"{listed(lacking)}{suggestion(lacking[0], known)}"
            )
        model = copy(self)
        model._frame = lambda rows: columns.decode(rows)[list(wanted or known)]
        return model

    def outputs(self, inputs: Tensor) -> Tensor:
        """(n, …) float32 → (n, outputs) float64, with the seed 0 where the callable takes one.

        Raises what :meth:`seeded_outputs` raises.
        """
        return self.seeded_outputs(inputs, 0)

    def seeded_outputs(self, inputs: Tensor, seed: int) -> Tensor:
        """(n, …) float32 and the seed of the query → (n, outputs) float64.

        Raises ModelError when the callable refuses the inputs (``ValueError``), or what comes back
        is not an array of real numbers, one row for each input.
        """
        import torch

        rows = inputs.numpy()
        seeds = {self._seed_argument: seed} if self._seed_argument else {}
        try:
            answer = self._answer(rows if self._frame is None else self._frame(rows), **seeds)
        except ValueError as error:
            raise ModelError(f"{self._name} could not answer: {error}") from error
        output = f"the output of {self._name}"
        found = to_numpy(as_real(as_array(answer, output, ModelError), output, ModelError))
        if found.ndim not in (1, 2) or len(found) != len(inputs):
            raise ModelError(
                f"{self._name} returned shape {found.shape} for {len(inputs)} inputs; expected "
                f"({len(inputs)}, outputs)"
            )
        columns = found if found.ndim == 2 else found[:, None]
        return torch.from_numpy(columns.astype(np.float64))
