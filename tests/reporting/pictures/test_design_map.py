"""The map of risk: which things have findings, which feed back, and which calls are sent again."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.reading import read_text
from coherence.reporting.pictures.design_map import design_map, map_drawing
from tests.paths import SPECS

SVG = "{http://www.w3.org/2000/svg}"


def test_the_map_of_a_feedback_has_its_zone_its_findings_and_its_tries() -> None:
    path = SPECS / "retry-storm" / "design.yaml"
    mapped = design_map(read_text(path.read_text(encoding="utf-8")), check(path, select=["COH224"]).findings)
    assert mapped.state("workers") is Verdict.CONFLICT
    assert mapped.tries == {("clients", "workers"): "×3"}
    root = ET.fromstring(map_drawing("a system", mapped).standalone())  # noqa: S314  (our own text)
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"a system" in (words[0] or ""), "×3" in words, "workers" in words} == {True}


def test_a_loop_and_what_it_steers_are_one_zone() -> None:
    design = read_text((SPECS / "serving-hpc" / "design.yaml").read_text(encoding="utf-8"))
    assert design_map(design, ()).zones == (frozenset({"autoscaler", "pool", "gateway", "backfill", "batch"}),)


def test_no_two_nodes_overlap_and_all_stand_inside() -> None:
    design = read_text((SPECS / "serving-hpc" / "design.yaml").read_text(encoding="utf-8"))
    drawn = map_drawing("x", design_map(design, ()))
    root = ET.fromstring(drawn.render())  # noqa: S314  (our own text)
    boxes = [
        tuple(float(r.attrib[k]) for k in ("x", "y", "width", "height"))
        for r in root.iter(f"{SVG}rect") if float(r.attrib["height"]) > 20
    ]  # fmt: skip
    assert len(boxes) == len(design_map(design, ()).graph.nodes)
    for at, (x, y, w, t) in enumerate(boxes):
        assert min(x, y) >= 0
        assert x + w <= drawn.width
        assert y + t <= drawn.height
        assert all(x + w < a or a + b < x or y + t < c or c + d < y for a, c, b, d in boxes[at + 1 :])


def test_nodes_have_room_for_their_names_and_what_stands_below() -> None:
    long = "recommendation_of_products"
    design = read_text(f"coherence: 1\nworkload: {{a: {{rate: 1 req/s}}}}\ncomponents: {{{long}: {{copies: 1}}}}\n"
                       f"calls: [{{from: a, to: {long}}}]\n")  # fmt: skip
    mapped = design_map(design, ())
    drawn = map_drawing("x", replace(mapped, counts={long: dict.fromkeys(Verdict, 12)}))
    root = ET.fromstring(drawn.render())  # noqa: S314  (our own text)
    wide = {float(r.attrib["width"]) for r in root.iter(f"{SVG}rect") if float(r.attrib["height"]) > 20}
    words = [text.text or "" for text in root.iter(f"{SVG}text")]
    below = next(text for text in words if "12" in text)
    assert long in words
    assert min(wide) >= 7.8 * len(long) + 16
    assert min(wide) >= 6.6 * len(below)
    longest = read_text(f"coherence: 1\nworkload: {{{'long_' * 30}name: {{rate: 1 req/s}}}}\n")
    assert map_drawing("x", design_map(longest, ())).width < 3 * 340
