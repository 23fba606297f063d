"""Why shards have to be computed: what sets each apart from the nearest that is committed."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

from tasks.plan import AuditPlan
from warehouse.commits import receipts
from warehouse.commits.receipts import Receipt

WORDS = {
    "pairs": "pairs",
    "model_id": "name of the model",
    "weights": "weights changed",
    "feeding": "feeding (preprocessing or precision)",
    "score": "score",
    "paths": "paths",
    "grid": "grid",
    "numerics": "numerics version",
    "code": "code of a plug-in",
}
FIELDS = tuple(WORDS)
"""Fields behind a shard's key, as ``decaf.plan.shards`` names them."""
NOTHING, NEW_MODEL = "nothing of the study is committed yet", "no shard of this model is committed"
EPSILON, ROUTING = "epsilon", "routing version"

Values = tuple[str | None, ...]


class Miss(NamedTuple):
    """Shards of one model that have to be computed for the same reason."""

    model_id: str
    step: str
    """``score``, or ``route`` where the trajectories are committed."""
    shard_count: int
    reason: str


def explain(plan: AuditPlan) -> list[Miss]:
    """Group the shards that have to be computed by model and by what made them a miss.

    The nearest committed shard of the study has the fewest other fields, and is the newest of
    those. Receipts are looked up by what they share with a shard, so that the time grows with the
    number of receipts plus shards and not with their product. Reads receipts; writes nothing.

    Raises
    ------
    WarehouseError
        When a receipt is damaged.
    """
    unscored = plan.unscored
    unrouted = [
        shard
        for shard in plan.pending
        if shard.keys.shard_key in plan.scored and shard.keys.profile_key not in plan.routed
    ]
    found: Counter[tuple[str, str, str]] = Counter()
    if unscored:
        committed = list(receipts.read_kind(plan.root, "shards", plan.study.study))
        nearest = _differences(committed, [_values(shard.keys.inputs) for shard in unscored])
        known = {receipt.model_id for receipt in committed}
        changed = [nearest[_values(shard.keys.inputs)] for shard in unscored]
        blocks = Counter(
            shard.model.id
            for shard, fields in zip(unscored, changed, strict=True)
            if fields and "pairs" in fields
        )
        totals = Counter(shard.model.id for shard in plan.shards)
        for shard, fields in zip(unscored, changed, strict=True):
            model = shard.model.id
            pairs = f"pairs: {blocks[model]} of {totals[model]} blocks differ"
            found[model, "score", _reason(fields, pairs, is_new=model not in known)] += 1
    if unrouted:
        gates = _gates(plan)
        for shard in unrouted:
            reason = _gate_reason(gates.get(shard.keys.shard_key, []), plan.study.epsilon)
            found[shard.model.id, "route", reason] += 1
    order = [card.id for card in plan.study.models]
    misses = [Miss(model, step, count, reason) for (model, step, reason), count in found.items()]
    return sorted(misses, key=lambda miss: (order.index(miss.model_id), miss.step != "score"))


def _differences(
    committed: list[Receipt], wanted: Iterable[Values]
) -> dict[Values, frozenset[str] | None]:
    """Fields in which each wanted shard differs from its nearest; None when there is none."""
    newest = sorted(committed, key=lambda receipt: receipt.committed_at)
    times = {_values(receipt.inputs): place for place, receipt in enumerate(newest)}
    open_shards = set(wanted)
    nearest: dict[Values, frozenset[str] | None] = dict.fromkeys(open_shards)
    shared_at_all = {
        position
        for position in range(len(FIELDS))
        if {values[position] for values in open_shards} & {values[position] for values in times}
    }
    for count in range(1, len(FIELDS)) if times else ():
        best: dict[Values, tuple[int, frozenset[str]]] = {}
        for kept in combinations(range(len(FIELDS)), len(FIELDS) - count):
            if not shared_at_all.issuperset(kept):
                continue
            shared = itemgetter(*kept)
            index: dict[object, int] = {}
            for values, place in times.items():
                index[shared(values)] = max(place, index.get(shared(values), -1))
            fields = frozenset(FIELDS) - {FIELDS[position] for position in kept}
            for values in open_shards:
                place = index.get(shared(values), -1)
                if place > best.get(values, (-1, None))[0]:
                    best[values] = (place, fields)
        nearest |= {values: fields for values, (_, fields) in best.items()}
        open_shards -= best.keys()
        if not open_shards:
            break
    if times:
        nearest |= {values: frozenset(FIELDS) for values in open_shards}
    return nearest


def _values(inputs: dict[str, str]) -> Values:
    return tuple(inputs.get(field) for field in FIELDS)


def _reason(fields: frozenset[str] | None, pairs: str, *, is_new: bool) -> str:
    if fields is None:
        return NOTHING
    words = {**WORDS, "pairs": pairs}
    changed = [words[field] for field in FIELDS if field in fields]
    if is_new and fields != {"model_id"}:
        return f"{NEW_MODEL}; the nearest differs in: {', '.join(changed)}"
    return ", ".join(changed)


def _gates(plan: AuditPlan) -> dict[str, list[str]]:
    """Epsilons at which each shard is routed, the newest last."""
    gates: dict[str, list[str]] = {}
    committed = receipts.read_kind(plan.root, "profiles", plan.study.study)
    for receipt in sorted(committed, key=lambda receipt: receipt.committed_at):
        inputs = receipt.inputs
        gates.setdefault(inputs.get("shard_key", ""), []).append(inputs.get("epsilon", ""))
    return gates


def _gate_reason(routed: list[str], epsilon: float) -> str:
    if not routed:
        return "scored, and not routed yet"
    if repr(epsilon) in routed:
        return ROUTING
    return f"{EPSILON}: {epsilon!r}, committed at {', '.join(dict.fromkeys(routed))}"
