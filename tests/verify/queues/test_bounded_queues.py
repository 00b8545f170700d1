"""What bounds the queue of a thing, and who waits in it for how long."""

from __future__ import annotations

from fractions import Fraction

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.queues.bounded_queues import queue_bounds, waiters
from coherence.verify.queues.loaded_things import station_of

TEXT = """coherence: 1
workload: {u: {rate: 10 req/s, service: 500 ms, deadline: 5 s}, v: {rate: 1 req/s, service: 500 ms, deadline: 9 s}}
components: {pool: {copies: 8}}
calls: [{from: u, to: pool, per_try: 3 s}, {from: v, to: pool, tries: 2}]
limits:
  queue: {counts: pool.waiting, at_most: 40, when_full: reject}
  held: {counts: pool.waiting, at_most: 20, when_full: wait}
"""


def test_a_limit_that_refuses_bounds_the_queue_and_each_waits_as_long_as_its_least_limit() -> None:
    facts = known(Subject(read_text(TEXT, "d"), {"d": TEXT}))
    station = station_of(facts, "pool")
    assert station is not None
    assert [(limit.name, most) for limit, most in queue_bounds(facts, station)] == [("queue", Fraction(40))]
    patience = {name: waits.low for name, waits in waiters(facts, station)}
    assert patience == {"u -> pool": Fraction(3), "v": Fraction(9)}
