"""The types of loss: one for each letter, each state once, in the precedence of the definitions."""

from __future__ import annotations

from coherence.causal.ledger.states import SLOWED, UNLABELLED, LossType
from coherence.causal.losses import memory, orchestration, other, recovery, retrieval, synchronisation, unexplained

TYPES: tuple[LossType, ...] = tuple(
    module.LOSS for module in (recovery, orchestration, retrieval, synchronisation, memory, other, unexplained)
)


def test_the_precedence_is_that_of_the_definitions() -> None:
    # SOURCE: definitions 1.5: recovery, orchestration, retrieval, synchronisation, memory, (6: placement), other, rest
    assert [(loss.letter, loss.order) for loss in TYPES] == [
        ("R", 1), ("C", 2), ("D", 3), ("A", 4), ("B", 5), ("O", 7), ("U", 8),
    ]  # fmt: skip


def test_all_but_the_other_and_the_unexplained_could_be_won_back() -> None:
    assert "".join(loss.letter for loss in TYPES if loss.structural) == "RCDAB"


def test_a_state_shows_one_type_alone_and_says_whether_the_device_is_held() -> None:
    names = [state.name for loss in TYPES for state in loss.states]
    assert len(set(names)) == len(names)
    kinds = {state.name: state.kind for loss in TYPES for state in loss.states if state.kind != "held"}
    assert kinds == {"idle_stranded": "idle", "reserve": "idle", "hidden": "rest", UNLABELLED: "unknown"}
    assert SLOWED in {state.name for state in memory.LOSS.states}
    assert all(loss.words and loss.source.startswith("definitions 1.5") for loss in TYPES)
