"""What an examination of the control engine reproduced, line by line, with the right answer of today.

Each command is run as it was; a text stands here as a network or a design, beside what must be printed and the exit
code.  Lines without a command: the decay behind a long delay (D5) stands in `networks/test_delayed_verdict.py`, limit
cycles that took seconds (D9) in `cycles`, pictures (D10) in `pictures`, interchange (D11) in `interchange`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from coherence.cli._run import run

LIMIT = "600"  # seconds, far beyond what any line takes: no answer depends on the machine
TANK = """coherence: 1
components:
  tank: {state: "level' = (1 - 0.5 * valve.open%s) / 1 s", from: %s}
loops:
  ctl:
    timescale: {period: 2 s, phase: 0 s}
    trigger: always
    actuation: {signal: valve.open, law: set, to: "%s", bounds: [%s, 100], from: 2}
"""
LATE = "delayed(tank.level, 3 s)"
ROOM = """coherence: 1
components:
  room: {state: "temp' = (10 - room.temp + 2 * heater.power) / 300 s", from: 12}
loops:
  ctl:
    timescale: {period: 60 s, phase: 0 s}
    trigger: always
    actuation:
      {signal: heater.power, law: set, to: "5 + 3 * (20 - delayed(room.temp, 60 s))", bounds: [0, 100], from: 5}
"""
ROOM_NETWORK = """network: 1
blocks:
  room: {numerator: [2], denominator: [300, 1], delay: 60 s}
  ctl: {numerator: [3], denominator: [1], rate: 60 s}
couplings:
  - {from: room, to: ctl, gain: -1}
  - {from: ctl, to: room}
"""
LATE_RESONANCE = """network: 1
blocks: {plant: {numerator: [0.357], denominator: [1, 0.12, 9], delay: 1 s}}
couplings: [{from: plant, to: plant, gain: -1}]
"""
ALGEBRAIC = """network: 1
blocks:
  a: {numerator: [2], denominator: [1]%s}
  b: {numerator: [1], denominator: [1, 1]}
couplings: [{from: a, to: a}, {from: a, to: b}, {from: b, to: a, gain: 0.1}]
"""
SINGULAR = "network: 1\nblocks: {a: {numerator: [1], denominator: [1]}}\ncouplings: [{from: a, to: a}]\n"
FLOW = 'coherence: 1\ncomponents: {a: {state: "x\' = %s", from: %s}}\n'
SWITCHED = """coherence: 1
components:
  room: {state: "temp' = (10 - room.temp + 15 * %s) / 300 s", from: 12}
loops:
  thermostat:
    trigger: {enter: "delayed(room.temp, 60 s) < 18", leave: "delayed(room.temp, 60 s) > 20"}
    actuation: {signal: room.lamp, law: set, to: 1, bounds: [0, 1], from: 0}
"""


class Line(NamedTuple):
    """One line of the examination: what is run on which text, what must be printed, and the exit code."""

    name: str
    text: str
    words: tuple[str, ...]
    printed: tuple[str, ...]
    code: int
    slow: bool = False


CHECK, ANALYZE, NETWORK = ("check", "--strict"), ("analyze",), ("analyze", "--network")
TWO = (
    'coherence: 1\ncomponents: {a: {state: "x\' = 1 / 1 s", from: 0}}\nloops:\n'
    "  w: {timescale: {period: 1 s}, trigger: a.x > 3, "
    "actuation: {signal: b.y, law: set, to: 1, bounds: [0, 1], from: 0}}\n"
    "promises: {low: always a.x <= 0.5, calm: always b.y <= 0.5}\n"
)
LINES = (
    Line(
        "D1 a promise about a flow that rounds",
        FLOW % ("-1.1219973763 * floor(delayed(a.x, 1 s) + 0.5) / 1 s", "0.9")
        + "promises: {calm: eventually_always a.x == 0}\n",
        CHECK,
        (r"COH301\]: a\.x never settles: a\.x between -0\.622 and 0\.622, every 4 s", r"error\[COH220\].*for ever"),
        1,
        True,
    ),
    Line(
        "D1 a promise about a lag",
        FLOW % ("(1 - a.x) / 1 s", "0") + "promises: {low: always a.x <= 0.5}\n",
        CHECK,
        (r"COH220\]: always a\.x <= 0\.5: broken after 693\.1\d* ms", r"execution in floats; evidence: simulated"),
        1,
    ),
    Line(
        "D1 a promise about steps",
        'coherence: 1\ncomponents: {a: {state: "x\' = a.x + 0.2", step: 1 s, from: 0}}\n'
        "promises: {low: always a.x <= 0.5}\n",
        CHECK,
        (r"error\[COH220\]: always a\.x <= 0\.5: broken after 2 s",),
        1,
    ),
    Line("D1 two promises", TWO, CHECK, (r"a\.x <= 0\.5: broken after 550 ms", r"b\.y <= 0\.5: broken after 4 s"), 1),
    Line(
        "D2 a bent law on an integrator, started on its other side",
        TANK % ("", 1, f"max(0.1 * {LATE}, 2 + 1.1 * ({LATE} - 15))", 0),
        CHECK,
        (r"ctl never settles: valve\.open between 1\.38", r"unstable at tank\.level = 15, valve\.open = 2"),
        1,
        True,
    ),
    Line(
        "D2 a square law, started beside its equilibrium",
        TANK % ("", 4.9, f"0.08 * {LATE} * {LATE}", 0),
        CHECK,
        (r"settles at tank\.level = 5, valve\.open = 2 in a run, and its roots there are stable",),
        4,
        True,
    ),
    Line(
        "D2 an equilibrium inside the bounds that was not seen",
        TANK % ("", 1, f"2 + 0.9 * ({LATE} - 5)", 0),
        CHECK,
        (r"ctl never settles", r"unstable at tank\.level = 5, valve\.open = 2, linear rate 0\.0139 1/s"),
        1,
        True,
    ),
    Line(
        "D2, D12 the point where it rests, and its gain margin",
        TANK % ("", 4, f"2 + 0.6 * ({LATE} - 5)", -100),
        ANALYZE,
        (
            r"operating point valve\.open = 2, tank\.level = 5",
            r"factor 0\.8992 a lap, period 17\.85 s",
            r"gain +stable times up to 1\.38071",
            r"proof +settles, from its start",
        ),
        0,
        True,
    ),
    Line(
        "D3 sampled control of a lag",
        ROOM,
        CHECK,
        (r"ctl never settles", r"linear period 322\.9 s"),
        1,
        True,
    ),
    Line(
        "D3 the same as a network",
        ROOM_NETWORK,
        NETWORK,
        (r"growth per lap +1\.04289 ", r"period +322\.928 s", r"to blame +room and ctl"),
        1,
    ),
    Line(
        "D4 a delayed flow, checked",
        FLOW % ("-2 * delayed(a.x, 1 s) / 1 s", "0.9"),
        CHECK,
        (r"a\.x never settles", r"linear rate 0\.173 1/s, linear period 3\.754 s"),
        1,
        True,
    ),
    Line(
        "D4 a delayed flow, analyzed",
        FLOW % ("-2 * delayed(a.x, 1 s) / 1 s", "0.9"),
        ANALYZE,
        (r"unstable, swings every 3\.754 s.*0\.1728 \+- 1\.674j 1/s, confirmed",),
        0,
        True,
    ),
    Line(
        "D6 an algebraic loop that any delay reverses",
        ALGEBRAIC % "",
        NETWORK,
        (r"rightmost root +-1\.2 1/s", r"warning: feedthrough around a has gain 2: any delay there, however short"),
        0,
    ),
    Line("D6 the same with a microsecond", ALGEBRAIC % ", delay: 1 us", NETWORK, (r"grows 2 times per grid step",), 1),
    Line("D7 an undecided network", SINGULAR, NETWORK, (r"undecided: an algebraic loop without delay",), 0),
    Line("D7 an undecided network, strictly", SINGULAR, ("analyze", "--strict", "--network"), (r"undecided",), 4),
    Line(
        "D8 a thermostat without a period",
        SWITCHED % "(1 if thermostat else 0)",
        CHECK,
        (r"room\.temp never settles: room\.temp between 16\.55 and 20\.91, every 370\.4 s",),
        1,
        True,
    ),
    Line(
        "D8 a command that nothing takes back",
        SWITCHED % "room.lamp",
        ANALYZE,
        (r"room\.lamp stays as it was set: where its loop goes on and off, read the loop's own name",),
        0,
        True,
    ),
)


@pytest.mark.parametrize(
    "line", [pytest.param(line, id=line.name, marks=[pytest.mark.slow] * line.slow) for line in LINES]
)
def test_the_line_has_its_right_answer(line: Line, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(line.text, encoding="utf-8")
    code = run([*line.words, str(file), "--time-limit", LIMIT])
    printed = capsys.readouterr().out
    for pattern in line.printed:
        assert re.search(pattern, printed), (pattern, printed)
    assert code == line.code


@pytest.mark.slow
def test_the_json_of_a_network_has_every_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """D7: period, confirmation, crossover frequencies, Mt; of a sampled one lap, growth, margins of each block."""
    file = tmp_path / "case.yaml"
    file.write_text(LATE_RESONANCE, encoding="utf-8")
    assert run([*NETWORK, str(file), "-o", "json"]) == 0
    delayed = json.loads(capsys.readouterr().out)
    file.write_text(ROOM_NETWORK.replace("[3]", "[1]"), encoding="utf-8")
    assert run([*NETWORK, str(file), "-o", "json"]) == 0
    sampled = json.loads(capsys.readouterr().out)
    both = {"verdict", "period_seconds", "growth_per_second", "Ms", "Mt", "disk", "frequency_rad_per_s", "to_blame"}
    crossings = {"gain_crossover_rad_per_s", "phase_crossover_rad_per_s", "gain_crossings", "phase_crossings"}
    late = {"delay_in_the_landing", "delay_in_the_reading"}
    assert _keys(delayed) >= both | crossings | {"rightmost", "rightmost_confirmed", "phase_degrees", "delay_seconds"}
    assert _keys(sampled) >= both | late | {"lap_seconds", "growth_per_lap", "multipliers", "gain", "phase"}
    assert delayed["period_seconds"] == pytest.approx(2.1388088354, rel=1e-8)
    assert sampled["growth_per_lap"] == pytest.approx(0.6021116955, rel=1e-8)


def _keys(answer: Any) -> set[str]:
    """Returns the keys of an answer at any depth."""
    if isinstance(answer, dict):
        return set(answer).union(*map(_keys, answer.values()))
    return set().union(*map(_keys, answer)) if isinstance(answer, list) else set()
