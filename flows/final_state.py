"""How a flow of Prefect ends, by the error that ended it."""

from prefect.states import Failed, State

from decaf.errors import ChecksFailed, DecafError
from flows.launch import NEEDS_ATTENTION


def final_state(error: DecafError) -> State:
    """The failed state that says what the command line would: its message, and no traceback.

    It is called ``NeedsAttention`` where results are there and a gate, an entry or a check failed.
    """
    name = NEEDS_ATTENTION if error.exit_code == ChecksFailed.exit_code else "Failed"
    return Failed(name=name, message=f"exit code {error.exit_code}: {error}")
