"""Match names of images in two places: equal paths, equal last parts, or equal stems."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from decaf.errors import DataError, abridge, number_of
from decaf.foundation.names import quote

PICTURES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
"""Suffixes of images; a file with another suffix is paired only by its whole name."""


class Matches(NamedTuple):
    """Names that mean one image."""

    of_image: dict[str, str]
    """Name in the file, by the name of the image."""
    by_stem: dict[str, str]
    """Names that differ in their suffix."""


def stem_of(name: str) -> str:
    """Path without the suffix of an image; the whole path if it has another suffix."""
    path = PurePosixPath(name)
    return str(path.with_suffix("")) if path.suffix.lower() in PICTURES else name


def last_part(name: str) -> str:
    """Name of a file without its folders."""
    return PurePosixPath(name).name


def match_names(
    images: Sequence[str], names: Iterable[str], where: str, *, has_paths: bool = False
) -> Matches:
    """Find the name that a file has for each image: path or file name, or either without suffix.

    The file name matches only if one image has it, and never if ``has_paths``. Raises DataError if
    two names of the file could mean one image.
    """
    names = [*names]
    of_image = {name: name for name in {*names}.intersection(images)}
    by_stem: dict[str, str] = {}
    rules: tuple[tuple[Callable[[str], str], bool], ...] = (
        (last_part, False),
        (stem_of, True),
        (lambda name: last_part(stem_of(name)), True),
    )
    for key, drops_suffix in rules[1:2] if has_paths else rules:
        matched = {*of_image.values()}
        by_key = _by_key((name for name in names if name not in matched), key)
        for value, same in _by_key(images, key).items():
            candidates = by_key.get(value, [])
            if len(same) > 1 or not candidates or same[0] in of_image:
                continue
            if len(candidates) > 1:
                raise DataError(
                    f"{where} has {number_of(len(candidates), 'name')} for the image "
                    f"{quote(same[0])}: {abridge(candidates)}; write the image's path below the "
                    "folder of images"
                )
            of_image[same[0]] = candidates[0]
            if drops_suffix:
                by_stem[same[0]] = candidates[0]
    return Matches(of_image, by_stem)


def pair_names(first: Sequence[str], second: Sequence[str], where: Sequence[str]) -> Matches:
    """Pair the files of two folders by equal names, else by names that differ only in the suffix.

    Raises DataError if two unpaired files of a folder differ only in the suffix.
    """
    of_image = {name: name for name in {*second}.intersection(first)}
    paired = {stem_of(name) for name in of_image}
    stems = [
        _by_key((name for name in names if _is_left(name, paired)), stem_of)
        for names in (first, second)
    ]
    by_stem: dict[str, str] = {}
    for stem in sorted(stems[0].keys() & stems[1].keys()):
        for folder, names in zip(where, (stems[0][stem], stems[1][stem]), strict=True):
            if len(names) > 1:
                raise DataError(
                    f"{folder} has {abridge(names)}, which differ only in the suffix; expected "
                    "one file for each image: remove the others"
                )
        by_stem[stems[0][stem][0]] = stems[1][stem][0]
    return Matches(of_image | by_stem, by_stem)


def remarks_on_matches(by_stem: Mapping[str, str], where: object) -> tuple[str, ...]:
    """Remark that lists images with another suffix in a file, if there are any."""
    pairs = [f"{image} as {name}" for image, name in by_stem.items()]
    remark = f"images that {where} names with another suffix: {len(pairs)} ({abridge(pairs)})"
    return (remark,) if pairs else ()


def other_suffixes(path: Path) -> list[Path]:
    """Files in the folder of a missing file that differ from it only in the suffix."""
    try:
        files = sorted(path.parent.iterdir())
    except OSError:  # the caller reports the missing file
        return []
    return [file for file in files if file.stem == path.stem and file.name != path.name]


def _is_left(name: str, paired: set[str]) -> bool:
    stem = stem_of(name)
    return stem != name and stem not in paired


def _by_key(names: Iterable[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(key(name), []).append(name)
    return groups
