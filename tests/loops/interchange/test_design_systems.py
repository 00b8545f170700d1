"""The whole system of a design has the multipliers of its lap, whose decisions are cut and closed again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.design_network import network_of
from coherence.loops.interchange.design_systems import whole_system
from coherence.loops.multirate.lifting import lift
from tests.draws import few
from tests.loops.designs.test_bridged_laps import WRITERS, drawn_design, growths, smooth_at_rest


def moduli(matrix: np.ndarray) -> np.ndarray:
    sizes = np.sort(np.abs(np.linalg.eigvals(matrix)))[::-1]
    return sizes[sizes > 1e-2]


@settings(max_examples=few(25), deadline=None)
@given(st.data())
def test_a_whole_system_has_the_multipliers_of_the_design(data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "set", "step", "proportional"))
    whole = whole_system(network_of(model, point))
    assert moduli(lift(whole).floats) == pytest.approx(growths(opened(model, point)), rel=1e-5, abs=1e-6)


def test_two_loops_that_write_one_command_are_refused_by_name() -> None:
    drawn = {"late": 1, "period": 2, "phase": 0, "lands": 0, "rank": 1, "other": 2}
    with pytest.raises(UsageError, match=r"first and second write valve\.open"):
        whole_system(network_of(*smooth_at_rest(WRITERS.format(**drawn))))
