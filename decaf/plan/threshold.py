"""Remarks on the endpoint threshold of a study."""

from decaf.plan.study import Study

SHARES = (0.0, 1.0)
"""Bounds of probabilities."""


def remark_default_epsilon(study: Study) -> list[str]:
    """Remark on the default ``epsilon`` of a study whose score is not bounded by 0 and 1.

    The default is meant for probabilities: with it, almost every endpoint difference of logits or
    prices counts as an effect (paper, appendix B.6). Empty for other studies.
    """
    bounds = study.score.bounds
    if bounds == SHARES or "epsilon" in study.model_fields_set:
        return []
    units = f"for scores from {bounds[0]:g} to {bounds[1]:g}" if bounds else "in units of the score"
    return [
        f"the study sets no 'epsilon:' for its score, {study.score.kind}, so differences of "
        f"{study.epsilon:g} and more count as effects, as for probabilities; set 'epsilon:' "
        f"{units}, such as the median |d| of a control pair type"
    ]
