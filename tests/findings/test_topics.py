"""Topics: each names commands, codes and bounds that exist, and a reason for what it refuses."""

from __future__ import annotations

import re

import pytest

from coherence.cli._run import run
from coherence.findings.diagnostic_domains import domain, domains
from coherence.findings.registry import question_pages
from coherence.findings.topics import Topic, domain_page, topic, topic_names, topic_words
from coherence.minimums.registry import bounds

COMMAND = re.compile(r"coherence ([a-z]+)(?: ([a-z_]+|DESIGN))?")


def named(name: str) -> Topic:
    own = topic(name)
    assert own is not None
    return own


def lines_of(name: str) -> list[str]:
    return [*named(name).answered, *named(name).refused]


@pytest.mark.parametrize("name", topic_names())
def test_what_a_topic_names_is_there(name: str) -> None:
    text = "\n".join(lines_of(name))
    known = {page.code for page in question_pages()}
    assert set(re.findall(r"COH\d{3}", text)) <= known
    assert set(re.findall(r"ai\.\d{2}", text)) <= set(domains())
    names = {bound.name for bound in bounds()}
    for command, word in COMMAND.findall(text):
        assert run([command, "--help"]) == 0, command
        assert command != "bound" or word == "DESIGN" or word in names, word


@pytest.mark.parametrize("name", topic_names())
def test_a_topic_has_an_answer_and_a_refusal(name: str) -> None:
    own = topic(name)
    assert own is not None
    page = "\n".join(own.page())
    assert own.answered
    assert own.refused
    assert f"{name}: {own.title}" in page


def test_another_name_is_no_topic() -> None:
    assert topic("weather") is None


def test_the_page_of_a_domain_says_what_it_does_not_cover() -> None:
    own = domain("ai.06")
    page = "\n".join(domain_page(own))
    assert all(f"- {line}" in page for line in own.not_covered)
    assert "--domain ai.06 asks COH209" in page


def test_explain_prints_topics_and_domains(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "hybrid-cloud"]) == 0
    assert "refused:" in capsys.readouterr().out
    assert run(["explain", "ai.13"]) == 0
    assert "agentic system stability" in capsys.readouterr().out
    assert run(["explain", "hybrid-clowd"]) == 2
    assert "hybrid-cloud" in capsys.readouterr().err


def test_other_words_ask_for_a_topic_and_for_one_alone() -> None:
    owners = {word: name for name in topic_names() for word in (name, *named(name).also)}
    assert len(owners) == sum(1 + len(named(name).also) for name in topic_names())
    assert all(topic(word) == named(name) for word, name in owners.items())
    assert set(topic_words()) == set(owners)


def test_explain_hears_words_of_the_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "dispatcher"]) == 0
    assert "balancer: " in capsys.readouterr().out
    assert run(["explain", "load-balncer"]) == 2
    assert "did you mean 'load-balancer'?" in capsys.readouterr().err
