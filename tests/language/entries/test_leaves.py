"""Every value of a design is listed once, with its entry and its key."""

from __future__ import annotations

from coherence.language.entries.leaves import leaves
from coherence.language.reading import read_text

TEXT = """\
coherence: 1
system: a shop
components: {pool: {copies: 3, takes: {serve: 20 ms}}}
infrastructure: {boundaries: {cell: {kind: environment, around: [pool], delay: 3 ms}}}
loops:
  scaler: {layer: cluster, target: {signal: pool.load, setpoint: 50 %}, actuation: {signal: pool.size, bounds: [1, 9]}}
calls: [{from: web, to: pool, tries: 2, note: as before}]
promises: {fast: "always pool.load <= 80 %"}
prices: {pool: 2 usd/h}
"""


def test_each_value_has_the_path_that_leads_to_it() -> None:
    listed = [(leaf.section, leaf.entry, leaf.key, leaf.text) for leaf in leaves(read_text(TEXT))]
    assert listed == [
        ("boundaries", "cell", "kind", "environment"),
        ("boundaries", "cell", "around", "pool"),
        ("boundaries", "cell", "delay", "3 ms"),
        ("components", "pool", "copies", "3"),
        ("components", "pool", "takes.serve", "20 ms"),
        ("loops", "scaler", "target.signal", "pool.load"),
        ("loops", "scaler", "target.setpoint", "50 %"),
        ("loops", "scaler", "actuation.signal", "pool.size"),
        ("loops", "scaler", "actuation.bounds", "1"),
        ("loops", "scaler", "actuation.bounds", "9"),
        ("calls", "web -> pool", "from", "web"),
        ("calls", "web -> pool", "to", "pool"),
        ("calls", "web -> pool", "tries", "2"),
        ("promises", "fast", "", "always pool.load <= 80 %"),
        ("prices", "pool", "", "2 usd/h"),
    ]


def test_what_a_part_supplies_is_not_the_designs_own() -> None:
    design = read_text(
        "coherence: 1\nloops:\n  hpa: {uses: kubernetes_hpa, target: {signal: web.load, setpoint: 50 %}, "
        "actuation: {signal: web.size, bounds: [1, 9]}}\n"
    )
    own = {leaf.key for leaf in leaves(design) if leaf.own}
    assert own == {"uses", "target.signal", "target.setpoint", "actuation.signal", "actuation.bounds"}
    assert "timescale.period" in {leaf.key for leaf in leaves(design) if not leaf.own}
