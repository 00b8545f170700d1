"""When the phases and periods of a run act next, beside the arithmetic of each."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from coherence.simulate.execute.schedules import Beats, is_due, next_activation

times = st.fractions(0, 20, max_denominator=6)
clocks = st.lists(st.tuples(times, times.filter(bool)), min_size=1, max_size=5)


@given(clocks, st.lists(times, max_size=3))
def test_what_comes_next_and_what_is_due_are_those_of_the_arithmetic(
    pairs: list[tuple[Fraction, Fraction]], between: list[Fraction]
) -> None:
    named = {f"loop{number}": pair for number, pair in enumerate(pairs)}
    beats, now, begun = Beats(named, Fraction(0)), Fraction(0), False
    for step in range(12):
        coming = beats.after(now) if begun else beats.coming
        start = None if begun else now
        assert set(coming) == {next_activation(*pair, now, start) for pair in pairs}
        now, begun = min([*coming, *(time for time in between if time > now)]), True
        beats.begin(now)
        assert {name for name in named if beats.acts(name)} == {n for n, pair in named.items() if is_due(*pair, now)}
        if step == 6:
            beats = beats.copy()


def test_a_copy_goes_on_by_itself() -> None:
    beats = Beats({"a": (Fraction(0), Fraction(2))}, Fraction(0))
    twin = beats.copy()
    assert twin.after(Fraction(3)) == [4]
    assert beats.coming == [0]
