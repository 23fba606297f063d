"""How a flow of Prefect ends, by the error that ended it."""

from typing import TYPE_CHECKING

from decaf.errors import ChecksFailed, DecafError, GatesUndecided

if TYPE_CHECKING:
    from prefect.states import State

NAMES = {ChecksFailed.exit_code: "NeedsAttention", GatesUndecided.exit_code: "Undecided"}
"""Names of the failed state, by exit code, for flow runs that did all their work."""


def final_state(error: DecafError) -> "State":
    """Build the failed state that says what the command line would: its message, no traceback.

    The state is called ``NeedsAttention`` when the results are stored and a gate, an entry or a
    check failed, and ``Undecided`` when no gate failed and some gate did not pass.
    """
    from prefect.states import Failed  # which takes seconds to import

    name = NAMES.get(error.exit_code, "Failed")
    return Failed(name=name, message=f"exit code {error.exit_code}: {error}")
