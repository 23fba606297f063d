"""Read or refuse photos by one rule, and crop them.

A photo is one picture in a file of :data:`FORMATS`, grey, of a palette or RGB. It is turned upright
as its EXIF states (EXIF that cannot be parsed is ignored), grey is repeated in all three channels,
and samples of 16 bits keep their upper eight. Colour profiles are ignored: values count as they are
stored. Everything else is refused: several pictures, transparent pixels, samples of 12 or 32 bits,
floats, CMYK, YCbCr and LAB, which have several conversions to RGB, and more pixels than Pillow
considers safe, as stored or after the shorter side is resized.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags
from PIL import Image as PillowImage

from decaf.errors import DataError, abridge, number_of
from decaf.foundation.square import find_central_start, fit_shorter_side

CROP = 224
"""Side of a central crop, px."""
RESIZE_SHORTER = 256
"""Shorter side of the photo before the crop, px."""
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
"""Pillow would try others, such as EPS, for which it starts an interpreter of programs."""
EIGHT_BITS = ("1", "L", "P", "RGB", "LA", "PA", "RGBA", "RGBa")
SIXTEEN_BITS = ("I;16", "I;16B")
TWELVE_BITS = 4095
"""Largest sample of 12 bits."""
MASK_LEVELS = 3
"""Most levels of a mask of one feature: none, the feature, and void."""
LOOKED_AT = 4
"""Files, or pairs of files, that are decoded for a remark."""
EXCHANGED = 3
"""Times that photos differ more than with exchanged channels if the channels count as exchanged."""
ONE_CHANNEL = ("1", "L", "LA", *SIXTEEN_BITS)
"""Modes of grey photos."""
WHITE_IS_ZERO, YCBCR = 0, 6
"""Tags of a TIFF that describe its numbers."""
NUMBERED, LOSSY = ("1", "L", "P", *SIXTEEN_BITS), ("JPEG", "MPO", "WEBP")
"""Modes with one number for each pixel; formats that may change these numbers."""
UPRIGHT = {
    2: PillowImage.Transpose.FLIP_LEFT_RIGHT,
    3: PillowImage.Transpose.ROTATE_180,
    4: PillowImage.Transpose.FLIP_TOP_BOTTOM,
    5: PillowImage.Transpose.TRANSPOSE,
    6: PillowImage.Transpose.ROTATE_270,
    7: PillowImage.Transpose.TRANSVERSE,
    8: PillowImage.Transpose.ROTATE_90,
}
"""Turn that makes each orientation of EXIF upright; from 5 on rows become columns."""
SWAPPING = range(5, 9)
"""Orientations whose turn swaps width and height."""

# Pillow's warnings about EXIF and many pixels name no file; errors here name it.
warnings.filterwarnings("ignore", module=r"PIL\.")


class Header(NamedTuple):
    """Size and EXIF orientation of an image file, or the size that an annotation file gives."""

    size: tuple[int, int]
    """Width and height of the stored pixels, px."""
    orientation: int | None = None
    """EXIF orientation, 1 to 8; None if the file has none."""
    is_sixteen_bits: bool = False
    """True if the samples have 16 bits, of which :func:`read_photo` keeps the upper eight."""
    has_one_channel: bool = False
    """True if the file has no colours."""
    is_lossy: bool = False
    """True if the format may change pixels, as JPEG does."""

    def upright(self, turn: int = 1) -> tuple[int, int]:
        """Width and height after a turn by the file's own orientation, else by ``turn``."""
        return self.size[::-1] if (self.orientation or turn) in SWAPPING else self.size


def turn_in_words(header: Header) -> str:
    """Turn of a photo by EXIF in brackets, for messages; empty without a turn."""
    if (header.orientation or 1) == 1:
        return ""
    width, height = header.size
    return f" (turned by EXIF orientation {header.orientation}, {width} x {height} as stored)"


def read_photo(path: Path) -> PillowImage.Image:
    """Decode a photo: RGB, upright. Raises DataError if the rule above refuses it."""
    with _open_photo(path) as file:
        image = _upright(file)
        if image.mode in SIXTEEN_BITS:
            image = PillowImage.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        elif image.has_transparency_data:
            image = image.convert("RGBA")
            if image.getchannel("A").getextrema() != (255, 255):
                raise DataError("it has transparent pixels; flatten it onto a background")
        return image.convert("RGB")


def read_levels(path: Path, turn: int = 1) -> NDArray[np.uint16]:
    """(height, width) number of every pixel of a mask or label map, upright, as it is stored.

    The file's own EXIF orientation turns it, else ``turn``, the orientation of its photo. For a
    palette it is the place in the palette. Raises DataError if the rule above refuses the
    file, it has colours, or its format changes numbers.
    """
    with _open_photo(path) as file:
        if file.mode not in NUMBERED or file.format in LOSSY:
            raise DataError(
                f"it is {file.format} of {file.mode}; expected one number per pixel: save the mask "
                "or label map as grey or palette PNG"
            )
        return np.asarray(_upright(file, turn)).astype(np.uint16)


def read_header(path: Path) -> Header:
    """Read size and orientation of a photo from its header.

    Raises DataError for a header that the rule above refuses.
    """
    with _open_photo(path) as file:
        tags = getattr(file, "tag_v2", {})  # Pillow swaps the sides of a TIFF that EXIF turns
        width = tags.get(ExifTags.Base.ImageWidth, file.width)
        height = tags.get(ExifTags.Base.ImageLength, file.height)
        return Header(
            (width, height),
            _orientation(file),
            is_sixteen_bits=file.mode in SIXTEEN_BITS,
            has_one_channel=file.mode in ONE_CHANNEL,
            is_lossy=file.format in LOSSY,
        )


def remark_on_dark_photos(headers: Mapping[str, Header]) -> str:
    """Remark on photos of 16 bits that use 12 at most, by their files; empty without any.

    Decodes the first few of 16 bits.
    """
    files = [file for file, header in headers.items() if header.is_sixteen_bits]
    largest = [int(samples.max()) for samples in _decode(map(Path, files[:LOOKED_AT]))]
    if not largest or max(largest) > TWELVE_BITS:
        return ""
    return (
        f"{number_of(len(files), 'photo')} of 16 bits ({abridge(files)}): the largest sample of "
        f"the {len(largest)} looked at is {max(largest)}, as of a camera of 12 bits; decaf keeps "
        "the upper 8 of 16 bits, so models get almost black images: save them as 8 bits, or "
        "multiply the samples by 16"
    )


def remark_on_decoded_photos(
    files: Mapping[str, tuple[str, str]], headers: Mapping[str, Header]
) -> Iterator[str]:
    """Remark on pairs of a grey and a colour photo, black photos, and exchanged channels.

    ``files`` has both files of a pair by its id. Decodes the photos of a few pairs, those first of
    which only one file has one channel; leaves out photos that :func:`read_photo` refuses. Single
    photos may be black, or an edit exchange two colours, so these must be found in all pairs.
    """

    def have_other_channels(pair_id: str) -> bool:
        first, second = (headers[file].has_one_channel for file in files[pair_id])
        return first != second

    complete = [name for name, pair in files.items() if headers.keys() >= {*pair}]
    looked_at = sorted(complete, key=have_other_channels, reverse=True)[:LOOKED_AT]
    of_fault: dict[str, list[str]] = {}
    for name in looked_at:
        with suppress(DataError):
            of_fault.setdefault(_pair_fault(*files[name]), []).append(name)
    count = number_of(len(looked_at), "pair")
    if of_fault.get("black") == looked_at:
        yield (
            f"in all of the {count} looked at, no value of one photo is above 1 of 255, as after "
            f"saving numbers from 0 to 1 as 8 bits: {abridge(looked_at)}; multiply them by 255"
        )
    if mixed := of_fault.get("grey"):
        yield (
            f"in {len(mixed)} of the {count} looked at, one photo is grey and the other has "
            f"colours, so the change includes the colours: {abridge(mixed)}; save both photos in "
            "colour, or set 'channels: 1'"
        )
    if of_fault.get("exchanged") == looked_at:
        yield (
            f"in all of the {count} looked at, the photos differ much less if red and blue of one "
            f"are exchanged: {abridge(looked_at)}; save both photos as RGB, for OpenCV with "
            "cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)"
        )


def _pair_fault(first: str, second: str) -> str:
    """``black``, ``grey`` or ``exchanged``; empty for two photos that agree in their channels."""
    photos = [np.asarray(read_photo(Path(file)), np.int16) for file in (first, second)]
    darkest, brightest = sorted(int(photo.max()) for photo in photos)
    if darkest <= 1 < brightest:
        return "black"
    is_grey = [bool((photo == photo[..., :1]).all()) for photo in photos]
    if is_grey[0] != is_grey[1]:
        return "grey"
    if is_grey[0] or photos[0].shape != photos[1].shape:
        return ""
    distance, exchanged_distance = (
        float(np.abs(photos[0] - photo).mean()) for photo in (photos[1], photos[1][..., ::-1])
    )
    return "exchanged" if EXCHANGED * exchanged_distance < distance else ""


def remark_on_compressed_photos(
    files: Iterable[tuple[str, str]], headers: Mapping[str, Header]
) -> Iterator[str]:
    """Remark on pairs in which only the counterfactual photo has a lossy format.

    ``files`` has the factual and the counterfactual file of each pair. The reverse is no fault: an
    edit of a JPEG, saved as PNG, has the pixels of the JPEG.
    """
    pairs = [pair for pair in files if headers.keys() >= {*pair}]
    compressed = [
        f"{factual} with {changed}"
        for factual, changed in pairs
        if headers[changed].is_lossy and not headers[factual].is_lossy
    ]
    if compressed:
        yield (
            f"in {len(compressed)} of {number_of(len(pairs), 'pair')} only the counterfactual "
            f"photo is a JPEG or WebP ({abridge(compressed)}), so the compression is part of the "
            "change; save both photos as PNG"
        )


def remark_on_grey_masks(files: Sequence[Path]) -> str:
    """Remark on masks of many grey levels among the first few files; empty without any."""
    grey = [
        str(file)
        for file in files[:LOOKED_AT]
        for levels in _decode([file])
        if np.unique(levels).size > MASK_LEVELS
    ]
    if not grey:
        return ""
    return (
        f"{abridge(grey)}: a mask of more than {MASK_LEVELS} levels, as after JPEG or smoothing; "
        "every pixel above 0 belongs to the feature: save masks of 0 and 255 as PNG"
    )


def _decode(files: Iterable[Path]) -> Iterator[NDArray[np.uint16]]:
    """Stored levels of files; leaves out files that :func:`read_levels` refuses.

    The audit reads them all, and names those that it refuses.
    """
    for file in files:
        with suppress(DataError):
            yield read_levels(file)


def fitted_size(size: tuple[int, int], shorter: int | None, side: int | None) -> tuple[int, int]:
    """Width and height of a photo, px, after its shorter side is resized, before it is cropped.

    None leaves the size unchanged. Raises DataError if it is smaller than the crop of ``side``.
    """
    width, height = size if shorter is None else fit_shorter_side(size, shorter)
    if min(width, height) < (side or 1):
        raise DataError(
            f"it has {width} x {height} pixels, fewer than the crop of {side}; set 'resize:' too"
        )
    return width, height


def central_crop(
    image: PillowImage.Image, shorter: int | None = RESIZE_SHORTER, side: int | None = CROP
) -> NDArray[np.uint8]:
    """(height, width, 3) pixels: the shorter side resized, bilinear, and a central square kept.

    The pixels are those of torchvision's ``Resize`` and ``CenterCrop``.

    Sizes are in px, by default 256 and 224; None leaves out the step.
    """
    width, height = fitted_size(image.size, shorter, side)
    resized = image.resize((width, height), PillowImage.Resampling.BILINEAR)
    if side is None:
        return np.asarray(resized)
    left_edge, top = find_central_start(width, side), find_central_start(height, side)
    return np.asarray(resized.crop((left_edge, top, left_edge + side, top + side)))


def central_crop_of_mask(
    mask: NDArray[np.unsignedinteger], shorter: int | None, side: int | None
) -> NDArray[np.unsignedinteger]:
    """(height, width) mask of a photo → that of its :func:`central_crop`: nearest pixels."""
    width, height = fitted_size(mask.shape[::-1], shorter, side)
    rows, columns = (
        _nearest(mask_side, photo_side, side or photo_side)
        for mask_side, photo_side in zip(mask.shape, (height, width), strict=True)
    )
    return mask[np.ix_(rows, columns)]


def _nearest(found: int, wanted: int, kept: int) -> NDArray[np.int64]:
    """Pixels of an edge that are nearest to the central ``kept`` of ``wanted`` resized pixels."""
    places = np.arange(kept) + find_central_start(wanted, kept)
    return ((2 * places + 1) * found) // (2 * wanted)


@contextmanager
def _open_photo(path: Path) -> Iterator[PillowImage.Image]:
    """Open a photo whose header has no fault; errors name the file."""
    try:
        # From a path, Pillow maps an uncompressed TIFF without its EXIF turn, and garbles it.
        with path.open("rb") as content, PillowImage.open(content, formats=FORMATS) as file:
            if fault := _fault(file):
                raise DataError(fault)
            yield file
    except DataError as error:
        raise DataError(f"{path} cannot be used: {error}") from error
    # A decoder fed with damaged bytes may fail in any way.
    except Exception as error:
        raise DataError(
            f"{path} cannot be decoded ({error}); restore it, or remove it from the data"
        ) from error


def _fault(file: PillowImage.Image) -> str:
    """Fault of a header under the rule; empty without one."""
    tags = getattr(file, "tag_v2", {})
    bits = tags.get(ExifTags.Base.BitsPerSample, (8,))
    meaning = tags.get(ExifTags.Base.PhotometricInterpretation)
    # Pillow before 13 calls YCbCr RGB, which is true only of a decoded JPEG.
    is_ycbcr = meaning == YCBCR and file.info.get("compression") != "jpeg"
    mode = "YCbCr" if is_ycbcr else file.mode
    # Of several pictures in a JPEG (MPO), the first counts; others are previews or depth maps.
    if getattr(file, "is_animated", False) and file.format != "MPO":
        return "it holds several pictures; save only the picture to use"
    if mode not in EIGHT_BITS + SIXTEEN_BITS or max(bits) not in (1, 2, 4, 8, 16):
        return f"its pixels are {mode} of {max(bits)} bits; convert it to RGB of 8 bits"
    if mode in SIXTEEN_BITS and meaning == WHITE_IS_ZERO:
        return "it has 16 bits with white as zero; convert it to RGB of 8 bits"
    if "transparency" in file.info and file.mode != "P":
        return "it names a transparent colour; flatten it onto a background"
    return ""


def _upright(file: PillowImage.Image, turn: int = 1) -> PillowImage.Image:
    has_orientation = _orientation(file) is not None
    file.load()
    # Pillow turns a TIFF while it loads it, and drops its orientation.
    step = UPRIGHT.get((_orientation(file) or 1) if has_orientation else turn)
    return file if step is None else file.transpose(step)


def _orientation(file: PillowImage.Image) -> int | None:
    number: Any = file.getexif().get(ExifTags.Base.Orientation)
    return int(number) if number in range(1, 9) else None
