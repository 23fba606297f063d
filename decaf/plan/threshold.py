"""Remarks on the endpoint threshold of a study."""

from decaf.plan.study import Study


def remark_default_epsilon(study: Study) -> list[str]:
    """Remark on a score that is no probability where the study sets no ``epsilon:``.

    The default is meant for probabilities: for logits or prices it calls almost every endpoint
    difference an effect (paper, appendix B.6). Empty otherwise.
    """
    kind = study.score.kind
    if kind.endswith("probability") or "epsilon" in study.model_fields_set:
        return []
    return [
        f"the score is a {kind} and the study sets no 'epsilon:', so differences from "
        f"{study.epsilon:g} on count as effects; set 'epsilon:' in units of the score, such as the "
        "median |d| of a control pair type"
    ]
