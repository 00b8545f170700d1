"""The agent loop against a plain one that calls its model and its tool in turns, and re-sends its whole context."""

from __future__ import annotations

from fractions import Fraction

from coherence.findings.question_input import Subject
from coherence.language.expressions import parse
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from tests.draws import source, trace_counts

PARTS = ("agent_loop",)

OUTPUTS = ("steps", "model_calls", "tokens_read")


def outputs(turns: int, first: int, each: int) -> tuple[Fraction, ...]:
    """Returns the outputs of the part."""
    text = (
        f"coherence: 1\ncomponents: {{agent: {{uses: agent_loop, turns: {turns}, first_tokens: {first} token, "
        f"tokens_per_turn: {each} token, model_time: 2 s, tool_time: 1 s}}}}\n"
    )
    facts = known(Subject(read_text(text)))
    spans = [facts.range(facts.tree(parse(f"agent.{name}"))) for name in OUTPUTS]
    assert all(span.exact for span in spans)
    return tuple(span.low for span in spans if span.low is not None)


def plain(turns: int, first: int, each: int) -> tuple[int, ...]:
    """Returns the same of a run: a model call reads all that was written before it."""
    steps = calls = read = 0
    context = first
    for turn in range(turns + 1):
        steps, calls, read = steps + 1, calls + 1, read + context
        if turn < turns:
            steps, context = steps + 1, context + each
    return steps, calls, read


@trace_counts(40, of=PARTS)
def test_a_run_takes_the_steps_and_reads_the_tokens_that_the_part_says(traces: int) -> None:
    rng = source(12)
    for _ in range(traces):
        turns, first, each = rng.randint(0, 60), rng.randint(0, 9000), rng.randint(0, 3000)
        assert outputs(turns, first, each) == plain(turns, first, each)
