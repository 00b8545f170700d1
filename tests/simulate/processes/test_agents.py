"""Calls to agents become the turns of their model and their tool, and the rest of the program stays."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.processes.agents import is_agent, with_agents
from coherence.simulate.requests.engine import RequestRun
from coherence.simulate.requests.program import Arrivals, Outage, Program, Route, Service, Source, Station

DESIGN = """coherence: 1
workload:
  runs: {rate: 3 req/s}
  chat: {rate: 5 req/s, service: {mean: 10 ms}}
components:
  helper: {uses: agent_loop, turns: 4, first_tokens: 9 token, tokens_per_turn: 9 token, model_time: 2 s, tool_time: 1 s}
  web: {copies: 2}
calls:
  - {from: runs, to: helper%s}
  - {from: chat, to: web}
"""

ONE = Service(1.0)
WEB = Station("web", 2, ONE)


def program(*, tries: int = 1, per_try: float = float("inf")) -> Program:
    """What is known of the design before its agent is expanded."""
    routes = (Route("runs -> helper", "helper", tries=tries, per_try=per_try), Route("chat -> web", "web"))
    sources = tuple(
        Source(name, Arrivals(rate=rate), ((route.name,),))
        for name, rate, route in zip(("runs", "chat"), (3.0, 5.0), routes, strict=True)
    )
    return Program(sources, (Station("helper", 1, ONE), WEB), routes, (Outage("web", 1.0, 2.0),))


def expanded(before: Program) -> tuple[Program, list[str]]:
    notes: list[str] = []
    return with_agents(read_text(DESIGN % ""), before, notes, first_burst=60.0), notes


def test_only_a_part_that_is_an_agent_is_one() -> None:
    components = read_text(DESIGN % "").components
    assert [name for name, component in components.items() if is_agent(component)] == ["helper"]


def test_the_station_and_the_route_of_an_agent_are_replaced_by_those_of_its_turns() -> None:
    after, _ = expanded(program())
    assert [station.name for station in after.stations] == ["web", "helper.model", "helper.tool"]
    assert [route.name for route in after.routes] == ["chat -> web", "helper -> helper.model", "helper -> helper.tool"]
    assert [station.service.mean for station in after.stations[1:]] == [2.0, 1.0]


def test_a_run_of_four_turns_calls_the_model_five_times_and_the_tool_four() -> None:
    (chat, runs) = expanded(program())[0].sources
    assert (chat.name, runs.name, runs.arrivals.rate) == ("chat", "runs", 3.0)
    called = [route for stage in runs.plan for route in stage]
    assert called.count("helper -> helper.model") == 5
    assert called.count("helper -> helper.tool") == 4
    assert called[0] == called[-1] == "helper -> helper.model"


def test_the_rest_of_the_program_stays() -> None:
    before = program()
    after, _ = expanded(before)
    assert after.sources[0] == before.sources[1]
    assert after.stations[0] == before.stations[1]
    assert after.routes[0] == before.routes[1]
    assert after.outages == before.outages


@pytest.mark.parametrize(("tries", "per_try", "told"), [(1, float("inf"), 0), (2, float("inf"), 1), (1, 30.0, 1)])
def test_tries_and_limits_of_a_call_to_an_agent_are_said_not_to_be_run(tries: int, per_try: float, told: int) -> None:
    _, notes = expanded(program(tries=tries, per_try=per_try))
    assert [note.split(":")[0] for note in notes] == [
        "requests of runs arrive one by one at random (Poisson)",
        *["tries and limits of calls to helper are not run"] * told,
    ]


def test_an_agent_that_nobody_calls_changes_nothing() -> None:
    alone = Program((), (WEB,), (), ())
    assert expanded(alone) == (alone, [])


def test_a_run_of_the_whole_design_lasts_the_sum_of_its_turns() -> None:
    """Without a spread five calls of 2 s and four of 1 s are 14 s, of each run that is through by 300 s."""
    text = (DESIGN % "").replace("{mean: 10 ms}", "{mean: 10 ms, cv: 0}")
    run = RequestRun(processes(read_text(text)).program, seed=1)
    run.advance(until=300.0)
    result = run.result()
    names = [source.name for source in result.program.sources]
    lasted = result.requests.latency[result.requests.source == names.index("runs")]
    assert len(lasted) > 700  # 3 a second
    assert (lasted.min(), lasted.max()) == (pytest.approx(14), pytest.approx(14))
