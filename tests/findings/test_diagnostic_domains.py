"""Domains: every one can be asked, its codes exist, and what it is meant for is compared with the design."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.findings.diagnostic_domains import COUNTS, domain, domains
from coherence.findings.registry import question_pages
from coherence.language.reading import read_text

TIERS = "coherence: 1\ninfrastructure: {{tiers: {{a: {{count: {count}}}, b: {{count: 4}}}}}}\n"


def test_there_are_fourteen_and_each_names_codes_that_exist() -> None:
    known = [page.code for page in question_pages()]
    assert len(domains()) == 14
    for own in domains().values():
        assert own.not_covered
        assert all(any(code.startswith(prefix) for code in known) for prefix in own.codes), own.name
        assert all(one.measure in COUNTS for condition in own.valid for one in (condition, *condition.alternatives))


@pytest.mark.parametrize(
    ("count", "words"),
    [("4", "has 8, outside of it"), ("80", "has 84"), ("40 .. 80", "has 44 to 84, it may be outside")],
)
def test_a_condition_is_compared_with_the_design(count: str, words: str) -> None:
    lines = [*domain("ai.01").lines(read_text(TIERS.format(count=count), "d"))]
    assert any(line.endswith(words) for line in lines), lines


AGENTS = """coherence: 1
components: {{planner: {{cases: {{plan: 1, answer: 3}}}}, worker: {{}}, model: {{}}}}
calls:
  - {{from: users, to: planner}}
  - {{from: planner, to: worker, case: plan}}
  - {{from: planner, to: model, case: answer}}{back}
"""


@pytest.mark.parametrize(
    ("back", "words"),
    [("", "has 0 and 0 and 0, outside of it"), ("\n  - {from: worker, to: planner}", "has 2 and 1 and 1")],
)
def test_agents_tools_and_plans_that_are_made_anew_are_counted(back: str, words: str) -> None:
    lines = [*domain("ai.13").lines(read_text(AGENTS.format(back=back), "d"))]
    meant = "ai.13 is meant for more than 3 agents, more than 5 tools or recursive planning: the design "
    assert meant + words in lines


def test_what_a_design_does_not_state_is_said() -> None:
    lines = [*domain("ai.01").lines(read_text("coherence: 1\ncomponents: {web: {copies: 2}}\n", "d"))]
    assert any("does not say" in line for line in lines)
    assert any(line.startswith("ai.01 does not cover: ") for line in lines)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"ai\.77"):
        domain("ai.77")


def test_check_asks_the_questions_of_one_domain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    calls = "calls:\n  - {from: a, to: b, deadline: 1 s, per_try: 800 ms, tries: 2}\n"
    file.write_text(f"coherence: 1\n{calls}", encoding="utf-8")
    assert run(["check", str(file), "--no-cache", "--domain", "ai.27"]) == 1
    shown = capsys.readouterr().out
    assert "COH201" in shown
    assert "ai.27 is meant for calls of more than one hop: the design has 1, outside of it" in shown
    assert run(["check", str(file), "--no-cache", "--domain", "ai.11"]) == 0
    assert run(["check", str(file), "--domain", "ai.11", "--select", "COH2"]) == 2


@pytest.mark.slow
def test_a_question_is_asked_in_the_domain_that_it_names() -> None:
    names = domains()
    for page in question_pages():
        own = page.domain.partition(" ")[0]
        if own in names:
            assert page.code in domain(own).codes or any(page.code.startswith(code) for code in names[own].codes)
    assert "COH503" in domain("ai.01").codes
