from __future__ import annotations

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Execution
from coherence.simulate.execute.run_state import RunState

TANK = 'coherence: 1\ncomponents: {tank: {state: "x\' = 0.5 * x", step: 1 s, from: 4}}\n'


def test_an_execution_offers_all_that_flows_and_expressions_read() -> None:
    run: RunState = Execution(elaborate(read_text(TANK)))
    read = [name for name in vars(RunState) if not name.startswith("_")]
    assert len(read) > 10
    assert [name for name in read if not hasattr(run, name)] == []
    assert run.values == {"tank.x": 4}
    assert run.base() == {"tank.x": 4}
