"""Names the blocks at the head of prompts, for the prefix cache: those of a file, or one shared prefix."""

from __future__ import annotations

from coherence.base.errors import UsageError
from coherence.language.workloads import Workload
from coherence.simulate.serving.streamed_trace import StreamedTrace
from coherence.simulate.serving.trace import ArrivalTrace

APART = 2**40  # names of one workload: those of another one are of other tokens


def prefixes_of(
    block: int, workload: Workload, trace: ArrivalTrace | StreamedTrace | None, count: int, number: int
) -> tuple[tuple[int, ...], ...]:
    """Returns the names of the full blocks at the head of each of `count` prompts of a workload, the `number`-th."""
    if trace is not None and trace.prefixes:
        return _of_file(block, workload, trace, number)[:count]
    tokens = 0 if workload.prefix is None else int(workload.prefix.low)
    return (tuple(number * APART + place for place in range(tokens // block)),) * count


def _of_file(
    block: int, workload: Workload, trace: ArrivalTrace | StreamedTrace, number: int
) -> tuple[tuple[int, ...], ...]:
    """Each name of the file stands for several blocks of the server; the last one may be short."""
    if trace.prefix_block % block:
        sizes = f"prefixes of {workload.name} are named by {trace.prefix_block} tokens, and blocks hold {block}"
        raise UsageError(f"{sizes}: choose a block_size that divides it")
    blocks, known = trace.prefix_block // block, dict[int, int]()
    numbers = ([known.setdefault(name, len(known)) for name in names] for names in trace.prefixes)
    return tuple(
        tuple(number * APART + name * blocks + place for name in names for place in range(blocks)) for names in numbers
    )
