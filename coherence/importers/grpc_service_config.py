"""gRPC service config: a call to each service that a method names, with its time limit and its retries.

`timeout` is over all tries; `maxAttempts` counts the first one, and above 5 is taken as 5.  A method without
`retryPolicy` is tried once; with a `hedgingPolicy` several tries run at once, and it is not modelled.  Methods of one
service with one policy are one call.

SOURCE: grpc.service_config.MethodConfig; gRFC A6.  Defaults are in the part grpc_retry_2024.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base import units
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

KIND = "gRPC"
VARIANTS = True  # each file is of another client
SPELLING = {"deadline": "timeout", "tries": "maxAttempts"}
PART = "grpc_retry_2024"
MOST_TRIES = 5
CAUSES = {"DEADLINE_EXCEEDED": "timeout", "UNAVAILABLE": "unavailable", "RESOURCE_EXHAUSTED": "rate_limited"}
CODES = ("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
         "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
         "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED")  # fmt: skip


def recognises(root: Table) -> bool:
    """Returns whether a document is a service config: each of its method configs names its methods."""
    methods = root.get("methodConfig")
    named = [isinstance(method, Table) and "name" in method for method in methods] if isinstance(methods, Items) else []
    return bool(named) and all(named)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the calls."""
    for method in manifest.top.tables("methodConfig"):
        if "hedgingPolicy" in method:
            method.remark("hedgingPolicy", "several tries at once are not modelled, and neither is this call")
            continue
        services = {service.text: service for service in _services(method)}
        policy = _policy(method) if services else {}
        for text, service in services.items():
            thing = sketch.names.thing(text or "every service", "", "service")
            sketch.mention(thing, service.place, f"gRPC service {text}" if text else "every other gRPC service")
            ends = {"from": Scalar("clients", method.node.place), "to": respelled(service, thing)}
            sketch.calls.append(entry(method.node.place, {**ends, **policy}))


def _services(method: FieldView) -> Iterator[Scalar]:
    """Yields the services of a method config; an empty name is every service."""
    for name in method.tables("name"):
        name.pass_over("method")
        yield name.scalar("service") or Scalar("", name.node.place)


def _policy(method: FieldView) -> dict[str, Node | None]:
    """Returns the time limit, the tries and the pauses."""
    retry = method.table("retryPolicy")
    values: dict[str, Node | None] = {"deadline": method.duration("timeout")}
    if retry is None:
        return {**values, "tries": Scalar("1", method.node.place)}
    tries = _tries(retry)
    base, cap = retry.duration("initialBackoff"), retry.duration("maxBackoff")
    pause = {"base": base, "cap": cap, "factor": retry.quantity("backoffMultiplier")}
    stated = retry.scalars("retryableStatusCodes")
    causes = [_cause(code, retry) for code in stated]
    return {
        **values,
        "uses": Scalar(PART, retry.node.place),
        "tries": tries,
        "pause": entry(base.place, pause) if base else None,
        "retry_when": listed(causes, retry.node.entries["retryableStatusCodes"].place) if causes else None,
    }


def _tries(policy: FieldView) -> Scalar:
    most = policy.whole("maxAttempts", least=2)
    number = min(integer(most) or MOST_TRIES, MOST_TRIES) if most else MOST_TRIES
    return Scalar(str(number), most.place if most else policy.node.place)


def _cause(code: Scalar, retry: FieldView) -> Scalar:
    """Returns the cause of a status, which is written as its name or its number."""
    number = integer(code)
    name = CODES[number] if number is not None and 0 <= number < len(CODES) else code.text.upper()
    if name not in CODES:
        retry.problem(code.place, f"'{units.shorten(code.text)}' is no status of gRPC", "write for example UNAVAILABLE")
    return respelled(code, CAUSES.get(name, name.lower()))
