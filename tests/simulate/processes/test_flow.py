"""Who calls whom: the routes that requests take through a design."""

from __future__ import annotations

from coherence.language.reading import read_text
from coherence.simulate.processes.flow import RequestFlow, flow_of, without

HEAD = "coherence: 1\nworkload: {users: {rate: 5 req/s}, idle: {service: 1 s}}\n"


def of(text: str) -> RequestFlow:
    return flow_of(read_text(HEAD + text))


TREE = """components: {web: {}, db: {}, cache: {}, alone: {}}
calls:
  - {from: users, to: web, tries: 2}
  - {from: web, to: db}
  - {from: web, to: cache}
  - {from: alone, to: db}
"""


def test_only_what_a_workload_with_a_rate_reaches_is_run() -> None:
    flow = of(TREE)
    assert flow.plans == {"users": (("users -> web",),)}
    assert flow.onward == {"web": (("web -> db",), ("web -> cache",))}
    assert flow.stations == ("web", "db", "cache")
    assert flow.ends == {"users -> web": ("users", "web"), "web -> db": ("web", "db"), "web -> cache": ("web", "cache")}
    assert {name: call is not None for name, call in flow.calls.items()} == dict.fromkeys(flow.ends, True)


def test_calls_of_one_name_are_numbered() -> None:
    flow = of("components: {web: {}}\ncalls:\n" + "  - {from: users, to: web}\n" * 3)
    assert list(flow.calls) == ["users -> web", "users -> web (2)", "users -> web (3)"]
    assert flow.plans == {"users": (("users -> web",), ("users -> web (2)",), ("users -> web (3)",))}


def test_a_queue_is_fed_by_its_arrivals_without_a_call() -> None:
    flow = of(
        "components: {line: {arrivals: users.rate}, next: {arrivals: line.served}, last: {arrivals: next.served}}\n"
    )
    assert flow.plans == {"users": (("users -> line",), ("users -> next",), ("users -> last",))}
    assert set(flow.calls.values()) == {None}
    assert flow.stations == ("line", "next", "last")


def test_a_call_says_how_a_queue_is_fed() -> None:
    flow = of("components: {line: {arrivals: users.attempts}}\ncalls: [{from: users, to: line, tries: 2}]\n")
    assert list(flow.calls) == ["users -> line"]
    assert flow.calls["users -> line"] is not None


def test_workloads_that_reach_a_station_leave_with_it() -> None:
    flow = of(TREE)
    rest = without(flow, ["db"])
    assert rest.onward == {}  # web calls the db itself
    assert rest.plans == {"users": (("users -> web",),)}
    assert rest.ends == {"users -> web": ("users", "web")}
    assert rest.stations == ("web",)
    assert without(flow, ["web"]).plans == {}
    assert without(flow, []) == flow


def test_the_calls_of_one_stage_are_made_at_once() -> None:
    text = TREE.replace("to: db}\n  - {from: web", "to: db, stage: both}\n  - {from: web")
    flow = of(text.replace("to: cache}", "to: cache, stage: both}") + "  - {from: web, to: alone}\n")
    assert flow.onward["web"] == (("web -> db", "web -> cache"), ("web -> alone",))
