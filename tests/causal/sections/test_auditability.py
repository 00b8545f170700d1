"""What the logged states of devices leave open, and which decisions of loops could be told afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Floats
from coherence.causal.ledger.auditability import FIELDS
from coherence.causal.sections import auditability
from tests.causal.sections.contexts import CHAIN, FLEET, chain, context, lines, tables

LOOP = """loops:
  backfill:
    timescale: {period: 1 min}
    trigger: true
    actuation: {signal: batch.running, law: step, by: 1}
    logs: [LOGS]
"""


def devices(**counts: float) -> dict[str, Floats]:
    return {f"h100.{state}": np.full(400, float(count)) for state, count in counts.items()}


def test_states_that_add_up_to_all_devices_leave_nothing_open() -> None:
    section = auditability.answer(context(FLEET, devices(useful=6, barrier=1, launch=0.5, idle_slack=2.5)))
    assert lines(section) == ["h100: every state is told: the logged ones add up to all 10 devices"]
    assert not tables(section)


def test_the_rest_may_be_in_any_state_that_is_not_logged() -> None:
    """3 of 10 devices for 4000 s are 12,000 device-seconds, 3.333 device-hours, in any one of the others."""
    section = auditability.answer(context(FLEET, devices(useful=6, barrier=1)))
    (row,) = tables(section)[0].rows
    assert row[1:] == ("0", "3.333", "30.0 %")
    assert section is not None
    parts = section.data["devices"]["h100"]["parts"]
    assert parts["barrier"]["interval"] == pytest.approx([4000, 4000])
    assert parts["launch"]["interval"] == pytest.approx([0, 12_000])
    others = [name for name, part in parts.items() if part["interval"][1] > 1]
    assert row[0].endswith(f"and {len(others) - 2 - 4} more")  # useful and barrier are told, four are named
    assert lines(section)[0].startswith("to tell each of them, log h100.")


def test_one_row_without_a_value_is_no_part_of_the_window() -> None:
    signals = devices(useful=6, barrier=1)
    signals["h100.barrier"][:100] = np.nan
    section = auditability.answer(context(FLEET, signals))
    assert section is not None
    assert section.data["devices"]["h100"]["parts"]["barrier"]["interval"] == pytest.approx([3000, 3000])
    assert tables(section)[0].rows[0][1:] == ("0", "2.5", "30.0 %")


def test_sums_that_no_ledger_has_are_named() -> None:
    (line,) = lines(auditability.answer(context(FLEET, devices(useful=9, barrier=2))))
    assert line == "h100: no ledger has these sums: barrier, useful, count; two of them count the same time"


@pytest.mark.parametrize(
    ("logs", "lacks"),
    [
        (FIELDS, ()),
        (("reading", "action"), ("read_at", "target", "cause")),
        (("reading", "read_at", "action", "target"), ("cause",)),
    ],
)
def test_the_fields_that_the_log_of_a_loop_lacks(logs: tuple[str, ...], lacks: tuple[str, ...]) -> None:
    design = FLEET + LOOP.replace("LOGS", ", ".join(logs))
    section = auditability.answer(context(design, chain()))
    assert section is not None
    assert section.data["loops"] == [{"loop": "backfill", "missing": list(lacks)}]
    (line,) = lines(section)
    if lacks:
        assert line.endswith(f"its log lacks {' and '.join(lacks)}")
    else:
        assert line.startswith("backfill: its decisions can be told afterwards")


def test_a_loop_that_does_not_say_what_it_logs_is_no_matter() -> None:
    silent = LOOP.replace("    logs: [LOGS]\n", "")
    assert auditability.answer(context(FLEET + silent, chain())) is None
    assert auditability.answer(context(CHAIN, chain())) is None
