"""Programs for the tests of the request-level engine: drawn by Hypothesis, and small ones by hand."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from coherence.simulate.requests.program import (
    Arrivals,
    BatchRule,
    Gate,
    MemberRestarts,
    OpeningBreaker,
    Outage,
    PlanShare,
    Program,
    RateBurst,
    RetryBudget,
    RetryPause,
    Route,
    Service,
    Source,
    Station,
)


def one_call(route: Route | None = None, station: Station | None = None, **arrivals: Any) -> Program:
    """Source `web` calls station `pool` on route `call`."""
    comes = Arrivals(**{"rate": 1.0, **arrivals})
    return Program(
        (Source("web", comes, (("call",),)),),
        (station or Station("pool", 1, Service(1.0)),),
        (route or Route("call", "pool"),),
    )


seconds = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
limits = st.sampled_from([0.5, 1.0, 2.5, math.inf])
pauses = st.builds(
    RetryPause,
    base=st.sampled_from([0.1, 0.5]),
    cap=st.sampled_from([1.0, math.inf]),
    spread=st.sampled_from([(1.0, 1.0), (0.0, 1.0), (0.5, 1.0), (0.8, 1.2)]),
    decorrelated=st.booleans(),
)
budgets = st.none() | st.builds(
    RetryBudget,
    share=st.sampled_from([0.0, 0.2, 1.0]),
    floor=st.sampled_from([0.0, 2.0]),
    of=st.sampled_from(["requests", "first"]),
)
openings = st.none() | st.builds(
    OpeningBreaker,
    share=st.sampled_from([0.5, 1.0]),
    last=st.sampled_from([2, 5]),
    least=st.sampled_from([1, 3]),
    open_for=st.sampled_from([0.0, 2.0]),
    trials=st.sampled_from([1, 3]),
)
services = st.sampled_from(
    [Service(0.4), Service(0.5, "constant"), Service(0.4, "gamma", 0.5, most=0.6), Service(1.0, values=(0.1, 0.9, 0.4))]
)
arrivals = st.sampled_from(
    [
        Arrivals(rate=1.5),
        Arrivals("regular", rate=2.0),
        Arrivals("gamma", rate=1.0, cv=2.0),
        Arrivals("mmpp", states=((4.0, 2.0), (0.2, 5.0))),
        Arrivals("trace", times=(0.0, 0.5, 0.5, 0.5, 3.0, 7.5)),
        Arrivals(rate=0.5, bursts=(RateBurst(6.0, 2.0, 1.0, every=8.0),)),
    ]
)

restarts = st.none() | st.builds(
    MemberRestarts,
    working=st.sampled_from([(), ((0.5, 0.5),), ((0.25, 1.0), (0.5, 2.0))]),
    hung=st.sampled_from([(), ((0.25, 1.5),)]),
    starting=st.sampled_from([(), ((0.6, 1.2),)]),
    start=st.sampled_from([Service(0.0), Service(1.0), Service(0.5, "uniform", 0.5)]),
)


@st.composite
def stations(draw: st.DrawFn, name: str, plan: tuple[tuple[str, ...], ...] = ()) -> Station:
    batch = draw(st.none() | st.just(BatchRule(3, 0.5, 0.2, 0.1))) if not plan else None
    kinds = ["fifo", "priority"] if batch else ["fifo", "lifo", "priority", "preemptive"]
    discipline = draw(st.sampled_from(kinds))
    return Station(
        name,
        draw(st.integers(0, 3)),
        draw(services),
        room=draw(st.sampled_from([0.0, 3.0, math.inf])),
        discipline=discipline,
        redo=draw(st.booleans()),
        shed_above=draw(st.sampled_from([1.0, math.inf])),
        batch=batch,
        plan=plan,
        restarts=draw(restarts) if batch is None and discipline != "preemptive" else None,
    )


@st.composite
def routes(draw: st.DrawFn, name: str, station: str) -> Route:
    return Route(
        name,
        station,
        tries=draw(st.sampled_from([1, 2, 3, 10**9])),
        per_try=draw(limits),
        deadline=draw(limits),
        pause=draw(pauses),
        retry_on=draw(st.sampled_from([("timeout",), ("timeout", "rejected", "failed", "refused")])),
        cancel=draw(st.booleans()),
        budget=draw(budgets),
        breaker=draw(st.sampled_from([2.0, math.inf])),
        most_retries=draw(st.sampled_from([1.0, math.inf])),
        hedge_after=draw(st.sampled_from([0.3, math.inf])),
        opening=draw(openings),
    )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Two sources, a front that calls on a back and a side, everything in any combination."""
    front = draw(stations("front", (("front to back",), ("front to back", "front to side"))))
    outages = st.builds(
        Outage, st.sampled_from(["front", "back", "side"]), seconds, seconds, st.sampled_from(["pause", "refuse"])
    )
    both, one = (("bulk to back", "bulk to side"), ("bulk to side",)), (("bulk to side",),)
    cases = (PlanShare("both", 2.0, both), PlanShare("one", 1.0, one)) if draw(st.booleans()) else ()
    gates = st.builds(
        Gate, st.just("gate"), st.sampled_from([("web to front",), ("bulk to side", "front to back")]),
        st.sampled_from([1.0, 2.5]), window=st.sampled_from([0.0, 1.0]), rate=st.sampled_from([0.0, 1.5]),
    )  # fmt: skip
    return Program(
        gates=tuple(draw(st.lists(gates, max_size=2))),
        sources=(
            Source(
                "web",
                draw(arrivals),
                (("web to front",),),
                turns=draw(st.sampled_from([(1, 1), (1, 3)])),
                deadline=draw(limits),
            ),
            Source("bulk", draw(arrivals), both, priority=2, deadline=draw(limits), cases=cases),
        ),
        stations=(front, draw(stations("back")), draw(stations("side"))),
        routes=(
            draw(routes("web to front", "front")),
            draw(routes("front to back", "back")),
            draw(routes("front to side", "side")),
            draw(routes("bulk to back", "back")),
            draw(routes("bulk to side", "side")),
        ),
        outages=tuple(draw(st.lists(outages, max_size=2))),
    )
