"""Keys of a card that select a network's tensors in a weight file."""

from typing import Annotated

from pydantic import Field

from decaf.foundation.settings import Settings


class StoredTensors(Settings):
    """Place and names of a network's tensors in its weight file."""

    entry: str | None = Field(
        None, description="entry of the torch file that holds the state dict, as `state_dict`"
    )
    prefix: str | None = Field(
        None,
        description="prefix to remove from names of tensors, as `module.`; tensors without it are "
        "not loaded",
    )
    leave_out: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (),
        description="tensors of the file to ignore, by their names or prefixes, as `[criterion.]`",
    )
