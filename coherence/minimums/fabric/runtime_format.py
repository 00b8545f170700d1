"""Writes trees of a fabric as an algorithm of a collective runtime: the XML of MSCCL, which NCCL and RCCL load.

Each member is a GPU by its number; for each neighbour it has one thread block that sends and one that receives.  What
is sent waits for the step that brought it, and of two sums into one chunk the second waits for the first.  All steps
stand in one order in which each could be run after those before it, so that no two thread blocks wait for each other.

SOURCE: microsoft/msccl-tools and microsoft/msccl (elements, step types s, r, rrc; at most 256 steps a thread block).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.fabric.reductions import Reduction
from coherence.minimums.fabric.trees import Tree
from coherence.minimums.fabric.wiring import Fabric

MOST_STEPS = 256  # of one thread block


@dataclass(frozen=True)
class ChunkMove:
    """One chunk goes from a member to another, which takes it or adds it to its own."""

    source: str
    target: str
    chunk: int
    adds: bool = False


@dataclass
class _Gpu:
    """Thread blocks by (sends, neighbour), and the step that last wrote each chunk: (thread block, step)."""

    blocks: dict[tuple[bool, str], list[str]] = field(default_factory=dict)
    wrote: dict[int, tuple[int, int]] = field(default_factory=dict)
    awaited: set[tuple[int, int]] = field(default_factory=set)


def gathering(fabric: Fabric, trees: Sequence[Tree]) -> str:
    """Returns an all-gather of equal shares.  Raises UsageError for unequal ones, and for too many steps."""
    each, first = _equal(fabric, trees)
    numbered = _numbered(fabric.names, trees, each / fabric.members[0][1], first)
    moves = [ChunkMove(*edge, chunk) for depth in _by_depth(numbered) for edge, chunk in depth]
    return _xml(fabric, moves, "allgather", len(fabric.members) * each, own=each)


def scattering(fabric: Fabric, trees: Sequence[Tree]) -> str:
    """Returns a reduce-scatter of equal shares from trees of the turned fabric, over which parts are added.

    Raises UsageError for unequal shares, and for too many steps.
    """
    each, first = _equal(fabric, trees)
    up = list(_by_depth(_numbered(fabric.names, trees, each / fabric.members[0][1], first)))
    moves = [ChunkMove(near, far, chunk, adds=True) for depth in reversed(up) for (far, near), chunk in depth]
    return _xml(fabric, moves, "reduce_scatter", len(fabric.members) * each, out=each)


def telling(fabric: Fabric, trees: Sequence[Tree]) -> str:
    """Returns a broadcast of the first member (1 in all).  Raises UsageError for too many steps."""
    chunks = math.lcm(*(tree.data.denominator for tree in trees))
    numbered = _numbered(fabric.names, trees, Fraction(chunks), dict.fromkeys(fabric.names, 0))
    moves = [ChunkMove(*edge, chunk) for depth in _by_depth(numbered) for edge, chunk in depth]
    return _xml(fabric, moves, "broadcast", chunks)


def reducing(fabric: Fabric, reduction: Reduction) -> str:
    """Returns an all-reduce.  Raises UsageError for too many steps."""
    chunks = math.lcm(*(tree.data.denominator for tree in (*reduction.up, *reduction.down)))
    first, start = dict[str, int](), 0
    for name in fabric.names:
        first[name] = start
        start += int(sum((tree.data for tree in reduction.down if tree.root == name), Fraction(0)) * chunks)
    up = list(_by_depth(_numbered(fabric.names, reduction.up, Fraction(chunks), first)))
    moves = [ChunkMove(near, far, chunk, adds=True) for depth in reversed(up) for (far, near), chunk in depth]
    down = _by_depth(_numbered(fabric.names, reduction.down, Fraction(chunks), first))
    moves += [ChunkMove(*edge, chunk) for depth in down for edge, chunk in depth]
    return _xml(fabric, moves, "allreduce", chunks)


def _equal(fabric: Fabric, trees: Sequence[Tree]) -> tuple[int, dict[str, int]]:
    """Returns the chunks of each member, and the first one of each.  Raises UsageError for unequal shares."""
    shares = {share for _, share in fabric.members}
    if len(shares) != 1:
        raise UsageError("the runtime gathers and scatters equal shares only: give every member as much")
    each = math.lcm(*((tree.data / min(shares)).denominator for tree in trees))
    return each, {name: k * each for k, name in enumerate(fabric.names)}


def _numbered(
    names: Sequence[str], trees: Iterable[Tree], scale: Fraction, first: dict[str, int]
) -> Iterator[tuple[Tree, range]]:
    """Yields each tree with the numbers of its chunks; those of one root follow each other."""
    free = {name: first[name] for name in names}
    for tree in trees:
        count = int(tree.data * scale)
        yield tree, range(free[tree.root], free[tree.root] + count)
        free[tree.root] += count


def _by_depth(numbered: Iterable[tuple[Tree, range]]) -> Iterator[list[tuple[tuple[str, str], int]]]:
    """Yields the edges at each distance from the roots, each with the chunk that it carries."""
    depths: dict[int, list[tuple[tuple[str, str], int]]] = {}
    for tree, chunks in numbered:
        far = {tree.root: 0}
        for path in tree.paths:
            far[path[-1]] = far[path[0]] + 1
            depths.setdefault(far[path[-1]], []).extend(((path[0], path[-1]), chunk) for chunk in chunks)
    yield from (depths[depth] for depth in sorted(depths))


def _xml(
    fabric: Fabric, moves: Iterable[ChunkMove], collective: str, chunks: int, *, own: int = 0, out: int = 0
) -> str:
    gpus = {name: _Gpu() for name in fabric.names}
    for move in moves:
        for name, sends in ((move.source, True), (move.target, False)):
            _step(fabric.names.index(name), gpus[name], move, own, sends=sends)
    head = (
        f'<algo name="{collective}" proto="Simple" nchannels="1" nchunksperloop="{chunks}" '
        f'ngpus="{len(gpus)}" coll="{collective}" inplace="1" outofplace="0" minBytes="0" maxBytes="0">'
    )
    lines = [head]
    for number, gpu in enumerate(gpus.values()):
        lines.append(f'  <gpu id="{number}" i_chunks="{own or chunks}" o_chunks="{out or chunks}" s_chunks="0">')
        lines += _blocks(fabric.names, gpu)
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>"]) + "\n"


def _step(number: int, gpu: _Gpu, move: ChunkMove, own: int, *, sends: bool) -> None:
    """Adds one step to the thread block of a neighbour, after the step that last wrote the chunk."""
    key = (sends, move.target if sends else move.source)
    block = gpu.blocks.setdefault(key, [])
    index, waits = list(gpu.blocks).index(key), gpu.wrote.get(move.chunk)
    if len(block) >= MOST_STEPS:
        raise UsageError(
            f"the schedule takes more than {MOST_STEPS} steps in one thread block, which the runtime limits"
        )
    if waits is not None:
        gpu.awaited.add(waits)
    mine = own and move.chunk // own == number
    buffer, offset = ("i", move.chunk - number * own) if mine or not own else ("o", move.chunk)
    kind = "s" if sends else "rrc" if move.adds else "r"
    depends = f'depid="{waits[0]}" deps="{waits[1]}"' if waits else 'depid="-1" deps="-1"'
    block.append(
        f'      <step s="{len(block)}" type="{kind}" srcbuf="{buffer}" srcoff="{offset}" dstbuf="{buffer}" '
        f'dstoff="{offset}" cnt="1" {depends} hasdep="'
    )
    if not sends:
        gpu.wrote[move.chunk] = (index, len(block) - 1)


def _blocks(names: Sequence[str], gpu: _Gpu) -> Iterator[str]:
    for index, ((sends, other), steps) in enumerate(gpu.blocks.items()):
        peer = names.index(other)
        yield f'    <tb id="{index}" send="{peer if sends else -1}" recv="{-1 if sends else peer}" chan="0">'
        yield from (f'{step}{int((index, k) in gpu.awaited)}"/>' for k, step in enumerate(steps))
        yield "    </tb>"
