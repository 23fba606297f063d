"""Score of images and its gradient for attribution methods, counting every query."""

from collections.abc import Callable
from typing import Any

from decaf.errors import ModelError
from decaf.foundation.arrays import Tensor
from decaf.models.card import Model
from decaf.scoring.scores.base import ScoreDefinition


class CountedScore:
    """``q`` of every image, and the rows that it took.

    ``answer`` maps (n, channels, height, width) images to (n, columns) scores; gradients flow
    through it where the images ask for them. ``forward_rows`` and ``backward_rows`` count the
    images that went through so far, in each direction. The model subtracts ``mean`` from images and
    divides them by ``std`` first, one number for each channel or for all, as far as it says so;
    ``normalisation`` has both, or is None.
    """

    def __init__(
        self,
        answer: Callable[[Tensor], Tensor],
        mean: tuple[float, ...] | None = None,
        std: tuple[float, ...] = (1.0,),
    ) -> None:
        self.forward_rows = self.backward_rows = 0
        self.normalisation = None if mean is None else (mean, std)
        self._answer = answer

    def __call__(self, images: Tensor, columns: Tensor) -> Tensor:
        """(n, channels, height, width) images, (n,) column that is the q of each → (n,) q.

        Columns on the host are compared without waiting for pending work of a GPU.
        """
        import torch

        scored = self._answer(images)
        if scored.ndim != 2 or len(scored) != len(images):
            raise ModelError(
                f"the score returned shape {tuple(scored.shape)} for {len(images)} images; "
                f"expected ({len(images)}, columns)"
            )
        self.forward_rows += len(images)
        if columns.max() >= scored.shape[1]:
            raise ModelError(
                f"column {int(columns.max())} is asked for, and the score returned "
                f"{scored.shape[1]}; expected 0 to {scored.shape[1] - 1}"
            )
        places = columns.to(scored.device, non_blocking=True)
        q = scored.gather(1, places[:, None])[:, 0]
        if torch.is_grad_enabled() and images.requires_grad:
            if not q.requires_grad:
                raise ModelError(
                    "the score has no gradient with respect to the images; choose an attribution "
                    "method that needs none, such as occlusion or rise"
                )
            q.register_hook(self._count_backward)
        return q

    def gradient(self, images: Tensor, columns: Tensor) -> Tensor:
        """Gradient of every image's q, of the shape of the images."""
        import torch

        with torch.enable_grad():
            leaves = images.detach().requires_grad_()
            return torch.autograd.grad(self(leaves, columns).sum(), leaves)[0]

    def _count_backward(self, gradient: Tensor) -> None:
        self.backward_rows += len(gradient)


def score_of(model: Model, definition: ScoreDefinition) -> CountedScore:
    """Score of a model by a definition, with the sign that makes larger values mean more.

    Images that ask for gradients need a model with ``differentiable_outputs``, as networks have it;
    others go through in inference mode. Raises ModelError at the first query for a gradient that
    the model cannot answer.
    """
    import torch

    def answer(images: Tensor) -> Tensor:
        outputs: Any = model.outputs
        if torch.is_grad_enabled() and images.requires_grad:
            outputs = getattr(model, "differentiable_outputs", None)
            if outputs is None:
                raise ModelError(
                    "the model gives outputs without gradients; choose an attribution method that "
                    "needs none, such as occlusion or rise"
                )
        return definition.sign * definition.values(outputs(images), model.output)

    return CountedScore(answer, *getattr(model, "normalisation", ()))
