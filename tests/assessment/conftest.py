"""An assessment of many policies, made once for all tests of its page."""

from __future__ import annotations

import pytest

from coherence.assessment.parts.answers import Assessment, assess

TODAY = "2026-01-01"


def sixty_policies() -> str:
    """Returns a design of 20 loops, 20 calls in a chain and 20 timers."""
    lines = ["coherence: 1", "system: sixty policies", "workload: {users: {rate: 50 req/s}}", "components:"]
    lines += [f"  s{k}: {{takes: {{answer: 100 ms .. 1 s}}}}" for k in range(20)]
    steered = "law: step, by: 1, bounds: [1, 9], from: 1}}"
    for k in range(20):
        reads = f"target: {{signal: s{k}.load, setpoint: 70 %}}"
        writes = f"actuation: {{signal: s{k}.copies, {steered}"
        lines += ["loops:"] * (k == 0)
        lines.append(f"  scaler{k}: {{trigger: true, timescale: {{period: {15 + k} s}}, {reads}, {writes}")
    ends = [("users" if k == 0 else f"s{k - 1}", f"s{k}") for k in range(20)]
    lines += ["calls:"] + [
        f"  - {{from: {a}, to: {b}, per_try: {2000 - 50 * k} ms, tries: 2}}" for k, (a, b) in enumerate(ends)
    ]
    timer = "every: 10 s, misses: 3, then: restart"
    lines += ["timers:"] + [f"  probe{k}: {{from: s{k} slow, {timer} s{k}}}" for k in range(20)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    path = tmp_path_factory.mktemp("sixty") / "sixty.yaml"
    path.write_text(sixty_policies(), encoding="utf-8")
    return assess(str(path), seconds=60, today=TODAY)
