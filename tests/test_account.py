"""Nothing that a design states falls between the language and the engines: it has an effect, or a line says not.

The values of small designs are changed here, a drawn part of those of specs/ with `-m slow`, and all of them by hand
with `python -m tests.perturbation COMMAND PATH...`; what is known to be silent stands in tests/data/silent_leaves.yaml.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import yaml

from tests.paths import DATA, SPECS
from tests.perturbation.judging import Part, judged
from tests.perturbation.outputs import COMMANDS, command_line
from tests.perturbation.written_leaves import WrittenLeaf, leaves

DRAWN = 2  # values of each design

SILENT: dict[str, dict[str, dict[str, str]]] = yaml.safe_load((DATA / "silent_leaves.yaml").read_text(encoding="utf-8"))

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
    assert list(map(str, result.of(Part.SILENT))) == []


FITTED = """\
coherence: 1
components:
  loader: {wait: disk.reads * cost, cost: 0 .. 10}
  trainer: {step_time: loader.wait * weight, weight: 0 .. 10}
limits: {memory: {counts: loader.memory, at_most: 7, window: 1 min}}
"""


def test_every_value_of_a_fitted_design_has_an_effect_or_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Random(1)  # noqa: S311  (made telemetry)
    rows = ["time,disk.reads,loader.wait,trainer.step_time"]
    for time in range(0, 1000, 10):
        reads = source.gauss(5, 1)
        wait = 2 * reads + source.gauss(0, 0.3)
        rows.append(f"{time},{reads},{wait},{1.5 * wait + source.gauss(0, 0.5)}")
    telemetry = tmp_path / "telemetry.csv"
    telemetry.write_text("\n".join(rows) + "\n", encoding="utf-8")
    monkeypatch.setitem(COMMANDS, "fit", (command_line("fit", "--telemetry", str(telemetry), "-o", "json"),))
    result = judged("fit", FITTED, doubt_named=True)
    assert result is not None
    ranges = ["cost", "weight"]  # of unknown constants of a linear law: looked at, and they bind only a curved one
    assert (len(result.of(Part.NAMED)), [leaf.path[-1] for leaf in result.of(Part.SILENT)]) == (3, ranges)


def written(name: str) -> tuple[str, dict[str, WrittenLeaf]]:
    """A design of specs/ as text, and its values by their paths."""
    text = (SPECS / name / "design.yaml").read_text(encoding="utf-8")
    return text, {leaf.name: leaf for leaf in leaves(text)}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.parent.name for path in SPECS.glob("*/design.yaml")))
@pytest.mark.parametrize("command", ["check", "bound"])
def test_a_drawn_value_of_a_shipped_design_has_an_effect_or_a_line(command: str, name: str) -> None:
    text, every = written(name)
    source = Random(f"{command} {name}")  # noqa: S311  (a draw of values)
    drawn_paths = set(source.sample(list(every), DRAWN)) - set(SILENT[command].get(name, {}))
    result = judged(command, text, chosen=[every[path] for path in sorted(drawn_paths)])
    assert result is not None
    assert list(map(str, result.of(Part.SILENT))) == []


@pytest.mark.slow
@pytest.mark.parametrize(("command", "name"), [(command, name) for command in SILENT for name in SILENT[command]])
def test_a_value_listed_as_silent_is_silent_still(command: str, name: str) -> None:
    text, every = written(name)
    listed = SILENT[command][name]
    assert all(listed.values()), "each has a reason"
    result = judged(command, text, chosen=[every[path] for path in listed])
    assert result is not None
    assert [leaf.name for leaf in result.of(Part.SILENT)] == list(listed), "take out what has an effect now"
