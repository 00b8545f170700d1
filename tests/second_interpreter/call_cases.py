"""Draws graphs of calls with cases, stages and fallbacks, with the sends that one request makes, case by case.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.second_interpreter.calls import CallGraph, DrawnCall
from tests.second_interpreter.drawn import Drawn


def sends_of_one_request(random: Random) -> Drawn:
    """All tries are refused at once: every try of every call of a case is sent, fallbacks after them."""
    graph, last = _graph(random)
    most, limit = _sends(graph, "t0", last, max), random.randint(1, 12)
    promise = f"promises: {{p: attempts({last}) per call(t0) <= {limit}}}\n"
    return Drawn(graph.text() + promise, ("COH202",), most > limit)


def load_of_all_requests(random: Random) -> Drawn:
    """Nothing fails: each request is sent on once by each call of its case, and how many are of a case is not said."""
    graph, last = _graph(random)
    plain = CallGraph(graph.own, tuple(call for call in graph.calls if not call.fallback_for))
    least, most = (_sends(plain, "t0", last, pick, once=True) for pick in (min, max))
    capacity = random.choice([max(1, 10 * least - 5), 10 * least + 5, 10 * most + 5, 10 * most - 5])
    thing = f"components: {{{last}: {{copies: 1, rate_per_replica: {max(capacity, 1)} req/s}}}}\n"
    text = f"workload: {{t0: {{rate: 10 req/s}}}}\n{thing}"
    breaks = True if 10 * least >= max(capacity, 1) else False if 10 * most < max(capacity, 1) else None
    return Drawn(graph.text().replace("components: {}\n", text), ("COH245",), breaks)


def _graph(random: Random) -> tuple[CallGraph, str]:
    """Returns three to five things that all lead to the last one."""
    names = [f"t{k}" for k in range(random.randint(3, 5))]
    calls = [call for k, name in enumerate(names[:-1]) for call in _calls(random, name, names[k + 1 :])]
    return CallGraph(dict.fromkeys(names), tuple(calls)), names[-1]


def _calls(random: Random, name: str, behind: list[str]) -> list[DrawnCall]:
    callees = random.sample(behind, min(len(behind), random.choice([1, 2, 2, 3])))
    shape = random.choice(["", "stages", "cases", "fallback"]) if len(callees) > 1 else ""
    return [
        DrawnCall(
            name, callee, tries=random.choice([1, 1, 2, 3]), again=("unavailable",),
            stage=random.choice(["a", "b", ""]) if shape == "stages" else "",
            cases=tuple("xy"[number : number + 1]) if shape == "cases" else (),
            fallback_for=callees[0] if shape == "fallback" and number == 1 else "",
        )
        for number, callee in enumerate(callees)
    ]  # fmt: skip


def _sends(graph: CallGraph, name: str, last: str, pick: Callable[[list[int]], int], *, once: bool = False) -> int:
    """Returns the sends to the last thing of one request to this one, in the case that is picked."""
    if name == last:
        return 1
    calls = graph.of(name)
    sent = {call: (1 if once else call.tries) * _sends(graph, call.callee, last, pick, once=once) for call in calls}
    made_in = {
        call: next((other.cases for other in calls if other.callee == call.fallback_for), call.cases) for call in calls
    }
    cases = sorted({case for call in calls for case in call.cases}) or [""]
    return pick([sum(sent[c] for c in calls if not made_in[c] or case in made_in[c]) for case in cases])


CALL_CASES = (sends_of_one_request, load_of_all_requests)
