"""Ways of risks to promises: against influences never, along calls both ways, from every thing with an open finding."""

from __future__ import annotations

from dataclasses import replace

from coherence.assessment.parts.promise_risks import promise_risks
from coherence.assessment.sections import risk_surface
from coherence.findings.finding import Verdict
from coherence.language.reading import read_text
from coherence.reporting.pictures.design_map import DesignMap, design_map
from tests.assessment.run_assessments import assessed, rendered

DESIGN = """\
coherence: 1
workload: {web: {rate: 1 req/s}, other: {rate: 1 req/s}}
components: {shop: {copies: 2}, store: {copies: 2}, aside: {copies: 1}, reader: {seen: pool.size}, pool: {size: 2}}
calls:
  - {from: web, to: shop}
  - {from: shop, to: store}
  - {from: other, to: aside}
promises:
  quick: always web.latency <= 1 s
  small: always pool.size <= 9
  bare: always seen <= 9
"""


def _map(*open_: str) -> DesignMap:
    counts = {name: {Verdict.CONFLICT: 1} for name in open_}
    return replace(design_map(read_text(DESIGN), ()), counts=counts)


def test_delays_come_back_along_calls_and_what_is_apart_reaches_nothing() -> None:
    quick, small, bare = promise_risks(read_text(DESIGN), _map("store", "aside"), ())
    assert (quick.things, quick.ways) == (("web",), (("store", "shop", "web"),))
    assert bare.things == ("reader",)
    assert (small.things, small.ways, small.answer) == (("pool",), (), None)


def test_influences_go_one_way_and_the_nearest_comes_first() -> None:
    _, small, bare = promise_risks(read_text(DESIGN), _map("reader"), ())
    assert small.ways == ()  # reader reads pool, nothing acts on it
    assert bare.ways == (("reader",),)
    quick, *_ = promise_risks(read_text(DESIGN), _map("store", "web", "shop"), ())
    assert quick.ways == (("web",), ("shop", "web"), ("store", "shop", "web"))


def test_the_page_has_a_row_for_each_promise() -> None:
    text = rendered(risk_surface.section(replace(assessed(), design=read_text(DESIGN))))
    assert "How risks reach the promises" in text
    assert text.count("no open finding reaches it") == 3
    assert "No promise is stated" in rendered(risk_surface.section(assessed()))
