"""Config of Ray Serve: a loop for each deployment that scales, what one replica takes, how long it may end."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Design
from tests.importers.value_texts import text


def config(deployment: str) -> dict[str, str]:
    return {"serve.yaml": f"applications: [{{import_path: 'a:b', deployments: [{{name: chat, {deployment}}}]}}]\n"}


def read(deployment: str) -> Design:
    return importers.design_from_sources(config(deployment))


def links(design: Design) -> list[str]:
    target = design.loops["chat_serve"].target
    return (
        [f"{link.kind} {link.duration.text if link.duration else link.what}" for link in target.sensor]
        if target
        else []
    )


def test_times_and_bounds_of_a_deployment_are_those_of_its_loop() -> None:
    times = "upscale_delay_s: 2, downscale_delay_s: 5, metrics_interval_s: 0.2, look_back_period_s: 2"
    design = read(f"autoscaling_config: {{min_replicas: 1, max_replicas: 14, target_ongoing_requests: 3, {times}}}")
    loop = design.loops["chat_serve"]
    assert loop.target is not None
    assert loop.timescale is not None
    assert loop.actuation is not None
    assert (text(loop.target.setpoint), text(loop.timescale.hold_up), text(loop.timescale.hold_down)) == (
        "3",
        "2 s",
        "5 s",
    )
    assert (text(loop.timescale.period), links(design)) == (
        "200 ms",
        ["scrape 200 ms", "mean 2 s", "sees queued requests"],
    )
    assert [text(end) for end in loop.actuation.bounds] == ["1", "14"]


def test_what_is_not_written_is_the_default_of_the_part() -> None:
    loop = read("autoscaling_config: {}").loops["chat_serve"]
    assert loop.target is not None
    assert loop.actuation is not None
    assert (text(loop.target.setpoint), [text(end) for end in loop.actuation.bounds]) == ("2", ["1", "1"])


@pytest.mark.parametrize(("number", "highest"), [("auto", "100"), ("3", "")])
def test_a_number_of_replicas_is_stated_or_chosen(number: str, highest: str) -> None:
    design = read(f"num_replicas: {number}")
    assert ("chat_serve" in design.loops) == (highest != "")
    assert text(design.components["chat"].copies) == (f"1 .. {highest}" if highest else number)


def test_requests_of_one_replica_and_those_that_wait_are_limits() -> None:
    limits = read("max_ongoing_requests: 8, max_queued_requests: 50").limits
    assert {name: (text(limit.at_most), text(limit.when_full)) for name, limit in limits.items()} == {
        "chat_ongoing": ("8", "wait"), "chat_waiting": ("50", "reject"),
    }  # fmt: skip
    assert set(read("max_queued_requests: -1").limits) == set()


def test_the_time_to_end_is_a_timer() -> None:
    timer = read("graceful_shutdown_timeout_s: 5").timers["chat_grace"]
    assert (text(timer.start), text(timer.after)) == ("chat.drain starts", "5 s")


def test_a_target_at_the_cap_of_one_replica_is_seen_by_the_queue() -> None:
    sources = config("max_ongoing_requests: 2, autoscaling_config: {max_replicas: 9, target_ongoing_requests: 2}")
    findings = analyse(
        importers.design_from_sources(sources), sources, importers.design_from_sources, verify_repairs=False
    ).findings
    assert not [finding for finding in findings if finding.verdict is Verdict.CONFLICT]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("applications: [{import_path: x}]\n", "RayServe"),
        ("applications: [{name: x}]\n", ""),
        ("applications: {}\n", ""),
    ],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "a.yaml")
    assert importers.kind_of(source) == kind


@pytest.mark.parametrize("broken", ["max_ongoing_requests: many", "autoscaling_config: {upscale_delay_s: soon}"])
def test_a_value_that_is_none_is_refused(broken: str) -> None:
    with pytest.raises(InputError, match=r"deployments\[0\]"):
        read(broken)


@pytest.mark.parametrize(
    ("factors", "to"),
    [
        (
            "upscaling_factor: 10",
            "ceil(chat.replicas * (1 + 10 * max((chat.ongoing / 2 - 1), 0) + 1 * min((chat.ongoing / 2 - 1), 0)))",
        ),
        (
            "smoothing_factor: 0.5, target_ongoing_requests: 4",
            "ceil(chat.replicas * (1 + 0.5 * max((chat.ongoing / 4 - 1), 0) + 0.5 * min((chat.ongoing / 4 - 1), 0)))",
        ),
        ("upscaling_factor: 1, downscaling_factor: 1", ""),
        ("min_replicas: 1", ""),
    ],
)
def test_factors_make_the_step_larger_or_smaller_than_the_target_asks_for(factors: str, to: str) -> None:
    actuation = read(f"autoscaling_config: {{{factors}}}").loops["chat_serve"].actuation
    assert actuation is not None
    assert (text(actuation.to) if actuation.to is not None else "") == to
    assert text(actuation.law) == ("set" if to else "proportional")
