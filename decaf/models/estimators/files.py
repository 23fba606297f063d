"""Estimators in files of skops, pickle and joblib, and the versions that these need."""

import bz2
import gzip
import lzma
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from decaf.errors import DecafError, ModelError, abridge
from decaf.foundation.callables import find_own_files

SKOPS_SCHEMA = "schema.json"
UNPACKED = (zlib.error, lzma.LZMAError)
"""Errors of decompression, besides OSError and EOFError."""
MAIN_MODULES = "__main__", "__mp_main__"
"""Names of the main module in a process, and in a process that multiprocessing spawned."""
WRITTEN_BY = re.compile(rb"_sklearn_version\D{1,200}?(\d+\.\d[\w.]*)")
"""Version of scikit-learn in the state of an estimator, in a pickle as in the schema of skops."""
DECOMPRESS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
    b"]\x00": lzma.decompress,
    b"x": zlib.decompress,
}
"""Functions that decompress a file of joblib, by its first bytes."""


class Stored(NamedTuple):
    """Object in a file."""

    content: Any
    version: str | None
    """Version of scikit-learn that saved it, if known and not the installed one; else None."""


def open_skops(path: Path, trusted: Sequence[str]) -> Stored:
    """Estimator of a skops file whose types are trusted.

    Raises ModelError when it cannot be opened.
    """
    import skops.io

    with _opening(path, "skops.io.dump") as versions:
        content = skops.io.load(path, trusted=list(trusted))
    return Stored(content, min(versions, default=None))


def list_untrusted_types(path: Path, trusted: Sequence[str]) -> list[str]:
    """Types in a skops file that neither skops nor the caller trusts.

    Raises ModelError when it cannot be opened.
    """
    import skops.io

    with _opening(path, "skops.io.dump"):
        return sorted(set(skops.io.get_untrusted_types(file=path)) - set(trusted))


def open_pickle(path: Path) -> Stored:
    """Object that pickle or joblib stored; opening it runs the code in the file.

    Raises ModelError when it cannot be opened.
    """
    import joblib

    with _opening(path, "joblib.dump") as versions:
        content = joblib.load(path)
    return Stored(content, min(versions, default=None))


def saved_version(path: Path) -> str | None:
    """Version of scikit-learn that saved a file; None if the file does not state it."""
    version = WRITTEN_BY.search(_content_of(path))
    return version[1].decode() if version else None


def own_code(path: Path) -> list[Path]:
    """Files of the user's own modules that the file of an estimator needs."""
    return find_own_files(lambda: _content_of(path))


def compare_versions(saved: str | None) -> str:
    """State that another version of scikit-learn saved an estimator; empty if none is known."""
    import sklearn

    if saved in (None, sklearn.__version__):
        return ""
    return f"scikit-learn {saved} saved it, and {sklearn.__version__} is installed"


def explain_by_version(path: Path, error: Exception) -> ModelError | None:
    """Explain an error of an estimator by the version that saved it; None if that version fits.

    Errors of decaf, and out-of-memory errors, are never explained by a version.
    """
    if isinstance(error, DecafError | MemoryError):
        return None
    saved = saved_version(path)
    if not (versions := compare_versions(saved)):
        return None
    return ModelError(
        f"{path} does not work here: {versions} ({_words(error)}); fit and save it again with the "
        f"installed version, or install scikit-learn=={saved} here"
    )


def describe_content(content: Any) -> str:
    """Name the type of an object, and the keys of a dict."""
    name = type(content).__name__
    if isinstance(content, dict):
        return f"{name} with the keys {abridge([str(key) for key in content])}"
    return name


@contextmanager
def _opening(path: Path, writer: str) -> Iterator[set[str]]:
    """Turn errors of a reader into a ModelError with the remedy.

    After the block, the set holds other versions of scikit-learn that saved a part.
    """
    from sklearn.exceptions import InconsistentVersionWarning

    versions: set[str] = set()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InconsistentVersionWarning)
            yield versions
        for warned in caught:
            if isinstance(warned.message, InconsistentVersionWarning):
                versions.add(warned.message.original_sklearn_version)
            else:
                warnings.warn_explicit(
                    warned.message, warned.category, warned.filename, warned.lineno
                )
    except MemoryError:
        raise
    # A damaged file, another version or a missing module may raise anything, and so may the code
    # in a pickle.
    except Exception as error:
        raise explain_by_version(path, error) or ModelError(
            _refusal(path, error, writer)
        ) from error


def _refusal(path: Path, error: Exception, writer: str) -> str:
    text = f"{path} cannot be opened: {_words(error)}"
    package = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package:
        return (
            f"{text}; install {package} where decaf runs, or, if it is your own module, name its "
            "folder under 'python_path:'"
        )
    if isinstance(error, AttributeError) and any(name in str(error) for name in MAIN_MODULES):
        return (
            f"{text}; the function or class was defined in a script or a notebook: move it to a "
            "module, import it from there, save the estimator again with "
            f"{writer}, and name the module's folder under 'python_path:'"
        )
    return f"{text}; the file is damaged or of another kind: save the estimator with {writer}"


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _content_of(path: Path) -> bytes:
    """Text of a skops file's schema, or the bytes of a pickle; empty if they cannot be read."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return archive.read(SKOPS_SCHEMA)
        content = path.read_bytes()
        for start, decompress in DECOMPRESS.items():
            if content.startswith(start):
                return decompress(content)
    except (OSError, EOFError, LookupError, ValueError, zipfile.BadZipFile, *UNPACKED):
        return b""  # the reader raises with the cause
    return content
