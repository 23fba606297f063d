"""Changes computed from a photo itself, such as a shift for a control."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.errors import DataError
from decaf.foundation.settings import Settings, fault


class PhotoChange(Settings):
    """Change of a photo as models get it, after `resize` and `crop`: mirror, then shift."""

    shift: int = Field(
        0, description="px to the right, or to the left if negative; the edge is repeated"
    )
    mirror: bool = Field(False, description="exchange left and right")

    @model_validator(mode="after")
    def _changes_something(self) -> "PhotoChange":
        if not (self.shift or self.mirror):
            raise fault("it changes nothing; give 'shift' or 'mirror'")
        return self

    def apply(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """Mirror, then shift; (height, width, channels) → the same shape and type.

        Raises DataError for a shift of the whole width or more.

        >>> PhotoChange(shift=1).apply(np.array([[[1], [2], [3]]])).ravel().tolist()
        [1, 1, 2]
        """
        width = pixels.shape[1]
        if abs(self.shift) >= width:
            raise DataError(
                f"'shift' is {self.shift} px; expected less than the photo's width, {width} px"
            )
        mirrored = pixels[:, ::-1] if self.mirror else pixels
        columns = np.clip(np.arange(width) - self.shift, 0, width - 1)
        return np.ascontiguousarray(mirrored[:, columns])
