"""A chain of sets as an invariant of the system that counts its steps."""

from __future__ import annotations

from coherence.base.clock import now
from coherence.verify.convergence.set_chains import Level, chain_of_sets, levelled, named
from coherence.verify.invariants.smtlib import certificate
from coherence.verify.systems.piecewise_affine import AffineEdge, Polyhedron, TransitionSystem
from tests.verify.affine_rows import is_unsat, one_state, row

BAD = (row((1,), ">", 1),)
GOAL = one_state("1/2", 0, (0, 8), BAD)
PLAIN = TransitionSystem(GOAL.variables, (), GOAL.initial, GOAL.edges, ())


def test_levels_are_counted_up_to_the_last_where_alone_bad_states_count() -> None:
    system = levelled(PLAIN, GOAL, "broken", 3)
    assert [(e.source, e.target) for e in system.edges] == [("m @0", "m @1"), ("m @1", "m @2"), ("m @2", "m @2")]
    assert [mode for mode, _ in system.initial] == ["m @0"]
    assert [mode for mode, _ in system.bad] == ["m @2"]


def test_a_mode_that_a_set_lacks_is_never_entered() -> None:
    half, none = (row((1,), "<=", 4),), dict[str, Polyhedron]()
    invariant = named([{"m": half}, none])
    assert (invariant["m @0"], invariant["m @1"], invariant["other"]) == ((half,), (), ())


def test_a_chain_is_an_invariant_and_a_shorter_one_is_not() -> None:
    chain = chain_of_sets(PLAIN, GOAL, "broken", 1, now() + 10)
    assert isinstance(chain, list)
    assert 4 <= len(chain) <= 8  # 8 / 2^3 is the first that is not above 1

    def proves(levels: list[Level]) -> bool:
        script = certificate(levelled(PLAIN, GOAL, "broken", len(levels)), named(levels))
        return is_unsat(script)

    assert proves(chain)
    assert not proves(chain[:-1])
    assert not proves(chain[1:])


def test_a_system_of_modes_without_a_number_has_chains_too() -> None:
    edges = tuple(
        AffineEdge(a, b, (), (), "step") for a, b in (("first", "second"), ("second", "rest"), ("rest", "rest"))
    )
    plain = TransitionSystem((), (), (("first", ()),), edges, ())
    left = TransitionSystem((), (), plain.initial, edges, (("first", ()), ("second", ())))
    chain = chain_of_sets(plain, left, "broken", 1, now() + 10)
    assert isinstance(chain, list)
    assert [set(level) for level in chain] == [{"first", "second", "rest"}, {"second", "rest"}, {"rest"}]
    assert is_unsat(certificate(levelled(plain, left, "broken", len(chain)), named(chain)))
    kept = TransitionSystem((), (), plain.initial, edges, (("rest", ()),))
    assert isinstance(chain_of_sets(plain, kept, "broken", 1, now() + 10), str)
