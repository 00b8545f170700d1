"""What is straight, and what bends a model."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.loops.settling.straight_models import why_bent
from coherence.model.elaborate import elaborate
from tests.loops.settling.test_enclosed_laps import ROOM


def why(text: str) -> str:
    return why_bent(elaborate(read_text(text, "design.yaml")))


@pytest.mark.parametrize(
    ("changed", "by"),
    [
        ("", ""),
        ("delayed(room.temp, 60 s)", "mean_over(room.temp, 60 s) + (delayed(room.temp, 5 s) - room.temp) / 3"),
        ("law: set, to: ", "law: step, by: "),
        ("5 + 20 - ", "min(25, 30) - "),
        (", phase: 0 s", ""),
    ],
)
def test_sums_of_signals_are_straight(changed: str, by: str) -> None:
    assert why(ROOM.replace(changed, by, 1)) == ""


@pytest.mark.parametrize(
    ("changed", "by", "reason"),
    [
        ("- room.temp +", "- room.temp * room.temp +", "where room.temp goes"),
        ("- room.temp +", "- 1 / room.temp +", "where room.temp goes"),
        ("- delayed(room.temp, 60 s)", "- delayed(max(0, room.temp), 60 s)", "what ctl decides"),
        ("- delayed(room.temp, 60 s)", "- floor(room.temp)", "what ctl decides"),
        ("- delayed(room.temp, 60 s)", "- (1 if room.temp > 3 else 2)", "what ctl decides"),
        ("trigger: always", "trigger: room.temp > 3", "every sample"),
        ("phase: 0 s", "phase: 0 s, hold_down: 120 s", "hold windows"),
        ("phase: 0 s", "phase: 0 s, cooldown: 120 s", "cooldown"),
        ("phase: 0 s", "phase: 0 s, lands: 1 s .. 2 s", "`lands` of ctl"),
        ("5 + 20", "outdoor.sun + 20", "outdoor.sun may take any value"),
        ("bounds: [0, 100]", "bounds: [0, 100], rate: [{by: 3, per: 60 s}]", "rate"),
    ],
)
def test_what_bends_is_named(changed: str, by: str, reason: str) -> None:
    assert reason in why(ROOM.replace(changed, by))


def test_phases_of_two_clocks_must_be_stated() -> None:
    two = ROOM.replace(", phase: 0 s", "") + ROOM.split("loops:\n")[1].replace("ctl:", "more:").replace("power", "fan")
    assert "phase of ctl is open" in why(two)
