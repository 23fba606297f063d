"""Packages that are not always installed, and the extra of decaf that brings each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from decaf.errors import MissingPackage

PACKAGES = {
    "torch": ("torch",),
    "plots": ("altair", "vl_convert"),
    "baselines": ("captum", "lime", "numba", "shap", "xgboost"),
    "hdf5": ("h5py",),
    "cuda": ("dask_cuda",),
    "zarr": ("zarr",),
    "inpainting": ("cv2",),
    "view": ("streamlit",),
}
"""Modules by extra."""


@dataclass(frozen=True)
class Installed:
    """Looks whether a module is installed, and imports nothing; a check of a study."""

    module: str

    def __call__(self) -> tuple[str, ...]:
        """Raise MissingPackage where it is not."""
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
    """The error that says which extra brings a module, or which package where none does."""
    name = _top(module)
    extra = next((extra for extra, names in PACKAGES.items() if name in names), None)
    wanted = f"'decaf-audit[{extra}]'" if extra else name.replace("_", "-")
    return MissingPackage(f"package {name} is not installed here; pip install {wanted}")


def _top(module: str) -> str:
    return module.partition(".")[0]
