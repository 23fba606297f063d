"""Black photos with one white rectangle, stored as cameras do, and annotations of it."""

import json

import numpy as np
from PIL import ExifTags, Image
from small_studies import of_scenes, weighted

RIGHT, BOTTOM = 3, 2
"""Corner of the rectangle that begins at the top left stored pixel, px."""
POLYGON = [[0, 0, RIGHT, 0, RIGHT, BOTTOM, 0, BOTTOM]]
KINDS = ("masks", "label_maps", "polygons", "run lengths", "boxes")


def exif(orientation):
    """EXIF with an orientation."""
    tags = Image.Exif()
    tags[ExifTags.Base.Orientation] = orientation
    return tags


def rectangle(width, height):
    """(height, width) bool: the rectangle at the top left."""
    mask = np.zeros((height, width), bool)
    mask[:BOTTOM, :RIGHT] = True
    return mask


def write_photo(file, size, orientation=None, white=255):
    """Write the stored photo; the orientation says how a viewer turns it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.repeat(rectangle(*size)[..., None] * np.uint8(white), 3, axis=2)
    Image.fromarray(pixels).save(
        file, **({} if orientation is None else {"exif": exif(orientation)})
    )


def annotations(folder, kind, photos, **settings):
    """Settings of features: the mask of each photo, by its name without suffix, as a file has it.

    ``photos`` has (height, width) bool masks.
    """
    folder.mkdir(exist_ok=True)
    if kind in ("masks", "label_maps"):
        named = "_part" * (kind == "masks")
        for name, mask in photos.items():
            Image.fromarray(mask.astype(np.uint8)).save(folder / f"{name}{named}.png")
        files = f"{folder}/{{image}}{'_{feature}' * (kind == 'masks')}.png"
        return {"kind": kind, "files": files, "names": ["part"]} | settings
    images, parts = [], []
    for number, (name, mask) in enumerate(photos.items()):
        height, width = mask.shape
        images.append({"id": number, "file_name": f"{name}.png", "width": width, "height": height})
        parts.append({"id": number, "image_id": number, "category_id": 1} | outline(kind, mask))
    write_coco(folder / "parts.json", images, parts)
    boxes = {"boxes": "as_masks"} if kind == "boxes" else {}
    return {"kind": "coco", "file": str(folder / "parts.json")} | boxes | settings


def outline(kind, mask):
    """Fields of a COCO annotation of a rectangle."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    left, top, right, bottom = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    if kind == "boxes":
        return {"bbox": [int(left), int(top), int(right - left), int(bottom - top)]}
    if kind == "polygons":
        corners = [left, top, right, top, right, bottom, left, bottom]
        return {"segmentation": [[int(value) for value in corners]]}
    flat = np.concatenate([[False], mask.T.ravel()])
    ends = [*np.flatnonzero(flat[1:] != flat[:-1]), mask.size]
    counts = np.diff([0, *ends])
    return {"segmentation": {"size": [*mask.shape], "counts": counts.tolist()}}


def write_coco(file, images, parts, names=("part",)):
    """Write a file of COCO annotations."""
    categories = [{"id": number, "name": name} for number, name in enumerate(names, 1)]
    content = {"images": images, "annotations": parts, "categories": categories}
    file.write_text(json.dumps(content))


def settings(folder, features, **data):
    """Settings of a study of the photos: a weighted sum of pixels, on one path of removal."""
    given = {"adapter": "image_features", "images": str(folder / "photos"), "features": features}
    paths = {"removal": {"kind": "removal"}}
    study = of_scenes(folder) | weighted(folder)
    return study | {"data": given | data, "paths": paths, "stages": 3, "epsilon": 1e-6}
