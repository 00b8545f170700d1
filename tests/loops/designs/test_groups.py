"""What is said of loops that settle where they are run: from how many starts, and why not from every one."""

from __future__ import annotations

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.language.reading import read_text

RACK = """coherence: 1
components: {{rack: {{temp: 60 + clock.level * 4 - fan.level * 2}}}}
loops:
  cool:
    timescale: {{period: {period}, hold_down: 1 s}}
    trigger: rack.temp > 70
    actuation: {{signal: fan.level, law: step, by: 1, bounds: [0, 10], from: {start}}}
  boost:
    timescale: {{period: 1 s}}
    trigger: rack.temp < 85
    actuation: {{signal: clock.level, law: step, by: 1, bounds: [0, 10], from: 0}}
"""


def answer(*, period: str, start: str) -> Finding:
    (finding,) = answers(RACK.format(period=period, start=start))
    return finding


def answers(text: str) -> list[Finding]:
    """Returns what is said of swinging."""
    report = analyse(
        read_text(text, "d"), {"d": text}, lambda s: read_text(s["d"], "d"), select=("COH301",), verify_repairs=False
    )
    return [finding for finding in report.findings if finding.code == "COH301"]


def test_commands_that_go_to_their_ends_from_a_stated_start_are_proved_to_rest() -> None:
    assert answer(period="1 s", start="0").verdict is Verdict.PROVED
    assert answer(period="333.3333 ms", start="0").verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("period", "start", "settled"),
    [
        ("1 s", "0 .. 4", "2 of 2"),
        pytest.param("333.3333 ms", "0 .. 4", "0 of 2", marks=pytest.mark.slow),
    ],
)
def test_the_runs_that_settle_are_counted(period: str, start: str, settled: str) -> None:
    """Both go to their ends and stay.  With the odd period they meet again only after hours: no recurrence is seen."""
    finding = answer(period=period, start=start)
    assert finding.verdict is Verdict.UNDECIDED
    assert finding.evidence.bound is not None
    assert finding.evidence.bound.startswith(f"{settled} runs settle within ")


ALONE = """coherence: 1
components: {{rack: {{temp: 80 - fan.level * 2}}}}
loops:
  cool:
    timescale: {{period: 1 s}}
    trigger: rack.temp > 70
    actuation: {{signal: fan.level, law: step, by: 1, bounds: [0, 10], from: {start}}}
"""


@pytest.mark.parametrize(
    ("start", "of", "words"), [("0", "its start", "its only start"), ("0 .. 4", "every start", "all 5 starts")]
)
def test_where_every_start_is_run_it_is_a_proof_of_all_of_them(start: str, of: str, words: str) -> None:
    (finding,) = answers(ALONE.format(start=start))
    assert finding.verdict is Verdict.PROVED
    assert finding.message == f"cool settles from {of}"
    assert finding.evidence.method == f"exact execution of {words} to a recurrence"
