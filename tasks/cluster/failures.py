"""Failures of several steps as one error."""

from collections.abc import Sequence

from prefect.states import State

from decaf.errors import DecafError
from tasks.cluster.drive import common_error


def raise_failures(states: Sequence[State]) -> None:
    """Raise what failed among steps that ended, all of it in one message; nothing if none did.

    What nobody foresaw is raised as it is, with its traceback.
    """
    failed = [state for state in states if not state.is_completed()]
    errors = [state.result(raise_on_failure=False) for state in failed]
    strange = [error for error in errors if not isinstance(error, DecafError)]
    messages = {str(error): error for error in errors}
    if strange or len(messages) == 1:
        raise (strange or errors)[0]
    if messages:
        raise common_error(errors, "\n".join(messages)) from errors[0]
