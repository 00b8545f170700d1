"""What no answer was computed from is named, with whether it counts."""

from __future__ import annotations

from coherence.base.reads import recorded
from coherence.checking.design_check import analyse
from coherence.findings.finding import NotRead
from coherence.findings.not_read import Basis, Reasons, not_read
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity

DESIGN = read_text("""\
coherence: 1
components: {pool: {copies: 3}, disk: {copies: 2}}
infrastructure: {boundaries: {cell: {around: [pool], delay: 3 ms}, cage: {around: [disk], delay: 4 ms}}}
limits:
  memory: {counts: pool.used, at_most: 5, when_full: wait}
  room: {counts: disk.used, at_most: 6}
prices: {pool: 2 usd/h}
""")
REASONS = Reasons("nobody asks", "not needed", {"room": "too small"})


def lines(*answers: Basis) -> dict[str, NotRead]:
    return {line.path: line for line in not_read(DESIGN, answers, REASONS)}


def cap(name: str) -> Basis:
    """An answer about a limit, computed from its cap and the copies of the pool."""
    with recorded() as reads:
        bound, copies = DESIGN.limits[name].at_most, DESIGN.components["pool"].copies
        assert isinstance(bound, Quantity)
        assert isinstance(copies, Quantity)
        assert bound.low > copies.low
    return Basis(reads.all(), frozenset({name}))


def test_without_an_answer_nothing_is_read() -> None:
    found = lines()
    assert len(found) == 12
    assert {line.reason for line in found.values()} == {"nobody asks", "too small"}
    assert {path for path, line in found.items() if line.counts} == {
        "limits.memory.counts", "limits.memory.at_most", "limits.memory.when_full", "limits.room.counts",
        "limits.room.at_most",
    }  # fmt: skip


def test_what_an_answer_was_computed_from_is_read() -> None:
    found = lines(cap("memory"))
    assert "limits.memory.at_most" not in found
    assert "components.pool.copies" not in found
    assert found["limits.memory.when_full"].reason == "not needed"
    assert found["limits.room.at_most"].reason == "too small"


def test_what_touches_a_thing_that_an_answer_speaks_of_counts() -> None:
    found = lines(cap("memory"))
    assert found["boundaries.cell.delay"].counts
    assert not found["boundaries.cage.delay"].counts
    assert not found["prices.pool"].counts


def test_an_answer_that_speaks_of_another_limit_has_not_read_this_one() -> None:
    memory = cap("memory")
    assert "limits.memory.at_most" in lines(Basis(memory.read, frozenset({"room"})))
    assert "limits.memory.at_most" not in lines(Basis(memory.read, None))
    place = DESIGN.limits["memory"].place
    assert "limits.memory.at_most" not in lines(Basis(memory.read, frozenset(), frozenset({(place.file, place.line)})))


def test_a_word_for_no_limit_is_read_where_a_call_is_proved_without_one() -> None:
    text = """coherence: 1
components: {llm: {takes: {serve: 1 s}}}
calls:
  - {from: a, to: llm, deadline: unlimited, per_try: 4 s, tries: unlimited, retry_when: [timeout]}
"""
    answers = analyse(
        read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"), verify_repairs=False
    )
    assert [finding.code for finding in answers.findings] == ["COH201"]
    assert not answers.not_read
