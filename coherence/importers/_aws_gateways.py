"""API Gateways of AWS that call a function of Lambda: a request ends at the timeout of its integration.

The function goes on until its own timeout: an answer that comes later is lost, and the client has an error.  A gateway
does not try again.  An integration that invokes the function and does not wait is left out.

SOURCE: Amazon API Gateway developer guide, Quotas: integration timeout 29 s of REST APIs, 30 s of HTTP APIs; API
reference, PutIntegration: timeoutInMillis, X-Amz-Invocation-Type.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.importers._aws_queues import FUNCTION
from coherence.importers._cloud import Cloud, Resource
from coherence.importers._quantities import duration_text, respelled, value_of
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar

REST, HTTP = "aws_api_gateway_integration", "aws_apigatewayv2_integration"
LONGEST = {REST: "29 s", HTTP: "30 s"}
WIRING = (
    "rest_api_id", "api_id", "resource_id", "http_method", "integration_http_method", "integration_method", "type",
    "integration_type", "payload_format_version", "connection_type", "description", "path", "method", "auth",
    "authorization_type", "api_key_required", "method_responses",
)  # fmt: skip
ASYNCHRONOUS = "Invocation-Type"
LATER = "it does not wait for the function: whether it ends is not answered"


def integrations(cloud: Cloud, things: dict[str, str], sketch: Sketch) -> None:
    """Adds a call for each integration with a function."""
    for resource in cloud.all(REST, HTTP):
        integration = resource.block("integration") or resource
        for view in (resource, integration):
            for name in WIRING:
                if (key := view.key(name)) is not None:
                    view.view.pass_over(key)
        function = cloud.named(integration.names_of("uri", "integration_uri"), FUNCTION)
        if function is None or function.name.text not in things:
            continue
        parameters = integration.key("request_parameters")
        stated = integration.view.table(parameters) if parameters is not None else None
        if parameters is not None and stated is not None and any(ASYNCHRONOUS in key for key in stated.node.entries):
            integration.view.remark(parameters, LATER)
        else:
            _call(integration, things[function.name.text], sketch)


def _call(integration: Resource, thing: str, sketch: Sketch) -> None:
    stated = integration.number("timeout_milliseconds", "timeout_in_millis")
    default = Scalar(LONGEST[integration.kind], integration.name.place)
    limit = respelled(stated, duration_text(value_of(stated) / Fraction(1000))) if stated is not None else default
    values: dict[str, Node | None] = {
        "from": respelled(limit, "clients"),
        "to": respelled(limit, thing),
        "per_try": limit,
        "tries": respelled(limit, "1"),
        "on_timeout": respelled(limit, "abandon"),
    }
    sketch.calls.append(entry(limit.place, values))
