"""Which sends a limit counts: those to a callee, or those of the one workload that calls it; and what each counts."""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.language.roles import SendCount, SendWorth, send_count

DESIGN = """\
coherence: 1
workload: {{web: {{rate: 1 req/s}}, two: {{rate: 1 req/s}}}}
calls: [{{from: web, to: api}}, {{from: two, to: api}}, {{from: two, to: log}}]
limits: {{rl: {{counts: {counts}, at_most: 5, window: 1 s}}}}
"""


@pytest.mark.parametrize(
    ("counts", "sends"),
    [
        ("attempts(api)", SendCount("api")),
        ("api.requests", SendCount("api")),
        ("api.sends", SendCount("api")),
        ("web.attempts", SendCount("api", "web")),
        ("web.requests", SendCount("api", "web")),
        ("api.tokens", SendCount("api", None, "both")),
        ("api.input_tokens", SendCount("api", None, "prompt")),
        ("web.output_tokens", SendCount("api", "web", "answer")),
        ("two.attempts", None),
        ("two.tokens", None),
        ("api.backlog", None),
        ("web.retries in flight", None),
    ],
)
def test_sends_are_those_to_a_callee_or_of_its_one_workload(counts: str, sends: SendCount | None) -> None:
    design = read_text(DESIGN.format(counts=counts), "d.yaml")
    assert send_count(design, design.limits["rl"]) == sends


@pytest.mark.parametrize(
    "more",
    [
        "components: {api: {tokens: 5}}",
        'components: {api: {state: "tokens\' = 1", from: 0}}',
        "loops: {w: {timescale: {period: 1 s}, trigger: always, actuation: {signal: api.tokens, by: 1}}}",
    ],
)
def test_what_the_design_states_itself_is_no_count_of_sends(more: str) -> None:
    design = read_text(DESIGN.format(counts="api.tokens") + more, "d.yaml")
    assert send_count(design, design.limits["rl"]) is None


def test_tokens_at_an_instant_are_no_sends() -> None:
    design = read_text(DESIGN.format(counts="api.tokens").replace(", window: 1 s", ""), "d.yaml")
    assert send_count(design, design.limits["rl"]) is None


@pytest.mark.parametrize(
    ("stated", "low", "high", "least", "most"),
    [
        ("tokens: 900 token", 900, 900, 900, 900),
        ("prompt: 500 token .. 900 token, answer: 100 token", 600, 1000, 600, 1000),
        ("prompt: {mean: 900 token}, answer: {mean: 300 token}", 1200, 1200, 0, None),
        ("prompt: {mean: 900 token, max: 4 k token}, answer: 300 token", 300, 1200, 300, 4300),
        ("tokens: {mean: 900 token, law: constant}", 900, 900, 900, 900),
        ("tokens: {mean: 500 token, quantiles: {0 %: 100 token, 100 %: 900 token}}", 500, 500, 100, 900),
    ],
)
def test_a_send_counts_the_tokens_of_its_request(
    stated: str, low: int, high: int, least: int, most: int | None
) -> None:
    text = DESIGN.format(counts="api.tokens").replace("web: {rate: 1 req/s}", f"web: {{rate: 1 req/s, {stated}}}")
    design = read_text(text.replace("4 k token", "4000 token"), "d.yaml")
    count = send_count(design, design.limits["rl"])
    assert count is not None
    worth = SendWorth(Fraction(low), Fraction(high), Fraction(least), Fraction(most) if most is not None else None)
    assert count.worth(design.workload["web"]) == worth
    assert count.lacking(design.workload.values()) == "the tokens of two (`prompt` and `answer`, or `tokens`)"


@pytest.mark.parametrize(("counts", "unit", "fits"), [("api.tokens", "token", True), ("api.tokens", "req", False),
    ("attempts(api)", "req", True), ("attempts(api)", "token", False), ("api.tokens", "", True)])  # fmt: skip
def test_the_cap_has_the_unit_of_what_is_counted(counts: str, unit: str, fits: bool) -> None:
    text = DESIGN.format(counts=counts).replace("at_most: 5", f"at_most: 5 {unit}")
    with nullcontext() if fits else pytest.raises(InputError, match="the limit is"):
        read_text(text, "d.yaml")
