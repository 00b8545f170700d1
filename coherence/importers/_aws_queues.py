"""Queues of SQS that a function of Lambda reads: a message comes back while the function may still work on it.

A function may run until its timeout, and a message is hidden from others for the visibility timeout from when it is
received: before the window in which a batch is gathered.

SOURCE: AWS Lambda developer guide, Using Lambda with Amazon SQS, Configuring a queue: a visibility timeout of at least
six times the function timeout; API reference, CreateFunction: Timeout 3 s; Amazon SQS API, SetQueueAttributes:
VisibilityTimeout 30 s.
"""

from __future__ import annotations

from coherence.importers._cloud import Cloud, Resource
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar

QUEUE, FUNCTION, MAPPING = "aws_sqs_queue", "aws_lambda_function", "aws_lambda_event_source_mapping"
VISIBLE, RUNS = "30", "3"  # s
WIRING = (
    "function_name", "handler", "runtime", "role", "code", "memory_size", "environment", "layers", "filename", "tags",
    "s3_bucket", "s3_key", "source_code_hash", "description", "vpc_config", "tracing_config", "package_type", "publish",
    "architectures", "image_uri", "policies", "code_uri", "ephemeral_storage", "logging_config", "arn", "invoke_arn",
    "inline_code", "kms_key_arn", "code_signing_config_arn", "qualified_arn", "version", "last_modified",
)  # fmt: skip


def functions(cloud: Cloud, things: dict[str, str], sketch: Sketch) -> None:
    """Adds each function with the time that it may run, and how many of it may."""
    for function in cloud.all(FUNCTION):
        function.pass_over(*WIRING)
        thing = sketch.names.thing(function.name.text, "", "function")
        things[function.name.text] = thing
        limit = function.seconds("timeout") or Scalar(f"{RUNS} s", function.name.place)
        longest = respelled(limit, f"0 s .. {limit.text}")
        values: dict[str, Node | None] = {"takes": entry(longest.place, {"run": longest})}
        sketch.put("components", thing, function.name.place, values)
        most = function.whole("reserved_concurrent_executions")
        if most is not None and integer(most):
            sketch.put_limit(f"{thing}_concurrency", f"{thing}.ongoing", most, "reject")


def queues(cloud: Cloud, things: dict[str, str], sketch: Sketch) -> None:
    """Adds for each mapping of a queue to a function when a message is seen again."""
    for mapping in cloud.all(MAPPING):
        queue = mapping.named(cloud, [QUEUE], "event_source_arn", "queue")
        function = mapping.named(cloud, [FUNCTION], "function_name")
        for name in ("batch_size", "enabled", "function_response_types", "scaling_config"):
            if (key := mapping.key(name)) is not None:
                mapping.view.remark(key, "not modelled")
        if queue is not None and function is not None and function.name.text in things:
            _visibility(queue, things[function.name.text], mapping, sketch)


def _visibility(queue: Resource, thing: str, mapping: Resource, sketch: Sketch) -> None:
    after = queue.seconds("visibility_timeout_seconds", "visibility_timeout")
    if after is None and queue.key("visibility_timeout_seconds", "visibility_timeout") is not None:
        return
    after = after or Scalar(f"{VISIBLE} s", queue.name.place)
    gathers = mapping.seconds("maximum_batching_window_in_seconds")
    waits = gathers is not None and gathers.text != "0 s"
    if waits and gathers is not None:
        sketch.add_activity(thing, "gather_batch", respelled(gathers, f"0 s .. {gathers.text}"), first=True)
    sketch.put_timer(
        f"{queue.name.text}_visibility",
        layer="runtime",
        objective="work on each message again that nobody has ended",
        start=f"{thing}.{'gather_batch' if waits else 'run'} starts",
        after=after,
        unless=f"{thing}.run ends",
        then=f"redeliver {thing}.message",
    )
