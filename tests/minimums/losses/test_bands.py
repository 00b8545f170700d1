"""Published bands beside the conditions that their source states for them."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.minimums.losses.bands import BANDS, band_of

SERVING = """
workload: {chat: {rate: 5 req/s, burst: {rate: 9 req/s, lasts: 20 s}}}
components: {web: {cpu: 0 .. 1, replicas: 1 .. 9}}
loops:
  a: {layer: cluster, timescale: {period: 9 s}, actuation: {signal: web.replicas, law: step, by: 1}}
  b: {layer: runtime, timescale: {period: 9 s}, actuation: {signal: web.replicas, law: step, by: -1}}
promises: {calm: always web.cpu <= 1}
"""


@pytest.mark.parametrize(("count", "here"), [
    ("8", "does not hold here, with 8 devices"), ("64", "does not hold here, with 64 devices"),
    ("65", "holds here, with 65 devices"), ("8 .. 100", "may hold here, with 8 to 100 devices"),
])  # fmt: skip
def test_the_band_of_training_is_of_many_devices(count: str, here: str) -> None:
    band = band_of("A", read_text(f"coherence: 1\ninfrastructure: {{tiers: {{h100: {{count: {count}}}}}}}\n"))
    assert band is not None
    assert band.here == here
    assert band.sentence.endswith(f"that can be measured: {here}")


def test_the_band_of_serving_is_of_changing_loads_layers_and_promises() -> None:
    whole = band_of("B", read_text(f"coherence: 1\n{SERVING}"))
    assert whole is not None
    assert whole.here == "holds here"
    part = band_of("B", read_text(f"coherence: 1\n{SERVING.replace('runtime', 'cluster')}"))
    assert part is not None
    assert part.here == "does not hold here, without loops on several layers"


def test_what_a_design_does_not_state_is_not_compared() -> None:
    design = read_text("coherence: 1\ncomponents: {a: {b: 1}}\n")
    here = {loss: band.here for loss in BANDS if (band := band_of(loss, design)) is not None}
    assert all(here[loss].startswith("not compared") for loss in "ACRD")
    assert here["B"].count(" and ") == 2
    assert band_of("O", design) is None
