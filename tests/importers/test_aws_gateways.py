"""API Gateways of AWS: a request ends before its function, in templates, serverless ones and plans."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from tests.importers.test_terraform import plan, resource

SERVERLESS = """\
AWSTemplateFormatVersion: "2010-09-09"
Globals: {{Function: {{Timeout: {common}}}}}
Resources:
  Ship:
    Type: AWS::Serverless::Function
    Properties: {{{own}Events: {{A: {{Type: {kind}, Properties: {{Path: /ship, Method: post{more}}}}}}}}}
"""
METHOD = """\
AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Ship: {{Type: "AWS::Lambda::Function", Properties: {{Timeout: 60}}}}
  Post:
    Type: AWS::ApiGateway::Method
    Properties: {{HttpMethod: POST, Integration: {{Type: AWS_PROXY, Uri: !Sub "arn:aws:lambda:${{Ship.Arn}}"{more}}}}}
"""
GATEWAY, SHIP = "aws_apigatewayv2_integration.a", "aws_lambda_function.ship"


def limits(text: str, file: str = "t.yaml") -> list[str]:
    calls = importers.design_from_sources({file: text}).calls
    return [str(getattr(call.per_try, "text", call.per_try)) for call in calls]


def verdicts(text: str) -> set[Verdict]:
    sources = {"t.yaml": text}
    design = importers.design_from_sources(sources)
    findings = analyse(design, sources, importers.design_from_sources, verify_repairs=False).findings
    return {finding.verdict for finding in findings if finding.code == "COH201"}


@pytest.mark.parametrize(
    ("kind", "more", "limit"),
    [("Api", "", "29 s"), ("HttpApi", "", "30 s"), ("HttpApi", ", TimeoutInMillis: 1500", "1.5 s")],
)
def test_a_path_of_a_serverless_function_has_the_limit_of_its_gateway(kind: str, more: str, limit: str) -> None:
    assert limits(SERVERLESS.format(common=60, own="", kind=kind, more=more)) == [limit]


@pytest.mark.parametrize(
    ("common", "own", "verdict"),
    [(60, "", Verdict.CONFLICT), (20, "", Verdict.PROVED), (60, "Timeout: 20, ", Verdict.PROVED)],
)
def test_what_a_template_states_of_all_functions_holds_where_one_says_nothing(
    common: int, own: str, verdict: Verdict
) -> None:
    assert verdicts(SERVERLESS.format(common=common, own=own, kind="Api", more="")) == {verdict}


def test_a_method_that_waits_for_its_function_is_a_call_and_one_that_does_not_is_listed() -> None:
    assert limits(METHOD.format(more=", TimeoutInMillis: 5000")) == ["5 s"]
    later = METHOD.format(more=", RequestParameters: {integration.request.header.X-Amz-Invocation-Type: \"'Event'\"}")
    assert not limits(later)
    listed = importers.design_from_sources({"t.yaml": later}).not_modelled
    assert any("does not wait" in words for _, words in listed)


@pytest.mark.parametrize(("protocol", "limit"), [("HTTP", "30 s"), ("WEBSOCKET", "29 s"), ("", "29 s .. 30 s")])
def test_an_integration_of_version_2_waits_as_long_as_its_api_lets_it(protocol: str, limit: str) -> None:
    api = "aws_apigatewayv2_api.a"
    apis = [resource(api, {"protocol_type": protocol})] if protocol else []
    links = {GATEWAY: {"integration_uri": SHIP, "api_id": api}}
    assert limits(plan(resource(SHIP, {"timeout": 60}), resource(GATEWAY, {}), *apis, links=links), "plan.json") == [
        limit
    ]


def test_a_template_says_of_which_api_an_integration_is() -> None:
    text = """\
AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Ship: {Type: "AWS::Lambda::Function", Properties: {Timeout: 60}}
  Chat: {Type: "AWS::ApiGatewayV2::Api", Properties: {ProtocolType: WEBSOCKET}}
  Send:
    Type: AWS::ApiGatewayV2::Integration
    Properties: {ApiId: !Ref Chat, IntegrationType: AWS_PROXY, IntegrationUri: !Sub "arn:aws:lambda:${Ship.Arn}"}
"""
    assert limits(text) == ["29 s"]


def test_a_plan_links_an_integration_with_its_function() -> None:
    resources = resource(SHIP, {"timeout": 60}), resource(GATEWAY, {"timeout_milliseconds": 10000})
    text = plan(*resources, links={GATEWAY: {"integration_uri": SHIP}})
    assert limits(text, "plan.json") == ["10 s"]
    assert not limits(plan(*resources), "plan.json")
