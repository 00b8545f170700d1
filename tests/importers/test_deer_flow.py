"""DeerFlow: calls of an agent and its subagents to models and tools, and what ends a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Call, Design
from tests.importers.test_hostile_manifests import HOSTILE, paths, problems, replaced
from tests.importers.value_texts import text


def config(model: str = "", more: str = "", use: str = "langchain_openai:ChatOpenAI") -> str:
    return f"config_version: 34\nmodels: [{{name: gpt, use: '{use}'{model}}}]\n{more}"


def read(text: str) -> Design:
    return importers.design_from_sources({"config.yaml": text})


def call(design: Design, name: str) -> Call:
    (only,) = [call for call in design.calls if call.name == name]
    return only


@pytest.mark.parametrize(
    ("model", "time", "tries"),
    [
        ("", "None", ""),
        (", request_timeout: 600.0, max_retries: 4", "10 min", "5"),
        (", timeout: 0.5, max_retries: 0", "500 ms", "1"),
        (", default_request_timeout: 60", "60 s", ""),
    ],
)
def test_a_model_is_tried_as_its_client_does(model: str, time: str, tries: str) -> None:
    way = call(read(config(model)), "lead_agent -> gpt")
    assert (text(way.part), text(way.per_try)) in (("openai_sdk_retry", time), ("openai_sdk_retry", "10 min"))
    assert tries in ("", text(way.tries[0]))


def test_of_another_client_only_what_is_written_counts() -> None:
    way = call(read(config(", max_retries: 1", use="other.models:Chat")), "lead_agent -> gpt")
    assert (way.part, text(way.tries[0])) == (None, "2")


SUBAGENTS = (
    "subagents: {timeout_seconds: 900, agents: {bash: {timeout_seconds: 300, max_turns: 80}, own: {model: gpt}}}\n"
)


def test_each_subagent_has_its_time_its_model_and_its_turns() -> None:
    design = read(config("", f"{SUBAGENTS}sandbox: {{bash_command_timeout: 600}}\n"))
    times = {one.name: text(one.deadline) for one in design.calls if one.name.startswith("lead_agent -> subagent")}
    assert times == {
        "lead_agent -> subagent_general_purpose": "15 min",
        "lead_agent -> subagent_bash": "5 min",
        "lead_agent -> subagent_own": "15 min",
    }
    assert text(call(design, "subagent_bash -> sandbox").per_try) == "10 min"
    assert text(call(design, "subagent_own -> gpt").callee) == "gpt"
    assert text(design.limits["subagent_bash_turns"].at_most) == "80"


def test_a_subagent_of_a_model_that_is_not_here_calls_none() -> None:
    design = read(config("", "subagents: {model: other}\n"))
    assert not [one for one in design.calls if one.name.startswith("subagent") and one.name.endswith("gpt")]


def test_what_ends_a_run_is_a_limit_where_it_is_on() -> None:
    on = "loop_detection: {hard_limit: 5, warn_threshold: 3}\ntoken_budget: {enabled: true, max_tokens: 200000}\n"
    off = "loop_detection: {enabled: false, hard_limit: 5}\ntoken_budget: {enabled: false, max_tokens: 5}\n"
    assert {text(limit.at_most) for limit in read(config("", on)).limits.values()} == {"5", "200000"}
    assert not read(config("", off)).limits


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "conflict"), [(300, True), (1801, True), (1802, False)])
def test_tries_of_a_model_that_outlast_a_subagent_are_a_conflict(seconds: int, conflict: bool, tmp_path: Path) -> None:
    more = f"subagents: {{timeout_seconds: {seconds}}}\n"
    (tmp_path / "config.yaml").write_text(config(", request_timeout: 600, max_retries: 2", more))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH201"} if conflict else set())


def test_no_key_is_shown_and_ceilings_are_listed() -> None:
    listed = " ".join(w for _, w in read(config(", api_key: hunter22", "max_recursion_limit: 1000\n")).not_modelled)
    assert "hunter22" not in listed
    assert "max_recursion_limit (a ceiling" in listed


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (config(), "DeerFlow"),
        ("config_version: 1\nmax_recursion_limit: 5\n", "DeerFlow"),
        ("models: [{name: a, use: 'b:C'}]\n", ""),
        ("config_version: 1\nmodels: 3\n", ""),
    ],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "a.yaml")
    assert importers.kind_of(source) == kind


@pytest.mark.slow
def test_hostile_values_are_read_or_refused() -> None:
    body: dict[str, Any] = {
        "config_version": 34, "max_recursion_limit": 100,
        "models": [{"name": "gpt", "use": "langchain_openai:ChatOpenAI", "timeout": 600, "max_retries": 2}],
        "tools": [{"name": "fetch", "timeout": 10}], "sandbox": {"bash_command_timeout": 600},
        "loop_detection": {"enabled": True, "hard_limit": 5}, "token_budget": {"enabled": True, "max_tokens": 9},
        "subagents": {"timeout_seconds": 900, "max_turns": 5, "agents": {"bash": {"max_turns": 60, "model": "gpt"}}},
    }  # fmt: skip
    for path in paths(body):
        for value in HOSTILE[::3]:
            assert problems(json.dumps(replaced(body, path, value)), "config.yaml") >= 0
