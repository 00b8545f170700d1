"""What a design states about the symbols of bounds, with places, and the key that is missing."""

from __future__ import annotations

from fractions import Fraction

from coherence.language.reading import read_text
from coherence.minimums.facts import Gathered, ServingStage, constant, stages

SHOP = """coherence: 1
components:
  web: {copies: 3 .. 5, cpu: 2, lease: 4 s}
workload:
  shoppers: {rate: 8 req/s, service: {mean: 100 ms, cv: 2}}
  robots: {rate: 1 req/s, service: 50 ms}
calls:
  - {from: shoppers, to: web}
  - {from: robots, to: nowhere}
  - {from: web, to: disk}
"""


def shop() -> dict[str, ServingStage]:
    return {stage.workload.name: stage for stage in stages(read_text(SHOP, "shop.yaml"))}


def test_a_stage_is_a_call_of_a_workload() -> None:
    assert list(shop()) == ["shoppers", "robots"]


def test_a_call_that_some_requests_do_without_is_no_stage() -> None:
    calls = "calls: [{from: w, to: a, case: x}, {from: w, to: b, case: y}, {from: w, to: c}]"
    design = read_text(f"coherence: 1\nworkload: {{w: {{rate: 5 req/s}}}}\n{calls}\n")
    assert [stage.name for stage in stages(design)] == ["w -> c"]


def test_a_stage_tells_servers_service_and_variation() -> None:
    stage = shop()["shoppers"]
    assert stage.servers is not None
    assert (stage.servers.low, stage.servers.high) == (Fraction(3), Fraction(5))
    assert stage.service is not None
    assert stage.service.low == Fraction(1, 10)
    assert stage.cv is not None
    assert stage.cv.low == 2


def test_what_is_not_stated_of_a_stage_is_none() -> None:
    stage = shop()["robots"]
    assert stage.component is None
    assert stage.servers is None
    assert stage.cv is None
    assert stage.service is not None
    assert stage.service.high == Fraction(1, 20)


def test_the_first_key_with_a_number_counts() -> None:
    web = read_text(SHOP, "shop.yaml").components["web"]
    for keys, value in ((("lease", "cpu"), 4), (("cpu", "lease"), 2), (("disk", "lease"), 4)):
        found = constant(web, *keys)
        assert found is not None
        assert found.low == value
    assert constant(web, "disk") is None


def test_an_application_keeps_ranges_places_and_what_is_missing() -> None:
    web = read_text(SHOP, "shop.yaml").components["web"]
    made = (
        Gathered("web")
        .quantity("n", web.copies, "copies of web")
        .quantity("c", None, "cv of web")
        .span("one", Fraction(1))
        .span("two", Fraction(1), Fraction(2))
        .needs("mtbf", "mtbf of web")
        .application()
    )
    assert made.spans == {"n": (3, 5), "one": (1, 1), "two": (1, 2)}
    assert made.missing == {"c": "cv of web", "mtbf": "mtbf of web"}
    assert [(place.line, place.label) for place in made.places] == [(3, "n of web")]


def test_a_place_stands_once() -> None:
    copies = read_text(SHOP, "shop.yaml").components["web"].copies
    assert len(Gathered("web").quantity("n", copies, "").quantity("n", copies, "").application().places) == 1
