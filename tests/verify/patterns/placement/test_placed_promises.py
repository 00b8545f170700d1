"""Promises about how members lie, held against every order in which a plain placer puts them on named nodes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.placement import promise_over_loss
from tests.draws import few

ZONES = "abc"
Rule = tuple[bool, str, int]  # whether it is a cap, by node or zone, and its number


def put_anyhow(zones: str, rules: list[Rule], members: int) -> list[tuple[int, ...]]:
    """Returns all ways in which members lie when all do, or when the next one finds no place by the rules."""
    states, ends = {tuple(0 for _ in zones)}, set[tuple[int, ...]]()
    for _ in range(members):
        onward = set[tuple[int, ...]]()
        for state in states:
            afters = (tuple(n + (i == node) for i, n in enumerate(state)) for node in range(len(zones)))
            able = {after for node, after in enumerate(afters) if allowed(zones, rules, after, node)}
            ends |= {state} if not able else set()
            onward |= able
        states = onward
    return sorted(states | ends)


def by(zones: str, state: tuple[int, ...], label: str) -> Counter[str]:
    """Returns the members in each domain."""
    count = Counter[str]()
    for i, (zone, n) in enumerate(zip(zones, state, strict=True)):
        count[zone if label == "zone" else str(i)] += n
    return count


def allowed(zones: str, rules: list[Rule], after: tuple[int, ...], node: int) -> bool:
    for cap, label, most in rules:
        count = by(zones, after, label)
        own = count[zones[node] if label == "zone" else str(node)]
        if own - (0 if cap else min(count.values())) > most:
            return False
    return True


RULES = st.lists(st.tuples(st.booleans(), st.sampled_from(["node", "zone"]), st.integers(1, 3)), min_size=1, max_size=2)


@pytest.mark.slow
@settings(max_examples=few(120), deadline=None)
@given(
    st.text(ZONES, min_size=1, max_size=4), RULES, st.integers(1, 5), st.sampled_from(["node", "zone"]),
    st.integers(1, 4),
)  # fmt: skip
def test_a_promise_is_answered_as_all_placements_lie(
    zones: str, rules: list[Rule], members: int, label: str, most: int
) -> None:
    words = [f"at most {n} by {label}" if cap else f"spread by {label} <= {n}" for cap, label, n in rules]
    places = ", ".join(f"n{i}: {{zone: {zone}}}" for i, zone in enumerate(zones))
    text = f"""coherence: 1
components: {{web: {{copies: {members}}}}}
places: {{{places}}}
placement: {{web: [{", ".join(words)}]}}
promises: {{p: always count of web by {label} <= {most}}}
"""
    states = put_anyhow(zones, rules, members)
    (finding,) = promise_over_loss.ask(Subject(read_text(text, "d.yaml"), {"d.yaml": text}))
    kept = [max(by(zones, state, label).values()) <= most for state in states]
    assert finding.verdict is (Verdict.PROVED if all(kept) else Verdict.CONFLICT)
    if all(kept):
        assert finding.evidence.certificate is not None
        assert unsat(finding.evidence.certificate, timeout_ms=2_000).unsat
    elif finding.certainty == "certain":
        assert not any(kept)
