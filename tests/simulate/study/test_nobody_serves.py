"""What is read of a thing where nobody serves: what waits there waits for ever, beside a thing with members."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

DESIGN = """coherence: 1
workload: {{requests: {{rate: 20 req/s, arrivals: regular, service: 100 ms}}}}
components: {{s: {{copies: {copies}}}}}
calls: [{{from: requests, to: s}}]
promises: {{quick: always s.wait < 1 s, spare: always s.utilization < 90 %}}
"""


@pytest.mark.parametrize(("copies", "verdict"), [(0, "broken"), (3, "held")])
def test_a_promise_on_waits_or_utilization_is_broken_where_nobody_serves(copies: int, verdict: str) -> None:
    design = read_text(DESIGN.format(copies=copies), "d")
    judged = study(design, Setting(20.0, seeds=(1,))).promises
    assert [promise.verdict.value for promise in judged] == [verdict, verdict]
