"""Resilience4j: tries, pauses, time limits, open breakers and bulkheads of each instance."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Call, Design, Pause
from tests.importers.value_texts import text


def read(text: str) -> Design:
    return importers.design_from_sources({"shop.yml": text})


def retry(settings: str, more: str = "") -> Call:
    (call,) = read(f"resilience4j: {{retry: {{instances: {{pay: {{{settings}}}}}{more}}}}}\n").calls
    return call


def test_what_is_not_written_is_the_default_of_the_library() -> None:
    call = retry("")
    assert (call.name, text(call.tries[0]), text(call.pause), call.per_try) == ("shop -> pay", "3", "500 ms", None)


@pytest.mark.parametrize(("time", "means"), [("1s", "1 s"), ("250", "250 ms"), ("PT1.5S", "1.5 s"), ("2m", "2 min")])
def test_durations_of_spring(time: str, means: str) -> None:
    assert text(retry(f"waitDuration: {time}").pause) == means


def test_an_exponential_pause_grows_by_its_multiplier() -> None:
    pause = retry("waitDuration: 1s, enableExponentialBackoff: true, exponentialBackoffMultiplier: 2").pause
    assert isinstance(pause, Pause)
    assert (text(pause.base), text(pause.factor)) == ("1 s", "2")


@pytest.mark.parametrize(
    ("settings", "configs", "tries"),
    [
        ("", ", configs: {default: {maxAttempts: 5}}", "5"),
        ("baseConfig: shared", ", configs: {default: {maxAttempts: 5}, shared: {maxAttempts: 7}}", "7"),
        ("maxAttempts: 2", ", configs: {default: {maxAttempts: 5}}", "2"),
        ("max-attempts: 4", "", "4"),
    ],
)
def test_what_an_instance_does_not_say_its_config_says(settings: str, configs: str, tries: str) -> None:
    assert text(retry(settings, configs).tries[0]) == tries


def test_names_of_instances_stay_as_they_are() -> None:
    assert set(read("resilience4j: {retry: {instances: {my-bank: {}}}}\n").components) == {"shop", "my_bank"}


def test_a_breaker_is_a_timer_and_a_bulkhead_a_limit() -> None:
    sections = "circuitbreaker: {instances: {pay: {waitDurationInOpenState: 5s}}}"
    design = read(f"resilience4j: {{{sections}, bulkhead: {{instances: {{pay: {{maxConcurrentCalls: 9}}}}}}}}\n")
    timer, limit = design.timers["pay_open"], design.limits["pay_bulkhead"]
    assert (text(timer.after), text(timer.then)) == ("5 s", "half open pay")
    assert (text(limit.at_most), text(limit.when_full)) == ("9", "reject")
    assert not design.calls


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("resilience4j: {retry: {}}\n", "Resilience4j"),
        ("resilience4j.retry: {instances: {a: {}}}\n", "Resilience4j"),
        ("resilience4j: {other: {}}\n", ""),
        ("spring: {application: {name: x}}\n", ""),
    ],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "a.yaml")
    assert importers.kind_of(source) == kind


def test_the_application_calls_by_its_name() -> None:
    spring = "spring: {application: {name: orders}}\n"
    (call,) = read(f"{spring}resilience4j.retry: {{instances: {{pay: {{}}}}}}\n").calls
    assert call.name == "orders -> pay"


@pytest.mark.parametrize("broken", ["maxAttempts: 0", "maxAttempts: many", "waitDuration: soon"])
def test_a_value_that_is_none_is_refused(broken: str) -> None:
    with pytest.raises(InputError, match=r"resilience4j.retry.instances.pay"):
        retry(broken)


SHOP = """\
resilience4j:
  retry: {instances: {pay: {maxAttempts: 3, waitDuration: 1s}}}
  circuitbreaker: {instances: {pay: {waitDurationInOpenState: %s}}}
  timelimiter: {instances: {pay: {timeoutDuration: 2s}}}
"""
OVERLAY = "coherence: 1\noverlays: manifests\npromises: {useful: pay_open before last try}\n"


def test_a_breaker_open_for_longer_than_all_tries_is_a_conflict_and_its_repaired_twin_is_none(tmp_path: Path) -> None:
    (tmp_path / "overlay.yaml").write_text(
        f"{OVERLAY}calls: [{{from: shop, to: pay, fails: {{unavailable: 50 ms}}}}]\n"
    )
    for time, conflict in (("30s", True), ("1s", False)):
        (tmp_path / "shop.yml").write_text(SHOP.replace("%s", time))
        found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
        assert ("COH210" in found) is conflict
