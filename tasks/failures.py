"""Several failures told as one."""

from collections.abc import Sequence

from prefect.states import State

from decaf.errors import BadInput, DecafError, DiskRefuses, ScoringFailed, WriteFailed


def common_error(errors: Sequence[BaseException], text: str) -> DecafError:
    """The error that stands for several, of the kind that they share.

    A disk's refusal comes before all else. Of different kinds, it is bad input where all are, and
    otherwise a failure of the work.
    """
    kinds = {type(error) for error in errors}
    for kind in (DiskRefuses, WriteFailed):
        if kind in kinds:
            return kind(text)
    if len(kinds) == 1 and issubclass(kind := kinds.pop(), DecafError):
        return kind(text)
    if all(isinstance(error, BadInput) for error in errors):
        return BadInput(text)
    return ScoringFailed(text)


def raise_failures(states: Sequence[State]) -> None:
    """Raise what failed among steps that ended, all of it in one message; nothing if none did.

    What nobody foresaw is raised as it is, with its traceback.
    """
    failed = [state for state in states if not state.is_completed()]
    errors = [state.result(raise_on_failure=False) for state in failed]
    strange = [error for error in errors if not isinstance(error, DecafError)]
    told = {str(error): error for error in errors}
    if strange or len(told) == 1:
        raise (strange or errors)[0]
    if told:
        raise common_error(errors, "\n".join(told)) from errors[0]


def require(step: State, earlier: Sequence[State]) -> None:
    """Go no further unless a step succeeded; what failed in earlier ones is then told as well."""
    if not step.is_completed():
        raise_failures([*earlier, step])
