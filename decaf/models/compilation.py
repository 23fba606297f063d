"""Networks that torch compiles: the same operations, fused, so rounded at other places."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, cast

from decaf.errors import ModelError
from decaf.foundation.arrays import Module

CompileMode = Literal["default", "reduce-overhead"]
"""Modes of ``torch.compile``; the second replays CUDA graphs on a GPU."""


def compile_network(network: Module, mode: CompileMode) -> Module:
    """Wrap a network so that torch compiles it for the shapes and types of its first batches.

    A batch of another size may cause one more compilation; after a few, the code accepts any size.
    torch stores the compiled code in its cache (``TORCHINDUCTOR_CACHE_DIR``).
    """
    import torch

    # Further compiling processes would take the cores of other workers.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    return cast("Module", torch.compile(network, mode=mode))


@contextmanager
def compiling(model_id: str, mode: CompileMode | None) -> Iterator[None]:
    """Explain failures of the compiler; errors of the network itself pass unchanged.

    Raises ModelError when torch cannot compile the network here.
    """
    if mode is None:  # the compiler takes two seconds to import
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
