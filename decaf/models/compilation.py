"""Networks that torch compiles: the same operations, fused, so rounded at other places."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, cast

from decaf.errors import ModelError
from decaf.foundation.arrays import Module

CompileMode = Literal["default", "reduce-overhead"]
"""Modes of ``torch.compile``; the second replays CUDA graphs on a GPU."""


def compiled(network: Module, mode: CompileMode) -> Module:
    """The network, to be compiled for the shapes and types of its first batches.

    Batches of another size may be compiled for once more; after a few, sizes are no longer part of
    what is compiled. The compiled code is kept where torch keeps it (``TORCHINDUCTOR_CACHE_DIR``).
    """
    import torch

    # Processes that compile beside this one would take the cores of other workers.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    return cast("Module", torch.compile(network, mode=mode))


@contextmanager
def compiling(model_id: str, mode: CompileMode | None) -> Iterator[None]:
    """Say what could not be compiled; what the network itself raises is raised as it is.

    Raises ModelError when torch cannot compile the network here.
    """
    if mode is None:  # what compiles takes two seconds to import
        yield
        return
    from torch._dynamo.exc import BackendCompilerFailed

    try:
        yield
    except BackendCompilerFailed as error:
        raise ModelError(
            f"model {model_id} could not be compiled by torch: {error.inner_exception}; install "
            "the compiler that it needs, or leave 'compile_mode:' out"
        ) from error
