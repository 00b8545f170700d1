"""API Gateways of AWS that call a function of Lambda: a request ends at the timeout of its integration.

The function goes on until its own timeout: an answer that comes later is lost, and the client has an error.  A gateway
does not try again.  An integration that invokes the function and does not wait is left out.  Whether an integration of
version 2 is that of an HTTP API or of a WebSocket API, its API says; where that is not in the file, either limit may
hold.

SOURCE: documentation of the Terraform provider for AWS, timeout_milliseconds: aws_api_gateway_integration, default
29 s; aws_apigatewayv2_integration, default 29 s for WebSocket APIs and 30 s for HTTP APIs; Amazon API Gateway API
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
APIS = ("aws_apigatewayv2_api", "AWS::ApiGatewayV2::Api", "AWS::Serverless::HttpApi")
OF_REST, OF_HTTP, OF_WEBSOCKET, OF_EITHER = "29 s", "30 s", "29 s", "29 s .. 30 s"
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
            _call(integration, _longest(integration, cloud), things[function.name.text], sketch)


def _longest(integration: Resource, cloud: Cloud) -> str:
    """Returns how long an integration waits that does not say it; an event of a serverless function names no API."""
    names = integration.names_of("api_id")
    api = cloud.named(names, *APIS)
    if integration.kind == REST:
        return OF_REST
    if api is None:
        return OF_EITHER if names else OF_HTTP
    protocol = api.scalar("protocol_type")
    return OF_WEBSOCKET if protocol is not None and protocol.text == "WEBSOCKET" else OF_HTTP


def _call(integration: Resource, longest: str, thing: str, sketch: Sketch) -> None:
    stated = integration.number("timeout_milliseconds", "timeout_in_millis")
    default = Scalar(longest, integration.name.place)
    limit = respelled(stated, duration_text(value_of(stated) / Fraction(1000))) if stated is not None else default
    values: dict[str, Node | None] = {
        "from": respelled(limit, "clients"),
        "to": respelled(limit, thing),
        "per_try": limit,
        "tries": respelled(limit, "1"),
        "on_timeout": respelled(limit, "abandon"),
    }
    sketch.calls.append(entry(limit.place, values))
