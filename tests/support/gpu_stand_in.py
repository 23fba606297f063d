"""Tensors that pretend to be on a GPU, and note asynchronous copies."""

import torch

NOTED = []
"""Calls of the device, in order."""


class OnGpu(torch.Tensor):
    """Tensor of the host that pretends to be on a GPU."""

    device = torch.device("cuda")

    def to(self, *given, **named):
        NOTED.append(("to", given, named))
        return self.as_subclass(torch.Tensor)


class OnHost(torch.Tensor):
    """Tensor of the host, whose copies to a GPU pretend to be there."""

    def pin_memory(self):
        NOTED.append("pinned")
        return self

    def to(self, device, **named):
        NOTED.append(("to", device.type, named))
        return self.as_subclass(OnGpu if device.type == "cuda" else torch.Tensor)


class Event:
    """Stand-in for an event of the GPU."""

    count = 0

    def __init__(self):
        Event.count += 1
        self.number = Event.count

    def record(self, stream):
        NOTED.append(f"copy {self.number}")

    def synchronize(self):
        NOTED.append(f"wait {self.number}")


def stand_in(monkeypatch):
    """Replace torch's calls for a GPU by these; returns the empty list of notes."""
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: None)
    Event.count = 0
    NOTED.clear()
    return NOTED
