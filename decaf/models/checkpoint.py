"""Weight files: safetensors, and torch files that hold only tensors and plain values.

Foreign pickles are never executed: a torch file that would need it is refused.
"""

import hashlib
import json
import pickle
import re
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from decaf.errors import ModelError, UnknownName, WriteFailed, suggestion
from decaf.foundation.arrays import Module, Tensor
from decaf.foundation.digests import file_sha256
from decaf.foundation.files import convert_os_errors, open_file, replace_file
from decaf.models.architectures import Adapt
from decaf.models.tensor_fit import SHOWN, STUMBLES, StateDict, load_strictly, with_versions

SAFETENSORS = ".safetensors"
TORCH_SUFFIXES = (".pt", ".pth", ".bin", ".tar", ".ckpt")
ZIP_START, PICKLE_START = b"PK\x03\x04", b"\x80"
READ_BYTES = 2**20

UNPICKLING = (
    "Unpickling runs code in the file: convert it once, where you trust it, with network = "
    "torch.load(file, weights_only=False) and safetensors.torch.save_file(network.state_dict(), "
    "'net.safetensors'); if the file has a dictionary instead, save its entry of tensors"
)

SCRIPTED = (
    "Save its tensors once: "
    "safetensors.torch.save_file(torch.jit.load(file).state_dict(), 'net.safetensors')"
)
NAMED_TYPE = re.compile(r"GLOBAL (\S+)")
"""Type that torch refuses to unpickle, in its message."""
COLOURS = re.compile(r"\x1b\[[\d;]*m")


def check_header(path: Path) -> None:
    """Check, without torch, that a weight file exists and has the format of its suffix.

    Raises ModelError when the file is missing, or is not what its suffix says.
    """
    if path.suffix == SAFETENSORS:
        read_metadata(path)
        return
    if path.suffix not in TORCH_SUFFIXES:
        raise ModelError(
            f"weight file {path} has the suffix {path.suffix!r}; expected {SAFETENSORS}, or a "
            f"torch state dict with {', '.join(TORCH_SUFFIXES)}"
        )
    start = _start(path)
    if start != ZIP_START and not start.startswith(PICKLE_START):
        raise ModelError(
            f"{path} is not a torch checkpoint (it starts with {start!r}); download it again"
        )


def read_metadata(path: Path) -> dict[str, str]:
    """Metadata of a safetensors file, from its header (without torch).

    Raises ModelError when the file is missing, is a pickle, or is not safetensors.
    """
    from safetensors import SafetensorError, safe_open

    start = _start(path)
    try:
        with safe_open(path, "np") as file:
            return file.metadata() or {}
    except SafetensorError as error:
        # Checked only now: a safetensors header may start with the same byte as a pickle.
        if start == ZIP_START or start.startswith(PICKLE_START):
            raise ModelError(
                f"{path} is a pickle (a torch.save file); expected safetensors. {UNPICKLING}; a "
                "torch file that holds only tensors can be given as .pt or .pth"
            ) from error
        raise ModelError(
            f"{path} is damaged, or not a safetensors file ({error}); download or convert the "
            "checkpoint again"
        ) from error


def content_sha256(path: Path) -> str:
    """Hex sha256 of the content that determines outputs, computed once while the file is unchanged.

    For a safetensors file that :func:`check_header` has accepted, this content is the names, types,
    shapes and bytes of its tensors, but not their order or the metadata. For any other file it is
    all bytes. Needs no torch, and memory for one megabyte.
    """
    if path.suffix != SAFETENSORS:
        return file_sha256(path)
    status = path.stat()
    return _tensors_sha256(path, status.st_size, status.st_mtime_ns)


@cache
def _tensors_sha256(path: Path, size: int, modified: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.tell()
        header.pop("__metadata__", None)
        for name, tensor in sorted(header.items()):
            digest.update(json.dumps([name, tensor["dtype"], tensor["shape"]]).encode())
            first, end = tensor["data_offsets"]
            file.seek(data + first)
            for start in range(first, end, READ_BYTES):
                digest.update(file.read(min(READ_BYTES, end - start)))
    return digest.hexdigest()


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Tensors of a safetensors file by name, on the CPU.

    Raises ModelError when the file is missing, is a pickle, is damaged or is not safetensors.
    """
    from safetensors.torch import load_file

    read_metadata(path)
    return load_file(path)


def load_into(
    network: Module,
    path: Path,
    entry: str | None = None,
    prefix: str = "",
    adapt: Adapt | None = None,
    *,
    leave_out: Sequence[str] = (),
    may_keep_head: bool = False,
) -> list[str]:
    """Load a state dict strictly, as torch does: no tensor may be missing or left over.

    The entry names the part of a torch file that holds the state dict. Only tensors whose names
    start with the prefix are loaded, without the prefix. ``adapt`` turns the content of the file
    into the network's tensors. Tensors whose names start with an element of ``leave_out`` are not
    loaded, with or without the prefix. With ``may_keep_head`` an output layer of another size keeps
    its initial values: its tensors differ only in their first dimension, the number of outputs.

    Returns the names of the tensors that keep their initial values, sorted. Raises ModelError,
    naming the tensors that are missing, left over, or of another shape or kind of numbers, and when
    tensors of several sizes would keep their values.
    """
    loaded = _tensors_for(network, path, entry, prefix, adapt, leave_out)
    head_tensors = _other_head(network, loaded, path) if may_keep_head else {}
    load_strictly(network, with_versions(loaded | head_tensors, loaded), path)
    return sorted(head_tensors)


def _other_head(network: Module, loaded: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Tensors of the network whose number of outputs differs from that of loaded tensors."""
    head = {
        name: tensor
        for name, tensor in network.state_dict().items()
        if name in loaded
        and loaded[name].shape != tensor.shape
        and tensor.ndim
        and loaded[name].shape[1:] == tensor.shape[1:]
    }
    if len({(len(loaded[name]), len(tensor)) for name, tensor in head.items()}) > 1:
        raise ModelError(
            f"{path} does not fit {type(network).__name__} with another output layer: "
            f"{', '.join(sorted(head)[:SHOWN])} differ in size, but not all by the same numbers "
            "of outputs; check 'architecture:' and 'arguments:' of the model"
        )
    return head


def _tensors_for(
    network: Module,
    path: Path,
    entry: str | None,
    prefix: str,
    adapt: Adapt | None,
    leave_out: Sequence[str],
) -> StateDict:
    content = read_tensors(path) if path.suffix == SAFETENSORS else _read_torch(path)
    if entry is not None:
        content = _entry(content, entry, path)
    if adapt is not None:
        try:
            content = adapt(content, network)
        # On a file of another kind, the library's code can fail with any error.
        except STUMBLES as error:
            raise ModelError(
                f"{path} does not hold the published weights of {type(network).__name__}: "
                f"{type(error).__name__}: {error}; download it again, or correct 'architecture:'"
            ) from error
    if leave_out and isinstance(content, dict):
        content = _select_tensors(content, prefix, leave_out, path)
    if not _is_state_dict(content):
        raise ModelError(f"{path}: {_describe_content(content, entry)}")
    below = {name: tensor for name, tensor in content.items() if name.startswith(prefix)}
    if prefix and not below:
        raise ModelError(
            f"{path} has no tensor whose name starts with {prefix!r} (it has "
            f"{', '.join(list(content)[:SHOWN])} …); correct 'prefix:'"
        )
    tensors = {name.removeprefix(prefix): tensor for name, tensor in below.items()}
    return with_versions(tensors, content, prefix)


def _select_tensors(content: Any, prefix: str, leave_out: Sequence[str], path: Path) -> StateDict:
    """Content without tensors whose names start with an element of ``leave_out``."""
    names = [name for name in content if isinstance(name, str)]
    dropped: set[str] = set()
    for start in leave_out:
        matches = {name for name in names if name.startswith((start, prefix + start))}
        if not matches:
            raise ModelError(
                f"{path} has no tensor whose name starts with {start!r}{suggestion(start, names)}; "
                "correct 'leave_out:'"
            )
        dropped |= matches
    remaining = {name: value for name, value in content.items() if name not in dropped}
    return with_versions(remaining, content)


def save(network: Module, path: Path, metadata: dict[str, str]) -> None:
    """Write a network's state dict whole or not at all, as :func:`save_tensors` does."""
    save_tensors(network.state_dict(), path, metadata)


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Write named tensors, a state dict for example, whole or not at all.

    Raises WriteFailed when the disk cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    state = {name: tensor.contiguous() for name, tensor in tensors.items()}
    try:
        replace_file(path, lambda temporary: save_file(state, temporary, metadata))
    except (OSError, SafetensorError) as error:
        raise WriteFailed(
            f"checkpoint {path} cannot be written: {error}; free some space, or set "
            "'workspace:' to another folder"
        ) from error


def _start(path: Path) -> bytes:
    what = f"weight file {path} cannot be read"
    remedy = "put the checkpoint there, or correct its path"
    with convert_os_errors(ModelError, what, remedy), open_file(path) as file:
        return file.read(4)


def _read_torch(path: Path) -> Any:
    import torch

    check_header(path)
    if _is_script(path):
        raise ModelError(f"{path} is a TorchScript archive, which holds code. {SCRIPTED}")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ModelError(
            f"{path} holds more than tensors and cannot be opened without unpickling it "
            f"({_reason_of(error)}). {UNPICKLING}"
        ) from error
    # On a damaged archive, its reader can fail with any error.
    except (RuntimeError, OSError, EOFError, ValueError, LookupError, AttributeError) as error:
        raise ModelError(
            f"{path} cannot be read as a torch checkpoint: {error}; download or save it again"
        ) from error


def _is_script(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def _reason_of(error: pickle.UnpicklingError) -> str:
    """The type that a file names, or the first line without the colours of a terminal."""
    if named := NAMED_TYPE.search(str(error)):
        return f"it names {named[1]}"
    return COLOURS.sub("", str(error).splitlines()[0])


def _entry(content: Any, entry: str, path: Path) -> Any:
    if not isinstance(content, dict) or entry not in content:
        entry_names = [str(key) for key in content] if isinstance(content, dict) else []
        raise UnknownName.among(f"entry of {path}", entry, entry_names)
    return content[entry]


def _is_state_dict(content: Any) -> bool:
    import torch

    return isinstance(content, dict) and all(
        isinstance(name, str) and isinstance(value, torch.Tensor) for name, value in content.items()
    )


def _describe_content(content: Any, entry: str | None) -> str:
    place = f"its entry '{entry}'" if entry else "it"
    if not isinstance(content, dict):
        return f"{place} is a {type(content).__name__}; expected a state dict of tensors by name"
    held = [str(key) for key, value in content.items() if _is_state_dict(value)]
    hint = f"give 'entry: {held[0]}'" if held else "save only the state dict"
    return f"{place} holds {', '.join(map(str, list(content)[:SHOWN]))} …, no state dict; {hint}"
