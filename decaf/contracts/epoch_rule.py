"""Contracts of rules that choose epochs of a training."""

from functools import partial

from decaf.contracts.base import Trial, require, same_twice
from decaf.models.epoch_rules.base import Epoch

MEASURED = {"accuracy": 0.5, "loss": 1.0}
"""Records that an example of a rule can use; the numbers change from epoch to epoch."""


def chooses_among_the_kept_epochs(trial: Trial) -> None:
    """choose() names kept epochs, at least one, each once, and the same each time."""
    for numbers in ((1,), (1, 2, 3, 4, 5, 6, 7, 8), (1, 2, 4, 16)):
        epochs = [
            Epoch(number, {name: value * (number % 3) for name, value in MEASURED.items()})
            for number in numbers
        ]
        chosen = list(
            same_twice(
                partial(trial.member.choose, epochs),
                "choose() chooses other epochs when it is asked again",
            )
        )
        require(
            chosen and len(set(chosen)) == len(chosen) and set(chosen) <= set(numbers),
            f"choose() of the epochs {list(numbers)} returned {chosen}; expected some of them, "
            "each once",
        )
