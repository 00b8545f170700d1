"""Maps of linear verdicts: each point is that of its own text, and what is no rational function is refused."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.exploring import linear_maps, render_linear_map
from coherence.exploring.lap_readings import read_at
from coherence.exploring.linear_maps import LinearSweep, judged, linear_sweep, mark_of
from coherence.exploring.rational_surfaces import needed, surface
from coherence.exploring.swept_numbers import Axis, axes
from coherence.importers import design_from_texts

TWO_LOOPS = """coherence: 1
components:
  a: {g: 0.3, d: 0.1, level: "10 - a.x + a.y * a.d"}
loops:
  p:
    timescale: {period: 10 s, phase: 0 s}
    trigger: always
    actuation: {signal: a.x, law: set, to: "a.x + a.g * (delayed(a.level, 10 s) - 2)", from: 1, bounds: [-40, 40]}
  q:
    timescale: {period: 20 s, phase: 0 s}
    trigger: always
    actuation: {signal: a.y, law: set, to: "0.4 * a.level + a.d + 0.1 * a.x", from: 1, bounds: [-40, 40]}
"""
LATE = """coherence: 1
components: {a: {g: 0.3, late: 10 s, level: 10 - a.x}}
loops:
  p:
    timescale: {period: 10 s, phase: 0 s}
    trigger: always
    actuation: {signal: a.x, law: set, to: "a.x + a.g * (delayed(a.level, a.late) - 2)", from: 1, bounds: [-90, 90]}
"""
KEYS = ("components.a.g=0.01:3:40", "components.a.d=-3:3:30")


@cache
def mapped(text: str, *keys: str) -> tuple[LinearSweep, tuple[Axis, ...], dict[str, str]]:
    sources = {"d.yaml": text}
    chosen = axes(keys, sources, most=10**6)
    return linear_sweep(chosen, sources, design_from_texts, seconds=60), chosen, sources


@pytest.mark.slow
def test_every_drawn_point_is_that_of_its_own_text() -> None:
    sweep, chosen, sources = mapped(TWO_LOOPS, *KEYS)
    rows, rng = judged(sweep, None, sources), random.Random(18)  # noqa: S311
    assert sweep.readings < 30
    for _ in range(12):
        i, j = rng.randrange(40), rng.randrange(30)
        assert rows[j][i] == mark_of(read_at(chosen, (i, j), sources, design_from_texts, 60))
    counts = Counter("".join(rows))
    assert counts["o"] > 100
    assert counts["x"] > 100


def test_a_late_integrator_is_stable_below_its_textbook_gain() -> None:
    """x[k+1] = x[k] - g x[k-1] is stable for 0 < g < 1."""
    sweep, chosen, sources = mapped(LATE, "components.a.g=0.05:1.95:39")
    (row,) = judged(sweep, None, sources)
    assert row == "".join("o" if g < 1 else "x" if g > 1 else "?" for g in chosen[0].values)


def test_a_delay_that_changes_what_a_lap_remembers_is_refused() -> None:
    with pytest.raises(UsageError, match="what they remember"):
        mapped(LATE, "components.a.late=10 s:40 s:4", "components.a.g=0.1:0.9:9")


def test_a_command_beyond_its_bounds_has_no_verdict() -> None:
    text = LATE.replace("bounds: [-90, 90]", "bounds: [-90, 7]")  # it would rest at 8
    sweep, _, sources = mapped(text, "components.a.g=0.1:0.9:9")
    assert judged(sweep, None, sources) == ["-" * 9]


@pytest.mark.slow
def test_a_map_that_was_stopped_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_maps, "CHUNK", 100)
    sweep, _, sources = mapped(TWO_LOOPS, *KEYS)
    whole, file = judged(sweep, None, sources), tmp_path / "map.jsonl"
    judged(sweep, file, sources)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:5]) + lines[5][:20])
    assert judged(sweep, file, sources) == whole
    assert len(file.read_text().splitlines()) == len(lines)


def test_a_map_that_differs_from_its_text_is_refused(tmp_path: Path) -> None:
    sweep, _, sources = mapped(LATE, "components.a.g=0.1:0.9:9")
    file = tmp_path / "map.jsonl"
    judged(sweep, file, sources)
    file.write_text(file.read_text().replace("ooooooooo", "xxxxxxxxx"))
    with pytest.raises(UsageError, match="the map says x and the text o"):
        judged(sweep, file, sources)


OPEN_GAIN = """coherence: 1
components: {pool: {desired: 0.5 .. 400, load: 20, k: 1.5 .. 3, util: (load / desired - 1/2) * k + 1/2}}
loops:
  hpa:
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, count: commanded, from: 20, bounds: [1, 400.5]}
"""


def test_an_open_value_has_no_one_verdict() -> None:
    """The gain was read at its low end, where the loop is stable; at its high end it is not."""
    with pytest.raises(UsageError, match=r"pool\.k is open.*write one, or sweep it"):
        mapped(OPEN_GAIN, "components.pool.load=10:30:9")
    timed = OPEN_GAIN.replace("k: 1.5 .. 3", "k: 1.5").replace("phase: 0 s", "phase: 0 .. 5 s")
    with pytest.raises(UsageError, match="`phase` of hpa is open"):
        mapped(timed, "components.pool.load=10:30:9")


def test_an_open_value_that_is_swept_and_open_starts_are_mapped() -> None:
    """Each lap multiplies a deviation by 1 - k."""
    sweep, (axis,), sources = mapped(OPEN_GAIN.replace("from: 20", "from: 10 .. 20"), "components.pool.k=0.13:4.1:40")
    assert judged(sweep, None, sources) == ["".join("o" if k < 2 else "x" for k in axis.values)]


def test_a_lap_that_remembers_nothing_is_stable() -> None:
    """A target of use by count is reached in one lap: there is no root."""
    sweep, _, sources = mapped(OPEN_GAIN.replace("k: 1.5 .. 3", "k: 1"), "components.pool.load=10:30:9")
    assert sweep.sizes == (0,)
    assert judged(sweep, None, sources) == ["o" * 9]


def test_a_rational_function_is_found_from_its_values() -> None:
    def value(x: Fraction, y: Fraction) -> Fraction:
        return (1 + x * y - 3 * y) / (2 + x)

    places = [(Fraction(k, 7), Fraction(k * k % 11, 5)) for k in range(needed(2, 1))]
    result = surface(places, [value(*place) for place in places], 1)
    assert result is not None
    assert result.at((Fraction(9), Fraction(-4))) == value(Fraction(9), Fraction(-4))
    assert surface(places, [x**3 for x, _ in places], 1) is None


@pytest.mark.slow
def test_the_command_prints_a_map_and_its_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(LATE)
    words = ["sweep", str(file), "--linear", "-p", "components.a.g=0.05:1.95:390"]
    assert run([*words, "-o", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["counts"] == {"stable": 195, "unstable": 195}
    assert [len(row) for row in answer["linear"]["rows"]] == [390]
    assert run(words) == 0
    assert "o stable 195  x unstable 195" in capsys.readouterr().out
    assert run([*words, "--select", "COH3"]) == 2
    assert "--select would have no effect" in capsys.readouterr().err


@pytest.mark.slow
def test_a_large_map_shows_every_so_many_points() -> None:
    sweep, _, _ = mapped(TWO_LOOPS, *KEYS)
    shown = render_linear_map.text("d.yaml", sweep, ["o" * 400] * 300)
    assert "one mark for 5 x 13 points" in shown
    assert "o stable 120000" in shown
