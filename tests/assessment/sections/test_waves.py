"""The section on waves: when each curve departs, which bound it reached, and how many waves its second half has."""

from __future__ import annotations

from coherence.assessment.sections import waves
from tests.assessment.run_assessments import assessed, curve, rendered


def test_a_wave_is_told_beside_the_bounds_of_its_loop() -> None:
    square = [(float(t), 9.0 if t % 20 >= 10 else 1.0) for t in range(0, 101, 5)]
    late = [(0.0, 0.0), (30.0, 4.0), (100.0, 4.0)]
    text = rendered(waves.section(assessed([curve("pool.copies", "signal", square), curve("q", "queue", late, "req")])))
    row, other = text.split("<tr>")[2:4]
    assert "1 to 9, lower and upper one reached" in row
    assert ">10 s<" in row
    assert '<td class="n">2<' in row  # of 20 s each, in the last 50 s
    assert "none stated" in other
    assert ">30 s<" in other
    assert "0 to 4 req" in other


def test_a_run_in_which_nothing_moves_has_no_wave() -> None:
    still = [(0.0, 3.0), (100.0, 3.0)]
    assert "No wave: nothing moved" in rendered(waves.section(assessed([curve("q", "queue", still)])))
