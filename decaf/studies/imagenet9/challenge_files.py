"""Files of the ImageNet-9 Backgrounds Challenge: one foreground per file, one folder per class.

Official layout: ``bg_challenge/<variant>/<part>/<NN_class>/<file>.JPEG``, the foreground's id being
the file name's ``nXXXXXXXX_NNNNN`` before ``_bg_`` (paper, section 6 and appendix F).
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from decaf.data.class_maps import load_shipped_maps
from decaf.errors import DataError, number_of

CLASSES = tuple(load_shipped_maps()["imagenet9"].classes)
"""Names of the classes in the order of their numbers."""
CLASS_FOLDERS = {
    f"{number:02d}_{name}".replace(" ", "_"): number for number, name in enumerate(CLASSES)
}
"""Numbers of the classes by their folders, in whose names a space is as good as an underscore."""
Variant = Literal["original", "mixed_same", "mixed_rand", "mixed_next", "only_fg", "no_fg"]
"""Versions of a photo that keep its foreground, or the place of the foreground."""
FILE_NAME = re.compile(r"(?:fg_)?(?P<foreground>n\d{8}_\d+)(?:_bg_[ -~]+)?", re.ASCII)


class VariantFiles(NamedTuple):
    """Files of one variant, and how many of them are not used."""

    place: str
    """Variant and part, as in ``mixed_same/val``."""
    by_source: dict[str, Path]
    """By foreground, ``NN/nXXXXXXXX_NNNNN``, in the order of their names."""
    surplus_count: int
    """Files that are not used, because another file of their foreground comes first by name."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on unused files."""
        if not self.surplus_count:
            return ()
        return (
            f"{number_of(self.surplus_count, 'file')} of {self.place} left out: another file of "
            "the same foreground sorts first",
        )


def variant_folder(root: Path, variant: str, part: str = "val") -> Path:
    """Folder of one variant; the root holds ``bg_challenge/``, or is that folder itself."""
    below = root / "bg_challenge"
    return (below if below.is_dir() else root) / variant / part


def variant_files(root: Path, variant: str, part: str = "val") -> VariantFiles:
    """Files of one variant; of several files of one foreground the first by name counts.

    Raises DataError when the folder is missing, is empty, has two folders of one class or one
    foreground in folders of two, or holds a folder or file that is not named as in the archive.

    The root is as in :func:`variant_folder`; the part is ``val`` or ``train``.
    """
    folder = variant_folder(root, variant, part)
    if not folder.is_dir():
        raise DataError(
            f"data folder {folder} is missing; expected the Backgrounds Challenge layout "
            f"{root}/bg_challenge/<variant>/{part}/<NN_class>/*.JPEG"
        )
    path_of_source: dict[str, Path] = {}
    file_count = 0
    class_ids: dict[Path, int] = {}
    first_file: dict[str, Path] = {}
    for path in folder.iterdir():
        if path.is_symlink() and not path.exists():
            raise DataError(f"{path} is a link that leads nowhere; repair it, or remove it")
    for path in sorted(folder.glob("*/[!.]*")):
        if path.parent not in class_ids:
            class_ids[path.parent] = _class_of(path.parent, class_ids)
        name = FILE_NAME.fullmatch(path.stem)
        if not name:
            raise DataError(
                f"{path} is not named as in the Backgrounds Challenge; expected a path like "
                "00_dog/fg_n02085620_00001_bg_n02085936_00001.JPEG"
            )
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "no file, or a link that leads nowhere"
            raise DataError(f"{path} is {kind}; expected a photo of that name, or nothing")
        first_path = first_file.setdefault(name["foreground"], path)
        if first_path.parent != path.parent:
            raise DataError(
                f"{first_path} and {path} are one foreground in folders of two classes; expected "
                "one class: its photos would be two foregrounds, perhaps of different splits"
            )
        path_of_source.setdefault(f"{class_ids[path.parent]:02d}/{name['foreground']}", path)
        file_count += 1
    if not path_of_source:
        raise DataError(f"{folder} holds no image; expected <NN_class>/*.JPEG below it")
    return VariantFiles(f"{variant}/{part}", path_of_source, file_count - len(path_of_source))


def _class_of(folder: Path, known: dict[Path, int]) -> int:
    class_id = CLASS_FOLDERS.get(folder.name.replace(" ", "_"))
    if class_id is None:
        raise DataError(
            f"class folder {folder} is not named as in the Backgrounds Challenge; expected one of "
            f"{', '.join(CLASS_FOLDERS)}: its photos would get another class's label"
        )
    for other_folder, other_id in known.items():
        if other_id == class_id:
            raise DataError(
                f"{other_folder} and {folder} are two folders of the class {CLASSES[class_id]}; "
                "expected one: put their files together, or remove one of them"
            )
    return class_id


def absent_classes(sources: Iterable[str], what: str) -> tuple[str, ...]:
    """Say which classes have no foreground ``NN/…`` among some; nothing where all have one."""
    present = {int(source[:2]) for source in sources}
    absent = [f"{n:02d} {name}" for n, name in enumerate(CLASSES) if n not in present]
    return (f"no {what} is of the class {' or '.join(absent)}",) if absent else ()
