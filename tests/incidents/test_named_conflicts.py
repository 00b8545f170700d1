"""Every kind of conflict that the study of real configuration names is found in a case, or it is said why it is not.

The names are those of the families by frequency, of the checks that linters do or do not have, and of what stands in
the collected files, whose own conflicts stand in tests/importers/test_read_by_hand.py with what is odd and consistent.
Not found: the staleness of a gauge in a rule (alerts act on nothing in a design; a sensor that is too old is COH222),
asymmetric claims of a cohort (no conflict before jobs wait: then COH225), a requeue without an end (its timer says it,
COH207).
"""

from __future__ import annotations

import re

import pytest

from tests.case_files import MARK
from tests.paths import ROOT

FOLDER = ROOT / "tests" / "incidents"
MANIFESTS, MORE, TIMERS, SERVING, AUTOSCALER = "manifests", "more_manifests", "timers", "serving", "autoscaler"

# what is named -> the file of its case, the beginning of the heading, the code
NAMED = {
    "time limits against retries": (MANIFESTS, "TR-03", "COH201"),
    "no time for one try": (MANIFESTS, "TR-01", "COH201"),
    "retries within retries": (MANIFESTS, "RA-01", "COH202"),
    "time limits and retries of gRPC": (MANIFESTS, "TR-05", "COH201"),
    "time limits and retries of LiteLLM": (MANIFESTS, "TR-25", "COH201"),
    "an idle time of a server within that of its balancer": (MORE, "TR-17", "COH208"),
    "a lease that ends before the work": (MORE, "TR-21", "COH207"),
    "a slow start against a liveness probe": (MANIFESTS, "PS-01", "COH206"),
    "a slow start against a deadline of progress": (MORE, "PS-06", "COH207"),
    "a slow start against scale to zero": (MORE, "TR-23", "COH201"),
    "liveness as quick as readiness": (MANIFESTS, "LB-07", "COH208"),
    "replicas that are stated beside an autoscaler": (MANIFESTS, "AW-01", "COH205"),
    "what Git heals against an autoscaler": (MANIFESTS, "AW-03", "COH205"),
    "a horizontal and a vertical autoscaler of one reading": (MANIFESTS, "AW-05", "COH308"),
    "a vertical autoscaler against a limit": (MORE, "AW-13", "COH209"),
    "two autoscalers of one target": (MANIFESTS, "AW-07", "COH205"),
    "a budget that never lets a drain go on": (MANIFESTS, "DD-01", "COH209"),
    "an update of accelerators on a full pool": (MANIFESTS, "DD-07", "COH212"),
    "consolidation under a budget of nothing": (MANIFESTS, "DD-08", "COH213"),
    "an expiry against a budget": (MANIFESTS, "DD-03", "COH209"),
    "a notice that is shorter than a drain": (MORE, "DD-05", "COH207"),
    "an autoscaler that overshoots for ever": (MORE, "AD-01", "COH301"),
    "a sensor that cannot see beyond its target": (AUTOSCALER, "AD-03", "COH221"),
    "nodes that go before the next work": (MORE, "AD-15", "COH207"),
    "consolidation against provisioning": (AUTOSCALER, "AD-07", "COH232"),
    "preemption against admission": (MORE, "PB-01", "COH225"),
    "eviction against placement": (MORE, "SE-01", "COH226"),
    "spread constraints that exclude each other": (MORE, "SE-05", "COH227"),
    "gangs that each hold a part": (MORE, "PB-07", "COH228"),
    "a collective against a save": (MORE, "TS-01", "COH207"),
    "a watchdog against its monitor": (MORE, "TS-05", "COH208"),
    "sections that are too short": (MORE, "TS-08", "COH207"),
    "admission by number and memory by tokens": (SERVING, "IE-01", "COH215"),
    "a router that follows the prefix alone": (SERVING, "IE-07", "COH245"),
    "a queue timeout behind long runs": (MORE, "IE-03", "COH207"),
    "ejection against panic": (MANIFESTS, "LB-03", "COH214"),
    "an ejection cap below one host": (MANIFESTS, "LB-05", "COH213"),
    "a cooldown that outlasts the tries": (MORE, "RL-01", "COH210"),
    "a limit on steps of an agent": (SERVING, "AG-01", "COH209"),
    "a window of a rate without two samples": (MANIFESTS, "TW-03", "COH222"),
    "a partition that comes after the pod": (AUTOSCALER, "PW-01", "COH219"),
}


def codes_of(file: str, heading: str) -> set[str]:
    """Returns the codes of the conflicts in the cases under a heading."""
    sections = re.split(r"^## ", (FOLDER / f"{file}.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    (text,) = [section for section in sections if re.match(rf"{heading}\b", section)]
    return {code for code, verdict, *_ in MARK.findall(text) if verdict == "conflict"}


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_is_found_in_a_case(name: str) -> None:
    file, heading, code = NAMED[name]
    assert code in codes_of(file, heading)
