"""Models of applicants that one job alone moves, by an amount that their card sets."""

import numpy as np


def build(effect, base=0.4):
    """Function of (n, 2) probabilities of no and yes; smiths have ``effect`` more of yes."""

    def chances(frame):
        yes = base + effect * (frame["job"] == "smith").to_numpy(float)
        return np.stack([1 - yes, yes], axis=1)

    return chances
