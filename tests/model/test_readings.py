"""A total that members share is divided by them once, wherever its text divides it, and constants pass any sensor."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import execute
from tests.case_files import findings_of

SHARED = """coherence: 1
components: {{q: {{total: {total}, share: q.total / web.pods, ready_share: q.total / web.ready}}}}
loops:
  scaler:
    target: {{signal: {signal}, setpoint: {setpoint}, type: average, sensor: [{sensor}]}}
    timescale: {{period: 15 s, phase: 0 s}}
    actuation: {{signal: web.pods, law: proportional, bounds: [1, 50], from: {start}}}
"""


def rest(signal: str, total: int, setpoint: str, start: int, sensor: str = "") -> Fraction:
    text = SHARED.format(signal=signal, total=total, setpoint=setpoint, start=start, sensor=sensor)
    *_, last = execute(elaborate(read_text(text)), until=Fraction(300))
    return Fraction(last.after["web.pods"])


@pytest.mark.parametrize("start", [1, 7, 50])
@pytest.mark.parametrize(("total", "setpoint"), [(1, "0.7"), (1, "1"), (30, "4"), (900, "100")])
def test_a_total_asks_for_as_many_as_share_it_whatever_there_is(total: int, setpoint: str, start: int) -> None:
    wanted = min(50, max(1, math.ceil(total / Fraction(setpoint))))
    assert rest("q.total", total, setpoint, start) == wanted
    assert rest("q.total", total, setpoint, start, "scrape 30 s, mean 1 min") == wanted
    assert rest("q.share", total, setpoint, start) == wanted


def test_what_is_divided_by_another_count_of_the_members_is_theirs() -> None:
    text = SHARED.format(signal="q.ready_share", total=30, setpoint="4", start=3, sensor="")
    (loop,) = elaborate(read_text(text)).loops
    assert str(loop.measured) == str(elaborate(read_text(text.replace(", type: average", ""))).loops[0].measured)


@pytest.mark.slow
def test_a_sensor_shows_of_constants_what_they_are_and_of_what_varies_what_it_saw() -> None:
    text = SHARED.format(signal="q.total", total=1, setpoint="1", start=4, sensor="scrape 1 s, mean 60 s")
    promised = text.replace(", phase: 0 s", "") + "promises: {one: eventually_always web.pods == 1}\n"
    assert [str(found.verdict) for found in findings_of(promised, repairs=False, select=("COH220",))] == ["proved"]
    moved = promised.replace("total: 1,", 'total: "varies: 0 .. 1",')
    assert [str(found.verdict) for found in findings_of(moved, repairs=False, select=("COH220",))] != ["proved"]
