"""How long requests stay in the work of a thing that calls others, beside a plain queue with as many places."""

from __future__ import annotations

import heapq
import random
from fractions import Fraction

import pytest

import coherence as co
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.queues.requests_in_work import thing_with_calls
from tests.draws import seeds

TEXT = """coherence: 1
workload: {{chat: {{rate: {rate} req/s}}}}
components:
  gateway: {{copies: {copies}, takes: {{serve: {own} ms}}}}
  decode: {{copies: 100000, takes: {{serve: {behind} ms}}}}
calls:
  - {{from: chat, to: gateway, per_try: 100 s, on_timeout: cancel}}
  - {{from: gateway, to: decode, per_try: {per_try} ms, tries: {tries}, on_timeout: cancel}}
limits: {{room: {{counts: gateway.ongoing, at_most: {room}, per: replica}}}}
"""


def waiting_in_the_end(rate: float, places: int, stays: float, seconds: float) -> float:
    """Returns how many wait for a place after some seconds where requests come evenly and each stays as long."""
    free, wait = [0.0] * places, 0.0
    for number in range(int(rate * seconds)):
        comes = number / rate
        begins = max(comes, heapq.heappop(free))
        wait = begins - comes
        heapq.heappush(free, begins + stays)
    return wait * rate


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_what_is_proved_never_waits_for_long_and_what_is_refuted_waits_more_and_more(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    numbers = {
        "rate": chance.randint(5, 60), "copies": chance.randint(1, 3), "own": chance.randint(1, 400),
        "behind": chance.randint(100, 3000), "per_try": chance.randint(100, 5000), "tries": chance.randint(1, 3),
        "room": chance.randint(5, 120),
    }  # fmt: skip
    places = numbers["copies"] * numbers["room"]
    least = max(numbers["own"], min(numbers["behind"], numbers["per_try"])) / 1000
    most = (numbers["own"] + numbers["tries"] * numbers["per_try"]) / 1000
    found = co.check(TEXT.format(**numbers), select="COH245").findings
    verdict = next(f.verdict for f in found if "gateway" in f.of)
    longest = waiting_in_the_end(numbers["rate"], places, most, 400)
    soonest = waiting_in_the_end(numbers["rate"], places, least, 400)
    if verdict is Verdict.PROVED:
        assert longest < 1
    elif verdict is Verdict.CONFLICT:
        assert soonest > 1 or numbers["rate"] * least == places
    else:
        assert longest > 1 >= soonest


def station(text: str) -> object:
    return thing_with_calls(known(Subject(read_text(text, "d"), {"d": text})), "gateway")


def test_the_room_of_all_members_is_divided_by_the_longest_stay() -> None:
    numbers = {"rate": 1, "copies": 2, "own": 500, "behind": 100, "per_try": 1750, "tries": 2, "room": 8}
    found = thing_with_calls(known(Subject(read_text(TEXT.format(**numbers), "d"), {"d": ""})), "gateway")
    assert found is not None
    assert (found.capacity, found.most) == (Fraction(4), Fraction(32))
    assert not found.lacks_slots


@pytest.mark.parametrize(
    "change",
    [
        ("takes: {serve: 500 ms}", "rate_per_copy: 5 req/s, capacity: 9 req/s"),
        ("from: gateway, to: decode", "from: gateway, to: gateway"),
        ("copies: 2, takes: {serve: 500 ms}", "uses: batcher, max_batch: 4, fixed: 10 ms, each: 2 ms"),
    ],
)
def test_what_says_otherwise_how_much_it_serves_or_calls_itself_has_no_such_rate(change: tuple[str, str]) -> None:
    numbers = {"rate": 1, "copies": 2, "own": 500, "behind": 100, "per_try": 1750, "tries": 2, "room": 8}
    assert station(TEXT.format(**numbers).replace(*change)) is None


def test_a_proof_names_the_limits_that_make_its_calls_wait_and_what_it_takes_for_granted_of_times() -> None:
    numbers = {"rate": 1, "copies": 2, "own": 500, "behind": 100, "per_try": 1750, "tries": 2, "room": 8}
    text = (
        TEXT.format(**numbers).rstrip("}\n")
        + "}, quota: {counts: attempts(decode), at_most: 9, window: 1 s, when_full: wait}}\n"
    )
    found = thing_with_calls(known(Subject(read_text(text, "d"), {"d": text})), "gateway")
    assert found is not None
    assert found.assumed == ("limits.quota is not read; no wait for a place in it is counted",)
    unlimited = thing_with_calls(
        known(Subject(read_text(text.replace(", per_try: 1750 ms, tries: 2", ""), "d"), {"d": text})), "gateway"
    )
    assert unlimited is not None
    assert unlimited.assumed[0] == "decode begins at once: a wait for a free member is not counted"
