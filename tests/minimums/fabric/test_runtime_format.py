"""Schedules in a runtime's format, run by a plain interpreter of that format: every member ends with every part."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections import Counter, deque
from dataclasses import replace

import pytest

from coherence.base.errors import UsageError
from coherence.minimums.fabric.broadcasts import from_root
from coherence.minimums.fabric.reductions import schedule
from coherence.minimums.fabric.runtime_format import gathering, reducing, scattering, telling
from coherence.minimums.fabric.trees import trees
from coherence.minimums.fabric.wiring import Fabric, both, fabric, leaf_spine, ring, turned

Buffers = list[dict[int, Counter[int]]]
FABRICS = (ring(4), fabric("abc", [*both("a", "b", 3), *both("b", "c", 1)]), leaf_spine(2, 2, 2, 50, 30))


def run(text: str, buffers: Buffers, draw: random.Random) -> None:
    """Runs thread blocks in a random order; what is sent is read then, and arrives in order."""
    root = ET.fromstring(text)  # noqa: S314  (written a line above)
    own = int(root[0].get("i_chunks", "0")) if root.get("coll") == "allgather" else 0
    blocks = {(int(g.get("id", "")), int(b.get("id", ""))): b for g in root for b in g}
    done, wires = dict.fromkeys(blocks, 0), dict[tuple[int, int], deque[Counter[int]]]()
    while any(done[key] < len(blocks[key]) for key in blocks):
        ready = [key for key in blocks if done[key] < len(blocks[key]) and _ready(blocks[key], key, done, wires)]
        assert ready, "thread blocks wait for each other"
        gpu, number = key = draw.choice(ready)
        block, step = blocks[key], blocks[key][done[key]]
        done[gpu, number] += 1
        chunk = int(step.get("srcoff", "")) + (gpu * own if step.get("srcbuf") == "i" else 0)
        if step.get("type") == "s":
            assert chunk in buffers[gpu], "what is sent is there"
            wires.setdefault((gpu, int(block.get("send", ""))), deque()).append(Counter(buffers[gpu][chunk]))
            continue
        came = wires[int(block.get("recv", "")), gpu].popleft()
        buffers[gpu][chunk] = buffers[gpu][chunk] + came if step.get("type") == "rrc" else came


def _ready(
    block: ET.Element,
    key: tuple[int, int],
    done: dict[tuple[int, int], int],
    wires: dict[tuple[int, int], deque[Counter[int]]],
) -> bool:
    step = block[done[key]]
    after = int(step.get("depid", ""))
    if after >= 0 and done[key[0], after] <= int(step.get("deps", "")):
        return False
    return step.get("type") == "s" or bool(wires.get((int(block.get("recv", "")), key[0])))


@pytest.mark.parametrize("made", FABRICS, ids=str)
def test_an_all_gather_brings_every_shard_to_everybody(made: Fabric) -> None:
    text = gathering(made, trees(made))
    root = ET.fromstring(text)  # noqa: S314
    own, every = int(root[0].get("i_chunks", "")), int(root.get("nchunksperloop", ""))
    assert own * len(made.members) == every
    for seed in range(5):
        buffers: Buffers = [
            {g * own + k: Counter({g * own + k: 1}) for k in range(own)} for g in range(len(made.members))
        ]
        run(text, buffers, random.Random(seed))  # noqa: S311
        assert all(held == {c: Counter({c: 1}) for c in range(every)} for held in buffers)


@pytest.mark.parametrize("made", FABRICS, ids=str)
def test_an_all_reduce_adds_every_part_once(made: Fabric) -> None:
    text = reducing(made, schedule(made))
    every, count = int(ET.fromstring(text).get("nchunksperloop", "")), len(made.members)  # noqa: S314
    for seed in range(5):
        buffers: Buffers = [{c: Counter({g: 1}) for c in range(every)} for g in range(count)]
        run(text, buffers, random.Random(seed))  # noqa: S311
        assert all(held == {c: Counter(dict.fromkeys(range(count), 1)) for c in range(every)} for held in buffers)


@pytest.mark.parametrize("made", FABRICS, ids=str)
def test_a_reduce_scatter_adds_to_everybody_its_own_parts(made: Fabric) -> None:
    text = scattering(made, trees(turned(made)))
    root, count = ET.fromstring(text), len(made.members)  # noqa: S314
    own, every = int(root[0].get("o_chunks", "")), int(root.get("nchunksperloop", ""))
    assert (root.get("coll"), own * count) == ("reduce_scatter", every)
    for seed in range(5):
        buffers: Buffers = [{c: Counter({g: 1}) for c in range(every)} for g in range(count)]
        run(text, buffers, random.Random(seed))  # noqa: S311
        whole = Counter(dict.fromkeys(range(count), 1))
        assert all(buffers[g][g * own + k] == whole for g in range(count) for k in range(own))


@pytest.mark.parametrize("made", FABRICS, ids=str)
def test_a_broadcast_tells_everybody_what_the_first_one_has(made: Fabric) -> None:
    text = telling(*from_root(made))
    every, count = int(ET.fromstring(text).get("nchunksperloop", "")), len(made.members)  # noqa: S314
    for seed in range(5):
        told = {c: Counter({c: 1}) for c in range(every)}
        buffers: Buffers = [dict(told), *({} for _ in range(count - 1))]
        run(text, buffers, random.Random(seed))  # noqa: S311
        assert buffers == [told] * count


def test_what_is_awaited_says_so() -> None:
    root = ET.fromstring(reducing(ring(4), schedule(ring(4))))  # noqa: S314
    for gpu in root:
        awaited = {(s.get("depid"), s.get("deps")) for b in gpu for s in b if s.get("depid") != "-1"}
        assert awaited == {(b.get("id"), s.get("s")) for b in gpu for s in b if s.get("hasdep") == "1"}
        assert awaited


def test_what_the_runtime_does_not_take_is_refused() -> None:
    uneven = fabric({"a": 2, "b": 1}, both("a", "b", 1))
    with pytest.raises(UsageError, match="equal shares"):
        gathering(uneven, trees(uneven))
    pair = fabric("ab", both("a", "b", 1))
    cut = [replace(tree, data=tree.data / 257) for tree in trees(pair) for _ in range(257)]
    with pytest.raises(UsageError, match="256 steps"):
        gathering(pair, cut)
