"""Failures of several steps as one error."""

from collections.abc import Iterable, Mapping

from prefect.states import State

from decaf.errors import BadInput, DecafError, ModelsFailed, ScoringFailed
from tasks.cluster.drive import common_error

OF_A_MODEL = (BadInput, ScoringFailed)
"""Errors that one model can have while the others are audited."""


def raise_failures(states: Iterable[State]) -> None:
    """Raise what failed among steps that ended, all of it in one message; nothing if none did.

    What nobody foresaw is raised as it is, with its traceback.
    """
    errors = _errors_of(states)
    strange = [error for error in errors if not isinstance(error, DecafError)]
    messages = {str(error): error for error in errors}
    if strange or len(messages) == 1:
        raise (strange or errors)[0]
    if messages:
        raise common_error(errors, "\n".join(messages)) from errors[0]


def models_failed(
    preparing: Iterable[State], computed: Mapping[str, State], model_count: int
) -> ModelsFailed | None:
    """Error that names the models that failed where others are audited; None in any other case.

    ``preparing`` are steps before, such as trainings; ``computed`` has the step of each model that
    had any work left, of ``model_count`` models. A full disk is no failure of a model.
    """
    of_models = _errors_of(computed.values())
    errors = [*_errors_of(preparing), *of_models]
    is_partial = errors and len(of_models) < model_count
    if not is_partial or not all(isinstance(error, OF_A_MODEL) for error in errors):
        return None
    messages = "\n".join(dict.fromkeys(map(str, errors)))
    return ModelsFailed(f"some models failed, and the others are audited:\n{messages}")


def _errors_of(states: Iterable[State]) -> list[BaseException]:
    failed = [state for state in states if not state.is_completed()]
    return [state.result(raise_on_failure=False) for state in failed]
