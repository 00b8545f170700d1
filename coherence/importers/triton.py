"""Triton: the configuration of a model (`*.pbtxt`): what runs at once, how long batches wait, what the queue takes.

Each instance runs one batch.  Without `gpus` there is an instance group for each accelerator.  A batch waits
`max_queue_delay_microseconds` to become larger: `<model>.batch_wait`.  The policy of the queue ends a request that
waits longer than its timeout (REJECT) or puts it last (DELAY); how long a request waits for a free instance
(`<model>.queue`) and runs (`<model>.execute`) is not in the file.

SOURCE: Triton Inference Server (2.60), model_config.proto: ModelInstanceGroup (count 1), ModelDynamicBatching,
ModelQueuePolicy (timeout_action REJECT, default_timeout_microseconds 0: none, max_queue_size 0: no limit).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._protobuf_text import read
from coherence.importers._quantities import duration_text, integer, respelled, value_of
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Scalar, Table

KIND = "Triton"
VARIANTS = True
LOCAL_NAMES = True
SUFFIX = ".pbtxt"
SPELLING: Mapping[str, str] = {"after": "default_timeout_microseconds"}
KEYS = ("platform", "backend", "max_batch_size", "instance_group", "dynamic_batching")
WIRING = (
    "platform", "backend", "input", "output", "default_model_filename", "version_policy", "parameters", "batch_input",
    "batch_output", "cc_model_filenames", "metric_tags", "model_transaction_policy", "runtime",
)  # fmt: skip
NOT_MODELLED = ("sequence_batching", "ensemble_scheduling", "optimization", "model_warmup", "response_cache",
                "model_operations", "model_repository_agents")  # fmt: skip
__all__ = ["KIND", "LOCAL_NAMES", "SPELLING", "SUFFIX", "VARIANTS", "add", "read", "recognises"]


def recognises(root: Table) -> bool:
    """Returns whether a message is the configuration of a model."""
    return root.place.file.endswith(SUFFIX) and any(key in root for key in KEYS)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the model, what its instances run at once, and what its queue takes."""
    top = manifest.top
    top.pass_over(*WIRING)
    top.remark_all(dict.fromkeys(NOT_MODELLED, "not modelled"))
    name = _name(manifest)
    thing = sketch.names.thing(name.text, "", "model")
    sketch.mention(thing, name.place, f"model {name.text} of Triton")
    size = top.whole("max_batch_size")
    _instances(top, size, thing, sketch)
    batching = top.table("dynamic_batching")
    if batching is not None:
        _batching(batching, thing, sketch)


def _name(manifest: Manifest) -> Scalar:
    """Returns the name of the model: as it is written, else that of its folder, else that of its file."""
    stated = manifest.top.scalar("name")
    folder, _, file = manifest.file.rpartition("/")
    outer = folder.rpartition("/")[2]
    if stated is not None and stated.text:
        return stated
    return respelled(manifest.name, outer) if file == f"config{SUFFIX}" and outer else manifest.name


def _instances(top: FieldView, size: Scalar | None, thing: str, sketch: Sketch) -> None:
    """Adds how many requests the instances run at once."""
    groups = top.blocks("instance_group")
    counts = [_count(group) for group in groups]
    known = [count for count in counts if count is not None]
    if not known or len(known) < len(counts):
        return
    total = sum(number for number, _, _ in known) * max(integer(size) or 1 if size is not None else 1, 1)
    each = any(is_each for _, _, is_each in known)
    if each and len(known) > 1:
        top.remark("instance_group", "groups of which some are one for each accelerator are not added up")
        return
    first = known[0][1]
    most = respelled(first, str(total))
    sketch.put_limit(f"{thing}_instances", f"{thing}.ongoing", most, "wait", per="gpu" if each else "replica")


def _count(group: FieldView) -> tuple[int, Scalar, bool] | None:
    """Returns the instances of a group, where that is written, and whether there are so many for each accelerator."""
    group.pass_over("name", "profile", "passive", "host_policy", "secondary_devices")
    group.remark("rate_limiter", "resources and priorities of instances are not modelled")
    count, kind = group.whole("count") or Scalar("1", group.node.place), group.scalar("kind")
    devices = _size(group, "gpus")
    number = integer(count) or 1
    on_cpu = kind is not None and kind.text in ("KIND_CPU", "KIND_MODEL")
    return number * max(devices, 1), count, not on_cpu and devices == 0


def _size(group: FieldView, key: str) -> int:
    node = group.node.get(key)
    group.use(key)
    return len(node) if isinstance(node, Items) else 0 if node is None else 1


def _batching(batching: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds how long a batch waits to become larger, and the policy of the queue."""
    wait = _microseconds(batching, "max_queue_delay_microseconds")
    if wait is not None:
        sketch.add_activity(thing, "batch_wait", respelled(wait, f"0 s .. {wait.text}"))
    batching.remark("preferred_batch_size", "at which size a batch does not wait is not modelled")
    batching.pass_over("preserve_ordering")
    for key in ("priority_levels", "default_priority_level", "priority_queue_policy"):
        batching.remark(key, "queues of their own for priorities are not modelled")
    policy = batching.table("default_queue_policy")
    if policy is not None:
        _queue(policy, wait, thing, sketch)


def _queue(policy: FieldView, wait: Scalar | None, thing: str, sketch: Sketch) -> None:
    """Adds the longest queue, and the time after which a request in it is refused or put last.

    A request that is alone waits as long as its batch does, so a shorter time refuses it.
    """
    policy.remark("allow_timeout_override", "a request may state a shorter time")
    action = policy.scalar("timeout_action")
    after, most = _microseconds(policy, "default_timeout_microseconds"), policy.positive("max_queue_size")
    if most is not None:
        sketch.put_limit(f"{thing}_queue", f"{thing}.waiting", most, "reject")
    if after is None:
        return
    delays = action is not None and action.text in ("DELAY", "1")
    refused = wait is not None and not delays and value_of(wait) >= value_of(after)
    activity = f"{thing}.{'batch_wait' if refused else 'queue'}"
    sketch.put_timer(
        f"{thing}_queue_timeout",
        layer="runtime",
        objective="let no request wait too long for its turn",
        during=activity,
        after=after,
        then=f"{'defer' if delays else 'reject'} {thing}.request",
    )


def _microseconds(view: FieldView, key: str) -> Scalar | None:
    """Returns a time of whole microseconds; none where it is 0."""
    stated = view.positive(key)
    return respelled(stated, duration_text(Fraction(integer(stated) or 0, 10**6))) if stated is not None else None
