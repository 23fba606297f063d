"""Inputs that nobody wrote by hand: files of a sound study, changed at random by a seed.

A YAML or JSON file is changed as a tree (a value replaced, a key gone, doubled or added) or as
text; any other file as bytes. An image is also saved again in another mode or format.
"""

import copy
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image

TOKENS = (
    *("&a", "*a", "<<: *a", "!!set", "!!binary", "!!float", "!!python/object:os.system", "!file x"),
    *(
        "[" * 3000,
        "{" * 3000,
        "- " * 3000,
        "\t",
        "\0",
        "\ufeff",
        "\u202e",
        "\x1b[31m",
        "---",
        "...",
    ),
    *("${HOME}", "${NOT_SET}", "? ", ": ", "|", ">", "%YAML 9.9", "'", '"', "#", "\r"),
)
MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16")
FORMATS = ("PNG", "TIFF", "GIF", "BMP", "JPEG", "WEBP", "PPM")


def _yaml(tree: Any) -> str:
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)


FORMS = {".yaml": (yaml.safe_load, _yaml), ".json": (json.loads, json.dumps)}
IMAGES = (".JPEG", ".png")


def values(rng: random.Random) -> Any:
    """A value that stands where another was."""
    return rng.choice(
        (
            *(None, True, False, 0, -1, 1, 2, 7, 1e-300, 1e300, 10**18, -(10**30)),
            *(
                float("nan"),
                float("inf"),
                -float("inf"),
                "",
                " ",
                ".",
                "..",
                "../..",
                "/",
                "/dev/zero",
            ),
            *("a", "nan", "1e5", "0x10", "1_000", "yes", "~", "2026-13-45", "=1+1", "<script>"),
            *("x" * 5000, "\u202e\x1b[2J", "none/such.file", [], {}, [[]], [None], {"": None}),
            *({"kind": "none"}, {"a": {"b": {"c": []}}}, list(range(3)), [0.5] * 4, ["a", "a"]),
        )
    )


def changed_tree(rng: random.Random, tree: Any) -> Any:
    """The same tree with one place changed."""
    tree = copy.deepcopy(tree)
    places = list(_places(tree))
    if not places:
        return values(rng)
    holder, key = rng.choice(places)
    kind = rng.random()
    if kind < 0.6:
        holder[key] = values(rng)
    elif kind < 0.75:
        del holder[key]
    elif kind < 0.85 and isinstance(holder, dict):
        holder[rng.choice(("", "x", "kind", "seed", 1, None))] = values(rng)
    else:
        other, place = rng.choice(places)
        holder[key] = copy.deepcopy(other[place]) if place in _keys(other) else values(rng)
    return tree


def changed_text(rng: random.Random, text: str) -> str:
    """The same text with a token put in, a piece cut out or doubled, or a letter changed."""
    start = rng.randrange(len(text) + 1)
    end = min(start + rng.randrange(1, 40), len(text))
    kind = rng.random()
    if kind < 0.5:
        return f"{text[:start]}{rng.choice(TOKENS)}{text[start:]}"
    if kind < 0.7:
        return text[:start] + text[end:]
    if kind < 0.85:
        return text[:end] + text[start:end] + text[end:]
    return f"{text[:start]}{chr(rng.randrange(1, 0x2100))}{text[start + 1 :]}"


def changed_bytes(rng: random.Random, data: bytes) -> bytes:
    """The same bytes with some flipped, blanked, cut off, put in, or none left."""
    start = rng.randrange(len(data) + 1)
    count = rng.choice((1, 1, 4, 64, 1024))
    new = rng.randbytes(count)
    return rng.choice(
        (
            data[:start] + new + data[start + count :],
            data[:start] + bytes(count) + data[start + count :],
            data[:start] + new + data[start:],
            data[:start],
            data[start:],
            data + new,
            b"",
        )
    )


def change_file(rng: random.Random, file: Path) -> str:
    """Change a file in place; what was done to it."""
    kind = rng.random()
    if kind > 0.97 or file.is_symlink() or not file.is_file():
        return _replace(rng, file)
    before = file.read_bytes()
    if file.suffix in IMAGES and kind < 0.5:
        return _save_again(rng, file)
    if file.suffix in FORMS and kind < 0.55:
        load, dump = FORMS[file.suffix]
        try:
            file.write_text(dump(changed_tree(rng, load(before))))
            return "tree"
        except (ValueError, yaml.YAMLError, RecursionError):
            pass  # an earlier change has left no tree
    if file.suffix in FORMS and kind < 0.9:
        text = changed_text(rng, before.decode(errors="replace"))
        file.write_text(text, encoding="utf-8")
        return "text"
    file.write_bytes(changed_bytes(rng, before))
    return "bytes"


def _replace(rng: random.Random, file: Path) -> str:
    """Something else of the same name: nothing, a folder, a link."""
    if file.is_dir() and not file.is_symlink():
        file.rmdir()
    file.unlink(missing_ok=True)
    kind = rng.choice(("gone", "folder", "dangling link", "link to itself", "link to zeros"))
    links = {"dangling link": "none", "link to itself": file.name, "link to zeros": "/dev/zero"}
    if kind == "folder":
        file.mkdir()
    elif kind in links:
        file.symlink_to(links[kind])
    return kind


def _save_again(rng: random.Random, file: Path) -> str:
    """An image of another mode, size or format under the same name."""
    mode, kind = rng.choice(MODES), rng.choice(FORMATS)
    sides = rng.choice(((60, 50), (1, 1), (1, 4000), (224, 224), (2, 2)))
    levels = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 256, (*sides, 3), np.uint8)
    image, saved = Image.fromarray(levels), io.BytesIO()
    try:
        image = (
            image.convert("L").convert("I").convert(mode) if mode == "I;16" else image.convert(mode)
        )
        image.save(saved, kind)
    except (OSError, ValueError, KeyError):
        return change_file(rng, file)
    file.write_bytes(saved.getvalue())
    return f"{kind} in mode {mode}"


def _keys(holder: Any) -> Any:
    return holder.keys() if isinstance(holder, dict) else range(len(holder))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(tree, dict | list):
        for key in list(_keys(tree)):
            yield tree, key
            yield from _places(tree[key])
