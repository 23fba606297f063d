"""Tensors that say that they are on a GPU, and note what is copied without waiting."""

import torch

NOTED = []
"""What has been asked of the device, in order."""


class OnGpu(torch.Tensor):
    """A tensor of the host that passes for one of a GPU."""

    device = torch.device("cuda")

    def to(self, *given, **named):
        NOTED.append(("to", given, named))
        return self.as_subclass(torch.Tensor)


class OnHost(torch.Tensor):
    """A tensor of the host; what is sent to a GPU passes for a tensor there."""

    def pin_memory(self):
        NOTED.append("pinned")
        return self

    def to(self, device, **named):
        NOTED.append(("to", device.type, named))
        return self.as_subclass(OnGpu if device.type == "cuda" else torch.Tensor)


class Event:
    """What stands for a moment in the work of the GPU."""

    count = 0

    def __init__(self):
        Event.count += 1
        self.number = Event.count

    def record(self, stream):
        NOTED.append(f"copy {self.number}")

    def synchronize(self):
        NOTED.append(f"wait {self.number}")


def stand_in(monkeypatch):
    """Have torch's calls for a GPU go here; what they note, which is empty."""
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: None)
    Event.count = 0
    NOTED.clear()
    return NOTED
