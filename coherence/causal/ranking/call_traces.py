"""Reads who calls whom from OTLP traces: JSON lines of ExportTraceServiceRequest, as the collector's exporter writes.

A span whose parent is of another service is a call.  Spans whose parent is not in the files, and what has no service
name, are counted.  SOURCE: OTLP specification, JSON Protobuf encoding; OpenTelemetry semantic conventions 1.26
(`service.name`, `peer.service`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherence.causal.telemetry.otlp_json import requests_of
from coherence.causal.telemetry.problems import refuse

NAME, PEER = "service.name", "peer.service"


@dataclass(frozen=True)
class CallGraph:
    """Caller -> callees; `spans` read, and of these how many have a parent that no file holds."""

    calls: Mapping[str, tuple[str, ...]]
    spans: int
    orphans: int


def call_graph(paths: Iterable[Path]) -> CallGraph:
    """Returns the graph of all calls in trace files.  Raises InputError with file and line."""
    owner: dict[tuple[str, str], str] = {}
    parents: list[tuple[str, tuple[str, str]]] = []
    calls: dict[str, dict[str, None]] = {}
    for path in paths:
        for service, span in _spans(path):
            key = (str(span.get("traceId", "")), str(span.get("spanId", "")))
            owner[key] = service
            calls.setdefault(service, {})
            if span.get("parentSpanId"):
                parents.append((service, (key[0], str(span["parentSpanId"]))))
            peer = _attribute(span.get("attributes"), PEER)
            if peer and peer != service:
                calls[service][peer] = None
    orphans = 0
    for service, parent in parents:
        caller = owner.get(parent)
        orphans += caller is None
        if caller is not None and caller != service:
            calls[caller][service] = None
    return CallGraph({caller: tuple(callees) for caller, callees in calls.items()}, len(owner), orphans)


def _spans(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for line, request in requests_of(path):
        try:
            for resource in request["resourceSpans"]:
                service = _service(resource)
                for scope in resource.get("scopeSpans", ()):
                    yield from ((service, span) for span in scope.get("spans", ()) if span.get("spanId"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            message = f"not an ExportTraceServiceRequest: {why}"
            raise refuse(path, line, message, "export traces with OTLP's JSON encoding") from None


def _service(resource: Mapping[str, Any]) -> str:
    """The service whose spans these are.  Raises ValueError where none is named."""
    service = _attribute(resource.get("resource", {}).get("attributes"), NAME)
    if not service:
        raise ValueError(f"spans without the resource attribute {NAME}")
    return service


def _attribute(attributes: Any, name: str) -> str:
    """The text of an attribute; "" where it is not there."""
    for attribute in attributes or ():
        if attribute["key"] == name:
            return str(attribute["value"].get("stringValue", ""))
    return ""
