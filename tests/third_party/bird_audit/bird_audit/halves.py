"""What the score loses without the left half of an image, and without the right."""

from typing import ClassVar, Literal

from decaf.evaluation.attributions.base import MapMethod


class Halves(MapMethod):
    """Each half has the score that is lost when it is black."""

    access: ClassVar = "forward"

    kind: Literal["halves"] = "halves"

    @property
    def forward_calls(self) -> int:
        """The image, and without each of its halves."""
        return 3

    def attribute_batch(self, score, batch):
        images, width = batch.images, batch.images.shape[3]
        maps = images[:, :1] * 0
        whole = score(images, batch.columns)
        for half in (slice(0, width // 2), slice(width // 2, width)):
            without = images.clone()
            without[..., half] = 0
            lost = whole - score(without, batch.columns)
            maps[..., half] = lost[:, None, None, None].to(maps.dtype)
        return maps
