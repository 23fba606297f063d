"""Behaviours of models of ImageNet-9 as the paper defines them (appendix F), unit by unit."""

import numpy as np


def behaviours(scores, class_id, epsilon, change):
    """Y_E, Y_C and Y_F of a unit; None where what they need has not been scored.

    ``scores`` are arrays (classes,) of ``same``, ``rand`` and ``next``, and (corruptions, classes)
    ``corrupted`` of units whose endpoint shows nothing. The first of equal scores is predicted.
    """
    same, rand = scores["same"], scores["rand"]
    fall = same[class_id] - rand[class_id]
    is_right = same.argmax() == class_id
    evidence = is_right and (rand.argmax() != class_id or fall >= change)
    contradiction = fragility = None
    if "next" in scores:
        contradiction = is_right and scores["next"].argmax() == (class_id + 1) % len(same)
    if abs(fall) >= epsilon:
        fragility = False
    elif "corrupted" in scores:
        fragility = any(
            moved.argmax() != same.argmax() or abs(moved[class_id] - same[class_id]) >= change
            for moved in np.asarray(scores["corrupted"])
        )
    return bool(evidence), contradiction and bool(contradiction), fragility
