"""A callable on numpy arrays as a model."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ModelError
from decaf.foundation.arrays import Tensor, as_array, as_real, to_numpy
from decaf.models.card import Output


class ArrayModel:
    """Inputs as a numpy array → outputs of a callable, on the CPU.

    ``answer`` takes float32 inputs and returns (n,) or (n, outputs) numbers, ``name`` is what
    messages call it, ``estimator`` is what answers, for explanations that look inside.
    """

    def __init__(
        self,
        answer: Callable[[NDArray[np.float32]], Any],
        output: Output,
        name: str,
        estimator: Any = None,
    ) -> None:
        import torch

        self.output = output
        self.estimator = estimator
        self.device = torch.device("cpu")
        self._answer = answer
        self._name = name

    def outputs(self, inputs: Tensor) -> Tensor:
        """(n, …) float32 → (n, outputs) float64.

        Raises ModelError when the callable refuses the inputs (``ValueError``), or what comes back
        is not an array of real numbers, one row for each input.
        """
        import torch

        try:
            answer = self._answer(inputs.numpy())
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
