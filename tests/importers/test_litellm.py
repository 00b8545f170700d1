"""LiteLLM: the call to each model, whose time limit and retries hold, cooldowns and limits of requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Design
from tests.importers.value_texts import text


def config(model: str = "", settings: str = "", router: str = "") -> str:
    models = f"model_list: [{{model_name: gpt, litellm_params: {{model: openai/gpt{model}}}}}]\n"
    return f"{models}litellm_settings: {{{settings}}}\nrouter_settings: {{{router}}}\n"


def read(text: str) -> Design:
    return importers.design_from_sources({"proxy.yaml": text})


@pytest.mark.parametrize(
    ("model", "settings", "router", "tries", "time"),
    [
        ("", "", "", "3", "None"),
        ("", "num_retries: 5, request_timeout: 600", "", "6", "10 min"),
        ("", "num_retries: 5, request_timeout: 600", "num_retries: 1, timeout: 60", "2", "60 s"),
        (", timeout: 0.5, num_retries: 0", "num_retries: 5", "timeout: 60", "1", "500 ms"),
    ],
)
def test_the_nearest_setting_holds(model: str, settings: str, router: str, tries: str, time: str) -> None:
    (call,) = read(config(model, settings, router)).calls
    assert (call.name, text(call.tries[0]), text(call.per_try)) == ("proxy -> gpt_openai_gpt", tries, time)


def test_what_is_tried_again_is_said_where_something_is() -> None:
    causes = [text(cause) for cause in read(config()).calls[0].retry_when or ()]
    assert causes == ["timeout", "connect_failure", "conflict", "rate_limited", "server_error"]
    assert not read(config(", num_retries: 0")).calls[0].retry_when


def test_requests_and_tokens_a_minute_are_limits_and_a_cooldown_a_timer() -> None:
    design = read(config(", rpm: 480, tpm: 90000", router="cooldown_time: 30"))
    limit, timer = design.limits["gpt_openai_gpt_rpm"], design.timers["gpt_openai_gpt_cooldown"]
    assert (text(limit.at_most), text(limit.window)) == ("480", "1 min")
    limit = design.limits["gpt_openai_gpt_tpm"]
    assert (text(limit.counts), text(limit.at_most), text(limit.window)) == ("gpt_openai_gpt.tokens", "90000", "1 min")
    assert text(timer.after) == "30 s"


def test_each_model_is_a_route_of_its_own() -> None:
    models = "{model_name: a, litellm_params: {model: x}}, {model_name: b, litellm_params: {model: y}}"
    design = read(f"model_list: [{models}]\n")
    assert [[text(case) for case in call.cases] for call in design.calls] == [["route_1"], ["route_2"]]


def test_fallbacks_and_settings_without_a_model_are_listed_and_no_key_is_shown() -> None:
    fallbacks = "fallbacks: [{gpt: [other]}]"
    listed = [words for _, words in read(config(", api_key: hunter2", fallbacks)).not_modelled]
    assert any("calls after all tries" in words for words in listed)
    assert not any("hunter2" in words for words in listed)
    alone = [words for _, words in read("litellm_settings: {num_retries: 3}\n").not_modelled]
    assert any("there is no model that it is for" in words for words in alone)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("model_list: [{model_name: a, litellm_params: {}}]\n", "LiteLLM"),
        ("litellm_settings: {}\n", "LiteLLM"),
        ("model_list: [{model_name: a}]\n", ""),
        ("model_list: 3\n", ""),
    ],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "a.yaml")
    assert importers.kind_of(source) == kind


@pytest.mark.parametrize("broken", ["num_retries: -1", "request_timeout: soon"])
def test_a_value_that_is_none_is_refused(broken: str) -> None:
    with pytest.raises(InputError, match=r"litellm_settings"):
        read(config(settings=broken))


OVERLAY = """\
coherence: 1
overlays: manifests
components: {gpt_openai_gpt: {takes: {answer: 5 s .. 90 s}}}
"""


def test_a_time_limit_below_the_time_of_an_answer_is_a_conflict_and_its_repaired_twin_is_none(tmp_path: Path) -> None:
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    for seconds, conflict in (("60", True), ("120", False)):
        (tmp_path / "proxy.yaml").write_text(config(router=f"timeout: {seconds}"))
        found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
        assert ("COH201" in found) is conflict
