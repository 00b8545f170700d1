"""Messages of a commit with a bound on delays: every pattern is played, and the fewest are those of the literature."""

from __future__ import annotations

import math

from coherence.minimums.commitment import ROUNDS, commits, fewest, patterns


def test_two_participants_need_two_messages() -> None:
    assert fewest(2, most=3) == 2
    assert fewest(2, most=1) is None


def test_three_messages_of_three_participants_are_enough() -> None:
    """Both others send their votes to one, which answers one of them: the last one takes silence for a yes."""
    assert commits(3, frozenset({(0, 1, 0), (0, 2, 0), (0, 0, 1)}))


def test_a_vote_that_nobody_hears_is_not_kept() -> None:
    assert not commits(3, frozenset({(0, 0, 1), (0, 1, 0), (1, 0, 1)}))


def test_patterns_that_differ_in_numbers_alone_come_once() -> None:
    assert len(list(patterns(2, 1))) == ROUNDS
    assert len(list(patterns(3, 1))) == ROUNDS
    assert len(list(patterns(3, 2))) < math.comb(6 * ROUNDS, 2)
