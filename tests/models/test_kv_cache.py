"""The cache of blocks against an allocator of whole blocks, request by request.

SOURCE: vLLM 0.6 to 0.11, KVCacheManager: a request of n tokens holds ceil(n / block_size) blocks, the last one in part;
one that finds no free block is preempted, the newest first.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.findings.question_input import Subject
from coherence.language.expressions import parse
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from tests.draws import source, trace_counts

PARTS = ("kv_cache",)


def outputs(blocks: int, block_size: int, tokens_each: Fraction, running: int) -> dict[str, Fraction]:
    """Returns the outputs of the part."""
    text = (
        "coherence: 1\ncomponents:\n"
        f"  engine: {{running: {running} req}}\n"
        f"  cache: {{uses: kv_cache, blocks: {blocks} block, block_size: {block_size} token, "
        f"tokens_each: {float(tokens_each)} token/req, running: engine.running}}\n"
    )
    facts = known(Subject(read_text(text)))
    found = {}
    for name in ("wanted", "used", "fits", "evicted"):
        interval = facts.range(facts.tree(parse(f"cache.{name}")))
        assert interval.exact
        assert interval.low is not None
        found[name] = interval.low
    return found


class Allocator:
    """Blocks of requests in the order in which they came."""

    def __init__(self, blocks: int, block_size: int) -> None:
        self.blocks, self.block_size = blocks, block_size

    def held(self, lengths: list[int]) -> list[int]:
        """Returns the blocks of each request that stays, the oldest first."""
        needs = [-(-length // self.block_size) for length in lengths]
        while sum(needs) > self.blocks:
            needs.pop()
        return needs


@trace_counts(60, of=PARTS)
def test_lengths_uniform_modulo_the_block_want_and_use_what_the_part_says(traces: int) -> None:
    rng = source(9)
    for _ in range(traces):
        size, rounds = rng.choice([1, 8, 16, 32]), rng.randint(1, 4)
        whole = rng.randint(0, 20)
        lengths = [whole * size + rest for rest in range(1, size + 1) for _ in range(rounds)]
        rng.shuffle(lengths)
        mean = Fraction(sum(lengths), len(lengths))
        blocks = rng.randint(1, 2 * len(lengths) * (whole + 1))
        held = Allocator(blocks, size).held(lengths)
        part = outputs(blocks, size, mean, len(lengths))
        assert part["wanted"] == sum(-(-length // size) for length in lengths)
        assert part["used"] >= sum(held)  # whole requests: less than one of them is left over
        assert part["used"] - sum(held) < whole + 1
        assert part["fits"] >= len(held)
        assert len(lengths) - len(held) - 1 < part["evicted"] <= len(lengths) - len(held)
