"""Deployment: members, probes with their defaults, the rolling update, the way to stop, and who writes replicas."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.language.design import Design

HEAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec:
"""
HPA = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec: {scaleTargetRef: {kind: Deployment, name: web}, maxReplicas: 5}
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"web.yaml": text})


def pod(containers: str, more: str = "") -> Design:
    return read(f"{HEAD}  template: {{spec: {{containers: [{containers}]{more}}}}}\n")


def test_a_probe_has_kubernetes_defaults() -> None:
    timer = pod("{name: a, livenessProbe: {httpGet: {path: /}}}").timers["web_liveness"]
    values = (timer.first, timer.every, timer.misses, timer.reply_within)
    assert [value.text for value in values if value is not None] == ["0 s", "10 s", "3", "1 s"]
    assert {value.place.file for value in values if value is not None} == {"models/loops/liveness_probe.yaml"}
    assert timer.unless is not None
    assert (timer.start and timer.start.text, timer.unless.text) == ("web.load starts", "web.load ends")


def test_stated_values_of_a_probe_stand_where_they_are_written() -> None:
    text = (
        f"{HEAD}  template:\n    spec:\n      containers:\n        - livenessProbe:\n            failureThreshold: 7\n"
    )
    timer = read(text).timers["web_liveness"]
    assert timer.misses is not None
    assert (timer.misses.text, str(timer.misses.place)) == ("7", "web.yaml:9:31")


def test_zero_period_is_absent() -> None:
    timer = pod("{livenessProbe: {periodSeconds: 0}}").timers["web_liveness"]
    assert timer.every is not None
    assert timer.every.text == "10 s"


def test_a_startup_probe_holds_the_others_back() -> None:
    timers = pod("{startupProbe: {failureThreshold: 30}, livenessProbe: {}, readinessProbe: {}}").timers
    starts = {name: timer.start.text for name, timer in timers.items() if timer.start is not None}
    assert starts == {
        "web_startup": "web.load starts",
        "web_liveness": "web.load ends",
        "web_readiness": "web.load ends",
    }


def test_containers_have_probes_of_their_own() -> None:
    timers = pod("{name: app, livenessProbe: {}}, {name: side, livenessProbe: {}}").timers
    assert set(timers) == {"web_app_liveness", "web_side_liveness"}


@pytest.mark.parametrize(
    ("key", "written", "name", "expected"),
    [
        ("maxSurge", "25%", "web_surge", "25 % of web.copies round up"),
        ("maxUnavailable", "'25%'", "web_unavailable", "25 % of web.copies round down"),
        ("maxUnavailable", "0", "web_unavailable", "0"),
    ],
)
def test_rollout(key: str, written: str, name: str, expected: str) -> None:
    limit = read(f"{HEAD}  replicas: 4\n  strategy: {{rollingUpdate: {{{key}: {written}}}}}\n").limits[name].at_most
    assert limit is not None
    assert (limit.text, limit.place.line) == (expected, 6)


def test_a_wrong_share_is_refused() -> None:
    with pytest.raises(InputError):
        read(f"{HEAD}  strategy: {{rollingUpdate: {{maxSurge: some}}}}\n")


def test_recreate_is_listed() -> None:
    assert any("Recreate" in words for _, words in read(f"{HEAD}  strategy: {{type: Recreate}}\n").not_modelled)


def test_grace_and_the_longest_sleep() -> None:
    sleeps = [f"{{name: {n}, lifecycle: {{preStop: {{sleep: {{seconds: {s}}}}}}}}}" for n, s in (("a", 15), ("b", 5))]
    made = pod(", ".join(sleeps), ", terminationGracePeriodSeconds: 40")
    after = made.timers["web_grace"].after
    assert after is not None
    assert after.text == "40 s"
    takes = made.components["web"].takes
    assert isinstance(takes, dict)
    assert {name: taken.text for name, taken in takes.items()} == {"pre_stop": "15 s"}


def test_requests_are_summed_and_a_limit_stands_in_for_a_missing_request() -> None:
    one = "{name: a, resources: {requests: {cpu: 100m}, limits: {cpu: 2, nvidia.com/gpu: 2}}}"
    two = "{name: b, resources: {limits: {cpu: 400m}}}"
    needs = pod(f"{one}, {two}").components["web"].needs
    assert isinstance(needs, dict)
    assert {name: need.text for name, need in needs.items()} == {"cpu": "0.5", "gpu": "2 gpu"}


def test_stated_replicas_are_written_on_every_apply_beside_an_autoscaler() -> None:
    loop = read(f"{HEAD}  replicas: 3\n{HPA}").loops["web_apply"]
    assert loop.actuation is not None
    assert loop.actuation.mode is not None
    assert loop.actuation.signal is not None
    assert (loop.actuation.mode.text, loop.actuation.signal.text) == ("on change", "web.replicas")
    assert str(loop.place) == "web.yaml:5:13"


def test_nobody_else_writes_replicas_that_are_not_stated_or_not_scaled() -> None:
    assert set(read(f"{HEAD}  paused: false\n{HPA}").loops) == {"web_hpa"}
    assert set(read(f"{HEAD}  replicas: 3\n").loops) == set()
