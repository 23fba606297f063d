"""Failures of several steps or models as one error."""

from collections.abc import Sequence

from decaf.errors import BadInput, DecafError, ModelsFailed, ScoringFailed
from tasks.cluster.drive import common_error

OF_A_MODEL = (BadInput, ScoringFailed)
"""Errors that one model can have while the others are audited."""


def raise_failures(errors: Sequence[BaseException]) -> None:
    """Raise the errors of steps, all of them in one message; nothing where there are none.

    An error that is not decaf's is raised as it is, with its traceback.
    """
    failure = failure_of_models(errors, is_partial=False)
    if failure is not None:
        raise failure


def failure_of_models(errors: Sequence[BaseException], *, is_partial: bool) -> BaseException | None:
    """Error that stands for the errors of models and of steps before them; None without any.

    It is ModelsFailed where they are errors of models alone and, as ``is_partial`` says, other
    models are audited. Each message is told once. An error that is not decaf's stands for all.
    """
    if not errors:
        return None
    messages = dict.fromkeys(map(str, errors))
    if is_partial and all(isinstance(error, OF_A_MODEL) for error in errors):
        listed = "\n".join(messages)
        return ModelsFailed(f"some models failed, and the others are audited:\n{listed}")
    unforeseen = [error for error in errors if not isinstance(error, DecafError)]
    if unforeseen or len(messages) == 1:
        return (unforeseen or errors)[0]
    failure = common_error(errors, "\n".join(messages))
    failure.__cause__ = errors[0]
    return failure
