"""Settings of Azure's autoscale in a plan: steps, the guard against flapping, and what is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.test_terraform import plan, read, resource
from tests.importers.value_texts import text

SETTING, SET = "azurerm_monitor_autoscale_setting.web", "azurerm_linux_virtual_machine_scale_set.web"
LINKS = {SETTING: {"target_resource_id": SET}}


def rule(sign: str, threshold: float, by: int, *, metric: str = "Percentage CPU", **action: Any) -> dict[str, Any]:
    trigger = {
        "metric_name": metric, "operator": sign, "threshold": threshold, "time_grain": "PT1M", "time_window": "PT5M",
        "statistic": "Average", "time_aggregation": "Average",
    }  # fmt: skip
    way = "Increase" if by > 0 else "Decrease"
    step = {"direction": way, "type": "ChangeCount", "value": str(abs(by)), "cooldown": "PT5M", **action}
    return {"metric_trigger": [trigger], "scale_action": [step]}


def setting(*rules: dict[str, Any], **more: Any) -> str:
    """Returns a plan of a set of machines with a setting of one profile."""
    profile = {"name": "all", "capacity": [{"default": 2, "minimum": 1, "maximum": 9}], "rule": list(rules)}
    machines = resource(SET, {"name": "web", "instances": 2})
    return plan(machines, resource(SETTING, {"name": "cpu", "profile": [profile], **more}), links=LINKS)


def triggers(design: Design) -> dict[str, str]:
    return {name: text(loop.trigger) for name, loop in design.loops.items()}


def test_it_adds_by_any_rule_and_removes_where_all_hold_and_nothing_would_be_added_again() -> None:
    design = read(
        setting(
            rule("GreaterThan", 70, 1),
            rule("LessThan", 30, -1),
            rule("GreaterThanOrEqual", 10, 2, metric="Queue Length"),
            rule("LessThan", 2, -2, metric="Queue Length"),
        )
    )
    cpu, queue = "web.percentage_cpu", "web.queue_length"
    assert triggers(design) == {
        "web_out": f"{cpu} > 70 %",
        "web_out_2": f"{queue} >= 10",
        "web_in": f"{cpu} < 30 % and {queue} < 2 and {cpu} * web.replicas <= 70 % * (web.replicas - 1)"
        f" and {queue} * web.replicas < 10 * (web.replicas - 1)",
    }
    loops = [loop.actuation for loop in design.loops.values()]
    assert [text(actuation.by) for actuation in loops if actuation is not None] == ["1", "2", "-1"]


@pytest.mark.parametrize(
    ("stated", "read_as"),
    [("PT5M", "5 min"), ("PT1H30M", "90 min"), ("P1D", "24 h"), ("PT0.5S", "500 ms"), ("P", ""), ("5", "")],
)
def test_durations_are_those_of_iso_8601(stated: str, read_as: str) -> None:
    design = read(setting(rule("GreaterThan", 70, 1, cooldown=stated)))
    (loop,) = design.loops.values()
    assert loop.timescale is not None
    assert (text(loop.timescale.cooldown) if loop.timescale.cooldown else "") == read_as
    assert any("cooldown" in words for _, words in design.not_modelled) is (not read_as)


@pytest.mark.parametrize("kind", ["PercentChangeCount", "ExactCount", "ServiceAllowedNextValue"])
def test_what_is_no_number_of_instances_is_listed(kind: str) -> None:
    design = read(setting(rule("GreaterThan", 70, 1, type=kind)))
    assert not design.loops
    assert any("scale_action[0].type" in words for _, words in design.not_modelled)


def test_a_setting_that_is_off_and_a_second_profile_are_no_loops() -> None:
    assert not read(setting(rule("GreaterThan", 70, 1), enabled=False)).loops


@pytest.mark.parametrize(("out", "back"), [(70, 30), (60, 55), (30, 70)])
def test_thresholds_near_each_other_do_not_fight_for_the_guard_holds(out: int, back: int, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(setting(rule("GreaterThan", out, 1), rule("LessThan", back, -1)))
    assert not any(f.verdict is Verdict.CONFLICT for f in check(tmp_path).findings)


def test_what_adds_by_another_metric_goes_first(tmp_path: Path) -> None:
    rules = rule("GreaterThan", 70, 1), rule("LessThan", 5, -1, metric="Queue Length")
    (tmp_path / "plan.json").write_text(setting(*rules))
    assert triggers(read((tmp_path / "plan.json").read_text()))["web_in"].endswith(" and web.percentage_cpu <= 70 %")
    assert not any(f.verdict is Verdict.CONFLICT for f in check(tmp_path).findings)


def test_a_setting_beside_another_one_of_the_same_machines_is_a_conflict(tmp_path: Path) -> None:
    body = setting(rule("GreaterThan", 30, 1))
    profile = {"capacity": [{"minimum": 1, "maximum": 9}], "rule": [rule("LessThan", 60, -1)]}
    other = resource("azurerm_monitor_autoscale_setting.b", {"name": "b", "profile": [profile]})
    both = json.loads(body)
    both["planned_values"]["root_module"]["resources"].append(other)
    links = {"target_resource_id": {"references": [SET]}}
    both["configuration"]["root_module"]["resources"].append({"address": other["address"], "expressions": links})
    (tmp_path / "plan.json").write_text(json.dumps(both))
    assert {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT} == {"COH230"}
