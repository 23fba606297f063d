"""How a flow of Prefect ends, by the error that ended it."""

from typing import TYPE_CHECKING

from decaf.errors import ChecksFailed, DecafError

if TYPE_CHECKING:
    from prefect.states import State

NEEDS_ATTENTION = "NeedsAttention"
"""State of a flow run that did all its work, and found what somebody has to answer."""


def final_state(error: DecafError) -> "State":
    """The failed state that says what the command line would: its message, and no traceback.

    It is called ``NeedsAttention`` where results are there and a gate, an entry or a check failed.
    """
    from prefect.states import Failed  # which takes seconds to import

    name = NEEDS_ATTENTION if error.exit_code == ChecksFailed.exit_code else "Failed"
    return Failed(name=name, message=f"exit code {error.exit_code}: {error}")
