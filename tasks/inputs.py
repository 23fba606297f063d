"""Clean inputs of a study, decoded once into files that workers map into memory."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from decaf.data.input_store import check_mask, input_file, inputs_at, is_stored, store_inputs
from decaf.data.mask_coverage import check_coverage, read_words
from decaf.data.pairs import Input, InputSet, PairSet
from decaf.plan.study import Study
from tasks.progress import announce


def store_pairs(study: Study, pairs: PairSet) -> Path:
    """Verify the pairs; store their clean inputs and masks once.

    Returns the file of the inputs. Raises DataError, which names the unusable inputs.
    """
    is_new = not all(is_stored(study.workspace, input_set) for input_set in pairs.stored_sets)
    if is_new:
        announce(f"checking and storing {len(pairs.inputs)} inputs")
        study.data.verify(pairs)
    if pairs.masks:
        store_inputs(study.workspace, pairs.mask_set, study.data.read_mask, check_mask)
        for remark in check_masks(study, pairs) if is_new else ():
            announce(remark)
    data = study.data
    stored = store_inputs(
        study.workspace, pairs.input_set, data.read_input, read_many=data.read_inputs
    )
    return stored.absolute()


def check_masks(study: Study, pairs: PairSet) -> tuple[str, ...]:
    """Remark on masks that show nothing, everything or a background; reads stored masks if any.

    Raises DataError for a feature whose masks are all empty, or all filled.
    """
    masks = pairs.mask_set
    number_of = {mask: number for number, mask in enumerate(masks.inputs)}
    file = input_file(study.workspace, masks)

    def read_stored(mask: Input) -> NDArray[Any]:
        number = number_of[mask]
        return inputs_at(file, masks.places[[number]], masks.shape_of(number))

    read = read_stored if is_stored(study.workspace, masks) else study.data.read_mask
    return check_coverage(pairs, read_words(pairs, read))


def store_foregrounds(study: Study, foregrounds: InputSet | None) -> Path | None:
    """Store the images that labels need, once; returns their file, or None without such images.

    Raises DataError, which names the unusable images.
    """
    if foregrounds is None:
        return None
    return store_inputs(study.workspace, foregrounds, study.data.read_input).absolute()
