"""References of attribution methods next to those of the path that they are compared with."""

from typing import Any

from decaf.evaluation.attributions.reference import Referred
from decaf.plan.study import Study
from decaf.reveal.paths.removal import Removal


def remark_references(study: Study) -> list[str]:
    """Remark on attribution methods whose reference is that of no path ``removal`` of the study.

    Empty without such a path. The reference ``uniform`` does not count, because no path has it.
    """
    paths = {name: path for name, path in study.paths.items() if isinstance(path, Removal)}
    references = [_list_keys(path) for path in paths.values()]
    names = [
        name
        for name, method in study.attributions.items()
        if isinstance(method, Referred)
        and method.baseline != "uniform"
        and _list_keys(method) not in references
    ]
    if not paths or not names:
        return []
    return [
        f"attributions {', '.join(names)} start from another reference than the path "
        f"{' or '.join(paths)} ({' or '.join(map(_describe, references))}), so a comparison "
        "of their scores also compares references; give them the keys of the path"
    ]


def _list_keys(settings: Removal | Referred) -> dict[str, Any]:
    """Keys of a reference that count for its kind; equal channels are one number."""
    keys: dict[str, Any] = {"baseline": settings.baseline}
    if settings.baseline == "constant":
        is_grey = len(set(settings.value)) == 1
        keys["value"] = [*(settings.value[:1] if is_grey else settings.value)]
    if settings.baseline == "blur":
        keys |= {"sigma": settings.sigma, "radius": settings.radius}
    return keys


def _describe(reference: dict[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in reference.items())
