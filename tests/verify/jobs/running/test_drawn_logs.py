"""Logs that a plain simulator of an evictor and a placer writes agree with their design, and changed ones do not."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from coherence.language.reading import read_text
from coherence.verify.jobs.running.recorded_evictions import EpisodeAgreement, recorded_evictions
from tests.draws import few

Event = tuple[int, str, str, str]  # (second, reason, pod, node)


class PlainCluster:
    """Nodes with room for some members; a placer that spreads or takes any node, and an evictor with a period."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)  # noqa: S311  (designs, not secrets)
        draw = self.draw
        self.rooms = {f"node-{letter}": draw.randint(1, 4) for letter in "abcd"[: draw.randint(2, 4)]}
        self.members = draw.randint(2, sum(self.rooms.values()))
        self.above, self.period = draw.randint(1, 2), draw.choice([5, 10, 30])
        self.spreads = draw.random() < 0.5
        self.on: dict[str, str] = {}
        self.events: list[Event] = []
        self.pods = 0

    @property
    def text(self) -> str:
        """The design of it."""
        places = "".join(f"  {name.replace('-', '_')}: {{cpu: {room}}}\n" for name, room in self.rooms.items())
        rule = "placement: {web: [prefer spread by node <= 1]}\n" if self.spreads else ""
        return (
            f"coherence: 1\ncomponents:\n  web: {{copies: {self.members}, needs: 1 cpu}}\nplaces:\n{places}{rule}"
            f"loops:\n  dup:\n    timescale: {{period: {self.period} s}}\n"
            f"    trigger: count of web by node > {self.above}\n    actuation: {{evict: web}}\n"
        )

    def held(self, node: str) -> int:
        """Members on a node."""
        return list(self.on.values()).count(node)

    def place(self, second: int) -> None:
        """Puts one more member where the placer would."""
        able = [node for node, room in self.rooms.items() if self.held(node) < room]
        if self.spreads:
            least = min(map(self.held, self.rooms))
            excess = {node: max(0, self.held(node) - least) for node in able}
            if any(self.held(node) == least for node in able):
                able = [node for node in able if self.held(node) + 1 - self.least_after(node) <= 1] or able
            else:
                able = [node for node in able if excess[node] == min(excess.values())]
        node, pod = self.draw.choice(able), f"web-{self.pods:05d}"
        self.pods += 1
        self.on[pod] = node
        self.events.append((second, "Scheduled", pod, node))

    def least_after(self, node: str) -> int:
        """The members of the emptiest node after one more came to a node."""
        return min(self.held(other) + (other == node) for other in self.rooms)

    def run(self, looks: int) -> None:
        """Fills the nodes, and lets the evictor look so often."""
        for _ in range(self.members):
            self.place(0)
        for look in range(1, looks + 1):
            second = look * self.period
            most = max(map(self.held, self.rooms))
            if most > self.above:
                pod = self.draw.choice([pod for pod, node in self.on.items() if self.held(node) == most])
                self.events.append((second, "RemoveDuplicates", pod, self.on.pop(pod)))
                self.place(second + self.draw.randint(0, self.period // 2 - 1))


def written(events: list[Event], folder: Path) -> Path:
    items = [
        {
            "reason": reason,
            "message": f"Successfully assigned default/{pod} to {node}" if reason == "Scheduled" else "",
            "eventTime": f"2024-01-01T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z",
            "source": {"component": "descheduler" if reason == "RemoveDuplicates" else "scheduler"},
            "involvedObject": {"kind": "Pod", "name": pod},
        }
        for second, reason, pod, node in events
    ]
    (folder / "events.json").write_text(json.dumps({"items": items}))
    return folder


def laid(text: str, events: list[Event], folder: Path) -> EpisodeAgreement:
    (found,) = recorded_evictions(read_text(text, "d.yaml"), written(events, folder))
    (episode,) = found.episodes
    return episode


@pytest.mark.parametrize("block", range(2))
def test_what_a_plain_simulator_does_its_design_may_do(block: int, tmp_path: Path) -> None:
    tried = 0
    for seed in range(100 * block, 100 * block + few(100)):
        plain = PlainCluster(seed)
        plain.run(12)
        evictions = [event for event in plain.events if event[1] == "RemoveDuplicates"]
        if not evictions:
            continue
        tried += 1
        episode = laid(plain.text, plain.events, tmp_path)
        assert episode.agrees, (seed, plain.text, episode)
        assert episode.moves == len(plain.events)
        second, *rest = evictions[-1]
        late = [event for event in plain.events if event != evictions[-1]]
        late.append((second + (plain.period + 1) // 2, rest[0], rest[1], rest[2]))
        assert not laid(plain.text, late, tmp_path).agrees or len(evictions) == 1, seed
        stricter = plain.text.replace(f"> {plain.above}", "> 9")
        assert len(laid(stricter, plain.events, tmp_path).others) == len(evictions)
    assert tried > 5


TWO = """coherence: 1
components: {web: {copies: 2, needs: 1 cpu}}
places: {node_a: {cpu: 4}, node_b: {cpu: 4}}
loops:
  dup: {timescale: {period: 10 s}, trigger: count of web by node > 1, actuation: {evict: web}}
"""
SECOND = "  two: {timescale: {period: 10 s, phase: 5 s}, trigger: count of web by node > 1, actuation: {evict: web}}\n"
FILLED = [(0, "Scheduled", "web-0", "node-a"), (0, "Scheduled", "web-1", "node-a")]


def taken(second: int, pod: str, back: int, node: str) -> list[Event]:
    """An eviction, and when and where the next pod of that name stands."""
    return [(second, "RemoveDuplicates", pod, ""), (back, "Scheduled", pod, node)]


@pytest.mark.parametrize(
    ("more", "events", "untimed"),
    [
        ("", [*taken(10, "web-0", 22, "node-a"), *taken(30, "web-1", 31, "node-b")], ""),  # back after the look at 20 s
        (SECOND, [*taken(10, "web-0", 11, "node-a"), *taken(15, "web-1", 16, "node-b")], "one period"),
        (
            "limits: {slow: {counts: dup, at_most: 1, window: 1 min, when_full: reject}}\n",
            [*taken(10, "web-0", 11, "node-a"), *taken(80, "web-1", 81, "node-b")],
            "slow may hold dup back",
        ),
        (
            "",
            [*taken(10, "web-0", 11, "node-b"), (12, "Killing", "web-0", ""), (40, "Scheduled", "web-0", "node-a"),
             *taken(50, "web-0", 51, "node-b")],
            "",
        ),  # ended by another, 28 s before the next pod of its name stands
    ],
)  # fmt: skip
def test_what_a_design_may_do_is_not_held_against_its_log(
    more: str, events: list[Event], untimed: str, tmp_path: Path
) -> None:
    episode = laid(TWO + more, FILLED + events, tmp_path)
    assert episode.agrees, episode
    assert untimed in episode.untimed
    assert bool(untimed) == bool(episode.untimed)
    if not untimed:
        late = [*FILLED, *taken(10, "web-0", 11, "node-a"), *taken(40, "web-1", 41, "node-b")]
        assert laid(TWO, late, tmp_path).missed == (10.0, 20.0)
