"""A process that dies at the N-th file system operation: nothing that it does later happens."""

import os
from contextlib import contextmanager, suppress
from pathlib import Path

from warehouse.storage import local
from warehouse.storage.local import LocalStorage


class Killed(BaseException):
    """The process is dead from here on."""


@contextmanager
def killed_at(monkeypatch, step, is_dead=True):
    """Die at a step: before an operation, half-way through a write, or after an operation.

    Steps count from 0. The context yields a list that holds the step's name once it is reached,
    and swallows :class:`Killed`. A process that is not dead then was interrupted, and cleans up.
    """
    reached, count = [], 0

    def point(name, half=None):
        nonlocal count
        if reached and not is_dead:
            return
        if reached:
            raise Killed
        if count == step:
            reached.append(name)
            if half:
                half()
            raise Killed
        count += 1

    def wrap(owner, name, is_writing=False):
        original = getattr(owner, name)

        def halve(arguments):
            original(*arguments[0], **arguments[1])
            path = arguments[0][0]
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

        def operation(*arguments, **options):
            point(f"before {name}")
            if is_writing:
                point(f"within {name}", lambda: halve((arguments, options)))
            result = original(*arguments, **options)
            point(f"after {name}")
            return result

        patch.setattr(owner, name, operation)

    with monkeypatch.context() as patch:
        wrap(os, "fsync")
        wrap(Path, "replace")
        wrap(Path, "unlink")
        wrap(local, "write_to", is_writing=True)
        with suppress(Killed):
            yield reached


def every_step(monkeypatch, prepare, act, is_dead=True):
    """Kill ``act`` at every step, each time on what ``prepare`` returns; yields it afterwards."""
    for step in range(1000):
        subject = prepare(step)
        with killed_at(monkeypatch, step, is_dead) as reached:
            act(subject)
        if not reached:
            return
        yield subject, reached[0]
    raise AssertionError("it never came to an end")


LOCAL_CHANGES = ((Path, "replace"), (LocalStorage, "delete"))


def every_change(monkeypatch, prepare, act, changes=LOCAL_CHANGES):
    """Kill ``act`` before every object that it publishes or deletes, in the same way."""
    for last in range(1000):
        subject, reached, count = prepare(last), [], 0

        def wrap(patch, owner, name, last=last, reached=reached):
            original = getattr(owner, name)

            def change(*arguments):
                nonlocal count
                if count == last:
                    reached.append(name)
                if reached:
                    raise Killed
                count += 1
                return original(*arguments)

            patch.setattr(owner, name, change)

        with monkeypatch.context() as patch, suppress(Killed):
            for owner, name in changes:
                wrap(patch, owner, name)
            act(subject)
        if not reached:
            return
        yield subject, reached[0]
    raise AssertionError("it never came to an end")
