"""Activities that timers wait for: starts of pods, runs of jobs."""

from __future__ import annotations

from coherence.checking.fact_kinds import activities
from tests.checking.fact_kinds.asking import asks, lacks

PROBE = "timers: {live: {from: web.load starts, every: 10 s, misses: 3, unless: web.load ends, then: restart web}}\n"


def test_an_activity_is_asked_for_until_it_is_stated() -> None:
    path = "components.web.takes.load"
    assert list(lacks(activities, PROBE + "components: {web: {}}", "COH206", "live", "web")) == [path]
    assert not lacks(activities, PROBE + "components: {web: {takes: {load: 3 s}}}", "COH206", "live", "web")
    assert not lacks(activities, PROBE + "components: {web: {}}", "COH201", "live", "web")


def test_a_start_counts_only_while_the_pod_is_ready() -> None:
    fact = lacks(activities, PROBE + "components: {web: {}}", "COH206", "live")["components.web.takes.load"]
    (query,) = asks(activities, fact)
    assert 'kube_pod_status_ready_time{namespace="prod"' in query
    assert 'condition="true"} == 1' in query
    assert "restarts_total" in query
    assert asks(activities, fact, "") == []  # the pods of a host are not known
    assert asks(activities, fact, "Job") != []


def test_a_container_and_a_run() -> None:
    text = PROBE.replace("web.load", "web.load_main_app") + "components: {web: {}}"
    (fact,) = lacks(activities, text, "COH206", "live").values()
    assert 'container=~"main[-_.]app"' in asks(activities, fact)[0]
    (run,) = lacks(
        activities, PROBE.replace("web.load", "web.run") + "components: {web: {}}", "COH207", "live"
    ).values()
    assert 'job_name=~"web-[0-9]+"' in asks(activities, run, "CronJob")[0]
    assert asks(activities, run, "Deployment") == []
