"""Nothing that a design states falls between the language and the engines: it has an effect, or a line says not.

A drawn part of the values of specs/ and of small designs is changed here; all of them with `-m slow`, or by hand with
`python -m tests.perturbation COMMAND PATH...`.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.perturbation import judged, leaves

PARTS = {
    "workload": "workload: {users: {rate: 40 req/s, burst: {rate: 90 req/s, lasts: 5 s, every: 2 min}}}",
    "components": "components: {pool: {copies: 3, takes: {answer: 20 ms, start: 30 s}}}",
    "boundaries": "infrastructure: {boundaries: {cell: {kind: environment, around: [pool], delay: 30 s}}}",
    "calls": "calls: [{from: users, to: pool, deadline: 2 s, per_try: 800 ms, tries: 2, on_timeout: cancel}]",
    "timers": "timers: {probe: {from: pool starts, every: 10 s, misses: 3, then: pool ends}}",
    "limits": "limits: {room: {counts: users.requests in flight, at_most: 60, window: 1 min, when_full: reject}}",
    "prices": "prices: {pool: 2 usd/h}",
}  # fmt: skip


def drawn(seed: int) -> str:
    """A design of some of the parts, with at most 15 values."""
    source = Random(seed)  # noqa: S311  (a draw of designs)
    names = source.sample(list(PARTS), source.randint(2, 3))
    return "\n".join(["coherence: 1", *(PARTS[name] for name in PARTS if name in {*names, "components"})]) + "\n"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("command", ["check", "bound"])
def test_every_value_of_a_small_design_has_an_effect_or_a_line(command: str, seed: int) -> None:
    text = drawn(seed)
    assert len(leaves(text)) <= 15
    result = judged(command, text)
    assert result is not None
    assert [str(silent.leaf) for silent in result.silent] == []
