"""Propose the card of a model from its MLflow metadata, or from the file of an estimator."""

from pathlib import Path
from typing import Any, NamedTuple

from decaf.errors import ModelError
from decaf.foundation.files import describe_link, is_inside
from decaf.models.mlflow_model import MLMODEL, PYFUNC, MlflowModel, read_mlmodel
from decaf.models.sources.estimator import XGBOOST, keys_of
from decaf.models.training.estimator import SKOPS
from decaf.registry.entries import CARD_FILE, Described

LABELS = ("integer", "long", "string", "boolean", "int32", "int64", "str", "object", "bool")
"""MLflow's types of a classifier's predictions."""
TAG = "decaf."
"""Begins a tag that holds a key of the card, as `decaf.family`."""
KEYS = ("family", "output", "method")
"""Keys that such a tag may hold."""
PYTHON = "/opt/mlflow/bin/python"
NETWORKS = ("pytorch", "onnx")
OUTPUTS = {"predict_proba": "probabilities"} | dict.fromkeys(NETWORKS, "logits")
SERVED = (
    "python: correct it: the interpreter of an environment with mlflow 3 and what the model needs "
    "(its requirements.txt); what the model brings along runs there, with all your rights"
)

PICKLES = (".pkl", ".pickle", ".joblib")
PICKLED = (
    "trust: opening this pickle runs the code in it with all your rights: it can read, change and "
    "send what you can. Leave the line out unless you trust whoever registers this model, in later "
    "versions too"
)
MISSING = (
    "missing: the number that marked missing values in training, such as -999; leave the line out "
    "for NaN. The file does not state it"
)
METHOD = "method: predict_proba, unless it has none: then decision_function, predict"
CLASSES = "classes: list the model's class names in the study's order, unless they are 0, 1, …"


class Proposal(NamedTuple):
    """A proposed card without its name, and remarks for its reader."""

    card: dict[str, Any]
    remarks: list[str]

    @property
    def needs_trust(self) -> bool:
        """True if decaf opens the file only if the registry has its name under ``trust:``."""
        return bool(self.card.get("unpickle"))


def proposal_of(described: Described) -> Proposal:
    """Propose a card for an MLflow model, or else for an estimator's file in the folder.

    Raises ModelError when there is neither, and names the card where the model has one, or when
    nothing can be scored.
    """
    folder = described.folder
    if (folder / MLMODEL).exists():
        return propose(read_mlmodel(folder), described.tags)
    files = _estimator_files(folder)
    is_pickle = files[0].suffix in PICKLES
    keys = {"unpickle": True} if is_pickle else keys_of(files[0])
    card = {"source": "estimator", "file": files[0].name, **keys}
    remarks = []
    if len(files) > 1:
        remarks.append(f"file: or {', '.join(path.name for path in files[1:])}")
    if is_pickle:
        remarks.append(PICKLED)
    if files[0].suffix in XGBOOST:
        remarks.append(MISSING)
    if "trusted" in card:
        remarks.append("trusted: types that skops does not know; look at each of them")
    if "method" not in card:
        remarks += [METHOD, CLASSES]
    if "classes" in card:
        remarks.append("classes: put the model's class names in the study's order")
    return Proposal(card, remarks)


def _estimator_files(folder: Path) -> list[Path]:
    """Files of estimators in a folder, those that are opened without running code first.

    Raises ModelError when there are none.
    """
    kinds = (SKOPS, *XGBOOST, *PICKLES)
    paths = [path for path in folder.iterdir() if path.suffix in kinds]
    if files := [path for path in paths if is_inside(path, folder)]:
        return sorted(files, key=lambda path: (kinds.index(path.suffix), path.name))
    if link := next(filter(None, (describe_link(path, folder) for path in paths)), ""):
        raise ModelError(f"its file lies outside of the folder of the model: {link}")
    if (folder / CARD_FILE).exists():
        raise ModelError(f"it has a card already: {folder / CARD_FILE}")
    raise ModelError(
        f"there is no {MLMODEL} in {folder} and no file of an estimator ({', '.join(kinds)}); "
        "write its card by hand, as docs/models.md says"
    )


def propose(model: MlflowModel, tags: dict[str, str]) -> Proposal:
    """Propose a card that opens a file without running code, or else a card for a server.

    Raises ModelError when the model has no flavour that can be scored.
    """
    sklearn, xgboost = model.flavours.get("sklearn", {}), model.flavours.get("xgboost", {})
    pyfunc = model.flavours.get(PYFUNC)
    if sklearn.get("serialization_format") == "skops":
        gives = (pyfunc or {}).get("predict_fn") == "predict_proba" or _is_classifier(model)
        card, remarks = _estimator(str(sklearn.get("pickled_model")), gives)
        if trusted := sklearn.get("skops_trusted_types"):
            card["trusted"] = list(trusted)
            remarks.append("trusted: types that the file asks for; look at each of them")
    elif str(xgboost.get("data", "")).endswith((".ubj", ".json")):
        card, remarks = _estimator(
            str(xgboost["data"]), "Regressor" not in str(xgboost.get("model_class", ""))
        )
        remarks.append(MISSING)
    elif pyfunc is not None:
        card, remarks = _server_card(model, pyfunc)
    else:
        raise ModelError(
            f"the model has the flavours {', '.join(sorted(model.flavours)) or 'none'}; expected "
            f"sklearn as skops, xgboost, or {PYFUNC}"
        )
    tagged_keys = {key: tags[TAG + key] for key in KEYS if TAG + key in tags}
    input_words = ", ".join(
        f"{column.name or 'tensor'} {column.type}" for column in model.inputs[:40]
    )
    remarks.append(f"inputs: {input_words or 'not in the signature'}")
    return Proposal(card | tagged_keys, remarks)


def _estimator(file: str, is_classifier: bool) -> tuple[dict[str, Any], list[str]]:
    method = "predict_proba" if is_classifier else "predict"
    card = {"source": "estimator", "file": file, "method": method}
    if not is_classifier:
        return card, []
    return card, [CLASSES]


def _server_card(model: MlflowModel, pyfunc: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    kind = next((name for name in NETWORKS if name in model.flavours), pyfunc.get("predict_fn"))
    output = OUTPUTS.get(str(kind), "value")
    card = {"source": "mlflow_server", "model": ".", "python": PYTHON, "output": output}
    remarks = [
        SERVED,
        f"output: assumed to be {output}; correct it if predict returns something else",
    ]
    if _is_classifier(model) and output == "value":
        remarks.append(
            "predict returns class labels, and decaf needs numbers: log the model with "
            "pyfunc_predict_fn='predict_proba'"
        )
    if file := model.flavours.get("sklearn", {}).get("pickled_model"):
        remarks.append(
            f"or, with its name under 'trust:' of the registry, {{source: estimator, file: {file}, "
            "unpickle: true}: a pickle, which can run anything when it is opened"
        )
    if "xgboost" in model.flavours:
        remarks.append(MISSING)
    if any(column.type in ("integer", "long") for column in model.inputs):
        remarks.append("whole-number columns: MLflow cuts off the fractions that a path reveals")
    return card, remarks


def _is_classifier(model: MlflowModel) -> bool:
    """True if the signature has labels or is absent."""
    return all(column.type in LABELS for column in model.outputs)
