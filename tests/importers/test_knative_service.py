"""Service of Knative: pods, times of a request, the deadline of progress, and the loop of its autoscaler."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.language.design import Design
from tests.importers.value_texts import text

SERVICE = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {{name: fn}}
spec:
  template:
    metadata: {{annotations: {{{notes}}}}}
    spec: {{{pod}, containers: [{{image: x}}]}}
"""


def read(notes: str = "", pod: str = "serviceAccountName: a") -> Design:
    return importers.design_from_sources({"fn.yaml": SERVICE.format(notes=notes, pod=pod)})


def setpoint(design: Design) -> str:
    target = design.loops["fn_kpa"].target
    assert target is not None
    return text(target.setpoint)


def test_what_is_not_written_is_the_default_of_its_release() -> None:
    design = read()
    (call,) = design.calls
    (timer,) = design.timers.values()
    actuation = design.loops["fn_kpa"].actuation
    assert actuation is not None
    assert (text(call.deadline), text(timer.after), setpoint(design)) == ("300 s", "600 s", "70")
    assert [text(end) for end in actuation.bounds] == ["0", "1000"]


@pytest.mark.parametrize(
    ("pod", "first"),
    [
        ("timeoutSeconds: 600", "300 s"),
        ("timeoutSeconds: 300", "None"),
        ("timeoutSeconds: 600, responseStartTimeoutSeconds: 0", "None"),
        ("timeoutSeconds: 600, responseStartTimeoutSeconds: 400", "400 s"),
    ],
)
def test_a_request_that_may_take_longer_has_the_default_time_to_its_first_byte(pod: str, first: str) -> None:
    (call,) = read(pod=pod).calls
    assert (str(call.per_try and text(call.per_try)), call.timeout_kind is None) == (first, first == "None")


@pytest.mark.parametrize(
    ("notes", "pod", "target"),
    [
        ("autoscaling.knative.dev/target: '50'", "containerConcurrency: 0", "35"),
        ("autoscaling.knative.dev/target: '50'", "containerConcurrency: 10", "7"),
        ("autoscaling.knative.dev/target-utilization-percentage: '100'", "containerConcurrency: 10", "10"),
        ("autoscaling.knative.dev/target-utilization-percentage: '50'", "serviceAccountName: a", "50"),
        ("autoscaling.knative.dev/metric: rps", "serviceAccountName: a", "140"),
    ],
)
def test_a_pod_is_to_have_a_share_of_the_smaller_target(notes: str, pod: str, target: str) -> None:
    assert setpoint(read(notes, pod)) == target


def test_annotations_and_fields_are_those_of_the_loop_the_call_and_the_timer() -> None:
    scaling = "autoscaling.knative.dev/"
    notes = (
        f"{scaling}min-scale: '1', {scaling}maxScale: '4', {scaling}window: 40s, {scaling}scale-down-delay: 15m, "
        "serving.knative.dev/progress-deadline: 20m"
    )
    design = read(notes, "timeoutSeconds: 60, responseStartTimeoutSeconds: 5, containerConcurrency: 3")
    loop, (call,), (limit,) = design.loops["fn_kpa"], design.calls, design.limits.values()
    assert loop.actuation is not None
    assert loop.target is not None
    assert loop.timescale is not None
    assert [text(end) for end in loop.actuation.bounds] == ["1", "4"]
    assert text(loop.target.sensor[1].duration) == "40 s"
    assert text(loop.timescale.hold_down) == "15 min"
    assert (text(call.deadline), text(call.per_try), text(call.timeout_kind)) == ("60 s", "5 s", "first byte")
    assert text(limit.at_most) == "3"
    assert text(design.timers["fn_progress"].after) == "20 min"
    assert loop.place.line == 6


def test_another_autoscaler_is_listed() -> None:
    design = read("autoscaling.knative.dev/class: hpa.autoscaling.knative.dev")
    assert not design.loops
    assert any("another autoscaler" in words for _, words in design.not_modelled)
