"""Margins as text and as JSON: what is proved, what is an estimate, what was not found."""

from __future__ import annotations

import json
import math
from fractions import Fraction

from coherence.loops.analysis.delay_margins import DelayMargin, delay_margin
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.analysis.render_margins import delay_json, margins_json, render_delay, render_margins, render_phase
from coherence.loops.margins.network_margins import Disk
from coherence.loops.margins.sampled_margins import CirclePeak, MarginEdge, SampledMargins

SHARP, VAGUE = MarginEdge(60.0, 60.0, 60.0, math.tau / 90), MarginEdge(60.0, 30.0, 60.0, None)
MARGINS = SampledMargins(
    MarginEdge(None, 0.01, None, None),
    MarginEdge(2.0, 2.0, 2.0, math.tau / 30),
    SHARP,
    CirclePeak(2.0, 2.0, math.tau / 30),
    CirclePeak(1.0, 1.5, 0.0),
    Disk(2.0, 0.1, 0.0, math.inf, 180.0),
)


def test_every_margin_of_a_loop_has_its_line() -> None:
    late, read = DelayMargin(Fraction(10), Fraction(10)), DelayMargin(Fraction(960), None)
    lines = render_margins(LoopFigures("hpa", 0.0, 2.0, True, None, MARGINS, late, read))
    assert [" ".join(line.split()) for line in lines] == [
        "margins of hpa",
        "gain stable times up to 2 at 0.2094 rad/s (period 30 s)",
        "phase 60 deg at 0.06981 rad/s (period 90 s)",
        "delay in the landing unstable beyond 10 s",
        "delay in the reading none found up to 16 min",
        "sensitivity Ms 2 at 0.2094 rad/s (period 30 s), Mt 1, not above 1.5",
        "disk 2: times 0 to any or 180 deg, within one disk",
    ]


def test_the_gain_of_a_law_that_carries_its_command_on_says_what_it_is_a_factor_on() -> None:
    """An autoscaler of gain one: the margin 2 is on its change of members; a metric twice as high is another change."""
    gain = render_margins(LoopFigures("hpa", 0.0, 2.0, True, carries=True))[1]
    assert gain.endswith("stable times up to 2, on what the law changes of its command, not on what it reads")


def test_an_estimate_says_so() -> None:
    assert render_phase(VAGUE) == "60 deg (an estimate; proved up to 30 deg)"
    assert render_margins(LoopFigures("hpa", 0.0, 2.0, False, None, MARGINS))[1].endswith("(an estimate)")
    assert render_delay(DelayMargin(Fraction(0), None, "rounded")) == "not known: rounded"


def test_a_loop_that_any_delay_loses_says_so() -> None:
    margin = delay_margin(lambda delay: delay == 0, Fraction(15))
    assert margin.stable == 0
    assert render_delay(margin) == "unstable with any (0.014 us the least tried)"


def test_a_loop_that_is_not_stable_has_no_more_than_its_stable_factors() -> None:
    lines = render_margins(LoopFigures("hpa", None, None, False, note="no delay margin: not stable"))
    assert [" ".join(line.split()) for line in lines] == [
        "margins of hpa",
        "gain no stable factor found",
        "no delay margin: not stable",
    ]


def test_json_has_every_number_with_its_unit_and_its_bracket() -> None:
    data = margins_json(MARGINS)
    json.dumps(data, allow_nan=False)
    assert data["phase"] == {
        "at": 60.0, "proved": 60.0, "beyond": 60.0, "frequency_rad_per_s": math.tau / 90, "certified": True,
        "unit": "degrees",
    }  # fmt: skip
    assert (data["gain"]["low"]["at"], data["gain"]["high"]["at"], data["disk"]["factor_high"]) == (None, 2.0, None)
    assert data["Mt"]["certified"] is False
    assert set(margins_json(None).values()) == {None}
    assert delay_json(DelayMargin(Fraction(1, 2), None)) == {
        "stable_seconds": 0.5, "unstable_seconds": None, "note": "",
    }  # fmt: skip
    assert delay_json(None) is None
