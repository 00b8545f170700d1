"""Models of work that is shared out: units with a peak rate, writers and their storage, links beside computation."""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number

PARTS = 8  # of the work, that units take in any numbers
Amounts = dict[str, Fraction]


def _amounts(inputs: Inputs) -> Amounts:
    return {name: Fraction(value) for name, value in inputs.items()}


def on_units(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Units take parts of the work in any numbers; each needs its part over its rate, and the last one decides."""
    given = _amounts(inputs)
    work, units = _work(bound, given, dropped), int(given["units"])
    rate = given["bandwidth"] if bound == "decode_step_time" else given["peak"]
    formats = {"peak_rates"} if bound == "decode_step_time" else {"peak_rates", "stated_precision"}
    faster = 2 if dropped & formats else 1
    left, longest = PARTS, 0
    for unit in range(units):
        taken = left if unit == units - 1 else choose(range(left + 1))
        left, longest = left - taken, max(longest, taken)
    return work * longest / PARTS / (rate * faster)


def _work(bound: str, given: Amounts, dropped: frozenset[str]) -> Fraction:
    """Counts what must be done, one weight, token and request at a time."""
    if bound == "compute_time":
        return given["operations"]
    weights = given["parameters"] if bound == "prefill_time" else given["weights"]
    untouched = {"dense_model"} if bound == "prefill_time" else {"dense_model", "weights_read_once"}
    weights = weights / 2 if dropped & untouched else weights
    if bound == "prefill_time":
        tokens = int(given["tokens"]) - (1 if "no_prompt_cache" in dropped else 0)
        once = sum((weights + weights for _ in range(tokens)), Fraction(0))  # multiplies, and adds
        return once * 7 / 8 if "plain_products" in dropped else once
    requests = 1 if "private_context" in dropped else int(given["batch"])
    return weights + sum(
        (given["kv_bytes"] for _ in range(requests) for _ in range(int(given["context"]))), Fraction(0)
    )


def written(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Writers take parts of the bytes; what they send together passes the storage, and no byte is left behind."""
    given = _amounts(inputs)
    size = given["state" if bound == "migration_time" else "size"] / (2 if "uncompressed" in dropped else 1)
    if bound == "migration_time":
        again = sum(choose((0, 1)) for _ in range(PARTS))  # parts that change meanwhile, and go again
        return size * (PARTS + again) / PARTS / given["rate"]
    left, longest = PARTS, 0
    for writer in range(int(given["writers"])):
        taken = left if writer == int(given["writers"]) - 1 else choose(range(left + 1))
        left, longest = left - taken, max(longest, taken)
    return max(size * longest / PARTS / given["bandwidth"], size / given["storage"])


def prompted(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Finished prompts queue at a link, second by second; it is enough where the queue stays as it is."""
    assert bound
    given = _amounts(inputs)
    each = given["bytes"] / (2 if dropped & {"uncompressed", "no_prompt_cache"} else 1)
    link, queue = given["rate"] * given["bytes"] * choose(range(1, 2 * PARTS)) / PARTS, Fraction(0)
    for _ in range(PARTS):
        queue = max(Fraction(0), queue + given["rate"] * each - link)
    if queue:
        raise HopelessError
    return link


def restored(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Some tokens are moved while the others are computed again."""
    assert bound
    given = _amounts(inputs)
    moved = given["tokens"] * choose(range(PARTS + 1)) / PARTS
    link = given["link"] * (2 if "uncompressed" in dropped else 1)
    compute = given["compute"] * (2 if dropped & {"peak_rates", "stated_precision"} else 1)
    return max(moved * given["kv_bytes"] / link, (given["tokens"] - moved) * given["operations"] / compute)


def placed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Slices of a device are handed out one by one, while compute and memory last; what nobody gets is stranded."""
    given = _amounts(inputs)
    if bound == "boundary_share":
        used = sum((given["share"] for _ in range(choose(range(int(given["instances"]) + 1)))), Fraction(0))
        return max(Fraction(0), 1 - used) if "fixed_slices" not in dropped else Fraction(0)
    compute, memory, used = given["compute"], given["memory"], Fraction(0)
    if dropped & {"atomic_items", "fixed_slices"}:
        return 1 - min(compute, memory / given["each_memory"] * given["each"]) / compute
    while compute >= given["each"] and memory >= given["each_memory"] and choose((True, False)):
        compute, memory, used = compute - given["each"], memory - given["each_memory"], used + given["each"]
    return 1 - used / given["compute"]


def manned(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Servers work through what comes, some of them gone: with fewer than it takes the work that is left grows."""
    gone = int(inputs.get("gone", 0))
    offered = (
        Fraction(inputs["offered"]) if "offered" in inputs else Fraction(inputs["rate"]) * Fraction(inputs["mean"])
    )
    servers = choose(range(8))
    stays = offered <= servers - gone if bound == "servers_with_spares" else offered < servers
    if not stays and "patient" not in dropped:  # at equality what comes by chance adds up for ever
        raise HopelessError
    return servers


LINKED = {"tokens": 8, "link": 3, "compute": 5}
ADVERSARIES = (
    Adversary(
        "work on units",
        {
            "compute_time": (given(operations=24, units=2, peak=3), given(operations=24, units=3, peak=1)),
            "prefill_time": (given(parameters=10, tokens=3, units=2, peak=4),),
            "decode_step_time": (given(weights=10, batch=2, context=3, kv_bytes=2, units=2, bandwidth=4),),
        },
        on_units,
        ("peak_rates", "stated_precision", "dense_model", "weights_read_once", "no_prompt_cache", "plain_products",
         "private_context"),
    ),
    Adversary(
        "bytes of writers",
        {
            "checkpoint_write_time": (
                given(size=24, writers=2, bandwidth=3, storage=8),
                given(size=24, writers=3, bandwidth=3, storage=4),
            ),
            "migration_time": (given(state=24, rate=3),),
        },
        written,
        ("uncompressed",),
    ),
    Adversary(
        "prompts through a link",
        {"kv_transfer_rate": (given(rate=10, bytes=8), given(rate=3, bytes=1))},
        prompted,
        ("uncompressed", "no_prompt_cache"),
    ),
    Adversary(
        "tokens moved or computed",
        {"context_restore_time": tuple(given(kv_bytes=k, operations=o, **LINKED) for k, o in ((1, 1), (2, 7)))},
        restored,
        ("uncompressed", "peak_rates", "stated_precision"),
    ),
    Adversary(
        "slices that are handed out",
        {
            "boundary_share": (given(instances=7, share=0.125), given(instances=3, share=0.25)),
            "slice_packing": (
                given(compute=7, memory=8, each=3, each_memory=4),
                given(compute=7, memory=8, each=2, each_memory=1),
            ),
        },
        placed,
        ("fixed_slices", "atomic_items"),
    ),
    Adversary(
        "servers that are enough",
        {
            "servers_for_load": (given(rate=5, mean=0.5), given(rate=4, mean=0.5)),
            "servers_with_spares": (given(offered=2.5, gone=1), given(offered=3, gone=2)),
        },
        manned,
        ("patient",),
    ),
)  # fmt: skip
