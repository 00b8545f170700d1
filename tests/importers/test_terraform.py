"""Terraform plans: links between resources whose names are not known yet, modules, and objects of Kubernetes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.test_hostile_manifests import problems, replaced_everywhere
from tests.importers.value_texts import text


def resource(address: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
    kind = address.rpartition("module.")[2].split(".")[-2]
    return {"address": address, "mode": "managed", "type": kind, "values": values, **more}


def plan(*resources: dict[str, Any], links: dict[str, dict[str, str]] | None = None) -> str:
    configured = [
        {"address": address, "expressions": {key: {"references": [f"{to}.arn", to]} for key, to in keys.items()}}
        for address, keys in (links or {}).items()
    ]
    body = {
        "format_version": "1.2",
        "planned_values": {"root_module": {"resources": list(resources)}},
        "configuration": {"root_module": {"resources": configured}},
    }
    return json.dumps(body, indent=1)


def read(text: str) -> Design:
    return importers.design_from_sources({"plan.json": text})


QUEUE = resource("aws_sqs_queue.jobs", {"visibility_timeout_seconds": 30, "policy": None})
WORKER = resource("aws_lambda_function.worker", {"timeout": 120, "environment": [{"variables": {"KEY": "hunter22"}}]})
MAPPING = resource("aws_lambda_event_source_mapping.m", {"batch_size": 10})
LINKS = {
    "aws_lambda_event_source_mapping.m": {
        "event_source_arn": "aws_sqs_queue.jobs",
        "function_name": "aws_lambda_function.worker",
    }
}


def test_what_refers_to_what_stands_in_the_configuration() -> None:
    timer = read(plan(QUEUE, WORKER, MAPPING, links=LINKS)).timers["jobs_visibility"]
    assert (text(timer.start), text(timer.after)) == ("worker.run starts", "30 s")


def test_in_a_state_the_names_themselves_are_known() -> None:
    queue = resource("aws_sqs_queue.jobs", {"visibility_timeout_seconds": 30, "arn": "arn:aws:sqs:jobs"})
    worker = resource("aws_lambda_function.worker", {"timeout": 9, "function_name": "work"})
    mapping = resource(
        "aws_lambda_event_source_mapping.m", {"event_source_arn": "arn:aws:sqs:jobs", "function_name": "work"}
    )
    state = plan(queue, worker, mapping).replace("planned_values", "values")
    assert set(read(state).timers) == {"jobs_visibility"}


def test_a_queue_of_which_there_are_several_is_that_of_the_same_number() -> None:
    queues = [resource(f"aws_sqs_queue.jobs[{n}]", {"visibility_timeout_seconds": 30 + n}) for n in (0, 1)]
    workers = [resource(f"aws_lambda_function.worker[{n}]", {"timeout": 9}) for n in (0, 1)]
    mappings = [resource(f"aws_lambda_event_source_mapping.m[{n}]", {}) for n in (0, 1)]
    design = read(plan(*queues, *workers, *mappings, links=LINKS))
    assert sorted(text(timer.after) for timer in design.timers.values()) == ["30 s", "31 s"]


def test_modules_are_read_with_their_own_references() -> None:
    inner = [resource(f"module.a.{item['address']}", item["values"]) for item in (QUEUE, WORKER, MAPPING)]
    body = json.loads(plan(links=LINKS))
    body["planned_values"]["root_module"]["child_modules"] = [{"address": "module.a", "resources": inner}]
    module = body["configuration"]["root_module"]
    body["configuration"]["root_module"] = {"module_calls": {"a": {"module": module}}}
    assert len(read(json.dumps(body)).timers) == 1


def test_target_tracking_of_a_service_and_of_a_group() -> None:
    target = resource(
        "aws_appautoscaling_target.t", {"min_capacity": 1, "max_capacity": 4, "resource_id": "service/c/web"}
    )
    policy = resource(
        "aws_appautoscaling_policy.p",
        {
            "resource_id": "service/c/web",
            "target_tracking_scaling_policy_configuration": [
                {
                    "target_value": 75, "scale_in_cooldown": 300, "scale_out_cooldown": 60, "disable_scale_in": False,
                    "predefined_metric_specification": [{"predefined_metric_type": "ECSServiceAverageCPUUtilization"}],
                }
            ],
        },
    )  # fmt: skip
    design = read(plan(target, policy))
    (loop,) = design.loops.values()
    assert loop.target is not None
    assert (text(loop.target.signal), text(loop.target.setpoint)) == ("web.ecsserviceaveragecpuutilization", "75 %")
    assert any("scale_in_cooldown" in words for _, words in design.not_modelled)


def deployment(**spec: Any) -> dict[str, Any]:
    probe = [
        {
            "http_get": [{"path": "/", "port": "80"}],
            "initial_delay_seconds": 5,
            "period_seconds": 10,
            "failure_threshold": 3,
        }
    ]
    container = {
        "name": "web",
        "liveness_probe": probe,
        "readiness_probe": [],
        "resources": [{"requests": {"cpu": "1"}}],
    }
    template = [{"metadata": [{"labels": {"app": "web"}}], "spec": [{"container": [container]}]}]
    return resource(
        "kubernetes_deployment_v1.web", {"metadata": [{"name": "web"}], "spec": [{"template": template, **spec}]}
    )


SCALER = resource(
    "kubernetes_horizontal_pod_autoscaler_v2.web",
    {
        "metadata": [{"name": "web"}],
        "spec": [
            {
                "min_replicas": 2, "max_replicas": 8, "behavior": [],
                "scale_target_ref": [{"api_version": "apps/v1", "kind": "Deployment", "name": "web"}],
                "metric": [
                    {
                        "type": "Pods", "resource": [],
                        "pods": [{"metric": [{"name": "rps"}], "target": [{"average_value": "10"}]}],
                    }
                ],
            }
        ],
    },
)  # fmt: skip


def test_objects_of_kubernetes_are_read_as_what_they_are() -> None:
    design = read(
        plan(
            deployment(
                replicas="3",
                strategy=[{"type": "RollingUpdate", "rolling_update": [{"max_surge": "1", "max_unavailable": "0"}]}],
            )
        )
    )
    assert text(design.components["web"].copies) == "3"
    assert text(design.timers["web_liveness"].first) == "5 s"
    assert text(design.limits["web_unavailable"].at_most) == "0"


def test_replicas_beside_an_autoscaler_may_be_ignored_and_are_listed() -> None:
    design = read(plan(deployment(replicas="3"), SCALER))
    assert set(design.loops) == {"web_hpa"}
    assert any("lifecycle.ignore_changes" in words for _, words in design.not_modelled)


def test_a_manifest_in_a_plan_is_the_object_that_it_is() -> None:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}  # fmt: skip
    design = read(plan(deployment(), resource("kubernetes_manifest.b", {"manifest": budget})))
    assert text(design.limits["web_budget"].at_least) == "1"


def test_no_value_of_an_environment_is_shown_and_other_kinds_are_counted() -> None:
    roles = [resource(f"aws_iam_role.{name}", {"x": "hunter23"}) for name in "ab"]
    listed = " ".join(words for _, words in read(plan(WORKER, *roles)).not_modelled)
    assert "hunter" not in listed
    assert "2 aws_iam_role (this kind is not modelled)" in listed


@pytest.mark.parametrize(("visibility", "conflict"), [(30, True), (121, False)])
def test_a_visibility_within_the_timeout_is_found_in_a_plan(visibility: int, conflict: bool, tmp_path: Path) -> None:
    queue = resource("aws_sqs_queue.jobs", {"visibility_timeout_seconds": visibility})
    (tmp_path / "plan.json").write_text(plan(queue, WORKER, MAPPING, links=LINKS))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH207"} if conflict else set())


@pytest.mark.parametrize("hostile", [None, 1, "x", [], {}, [None], [[1]], {"a": 1}, "{{x}}", -1, 1e308])
@pytest.mark.parametrize(
    "key",
    ["values", "resources", "spec", "metadata", "template", "container", "metric", "references", "expressions",
     "timeout", "address", "type", "root_module", "scale_target_ref"],
)  # fmt: skip
def test_a_hostile_value_is_read_or_refused(key: str, hostile: Any) -> None:
    body = json.loads(plan(QUEUE, WORKER, MAPPING, deployment(replicas="2"), SCALER, links=LINKS))
    assert problems(json.dumps(replaced_everywhere(body, key, hostile)), "plan.json") >= 0


def stepping(up: int, down: int) -> str:
    """Returns a plan of a group that grows above one share and shrinks below another."""
    group = resource("aws_autoscaling_group.g", {"min_size": 1, "max_size": 9, "name": "web"})
    policies = [
        resource(
            f"aws_autoscaling_policy.{name}",
            {"adjustment_type": "ChangeInCapacity", "cooldown": 60, "scaling_adjustment": by},
        )
        for name, by in (("out", 1), ("back", -1))
    ]
    alarms = [
        resource(
            f"aws_cloudwatch_metric_alarm.{name}",
            {
                "comparison_operator": sign,
                "threshold": at,
                "period": 60,
                "evaluation_periods": 2,
                "metric_name": "CPUUtilization",
            },
        )
        for name, sign, at in (("out", "GreaterThanThreshold", up), ("back", "LessThanThreshold", down))
    ]
    links = {
        f"aws_autoscaling_policy.{name}": {"autoscaling_group_name": "aws_autoscaling_group.g"}
        for name in ("out", "back")
    }
    links |= {
        f"aws_cloudwatch_metric_alarm.{n}": {"alarm_actions": f"aws_autoscaling_policy.{n}"} for n in ("out", "back")
    }
    return plan(group, *policies, *alarms, links=links)


def test_a_policy_steps_while_its_alarm_holds() -> None:
    design = read(stepping(70, 30))
    texts = {name: text(loop.trigger) for name, loop in design.loops.items()}
    assert texts == {
        "out_steps": "web.cpuutilization > 70 % for 120 s",
        "back_steps": "web.cpuutilization < 30 % for 120 s",
    }
    steps = [loop.actuation for loop in design.loops.values()]
    assert [text(actuation.by) for actuation in steps if actuation is not None] == ["1", "-1"]


@pytest.mark.slow
@pytest.mark.parametrize(("up", "down", "conflict"), [(30, 70, True), (70, 30, False)])
def test_alarms_that_hold_at_once_are_a_conflict(up: int, down: int, conflict: bool, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(stepping(up, down))
    assert any(f.verdict is Verdict.CONFLICT for f in check(tmp_path).findings) is conflict


@pytest.mark.parametrize(("warm", "listed"), [(60, False), (90, True)])
def test_policies_of_one_group_are_one_loop_on_what_asks_for_most(warm: int, listed: bool) -> None:
    group = resource("aws_autoscaling_group.g", {"min_size": 1, "max_size": 9, "name": "web"})
    metrics = {"cpu": ("ASGAverageCPUUtilization", 60), "requests": ("ALBRequestCountPerTarget", warm)}
    several = [
        resource(
            f"aws_autoscaling_policy.{name}",
            {
                "estimated_instance_warmup": seconds,
                "target_tracking_configuration": [
                    {"target_value": 50, "predefined_metric_specification": [{"predefined_metric_type": metric}]}
                ],
            },
        )
        for name, (metric, seconds) in metrics.items()
    ]
    links = {item["address"]: {"autoscaling_group_name": "aws_autoscaling_group.g"} for item in several}
    design = read(plan(group, *several, links=links))
    (loop,) = design.loops.values()
    assert loop.target is not None
    assert text(loop.target.signal) == "max(web.asgaveragecpuutilization / 50 %, web.albrequestcountpertarget / 50)"
    assert text(loop.target.setpoint) == "100 %"
    assert any("the times of the first are taken" in words for _, words in design.not_modelled) is listed
