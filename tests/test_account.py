"""Nothing that a design states falls between the language and the engines: it has an effect, or a line says not.

The values of small designs are changed here, a drawn part of those of specs/ and of more small designs with `-m slow`,
and all of them by hand with `python -m tests.perturbation COMMAND PATH...`.  What counts as taking part stands in
tests/perturbation/judging.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from coherence.language.infrastructure import Boundary, Hosting, Link, Tier
from tests.draws import few
from tests.paths import SPECS
from tests.perturbation.judging import Judged, Part, judged
from tests.perturbation.outputs import COMMANDS, command_line, output
from tests.perturbation.written_leaves import NAME, WrittenLeaf, edited, leaves

MOST = 15  # values of a small design
DRAWN = {"check": 30, "analyze": 30, "simulate": 30, "bound": 120}  # values of specs/
LONG = {  # designs of which one run takes many seconds: judged by hand
    "check": ("throttle-backfill", "ordering-tiers", "serving-hpc", "mixed-fleet"),
    "analyze": ("throttle-backfill", "serving-hpc", "mixed-fleet"),
    "simulate": ("serving-hpc", "mixed-fleet", "retry-storm"),
    "bound": (),
}

PARTS = (
    {"workload": "users: {rate: 40 req/s, burst: {rate: 90 req/s, lasts: 5 s, every: 2 min}}"},
    {"components": "pool: {copies: 3, takes: {answer: 20 ms, start: 30 s}}"},
    {"boundaries": "cell: {kind: environment, around: [pool], delay: 30 s}"},
    {"calls": "- {from: users, to: pool, deadline: 2 s, per_try: 800 ms, tries: 2, on_timeout: cancel}"},
    {"timers": "probe: {from: pool starts, every: 10 s, misses: 3, then: pool ends}"},
    {"limits": "room: {counts: users.requests in flight, at_most: 60, window: 1 min, when_full: reject}"},
    {"prices": "pool: 2 usd/h"},
    {
        "components": "tank: {state: \"level' = (0.3 - tank.drain) / 1 s\", from: 0}",
        "loops": "valve: {timescale: {period: 1 s}, trigger: tank.level > 2, "
        "actuation: {signal: tank.drain, to: 1, bounds: [0, 1], from: 0}}",
    },
    {
        "components": "web: {load: users.rate / web.copies_now}",
        "loops": "scaler: {timescale: {period: 15 s}, target: {signal: web.load, setpoint: 9 req/s}, "
        "actuation: {signal: web.copies_now, bounds: [1, 9], from: 2}}",
        "workload": "users: {rate: 40 req/s}",
    },
    {
        "components": "tank: {state: \"level' = level / 2\", step: 1 s, from: 8}",
        "promises": "low: always tank.level <= 9",
    },
    {"components": "gpu: {count: 8}", "jobs": "train: {needs: 1 gpu, copies: 8, gang: all}"},
)  # fmt: skip


def small_design(chosen: Sequence[dict[str, str]]) -> str:
    """Returns a design of some parts; of two entries of one name the first stays, and what makes it too large goes."""
    sections: dict[str, list[str]] = {}
    for part in chosen:
        before = {section: list(entries) for section, entries in sections.items()}
        for section, entry in part.items():
            names = [known.partition(":")[0] for known in sections.get(section, [])]
            if entry.partition(":")[0] not in names or section == "calls":
                sections.setdefault(section, []).append(entry)
        if len(leaves(_written(sections))) > MOST:
            sections = before
    return _written(sections)


def _written(sections: dict[str, list[str]]) -> str:
    lines = ["coherence: 1"]
    for section, entries in sections.items():
        head = [f"{section}:"] if section != "boundaries" else ["infrastructure:", "  boundaries:"]
        lines += head + [f"    {entry}" for entry in entries]
    return "\n".join(lines) + "\n"


def silent(result: Judged | None) -> list[str]:
    """Returns the silent values; none where the command refuses the design."""
    return [] if result is None else list(map(str, result.of(Part.SILENT)))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_value_of_a_small_design_has_an_effect_or_a_line(command: str, seed: int) -> None:
    text = small_design(Random(seed).sample(PARTS, 3))  # noqa: S311  (a draw of parts)
    assert len(leaves(text)) <= MOST
    assert silent(judged(command, text)) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", list(COMMANDS))
@settings(
    max_examples=few(8), deadline=None, derandomize=True, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
@given(chosen=st.lists(st.sampled_from(PARTS), min_size=2, max_size=5, unique_by=repr))
def test_every_value_of_a_drawn_small_design_has_an_effect_or_a_line(
    command: str, chosen: list[dict[str, str]]
) -> None:
    assert silent(judged(command, small_design(chosen))) == []


FITTED = """\
coherence: 1
components:
  loader: {wait: disk.reads * cost, cost: 0 .. 10}
  trainer: {step_time: loader.wait * weight, weight: 0 .. 10}
limits: {memory: {counts: loader.memory, at_most: 7, window: 1 min}}
"""


@pytest.mark.slow
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
    assert (len(result.of(Part.NAMED)), [leaf.path[-1] for leaf in result.of(Part.SILENT)]) == (3, [])


def written(name: str) -> tuple[str, dict[str, WrittenLeaf]]:
    """Returns a design of specs/ as text, and its values by their paths."""
    text = (SPECS / name / "design.yaml").read_text(encoding="utf-8")
    return text, {leaf.name: leaf for leaf in leaves(text)}


NAMES = sorted(path.parent.name for path in SPECS.glob("*/design.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("command", list(COMMANDS))
def test_a_drawn_value_of_a_shipped_design_has_an_effect_or_a_line(command: str) -> None:
    designs = {name: written(name) for name in NAMES if name.removesuffix("-repaired") not in LONG[command]}
    every = [(name, path) for name, (_, values) in designs.items() for path in values]
    drawn = Random(command).sample(every, few(DRAWN[command]))  # noqa: S311  (a draw of values)
    for name in dict.fromkeys(name for name, _ in drawn):
        text, values = designs[name]
        chosen = [values[path] for other, path in drawn if other == name]
        assert silent(judged(command, text, chosen=chosen)) == [], name


AROUND_A_LOOP = """\
coherence: 1
infrastructure:
  tiers: {gpu: {count: 40, memory: 80 GB, sleep_power: 9 W, idle_power: 60 W, full_power: 400 W}}
  boundaries:
    vms:
      kind: virtualization
      around: [pool]
      added_delay: 16 s
      reading_delay: 2 s
      gain: 0.5 .. 0.8
      reading_gain: 0.9
      granularity: 2
      noise: 0.1
      capacity_fraction: 90 %
      memory_fraction: 50 %
      hides: [pool.power]
components:
  pool:
    copies: desired
    desired: 1 .. 40
    load: 20 req/s
    power: 3
    rate_per_replica: 2 req/s
    runs_on: {tier: gpu, devices: 1}
    util: load / (desired * rate_per_replica)
loops:
  hpa:
    inside: none
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, count: commanded, from: 20, bounds: [1, 40]}
"""
LINKED_TIERS = """\
coherence: 1
workload: {users: {rate: 20 req/s}}
infrastructure:
  tiers: {fast: {count: 8}, slow: {count: 4}}
  links:
    - {ends: [fast, slow], bandwidth: 10 MB/s, latency: 3 ms, count: 2, duplex: half, shares: fair}
  boundaries: {cell: {around: [shop], call_delay: 4 ms}}
components:
  web: {copies: 4, takes: {serve: 5 ms}, runs_on: fast}
  shop: {copies: 4, takes: {serve: 10 ms}, runs_on: {tier: slow, devices: 1/2}}
calls:
  - {from: users, to: web, deadline: 1 s, on_timeout: cancel}
  - {from: web, to: shop, carries: 100 kB, via: [fast, slow], deadline: 500 ms, per_try: 200 ms, on_timeout: cancel}
claims: {slow: shop.copies / 2}
"""
WHERE_IT_RUNS = ("runs_on", "tier", "devices", "carries", "inside", "via")


@pytest.mark.parametrize("command", list(COMMANDS))
@pytest.mark.parametrize(
    "text", [pytest.param(AROUND_A_LOOP, marks=pytest.mark.slow, id="loop"), pytest.param(LINKED_TIERS, id="links")]
)
def test_every_value_of_the_infrastructure_has_an_effect_or_a_line(command: str, text: str) -> None:
    chosen = [
        leaf
        for leaf in leaves(text)
        if leaf.path[0] == "infrastructure" or not set(WHERE_IT_RUNS).isdisjoint(leaf.path)
    ]
    result = judged(command, text, chosen=chosen)
    assert result is not None
    assert silent(result) == []
    assert all(leaf.path[-1] == "tier" for leaf in result.of(Part.FIXED))  # no other tier can host it


NUMBERS = (  # constants of the infrastructure that engines know by name
    "memory", "sleep_power", "idle_power", "full_power", "bandwidth", "latency", "gain", "reading_gain",
    "granularity", "noise", "capacity_fraction", "memory_fraction",
)  # fmt: skip


def test_the_infrastructure_above_states_every_key_that_there_is() -> None:
    stated = {word for text in (AROUND_A_LOOP, LINKED_TIERS) for leaf in leaves(text) for word in map(str, leaf.path)}
    keys = {key for kind in (Tier, Link, Boundary, Hosting) for key in kind.keys} - {"uses", "<constant>"}
    assert {*keys, *NUMBERS} <= stated


ENVIRONMENTS = """\
coherence: 1
components: {web: {copies: 2}, shop: {copies: 3, takes: {serve: 10 ms .. 20 ms}}}
calls:
  - {from: web, to: shop, deadline: 1 s, per_try: 300 ms, tries: 2}
environments:
  near: {components: {shop: {takes: {serve: 30 ms}}}}
  far: {calls: [{from: web, to: shop, per_try: 800 ms}], prices: {shop: 2 usd/h}}
"""


def test_every_value_of_an_environment_has_an_effect_or_a_line() -> None:
    ask = COMMANDS["check"][0]
    with TemporaryDirectory() as folder:
        before = output(ask, {NAME: ENVIRONMENTS}, Path(folder))
        assert before is not None
        for old, new in (("30 ms", "40 ms"), ("800 ms", "900 ms"), ("300 ms", "310 ms"), ("2 usd/h", "3 usd/h")):
            after = output(ask, {NAME: ENVIRONMENTS.replace(old, new)}, Path(folder))
            assert after is not None
            line = ENVIRONMENTS[: ENVIRONMENTS.index(old)].count("\n") + 1
            assert after.shown != before.shown or any(spot[1] == line for spot in before.not_read), old


CHOICE = "coherence: 1\ncomponents: {pool: {first: 3, second: 5, third: 7, choice: 1}}\n"


def _chosen(path: Path) -> str:
    pool = yaml.safe_load(path.read_text(encoding="utf-8"))["components"]["pool"]
    number = pool.get("first") if pool.get("choice") == 1 else pool.get("second")
    return json.dumps({"answer": number})


def _named(path: Path) -> str:
    row = {"place": {"file": str(path), "line": 2, "column": CHOICE.split("\n")[1].index("7") + 1}}
    return json.dumps({**json.loads(_chosen(path)), "not_read": [row]})


@pytest.mark.parametrize(("ask", "third"), [(_chosen, Part.SILENT), (_named, Part.NAMED)])
def test_a_value_has_an_effect_is_bound_by_another_is_named_or_is_silent(
    ask: Callable[[Path], str], third: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMMANDS, "choose", (ask,))
    result = judged("choose", CHOICE)
    assert result is not None
    parts = {leaf.path[-1]: part for leaf, part in result.parts.items()}
    assert parts == {"first": Part.EFFECT, "second": Part.BOUND, "third": third, "choice": Part.EFFECT}


def test_two_values_of_one_line_are_changed_together() -> None:
    first, _, third, _ = leaves(CHOICE)
    assert "{first: 9, second: 5, third: 0.5, choice: 1}" in edited(CHOICE, (first, "9"), (third, "0.5"))["design"]
    assert "{second: 5, third: 7, choice: 1}" in edited(CHOICE, (first, None))["design"]


def test_a_value_of_a_part_is_changed_in_the_text_of_the_part() -> None:
    text = "coherence: 1\ninfrastructure: {tiers: {gpu: {uses: h100_sxm, count: 4}}}\n"
    memory = next(leaf for leaf in leaves(text, supplied=True) if leaf.path[:2] == ("parameters", "memory"))
    assert memory.place.file == "models/tiers/h100_sxm.yaml"
    texts = edited(text, (memory, "9 GB"))
    assert texts["design"] == text
    assert "memory: {default: 9 GB, " in texts[memory.place.file]
