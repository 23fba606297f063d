"""Combine failures of several steps or models into one error."""

from collections.abc import Sequence

from decaf.errors import BadInput, DecafError, ModelsFailed, ScoringFailed
from tasks.cluster.drive import common_error

MODEL_ERRORS = (BadInput, ScoringFailed)
"""Errors that one model can have while the others are audited."""


def raise_failures(errors: Sequence[BaseException]) -> None:
    """Raise the errors of steps as one; does nothing without errors.

    An error that is not decaf's own is raised unchanged, with its traceback.
    """
    failure = failure_of_models(errors, is_partial=False)
    if failure is not None:
        raise failure


def failure_of_models(errors: Sequence[BaseException], *, is_partial: bool) -> BaseException | None:
    """One error for the errors of models and of earlier steps; None without errors.

    It is ModelsFailed if ``is_partial`` (other models are audited) and all errors belong to models.
    Repeated messages appear once. An error that is not decaf's own replaces all others.
    """
    if not errors:
        return None
    messages = dict.fromkeys(map(str, errors))
    if is_partial and all(isinstance(error, MODEL_ERRORS) for error in errors):
        listed = "\n".join(messages)
        return ModelsFailed(f"some models failed; the others are audited:\n{listed}")
    unforeseen = [error for error in errors if not isinstance(error, DecafError)]
    if unforeseen or len(messages) == 1:
        return (unforeseen or errors)[0]
    failure = common_error(errors, "\n".join(messages))
    failure.__cause__ = errors[0]
    return failure
