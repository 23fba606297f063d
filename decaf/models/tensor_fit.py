"""Loading tensors into a network as torch's own strict load does, with a stricter check of types.

torch decides which tensors may be absent, for example counters of batch normalisation, which files
from before torch 0.4.1 lack. Tensors that the network shares need to be in a file once, as
``safetensors.torch.save_model`` writes them.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from decaf.errors import ModelError
from decaf.foundation.arrays import Module, Tensor, type_name

STUMBLES = (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Errors that code raises when a file holds something unexpected."""
SHOWN = 4
VERSIONS = "_metadata"
"""Attribute of a state dict with the versions of its modules, by which torch reads old files."""


class StateDict(dict[str, Any]):
    """Tensors by name, with the versions of the modules that wrote them, if a file has them."""


class MemoryRange(NamedTuple):
    """Memory of a tensor, bytes."""

    storage: int
    start: int
    end: int
    is_dense: bool
    """True if the tensor has a value for every byte of its memory."""


def with_versions(tensors: Mapping[str, Any], content: Any, prefix: str = "") -> StateDict:
    """Tensors whose names had a prefix, with the versions of modules that ``content`` has."""
    state = StateDict(tensors)
    versions = getattr(content, VERSIONS, None)
    if isinstance(versions, Mapping):
        names = {f"{name}." if name else "": version for name, version in versions.items()}
        below = {
            name.removeprefix(prefix).rstrip("."): version
            for name, version in names.items()
            if name.startswith(prefix)
        }
        setattr(state, VERSIONS, below)
    return state


def load_strictly(network: Module, state: Mapping[str, Tensor], path: Path) -> None:
    """Load every tensor of a state dict; none may be missing or left over.

    Raises ModelError, naming tensors that are missing, left over, or have another shape or kind of
    numbers than the network's.
    """
    expected = network.state_dict()
    misfits = {
        name: problem
        for name in expected.keys() & state.keys()
        if (problem := _describe_misfit(state[name], expected[name]))
    }
    fitting = {name: tensor for name, tensor in state.items() if name not in misfits}
    try:
        result = network.load_state_dict(with_versions(fitting, state), strict=False)
    # Hooks of a network's own modules may convert old tensors, and fail on others.
    except STUMBLES as error:
        raise ModelError(
            f"{path} does not fit {type(network).__name__}: {error}; check 'architecture:' and "
            "'arguments:' of the model"
        ) from error
    missing = set(result.missing_keys) - misfits.keys()
    missing -= _tied_names(expected, missing, fitting.keys())
    left_over = sorted(result.unexpected_keys)
    problems = [f"{name} is {problem}" for name, problem in misfits.items()]
    problems += [f"{name} is missing" for name in missing]
    problems += [f"{name} is left over" for name in left_over]
    if problems:
        shown = "; ".join(sorted(problems)[:SHOWN])
        remedy = "check 'architecture:' and 'arguments:' of the model, and 'prefix:'"
        roots = list(dict.fromkeys(_root_of(name, expected) for name in left_over))
        prefixes = [root for root in roots if {root + name for name in missing} <= {*left_over}]
        if missing and prefixes:
            remedy = f"names fit without {prefixes[0]!r}: set 'prefix: {prefixes[0]}'"
        elif missing and left_over:
            remedy += (
                f"; if {left_over[0]} of the file belongs where {min(missing)} is expected, "
                "rename it in the file or in the architecture"
            )
        elif left_over:
            remedy += (
                "; where tensors belong to no layer, as those of a loss, leave them out: "
                f"'leave_out: [{roots[0]}]'"
            )
        count = f"{len(problems)} tensors differ"
        raise ModelError(
            f"{path} does not fit {type(network).__name__}: {count} ({shown}); {remedy}"
        )


def _describe_misfit(found: Tensor, expected: Tensor) -> str:
    """Shape or kind of numbers of a tensor that cannot be loaded; empty if it can be."""
    # Before torch 0.4 a single number was stored as (1,).
    is_single = expected.ndim == 0 and tuple(found.shape) == (1,)
    if found.shape != expected.shape and not is_single:
        return f"{list(found.shape)}, the architecture has {list(expected.shape)}"
    if _kind_of_numbers(found) != _kind_of_numbers(expected):
        return f"{type_name(found)}, the architecture has {type_name(expected)}"
    return ""


def _kind_of_numbers(tensor: Tensor) -> tuple[bool, bool]:
    """Kind of numbers of a tensor: torch would silently cast another kind."""
    return tensor.is_floating_point(), tensor.is_complex()


def _tied_names(
    expected: Mapping[str, Tensor], missing: set[str], loaded: Collection[str]
) -> set[str]:
    """Missing names that share memory with a loaded tensor."""
    if not missing:
        return set()
    filled = [
        place for name in loaded if name in expected and (place := _memory_range(expected[name]))
    ]
    tied = set()
    for name in missing & expected.keys():
        place = _memory_range(expected[name])
        if place and any(_covers(whole, place) for whole in filled):
            tied.add(name)
    return tied


def _covers(whole: MemoryRange, part: MemoryRange) -> bool:
    is_inside = whole.start <= part.start and part.end <= whole.end
    return whole.is_dense and whole.storage == part.storage and is_inside


def _memory_range(tensor: Tensor) -> MemoryRange | None:
    """Memory of a tensor; None if it is empty."""
    if not tensor.numel():
        return None
    strides = zip(tensor.shape, tensor.stride(), strict=True)
    span = 1 + sum((size - 1) * stride for size, stride in strides)
    start = tensor.data_ptr()
    storage = tensor.untyped_storage().data_ptr()
    return MemoryRange(storage, start, start + span * tensor.itemsize, tensor.numel() == span)


def _root_of(name: str, expected: Mapping[str, Tensor]) -> str:
    """First part of a name, with its dot, unless tensors of the network begin with it too."""
    root, dot, _ = name.partition(".")
    is_shared = any(own_name.startswith(root + dot) for own_name in expected)
    return name if is_shared else root + dot
