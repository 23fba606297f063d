"""Photos as files: the one rule by which they are read or refused, and the crop of them.

A photo is one picture in a file of :data:`FORMATS`, grey, of a palette or RGB. It is turned upright
as its EXIF says (EXIF that cannot be parsed says nothing), grey is repeated in all three channels,
and samples of 16 bits keep their upper eight. Colour profiles are left aside: values count as they
are stored. Everything else is refused: several pictures, transparent pixels, samples of 12 or 32
bits, floats, CMYK, YCbCr and LAB, which have no one translation, and more pixels than Pillow takes
for harmless, as stored or once the shorter side is resized.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags
from PIL import Image as PillowImage

from decaf.errors import DataError

CROP = 224
"""Side of a central crop, px."""
RESIZE_SHORTER = 256
"""Shorter side of the photo that it is cut from, px."""
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
"""Pillow would try others, among them EPS, for which it starts an interpreter of programs."""
EIGHT_BITS = ("1", "L", "P", "RGB", "LA", "PA", "RGBA", "RGBa")
SIXTEEN_BITS = ("I;16", "I;16B")
WHITE_IS_ZERO, YCBCR = 0, 6
"""What a TIFF says of its numbers."""
NUMBERED, LOSSY = ("1", "L", "P", *SIXTEEN_BITS), ("JPEG", "MPO", "WEBP")
"""Modes of one number a pixel; formats that may change it."""
UPRIGHT = {
    2: PillowImage.Transpose.FLIP_LEFT_RIGHT,
    3: PillowImage.Transpose.ROTATE_180,
    4: PillowImage.Transpose.FLIP_TOP_BOTTOM,
    5: PillowImage.Transpose.TRANSPOSE,
    6: PillowImage.Transpose.ROTATE_270,
    7: PillowImage.Transpose.TRANSVERSE,
    8: PillowImage.Transpose.ROTATE_90,
}
"""What turns each orientation of EXIF upright; from 5 on rows become columns."""

# Pillow's warnings name no file: of many pixels, which are refused here by name, and of EXIF.
warnings.filterwarnings("ignore", module=r"PIL\.")


def read_photo(path: Path) -> PillowImage.Image:
    """Decode a photo: RGB, upright. Raises DataError where the rule above refuses it."""
    with _opened(path) as file:
        image = _upright(file)
        if image.mode in SIXTEEN_BITS:
            image = PillowImage.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        elif image.has_transparency_data:
            image = image.convert("RGBA")
            if image.getchannel("A").getextrema() != (255, 255):
                raise ValueError("pixels of it are transparent; flatten it onto a background")
        return image.convert("RGB")


def read_levels(path: Path) -> NDArray[np.uint16]:
    """(height, width) number of every pixel of a mask or label map, upright, as it is stored.

    Of a palette it is the place in the palette. Raises DataError where the rule above refuses the
    file, it has colours, or its format changes numbers.
    """
    with _opened(path) as file:
        if file.mode not in NUMBERED or file.format in LOSSY:
            raise ValueError(
                f"it is {file.format} of {file.mode}; a mask or label map has one number a pixel: "
                "save it as PNG, grey or of a palette"
            )
        return np.asarray(_upright(file)).astype(np.uint16)


def upright_size(path: Path) -> tuple[int, int]:
    """Width and height as a viewer shows the photo, px, from its header.

    Raises DataError where the header shows what the rule above refuses.
    """
    with _opened(path) as file:
        return file.size[::-1] if _orientation(file) in range(5, 9) else file.size


def most_pixels() -> float:
    """Pixels of the largest image that is opened: Pillow's bound, read when it is needed."""
    return PillowImage.MAX_IMAGE_PIXELS or math.inf


def fitted_size(size: tuple[int, int], shorter: int | None, side: int | None) -> tuple[int, int]:
    """Width and height of a photo, px, once its shorter side is resized, before it is cropped.

    None leaves it as it is. Raises DataError where it is smaller than the crop of ``side``, or has
    more pixels than Pillow takes for harmless.
    """
    scale = 1 if shorter is None else shorter / min(size)
    width, height = (round(edge * scale) for edge in size)
    if min(width, height) < (side or 1):
        raise DataError(
            f"it has {width} x {height} pixels, fewer than the crop of {side}; set 'resize:' too"
        )
    if width * height > most_pixels():
        raise DataError(f"it would have {width} x {height} pixels; set a smaller 'resize:'")
    return width, height


def central_crop(
    image: PillowImage.Image, shorter: int | None = RESIZE_SHORTER, side: int | None = CROP
) -> NDArray[np.uint8]:
    """(height, width, 3) pixels: the shorter side resized, bilinear, and a central square kept.

    Sizes are in px, and (224, 224, 3) of 256 unless others are given; None leaves out the step.
    """
    width, height = fitted_size(image.size, shorter, side)
    resized = image.resize((width, height), PillowImage.Resampling.BILINEAR)
    if side is None:
        return np.asarray(resized)
    left, top = (width - side) // 2, (height - side) // 2
    return np.asarray(resized.crop((left, top, left + side, top + side)))


def central_crop_of_mask(
    mask: NDArray[np.unsignedinteger], shorter: int | None, side: int | None
) -> NDArray[np.unsignedinteger]:
    """(height, width) mask of a photo → that of its :func:`central_crop`: nearest pixels."""
    width, height = fitted_size(mask.shape[::-1], shorter, side)
    rows, columns = (
        _nearest(found, wanted, side or wanted)
        for found, wanted in zip(mask.shape, (height, width), strict=True)
    )
    return mask[np.ix_(rows, columns)]


def _nearest(found: int, wanted: int, kept: int) -> NDArray[np.int64]:
    """Pixels of an edge that the central ``kept`` of ``wanted`` resized ones are nearest to."""
    places = np.arange(kept) + (wanted - kept) // 2
    return ((2 * places + 1) * found) // (2 * wanted)


@contextmanager
def _opened(path: Path) -> Iterator[PillowImage.Image]:
    """Open a photo of which the header shows nothing to refuse; what goes wrong names the file."""
    try:
        with PillowImage.open(path, formats=FORMATS) as file:
            if fault := _fault(file):
                raise ValueError(fault)
            yield file
    # A decoder fed with damaged bytes may fail in any way.
    except Exception as error:
        raise DataError(
            f"{path} cannot be decoded ({error}); restore it, or remove it from the data"
        ) from error


def _fault(file: PillowImage.Image) -> str:
    """What the header shows that the rule refuses; empty where there is nothing."""
    tags = getattr(file, "tag_v2", {})
    bits = tags.get(ExifTags.Base.BitsPerSample, (8,))
    meaning = tags.get(ExifTags.Base.PhotometricInterpretation)
    # Pillow before 13 calls it RGB, as it rightly does once a JPEG is decoded.
    is_ycbcr = meaning == YCBCR and file.info.get("compression") != "jpeg"
    mode = "YCbCr" if is_ycbcr else file.mode
    short, long = sorted(file.size)
    # A JPEG of several pictures (MPO) shows the first; the others are previews or depth maps.
    if getattr(file, "is_animated", False) and file.format != "MPO":
        return "it holds several pictures; save the one that is meant"
    most = most_pixels()
    if max(long * short, RESIZE_SHORTER**2 * long // short) > most:
        return f"{file.width} x {file.height} pixels are more than {most:,}, as they are or resized"
    if mode not in EIGHT_BITS + SIXTEEN_BITS or max(bits) not in (1, 2, 4, 8, 16):
        return f"its pixels are {mode} of {max(bits)} bits; convert it to RGB of 8 bits"
    if mode in SIXTEEN_BITS and meaning == WHITE_IS_ZERO:
        return "16 bits with white as zero; convert it to RGB of 8 bits"
    if "transparency" in file.info and file.mode != "P":
        return "it names a transparent colour; flatten it onto a background"
    return ""


def _upright(file: PillowImage.Image) -> PillowImage.Image:
    turn = UPRIGHT.get(_orientation(file))
    return file if turn is None else file.transpose(turn)


def _orientation(file: PillowImage.Image) -> Any:
    return file.getexif().get(ExifTags.Base.Orientation)
