"""A made-up picture as files of every kind: those that are read, and those that are refused."""

import io
import struct
import zlib

import numpy as np
from PIL import ExifTags, Image

RANDOM = np.random.default_rng(5)
COLOUR = RANDOM.integers(0, 256, (50, 60, 3), dtype=np.uint8)
GREY = COLOUR[..., 0]
RGB, L = Image.fromarray(COLOUR), Image.fromarray(GREY)
WIDE_GREY = GREY.astype(np.uint16) * 256 + RANDOM.integers(0, 256, GREY.shape, dtype=np.uint16)
WIDE_COLOUR = COLOUR.astype(np.uint16) * 256 + 200
OPAQUE, SHEER = Image.new("L", RGB.size, 255), Image.new("L", RGB.size, 254)
PALETTE = RGB.quantize(16)
AS_STORED = ("FLIP_LEFT_RIGHT", "ROTATE_180", "FLIP_TOP_BOTTOM", "TRANSPOSE")
AS_STORED += ("ROTATE_90", "TRANSVERSE", "ROTATE_270")
"""What was done to a picture whose EXIF says 2, 3, … 8."""


def again():
    """Options of a file with a second picture, which remembers its last encoder, as any does."""
    return {"save_all": True, "append_images": [Image.fromarray(255 - COLOUR)]}


def saved(image, file_format, **options):
    file = io.BytesIO()
    image.copy().save(file, file_format, **options)
    return file.getvalue()


def png(width, height, depth, kind, rows=b"", more=()):
    """A PNG of raw rows, each with its filter byte; ``more`` are chunks before the data."""
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    chunks = [(b"IHDR", header), *more, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    packed = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def rows_of(array):
    return b"".join(b"\0" + row.tobytes() for row in array)


def tiff(samples, bits, photometric, order="<"):
    """A TIFF of one sample a pixel, not compressed, 60 x 50."""
    tags = {256: 60, 257: 50, 258: bits, 259: 1, 262: photometric, 273: 200, 277: 1, 278: 50}
    tags[279] = len(samples)
    entries = b"".join(struct.pack(f"{order}HHII", tag, 4, 1, tags[tag]) for tag in sorted(tags))
    start = b"II*\0" if order == "<" else b"MM\0*"
    head = start + struct.pack(f"{order}IH", 8, len(tags)) + entries + struct.pack(f"{order}I", 0)
    return head.ljust(200, b"\0") + samples


def lying(number):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = number
    stored = RGB.transpose(Image.Transpose[AS_STORED[number - 2]])
    return saved(stored, "PNG", exif=exif)


def with_alpha(image, alpha):
    return Image.merge(f"{image.mode}A", [*image.split(), alpha])


def read_as(image):
    return np.asarray(image.convert("RGB"))


GREYS = np.repeat(GREY[..., None], 3, axis=2)
BINARY = L.convert("1")
JPEG = saved(RGB, "JPEG", quality=90)
LOSSY = read_as(Image.open(io.BytesIO(JPEG)))
JPEG_BAD_EXIF = saved(RGB, "JPEG", quality=90, exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff")

READ = {
    "RGB": (saved(RGB, "PNG"), COLOUR),
    "grey": (saved(L, "PNG"), GREYS),
    "grey JPEG": (saved(L, "JPEG"), read_as(Image.open(io.BytesIO(saved(L, "JPEG"))))),
    "black and white": (saved(BINARY, "PNG"), read_as(BINARY)),
    "palette": (saved(PALETTE, "PNG"), read_as(PALETTE)),
    "opaque palette": (saved(PALETTE, "PNG", transparency=b"\xff" * 16), read_as(PALETTE)),
    "opaque alpha": (saved(with_alpha(RGB, OPAQUE), "PNG"), COLOUR),
    "opaque grey": (saved(with_alpha(L, OPAQUE), "PNG"), GREYS),
    "16-bit grey PNG": (saved(Image.fromarray(WIDE_GREY), "PNG"), GREYS),
    "16-bit RGB PNG": (png(60, 50, 16, 2, rows_of(WIDE_COLOUR.astype(">u2"))), COLOUR),
    "16-bit TIFF": (tiff(WIDE_GREY.astype("<u2").tobytes(), 16, 1), GREYS),
    "16-bit TIFF, big endian": (tiff(WIDE_GREY.astype(">u2").tobytes(), 16, 1, ">"), GREYS),
    "white is zero": (tiff((255 - GREY).tobytes(), 8, 0), GREYS),
    "LZW": (saved(RGB, "TIFF", compression="tiff_lzw"), COLOUR),
    "still GIF": (saved(PALETTE, "GIF"), read_as(PALETTE)),
    "BMP": (saved(RGB, "BMP"), COLOUR),
    "WebP": (saved(RGB, "WEBP", lossless=True), COLOUR),
    "JPEG and its preview": (saved(RGB, "MPO", quality=90, **again()), LOSSY),
    "colour profile": (saved(RGB, "PNG", icc_profile=b"no profile" * 50), COLOUR),
    "EXIF that cannot be parsed": (JPEG_BAD_EXIF, LOSSY),
    **{f"orientation {number}": (lying(number), COLOUR) for number in range(2, 9)},
}
"""Files, and the pixels that they are read as."""

ONE_COLOUR_SEEN_THROUGH = {"transparency": bytes([0, *[255] * 15])}
CUT = "cannot be decoded"
HEADERS = {
    "float": (saved(Image.fromarray(GREY.astype(np.float32)), "TIFF"), "are F of 32 bits"),
    "32 bits": (saved(Image.fromarray(GREY.astype(np.int32)), "TIFF"), "are I of 32 bits"),
    "12 bits": (tiff(bytes(60 * 50 * 3 // 2), 12, 1), "are I;16 of 12 bits"),
    "16 bits, white is zero": (tiff(WIDE_GREY.tobytes(), 16, 0), "with white as zero"),
    "CMYK JPEG": (saved(RGB.convert("CMYK"), "JPEG"), "are CMYK"),
    "CMYK TIFF": (saved(RGB.convert("CMYK"), "TIFF"), "are CMYK"),
    "YCbCr": (saved(RGB.convert("YCbCr"), "TIFF"), "are YCbCr"),
    "YCbCr LZW": (saved(RGB.convert("YCbCr"), "TIFF", compression="tiff_lzw"), "are YCbCr"),
    "LAB": (saved(Image.frombytes("LAB", RGB.size, COLOUR.tobytes()), "TIFF"), "are LAB"),
    "animated GIF": (saved(RGB, "GIF", **again()), "several pictures"),
    "animated PNG": (saved(RGB, "PNG", **again()), "several pictures"),
    "pages": (saved(RGB, "TIFF", **again()), "several pictures"),
    "animated WebP": (saved(RGB, "WEBP", **again()), "several pictures"),
    "transparent colour": (saved(RGB, "PNG", transparency=(1, 2, 3)), "transparent colour"),
    "900 million pixels": (png(30_000, 30_000, 8, 2), "exceeds limit"),
    "no width": (png(0, 10, 8, 0), CUT),
    "cut PNG": (saved(RGB, "PNG")[:2000], "truncated"),
    "cut WebP": (saved(RGB, "WEBP", lossless=True)[:-2000], CUT),
    "one byte changed": (saved(RGB, "PNG").replace(b"IDAT", b"IDAU", 1), CUT),
    "no byte": (b"", "cannot identify image file"),
    "text": (b"a photo of a dog\n" * 20, "cannot identify image file"),
    "a program": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 60 50\n%%EOF\n", "cannot identify"),
}
"""Files that are refused when sizes are compared, and words of the message."""

BODIES = {
    "sheer": (saved(with_alpha(RGB, SHEER), "PNG"), "transparent pixels; flatten it"),
    "sheer grey": (saved(with_alpha(L, SHEER), "PNG"), "transparent pixels"),
    "sheer palette": (saved(PALETTE, "PNG", **ONE_COLOUR_SEEN_THROUGH), "transparent pixels"),
    "cut JPEG": (JPEG[: len(JPEG) // 2], "truncated"),
    "cut TIFF": (saved(RGB, "TIFF")[:-2000], CUT),
    "cut GIF": (saved(PALETTE, "GIF")[:1200], "truncated"),
}
"""Files that are refused once they are decoded, and words of the message."""
