"""Final state of a Prefect flow that ended with an error."""

from typing import TYPE_CHECKING

from decaf.errors import ChecksFailed, DecafError, GatesUndecided

if TYPE_CHECKING:
    from prefect.states import State

NAMES = {ChecksFailed.exit_code: "NeedsAttention", GatesUndecided.exit_code: "Undecided"}
"""Names of the failed state, by exit code, for flow runs that did all their work."""


def final_state(error: DecafError) -> "State":
    """Build a failed state with the message of the command line and without a traceback.

    The state is called ``NeedsAttention`` when the results are stored and a gate, an entry or a
    check failed, and ``Undecided`` when no gate failed and some gate did not pass.
    """
    from prefect.states import Failed  # which takes seconds to import

    name = NAMES.get(error.exit_code, "Failed")
    return Failed(name=name, message=f"exit code {error.exit_code}: {error}")
