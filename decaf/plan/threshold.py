"""Remarks on the endpoint threshold of a study."""

from decaf.plan.study import Study


def remark_default_epsilon(study: Study) -> list[str]:
    """Remark on the default ``epsilon`` of a study whose score is not a probability.

    The default is meant for probabilities: with it, almost every endpoint difference of logits or
    prices counts as an effect (paper, appendix B.6). Empty for other studies.
    """
    kind = study.score.kind
    if kind.endswith("probability") or "epsilon" in study.model_fields_set:
        return []
    return [
        f"the score is a {kind} and the study sets no 'epsilon:', so differences of "
        f"{study.epsilon:g} and more count as effects; set 'epsilon:' in units of the score, such "
        "as the median |d| of a control pair type"
    ]
