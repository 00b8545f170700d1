"""CloudFormation: queues and functions, groups that follow a metric, load balancers; references and conditions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Design
from tests.importers.test_hostile_manifests import problems, replaced_everywhere
from tests.importers.value_texts import text
from tests.paths import DATA

REAL = DATA / "manifests/cloudformation/sqs-lambda-dotnet-sam.yaml"
QUEUE = "Queue: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}"
MAPPING = (
    "Mapping: {Type: AWS::Lambda::EventSourceMapping, "
    "Properties: {EventSourceArn: !GetAtt Queue.Arn, FunctionName: !Ref Worker}}"
)


def template(*resources: str, parameters: str = "") -> str:
    body = "".join(f"  {resource}\n" for resource in resources)
    return f"Parameters: {{{parameters}}}\nResources:\n{body}"


def function(timeout: str) -> str:
    return f"Worker: {{Type: AWS::Lambda::Function, Properties: {{{timeout}}}}}"


def read(text: str) -> Design:
    return importers.design_from_sources({"stack.yaml": text})


@pytest.mark.parametrize(
    "mapping",
    [
        MAPPING,
        MAPPING.replace("!GetAtt Queue.Arn", "!GetAtt [Queue, Arn]").replace("!Ref Worker", "!Sub '${Worker.Arn}'"),
        MAPPING.replace("!GetAtt Queue.Arn", "{'Fn::GetAtt': [Queue, Arn]}").replace("!Ref Worker", "{Ref: Worker}"),
    ],
)
def test_a_message_comes_back_while_its_function_may_run(mapping: str) -> None:
    design = read(template(QUEUE, function("Timeout: 300"), mapping))
    timer = design.timers["queue_visibility"]
    assert (text(timer.start), text(timer.after), text(timer.unless)) == (
        "worker.run starts",
        "30 s",
        "worker.run ends",
    )
    assert text((design.components["worker"].takes or {})["run"]) == "0 s .. 300 s"


def test_what_is_not_written_is_the_default_of_the_service() -> None:
    design = read(template("Queue: {Type: AWS::SQS::Queue}", function(""), MAPPING))
    assert text(design.timers["queue_visibility"].after) == "30 s"
    assert text((design.components["worker"].takes or {})["run"]) == "0 s .. 3 s"


def test_a_batch_is_gathered_before_a_function_runs() -> None:
    design = read(
        template(
            QUEUE, function(""), MAPPING.replace("FunctionName", "MaximumBatchingWindowInSeconds: 5, FunctionName")
        )
    )
    assert list(design.components["worker"].takes or {}) == ["gather_batch", "run"]
    assert text(design.timers["queue_visibility"].start) == "worker.gather_batch starts"


@pytest.mark.parametrize(
    ("timeout", "parameters", "limit"),
    [
        ("Timeout: !Ref Time", "Time: {Type: Number, Default: 60}", "0 s .. 60 s"),
        ("Timeout: {Ref: Time}", "Time: {Type: Number, Default: '60'}", "0 s .. 60 s"),
    ],
)
def test_a_parameter_stands_for_its_default_at_its_place(timeout: str, parameters: str, limit: str) -> None:
    run = (read(template(function(timeout), parameters=parameters)).components["worker"].takes or {})["run"]
    assert (text(run), run.place.line) == (limit, 1)


@pytest.mark.parametrize(
    "timeout",
    ["Timeout: !Ref Time", "Timeout: !If [IsLong, 300, 30]", "Timeout: !FindInMap [a, b, c]", "Timeout: soon",
     "Timeout: {'Fn::If': [a, 1, 2]}", "Timeout: [3]"],
)  # fmt: skip
def test_what_is_known_when_the_stack_is_made_is_listed(timeout: str) -> None:
    listed = [words for _, words in read(template(function(timeout), parameters="Time: {Type: Number}")).not_modelled]
    assert any(words.endswith("Properties.Timeout (known when it is applied)") for words in listed)


GROUP = (
    "Group: {Type: AWS::AutoScaling::AutoScalingGroup, Properties: {MinSize: 1, MaxSize: '9', "
    "HealthCheckType: ELB, HealthCheckGracePeriod: 60, TargetGroupARNs: [!Ref Pool]}}"
)
POLICY = (
    "Track: {Type: AWS::AutoScaling::ScalingPolicy, Properties: {AutoScalingGroupName: !Ref Group, "
    "TargetTrackingConfiguration: {PredefinedMetricSpecification: "
    "{PredefinedMetricType: ASGAverageCPUUtilization}, TargetValue: 50.0}}}"
)
POOL = (
    "Pool: {Type: AWS::ElasticLoadBalancingV2::TargetGroup, Properties: {HealthCheckIntervalSeconds: 10, "
    "TargetGroupAttributes: [{Key: deregistration_delay.timeout_seconds, Value: '20'}]}}"
)
BALANCER = "Edge: {Type: AWS::ElasticLoadBalancingV2::LoadBalancer, Properties: {Type: application}}"
LISTENER = (
    "Listener: {Type: AWS::ElasticLoadBalancingV2::Listener, "
    "Properties: {LoadBalancerArn: !Ref Edge, DefaultActions: [{Type: forward, TargetGroupArn: !Ref Pool}]}}"
)


def test_a_group_follows_its_metric_within_its_bounds() -> None:
    loop = read(template(GROUP, POLICY)).loops["track_tracking"]
    assert loop.target is not None
    assert loop.actuation is not None
    assert (text(loop.target.signal), text(loop.target.setpoint)) == ("group.asgaveragecpuutilization", "50 %")
    assert [text(end) for end in loop.actuation.bounds] == ["1", "9"]


def test_targets_are_checked_drained_and_called_as_the_group_that_they_are() -> None:
    design = read(template(GROUP, POOL, BALANCER, LISTENER))
    check_, drain = design.timers["group_health_check"], design.timers["group_deregistration"]
    assert (text(check_.every), text(check_.misses), text(check_.reply_within)) == ("10 s", "2", "5 s")
    assert text(drain.after) == "20 s"
    (call,) = design.calls
    assert (call.name, text(call.per_try), text(call.timeout_kind)) == ("edge -> group", "60 s", "between bytes")
    assert text(design.timers["group_health_check_grace"].after) == "60 s"


def test_kinds_that_are_not_modelled_are_counted() -> None:
    listed = [
        words
        for _, words in read(
            template(*(f"R{n}: {{Type: AWS::IAM::Role, Properties: {{}}}}" for n in "ab"))
        ).not_modelled
    ]
    assert any("2 AWS::IAM::Role (this kind is not modelled)" in words for words in listed)


@pytest.mark.parametrize(("visibility", "conflict"), [("30", True), ("300", True), ("301", False), ("1800", False)])
def test_a_visibility_within_the_timeout_of_the_function_is_a_conflict(
    visibility: str, conflict: bool, tmp_path: Path
) -> None:
    (tmp_path / "stack.yaml").write_text(template(QUEUE.replace("30", visibility), function("Timeout: 300"), MAPPING))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH207"} if conflict else set())


def test_a_public_template_hides_its_messages_too_short() -> None:
    (conflict,) = [f for f in check(REAL).findings if f.verdict is Verdict.CONFLICT]
    assert conflict.code == "COH207"
    assert "30 s against 0 s to 30 s" in conflict.message


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("Resources: {A: {Type: AWS::SQS::Queue}}\n", "CloudFormation"),
        ("Resources: {A: {Type: Custom}}\n", ""),
        ("Resources: 3\n", ""),
    ],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "a.yaml")
    assert importers.kind_of(source) == kind


@pytest.mark.parametrize(
    "hostile", [None, 1, "x", [], {}, [None], {"Ref": []}, {"Fn::GetAtt": {}}, {"a": 1}, "1e999", "{{x}}"]
)
@pytest.mark.parametrize(
    "key", ["Type", "Properties", "Resources", "Parameters", "EventSourceArn", "TargetGroupAttributes", "Events"]
)
def test_a_hostile_value_is_read_or_refused(key: str, hostile: Any) -> None:
    body: dict[str, Any] = {
        "Parameters": {"P": {"Default": 1}},
        "Resources": {
            "Pool": {"Type": "AWS::ElasticLoadBalancingV2::TargetGroup", "Properties": {"TargetGroupAttributes": []}},
            "Map": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"EventSourceArn": "x"}},
            "Fn": {"Type": "AWS::Serverless::Function", "Properties": {"Timeout": {"Ref": "P"}, "Events": {}}},
        },
    }
    assert problems(json.dumps(replaced_everywhere(body, key, hostile)), "stack.json") >= 0
