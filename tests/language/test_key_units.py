"""Keys whose values have a unit, and expressions where an answer needs a number: read, or an error at their line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.checking.design_check import analyse
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from tests.perturbation.readers import corpus, key_of
from tests.perturbation.written_leaves import NAME, edited, leaves
from tests.strategies import problems_in

LINK = "infrastructure: {tiers: {a: {count: 2, %s}, b: {count: 2}}, links: [{ends: [a, b], %s}]}"
FAST, MEMORY = "bandwidth: 1 GB/s", "memory: 80 GB"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workload: {u: {rate: 10 C}}", "a rate of u is 10 C, a rate expected"),
        ("workload: {u: {rate: 10 req}}", "a rate of u is 10 req, a rate expected"),
        ("workload: {u: {rate: 5 MB/s}}", ""),
        ("workload: {u: {rate: 1 req/s, burst: {rate: 5 s, lasts: 1 s}}}", "a rate of u is 5 s"),
        ("workload: {u: {arrivals: {switches: [{rate: 5 W, lasts: 1 s}, {rate: 5 req/s, lasts: 1 s}]}}}", "u is 5 W"),
        ("workload: {u: {rate: 1 req/s, service: 20 token}}", "service of u is 20 token, a duration expected"),
        ("workload: {u: {rate: 1 req/s, service: {mean: 20 C}}}", "service of u is 20 C, a duration expected"),
        ("workload: {u: {rate: 1 req/s, service: {mean: 20 ms, max: 5 req}}}", "service of u is 5 req, a duration"),
        ("workload: {u: {rate: 1 req/s, prompt: {mean: 20 s}}}", "prompt of u is 20 s, a number of tokens expected"),
        ("workload: {u: {rate: 1 req/s, prompt: 20, answer: 5 token}}", ""),
        ("components: {web: {copies: 8 C}}", "copies of web is 8 C, a number expected"),
        ("components: {web: {copies: 8 replicas, mtbf: 3 GB}}", "mtbf of web is 3 GB, a duration expected"),
        (LINK % (MEMORY, "bandwidth: 5 s"), "bandwidth of link a and b is 5 s, bytes per second expected"),
        (LINK % (MEMORY, "bandwidth: 1 GB/s, latency: 5 GB"), "latency of link a and b is 5 GB, a duration expected"),
        (LINK % ("memory: 80 s", FAST), "memory of a is 80 s, B expected"),
        (LINK % ("idle_power: 80", FAST), "idle_power of a is 80, W expected"),
        (LINK % ("precision: fp8, note_of_ours: 3 C", FAST), ""),
        ("infrastructure: {tiers: {a: {count: 2}}, boundaries: {v: {around: [a], gain: 5 s}}}", "gain of v is 5 s, a"),
        ("infrastructure: {tiers: {a: {count: 2}}}\nclaims: {a: 3 s}", "3 s is s, a is a bare number"),
        ("infrastructure: {tiers: {a: {count: 2}}}\nclaims: {a: 3}", ""),
        ("components: {n: {memory: 64 GiB}}\nclaims: {n.memory: 3 s}", "3 s is s, n.memory is B"),
        ("places: {n: {count: 3 s, zone: us-east-1, taint: control-plane}}", "count of n is 3 s, a number expected"),
        ("places: {n: {count: 3, gpu: 8}}\ncomponents: {a: {needs: {gpu: 4 GB}}}", "a needs 4 GB of gpu, of which"),
        ("components: {a: {needs: 4 C}}", "'4 C', which a needs, names no resource"),
        ("components: {pool: {memory: 64 GiB}}\njobs: {j: {needs: {memory: 4 s}}}", "j needs 4 s of memory"),
        ("jobs: {j: {priority: 3 s}}", "priority of j is 3 s, a number expected"),
        ("prices: {a: 2.5 usd/h}", ""),
        ("prices: {a: 2.5 W}", "the price of a is 2.5 W, a price expected"),
        ("components: {api: {copies: 1}}\nlimits: {q: {counts: api.waiting, at_most: 5 s}}", "the limit is s"),
        ("components: {api: {copies: 1}}\nlimits: {q: {counts: api.restarts, at_most: 5 GB}}", "the limit is B"),
        ("components: {api: {copies: 1}}\nlimits: {q: {counts: api.waiting, at_most: 5 req}}", ""),
        ("components: {api: {copies: 1}}\nlimits: {q: {counts: api.wait, at_most: 5}}", "api.wait is s, the limit is"),
        ("components: {api: {copies: 1}}\nlimits: {q: {counts: api.wait, at_most: 5 s}}", ""),
        ("components: {api: {copies: 1, backlog: 3 MB}}\nlimits: {q: {counts: api.backlog, at_most: 5 MB}}", ""),
        ("limits: {m: {counts: p.room, at_most: 5 MiB}}\nloops: {v: {actuation: {signal: p.room, law: set, to: 5 C}}}",
         "p.room is C, the limit is B"),
    ],
)  # fmt: skip
def test_a_value_has_the_unit_of_its_key(text: str, message: str) -> None:
    found = problems_in(lambda: read_text(f"coherence: 1\n{text}\n", "d.yaml"))
    assert [message in problem.message for problem in found] == [True] * bool(message), [str(p) for p in found]
    assert all(problem.remedy for problem in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LINK % (MEMORY, "bandwidth: 2 * x.load"), "bandwidth of link a and b is '2 * x.load', which no constants"),
        (LINK % (MEMORY, "bandwidth: fast"), "bandwidth of link a and b is 'fast', which no constants"),
        (LINK % ("memory: 2 * x.load", FAST), "memory of a is '2 * x.load'"),
        ("workload: {u: {rate: 1 req/s, size: 2 * x.load}}", "size of u is '2 * x.load'"),
        ("jobs: {j: {leaves_after: 2 * x.load}}", "leaves_after of j is '2 * x.load'"),
        ("places: {n: {count: 2 * x.load}}", "count of n is '2 * x.load'"),
    ],
)
def test_an_expression_that_is_no_number_is_an_error(text: str, message: str) -> None:
    found = problems_in(lambda: read_text(f"coherence: 1\n{text}\n", "d.yaml"))
    assert any(message in problem.message and problem.remedy for problem in found), [str(p) for p in found]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("workload: {u: {rate: 4 /s}}", "write 4 req/s"),
        ("infrastructure: {tiers: {gpu: {count: 8, peak: 989e12 /s}}}", "write 989e12 FLOP/s"),
        ("infrastructure: {tiers: {gpu: {count: 8, peak: 80 GB}}}", "write for example 990 TFLOP/s"),
    ],
)
def test_a_rate_of_nothing_is_answered_with_what_its_key_counts(text: str, remedy: str) -> None:
    found = problems_in(lambda: read_text(f"coherence: 1\n{text}\n", "d"))
    assert [problem.remedy for problem in found] == [remedy]


def test_expressions_of_constants_are_their_numbers() -> None:
    link = LINK % ("memory: 2 * c.size", "bandwidth: c.wide / 2, latency: 2 * c.wait")
    text = f"coherence: 1\ncomponents: {{c: {{size: 40 GB, wide: 2 GB/s, wait: 1 ms .. 2 ms}}}}\n{link}\n"
    design = read_text(text, "d.yaml")
    assert design.infrastructure is not None
    values = {**design.infrastructure.links[0].constants, **design.tiers["a"].constants}
    ends = {key: (value.low, value.high) for key, value in values.items() if isinstance(value, Quantity)}
    ms = Fraction(1, 1000)
    assert ends == {
        "memory": (80 * 10**9, 80 * 10**9), "bandwidth": (10**9, 10**9), "latency": (2 * ms, 4 * ms)
    }  # fmt: skip


KEYS = ("Link.constants", "Tier.constants", "Boundary.constants", "Workload.constants", "Job.constants",
        "Design.places", "Component.constants")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_answers_are_those_of_the_number(key: str) -> None:
    """In the smallest designs that have the key, an expression of the same value changes no verdict."""
    for _, text in corpus().get(key, ())[:3]:
        before = verdicts(text)
        numbers = [leaf for leaf in leaves(text) if key_of(leaf.path) == key and leaf.text[:1].isdigit()]
        for leaf in (leaf for leaf in numbers if ".." not in leaf.text):
            other = edited(text, (leaf, f"2 * {leaf.text} / 2"))[NAME]
            assert verdicts(other) == before, (leaf, text)


def verdicts(text: str) -> list[tuple[object, ...]]:
    design = read_text(text, NAME)
    report = analyse(design, {NAME: text}, lambda sources: read_text(sources[NAME], NAME), verify_repairs=False)
    return sorted((f.code, f.verdict.value, f.certainty, f.of) for f in report.findings)


ANY_UNIT = {  # of signals that are read or written, of resources, and of constants with any name
    "Actuation.bounds", "Actuation.by", "Actuation.initial", "Actuation.off_at", "Actuation.to", "Component.constants",
    "Component.count", "Component.initial", "Component.needs", "Job.constants", "Job.needs", "Limit.at_least",
    "Limit.at_most", "Limit.but_at_least", "Rate.by", "Rule.by", "Rule.to", "Target.setpoint", "Tier.constants",
    "Workload.constants", "Boundary.constants", "Design.places", "Design.claims", "Call.retry_when",
}  # fmt: skip


@pytest.mark.slow
def test_every_other_key_with_a_number_has_a_unit() -> None:
    """A temperature stands nowhere but where any unit may, in one design for each key of the language."""
    silent = set()
    for key, designs in corpus().items():
        text = designs[0][1]
        for leaf in leaves(text):
            digits = leaf.text.split(" ")[0].replace(".", "", 1)
            if key_of(leaf.path) == key and key not in ANY_UNIT and digits.isdigit() and float(digits):
                other = edited(text, (leaf, f"{leaf.text.split(' ')[0]} C"))[NAME]
                if not problems_in(lambda other=other: read_text(other, NAME)):  # type: ignore[misc]
                    silent.add(key)
    assert not silent
