"""The section on utilisation: the shares of a station's time add up, and idle beside a queue elsewhere is hidden."""

from __future__ import annotations

import re

from coherence.assessment.sections import utilisation
from coherence.simulate.study.repeated_runs import StudyReading
from tests.assessment.run_assessments import assessed, curve, rendered


def test_idle_servers_beside_a_queue_elsewhere_are_hidden_idle() -> None:
    flat = [(0.0, 4.0), (100.0, 4.0)]
    curves = [
        curve("front", "servers", flat), curve("front", "busy", [(0.0, 2.0), (100.0, 2.0)]),
        curve("front", "queue", [(0.0, 0.0), (100.0, 0.0)]),
        curve("back", "servers", flat), curve("back", "busy", flat), curve("back", "queue", [(0.0, 0.0), (50.0, 5.0),
                                                                                              (100.0, 5.0)]),
    ]  # fmt: skip
    vain = StudyReading("front", "served in vain", "%", 20.0)
    text = rendered(utilisation.section(assessed(curves, pooled=(vain,))))
    assert "hidden idle: 25 %" in _shares(text, "front")
    assert _shares(text, "front") == "useful: 40 %, in vain: 10 %, hidden idle: 25 %, idle: 25 %"
    assert _shares(text, "back") == "useful: 100 %, in vain: 0 %, hidden idle: 0 %, idle: 0 %"


def _shares(text: str, name: str) -> str:
    drawn = text.split("<svg")[2]
    written = re.findall(r"(\d+) %</text>", drawn)[2:]  # beyond the two ends of the scale
    place = 4 * ["front", "back"].index(name)
    words = [written[kind * 2 + place // 4] for kind in range(4)]
    return ", ".join(f"{kind}: {share} %" for kind, share in zip(utilisation.KINDS, words, strict=True))


def test_a_design_without_stations_says_so() -> None:
    assert "no request is served" in rendered(utilisation.section(assessed()))
