"""Packages that are not always installed, and the extra of decaf that brings each."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from decaf.errors import MissingPackage

PACKAGES = {
    "torch": ("torch",),
    "plots": ("altair", "vl_convert"),
    "baselines": ("captum", "lime", "numba", "shap"),
    "xgboost": ("xgboost",),
    "hdf5": ("h5py",),
    "cuda": ("dask_cuda",),
    "s3": ("obstore",),
    "zarr": ("zarr",),
    "inpainting": ("cv2",),
    "xlsx": ("xlsxwriter",),
}
"""Modules by extra."""


@dataclass(frozen=True)
class Installed:
    """Check of a study that a module is installed; imports nothing."""

    module: str

    def __call__(self) -> tuple[str, ...]:
        """Raise MissingPackage if it is not installed."""
        if find_spec(_top(self.module)) is None:
            raise missing(self.module)
        return ()


@contextmanager
def optional() -> Iterator[None]:
    """Import modules in the block that not every installation has.

    Raises MissingPackage, which says how to install it, for the one that is not there.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(error.name or str(error)) from error


def missing(module: str) -> MissingPackage:
    """Error that names the extra that installs a module, or else the package."""
    name = _top(module)
    extra = next((extra for extra, names in PACKAGES.items() if name in names), None)
    command = install_command(extra) if extra else f"pip install {name.replace('_', '-')}"
    return MissingPackage(f"package {name} is not installed here; {command}")


def install_command(extra: str) -> str:
    """Command that adds an extra to this installation, from its checkout if it has one."""
    checkout, is_editable = _checkout()
    if checkout is None:
        return f"pip install 'decaf-audit[{extra}]'"
    if extra == "pipeline":
        parts = [str(checkout), str(checkout / "packaging" / "pipeline")]
    else:
        parts = [*(["-e"] if is_editable else []), f"{checkout}[{extra}]"]
    return f"pip install {shlex.join(parts)}"


def _checkout() -> tuple[Path | None, bool]:
    """Folder that decaf was installed from, and True if the installation is editable.

    Installers record the folder by PEP 610. None if decaf came from an index, or if the folder no
    longer exists.
    """
    try:
        noted = json.loads(distribution("decaf-audit").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # a folder of the path, not installed
        return None, False
    url = urlsplit(noted.get("url", ""))
    folder = Path(unquote(url.path))
    if url.scheme != "file" or not (folder / "pyproject.toml").is_file():
        return None, False
    return folder, noted.get("dir_info", {}).get("editable", False)


def _top(module: str) -> str:
    return module.partition(".")[0]
