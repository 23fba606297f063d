"""Contracts of sources of models; their example has to be a card that can be loaded here."""

from typing import get_args

import torch

from decaf.contracts.base import Broken, Trial, require, same_twice
from decaf.errors import BadInput
from decaf.models.card import Model, Output

SHAPES = ((3, 32, 32), (3, 224, 224), (4,), (54,))
"""Shapes of one input to try if the class does not set `example_shape`."""
ROWS, TOLERANCE = 3, 1e-4


def is_known_by_digests(trial: Trial) -> None:
    """weights_digest() and preprocessing_digest are texts, the same each time."""
    card = trial.member
    for name, digest in (
        ("weights_digest()", lambda: card.weights_digest()),
        ("preprocessing_digest", lambda: card.preprocessing_digest),
    ):
        text = same_twice(digest, f"{name} differs when it is asked again")
        require(
            isinstance(text, str) and text,
            f"{name} is {text!r}; expected a text, as json_sha256(…) makes it",
        )
    require(isinstance(card.origin, str), f"origin is {card.origin!r}; expected a text for people")


def answers_a_batch(trial: Trial) -> None:
    """outputs() turns a batch into one row of numbers per input, for every batch."""
    model = trial.member.load("cpu")
    require(
        getattr(model, "output", None) in get_args(Output),
        f"the model's 'output' is {getattr(model, 'output', None)!r}; expected one of "
        f"{', '.join(get_args(Output))}",
    )
    inputs = _inputs(trial, model)
    outputs = model.outputs(inputs)
    require(
        isinstance(outputs, torch.Tensor) and outputs.ndim in (1, 2) and len(outputs) == ROWS,
        f"outputs() of {ROWS} inputs returned {type(outputs).__name__} of shape "
        f"{tuple(getattr(outputs, 'shape', ()))}; expected a tensor ({ROWS}, outputs)",
    )
    alone = torch.cat([model.outputs(inputs[[row]]) for row in range(ROWS)])
    difference = float((alone - outputs).abs().max())
    require(
        difference <= TOLERANCE,
        f"outputs of inputs one by one differ by {difference:.2g} from those of the batch; put the "
        "network into eval()",
    )
    require(not outputs.requires_grad, "outputs() keeps gradients; use torch.inference_mode()")


def _inputs(trial: Trial, model: Model) -> torch.Tensor:
    example_shape = getattr(trial.member, "example_shape", None)
    random = torch.Generator().manual_seed(0)
    refused = {}
    for shape in SHAPES if example_shape is None else (example_shape,):
        inputs = torch.rand(ROWS, *shape, generator=random)
        try:
            model.outputs(inputs)
        except (BadInput, RuntimeError, ValueError) as error:  # how models refuse a shape
            refused[shape] = str(error)
            continue
        return inputs
    raise Broken(
        f"the model takes no input that was tried: {refused}; write example_shape: "
        "ClassVar[tuple[int, ...]] = (channels, height, width) or (features,) in the class"
    )
