"""Agents and lookups of designs: runs that send their context whole, and requests that are followed call by call."""

from __future__ import annotations

import random

import pytest

from coherence.language.reading import read_text
from coherence.minimums.design_floors import design_floors
from coherence.minimums.floors import at
from coherence.minimums.registry import entry

AGENT = """coherence: 1
components:
  agent: {uses: agent_loop, turns: TURNS, first_tokens: 2000 token, tokens_per_turn: 1000 token, model_time: 4 s,
    tool_time: 1 s}
"""
STORE = """coherence: 1
workload: {users: {rate: 1 req/s}}
calls:
  - {from: users, to: rag}
  - {from: rag, to: store, stage: a, tries: 2}
  - {from: rag, to: store, stage: b}
  - {from: rag, to: agent, stage: c}
  - {from: agent, to: store}
"""


def of_design(text: str, name: str) -> dict[str, tuple[float, float] | None]:
    floors = design_floors(read_text(text, "d"), [entry(name).bound])
    return {
        own.application.thing: (float(own.floor.low), float(own.floor.high)) if own.floor else None for own in floors
    }


def test_the_tokens_of_an_agent_are_those_of_its_part_run_turn_by_turn() -> None:
    for turns in (0, 1, 3, 20):
        context, sent, seen = 2000, 0, 0
        for _ in range(turns + 1):
            seen, sent, context = context, sent + context, context + 1000
        text = AGENT.replace("TURNS", str(turns))
        assert of_design(text, "tokens_sent_again") == {"agent": (sent, sent)}
        assert of_design(text, "tokens_read_once") == {"agent": (seen, seen)}
        share = 1 - seen / sent
        assert of_design(text, "repeated_token_share")["agent"] == pytest.approx((share, share))


def test_a_range_of_turns_gives_both_ends() -> None:
    low, high = of_design(AGENT.replace("TURNS", "3 .. 20"), "repeated_token_share")["agent"] or (0, 0)
    assert (low, high) == pytest.approx((1 - 5000 / 14000, 1 - 22000 / 252000))


def test_the_share_is_monotone_as_it_says() -> None:
    drawn, bound = random.Random(5), entry("repeated_token_share").bound  # noqa: S311
    for _ in range(200):
        calls, first, added = drawn.randint(1, 40), drawn.randint(1, 900), drawn.randint(0, 900)
        here = float(at(bound, {"calls": calls, "first": first, "added": added}))
        assert float(at(bound, {"calls": calls + 1, "first": first, "added": added})) >= here - 1e-12
        assert float(at(bound, {"calls": calls, "first": first + 9, "added": added})) >= here - 1e-12
        assert float(at(bound, {"calls": calls, "first": first, "added": added + 9})) <= here + 1e-12


def test_lookups_are_those_of_one_request() -> None:
    # a: once or twice, b: once, the agent: once
    assert of_design(STORE, "repeated_lookup_share") == {"users -> store": pytest.approx((2 / 3, 3 / 4))}


def test_the_band_of_three_to_five() -> None:
    text = STORE.replace("stage: a, tries: 2", "stage: a, tries: 3")
    low, high = of_design(text, "repeated_lookup_share")["users -> store"] or (0, 0)
    assert (1 / (1 - low), 1 / (1 - high)) == pytest.approx((3, 5))


def test_a_case_counts_with_its_fewest_and_most() -> None:
    text = STORE.replace("stage: b}", "stage: b, case: hard}").replace(
        "agent, stage: c}", "agent, stage: c, case: [easy, hard]}"
    )
    assert of_design(text, "repeated_lookup_share") == {"users -> store": pytest.approx((1 / 2, 3 / 4))}


def test_nothing_is_said_of_what_is_asked_once_or_without_end() -> None:
    assert (
        of_design(
            STORE.replace("  - {from: rag, to: store, stage: b}\n", "").replace("store}", "other}"),
            "repeated_lookup_share",
        )
        == {}
    )
    assert of_design(STORE.replace("tries: 2", "tries: unlimited"), "repeated_lookup_share") == {"users -> store": None}
    assert of_design(STORE + "  - {from: store, to: rag}\n", "repeated_lookup_share") == {}
