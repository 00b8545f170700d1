"""Phases of loops against those of their sensors, and what is left out beside exact execution."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from coherence.cli._run import run
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.checks import integer_cycling, oscillation
from coherence.loops.designs.groups import groups
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import long_run
from coherence.simulate.execute.single_loop_runs import every, render_runs

# rests in phase with its sensor, from each of its twelve starts; swings when it decides 5 s after a scrape
SCRAPED = """\
coherence: 1
components: {web: {load: 100, usage: "ceil(load / desired) / 10"}}
loops:
  hpa:
    timescale: {period: 30 s, lands: 20 s}
    target: {signal: web.usage, setpoint: 0.65, tolerance: 10 %, sensor: [scrape 20 s]}
    actuation: {signal: web.desired, law: proportional, bounds: [2, 20], from: 1 .. 12}
"""
QUIET = """\
coherence: 1
components: {web: {load: 100, usage: "load / (10 * desired)"}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: web.usage, setpoint: 0.5, tolerance: 10 %, sensor: [scrape 20 s, mean 1 min]}
    actuation: {signal: web.desired, law: proportional, bounds: [2, 50], from: 20}
"""
TWO = """\
coherence: 1
components: {web: {load: 100, usage: load / (10 * desired)}}
loops:
"""


def subject(text: str) -> Subject:
    return Subject(read_text(text, "x.yaml"), {"x.yaml": text}, 20.0)


def answer(text: str) -> Finding:
    (found,) = oscillation.ask(subject(text))
    return found


def analyzed(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    path.write_text(text)
    assert run(["analyze", str(path), "--time-limit", "5", "--no-retune"]) == 0
    return capsys.readouterr().out


class TestPhasesAgainstTheSensor:
    def test_a_loop_that_swings_in_another_phase_is_not_proved_to_settle(self) -> None:
        finding = answer(SCRAPED)
        assert finding.verdict is Verdict.CONFLICT
        assert finding.evidence.replayed
        assert "phase of hpa = 5 s" in finding.assumptions
        assert not [f for f in integer_cycling.ask(subject(SCRAPED)) if f.verdict is Verdict.PROVED]

    @pytest.mark.parametrize(("phase", "rests"), [(0, True), (5, False)])
    def test_the_executor_says_so(self, phase: int, rests: bool) -> None:
        (group,) = groups(subject(SCRAPED))
        orbit = long_run(group.model, Choices({"web.desired": Fraction(1)}, {"hpa": Fraction(phase)})).orbit
        assert orbit is not None
        assert orbit.still is rests

    def test_where_nothing_ever_changes_the_phase_does_not_matter(self) -> None:
        (group,) = groups(subject(QUIET))
        assert render_runs(list(every(group.model, 10))) == "its only start"

    def test_analyze_does_not_contradict_itself(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        text = analyzed(tmp_path / "x.yaml", SCRAPED, capsys)
        assert "hpa: never settles, period 2 min" in text
        assert text.count("no cycle: it comes to rest from its own start and phase") == 1


class TestTheSectionOfLimitCycles:
    def test_what_exact_execution_has_decided_is_not_repeated(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = analyzed(tmp_path / "x.yaml", QUIET, capsys)
        assert "hpa: settles" in text
        assert "Limit cycles" not in text

    @pytest.mark.slow
    def test_many_loops_in_one_group_are_not_all_named(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        entry = "    timescale: {{period: {n} s}}\n    rules: [{{when: web.usage > 0.6, by: 1}}]\n"
        written = "    actuation: {{signal: web.desired, bounds: [2, 50]{start}}}\n"
        text = TWO + "".join(
            f"  loop_{n}:\n{entry}{written}".format(n=n, start=", from: 4" if n == 9967 else "")
            for n in (9967, 9973, 10007, 10009, 10037, 10039, 10061, 10067)
        )
        assert max(map(len, analyzed(tmp_path / "x.yaml", text, capsys).splitlines())) < 200
