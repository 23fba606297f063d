"""Clean inputs of a study, decoded once into files that workers map into memory."""

from pathlib import Path

from decaf.data.input_store import check_mask, is_stored, store_inputs
from tasks.plan import AuditPlan
from tasks.progress import announce


def store_pairs(plan: AuditPlan) -> Path:
    """Check that the pairs can be paired; store their clean inputs, and masks, once.

    Returns the file of the inputs. Raises DataError, naming what cannot be used.
    """
    study, pairs = plan.given, plan.pairs
    if not all(is_stored(study.workspace, one) for one in pairs.stored_sets):
        announce(f"checking and storing {len(pairs.inputs)} inputs")
        study.data.verify(pairs)
    if pairs.masks:
        store_inputs(study.workspace, pairs.mask_set, study.data.read_mask, check_mask)
    return store_inputs(study.workspace, pairs.input_set, study.data.read_input).absolute()


def store_foregrounds(plan: AuditPlan) -> Path | None:
    """Decode the images that labels need, once; returns their file, None when none are needed.

    Raises DataError, naming the images that cannot be used.
    """
    if plan.foregrounds is None:
        return None
    study = plan.study
    return store_inputs(study.workspace, plan.foregrounds, study.data.read_input).absolute()
