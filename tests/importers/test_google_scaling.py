"""Autoscalers of Google Compute Engine in a plan: what they follow, how slowly they remove, whom they scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.test_terraform import plan, read, resource
from tests.importers.value_texts import text

SCALER, GROUP = "google_compute_autoscaler.web", "google_compute_instance_group_manager.web"
LINKS = {SCALER: {"target": GROUP}}


def scaled(size: int | None = None, healing: int | None = None, **policy: Any) -> str:
    """Returns a plan of a group with an autoscaler."""
    checks = [{"health_check": "hc", "initial_delay_sec": healing}] if healing is not None else []
    group = resource(GROUP, {"name": "web", "target_size": size, "auto_healing_policies": checks})
    whole = {"min_replicas": 2, "max_replicas": 9, "cpu_utilization": [], "mode": "ON", **policy}
    return plan(group, resource(SCALER, {"name": "web", "zone": "z", "autoscaling_policy": [whole]}), links=LINKS)


def target(design: Design) -> tuple[str, str]:
    (loop,) = design.loops.values()
    assert loop.target is not None
    return text(loop.target.signal), text(loop.target.setpoint)


@pytest.mark.parametrize(
    ("policy", "signal", "setpoint"),
    [
        ({}, "web.cpu", "60 %"),
        ({"cpu_utilization": [{"target": 0.75, "predictive_method": "NONE"}]}, "web.cpu", "75 %"),
        ({"load_balancing_utilization": [{"target": 0.8}]}, "web.load_balancing_utilization", "80 %"),
        ({"metric": [{"name": "a.com/queue", "target": 30, "type": "GAUGE"}]}, "web.a_com_queue", "30"),
        (
            {"cpu_utilization": [{"target": 0.5}], "metric": [{"name": "q", "single_instance_assignment": 4}]},
            "max(web.cpu / 50 %, web.q / 4)",
            "100 %",
        ),
    ],
)
def test_it_follows_what_asks_for_most(policy: dict[str, Any], signal: str, setpoint: str) -> None:
    assert target(read(scaled(**policy))) == (signal, setpoint)


@pytest.mark.parametrize(
    ("start", "lands", "hold"), [(None, "60 s", "10 min"), (90, "90 s", "10 min"), (900, "900 s", "900 s")]
)
def test_it_waits_ten_minutes_before_it_removes_or_as_long_as_a_start(start: int | None, lands: str, hold: str) -> None:
    (loop,) = read(scaled(cooldown_period=start)).loops.values()
    assert loop.timescale is not None
    assert (text(loop.timescale.lands), text(loop.timescale.hold_down)) == (lands, hold)


def test_a_control_of_scale_in_bounds_what_is_removed() -> None:
    control = [{"max_scaled_in_replicas": [{"fixed": 2, "percent": None}], "time_window_sec": 300}]
    (loop,) = read(scaled(scale_in_control=control)).loops.values()
    assert loop.actuation is not None
    (rate,) = loop.actuation.rate
    assert (text(rate.by), text(rate.per), text(rate.way)) == ("2", "300 s", "down")


@pytest.mark.parametrize("mode", ["OFF", "ONLY_SCALE_OUT", "ONLY_UP"])
def test_one_that_does_not_remove_is_listed(mode: str) -> None:
    design = read(scaled(mode=mode))
    assert not design.loops
    assert any("mode" in words for _, words in design.not_modelled)


def test_a_group_that_is_not_there_is_named_as_such() -> None:
    alone = resource(SCALER, {"name": "web", "autoscaling_policy": [{"min_replicas": 1, "max_replicas": 3}]})
    assert target(read(plan(alone))) == ("web.cpu", "60 %")


@pytest.mark.parametrize(("delay", "conflict"), [(60, True), (600, False)])
def test_health_is_not_looked_at_before_an_instance_may_have_started(
    delay: int, conflict: bool, tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_text(scaled(healing=delay))
    overlay = "coherence: 1\noverlays: manifests\ncomponents: {web: {takes: {load: 90 s .. 300 s}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    assert any(f.verdict is Verdict.CONFLICT for f in check(tmp_path).findings) is conflict
