"""A start and rules of reveal paths that break one contract each."""

import torch

from decaf.reveal.paths.blend import Fade


class OneSided:
    of_pair = True

    def states(self, plus, minus, draw):
        return 0.5 * plus


class OfTheBatch(Fade):
    def states(self, start, clean, content, regions):
        return super().states(start, clean, content, regions) + 0.01 * len(clean)


class Short(Fade):
    def states(self, start, clean, content, regions):
        return 0.97 * super().states(start, clean, content, regions)


class OfNumpy(Fade):
    def states(self, start, clean, content, regions):
        is_tensor = isinstance(clean, torch.Tensor)
        return super().states(start, clean, content, regions) + (0.1 if is_tensor else 0)


class OfItsOwn(Fade):
    def states(self, start, clean, content, regions):
        return super().states(start, clean, content, regions)

    def write(self, built, start, clean, content, regions):
        super().write(built, start, clean, content, regions)
        built += 1e-6
