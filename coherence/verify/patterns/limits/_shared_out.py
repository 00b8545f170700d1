"""Reads limits of which there is one for each of several things (`per: replica`), where what they count is of all.

Whatever the shares are, none is more than all, and with n shares that are at most q each all are at most n q.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.findings.proof_words import RATE_WORDS
from coherence.language.design import Limit
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Name, Number, Tree
from coherence.language.words import MEMBERS
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import is_domain
from coherence.verify.facts.ranges import truth


def is_shared_out(facts: DesignFacts, limit: Limit, counts: Tree) -> bool:
    """Decides whether a limit of each counts what comes, or the members that there are, for all of them together."""
    design, each = facts.design, limit.per.text if limit.per is not None else ""
    members = _members_of(facts, each)
    if not each or (members is not None and facts.range(members).high == 1):
        return False
    heads = ((path.partition(".")[0], path.rpartition(".")[2]) for path in used(counts))
    somewhere = is_domain(design, each)
    return any(
        (head in design.workload and word in RATE_WORDS)
        or (somewhere and head in design.components and word in MEMBERS)
        for head, word in heads
    )


def together(facts: DesignFacts, limit: Limit, claim: Compare) -> Compare | None:
    """Returns what must hold of all together where it does of each; None where nothing says how many there are.

    A floor holds of all where it does of the only one.  Where there is none, nothing has a limit.
    """
    assert limit.per is not None
    members = _members_of(facts, limit.per.text)
    if members is not None and facts.range(members).high is not None:
        some = Call("max", (members, Number(Fraction(1)))) if may_be_none(facts, limit) else members
        return Compare(claim.op, claim.left, Arithmetic("*", claim.right, some))
    return claim if claim.op == ">=" else None


def may_be_none(facts: DesignFacts, limit: Limit) -> bool:
    """Decides whether there may be nothing of which a limit holds for each."""
    members = _members_of(facts, limit.per.text) if limit.per is not None else None
    least = facts.range(members).low if members is not None else Fraction(1)
    return least is None or least < 1


def is_of_none(facts: DesignFacts, limit: Limit) -> bool:
    """Decides whether there is nothing of which a limit holds for each."""
    members = _members_of(facts, limit.per.text) if limit.per is not None else None
    return members is not None and facts.range(members).high == 0


def holds_of_each(facts: DesignFacts, claim: Compare) -> bool:
    """Decides whether a cap holds of each, since all together are within it, or a floor since it asks for none."""
    kept = claim if claim.op == "<=" else Compare(">=", Number(Fraction(0)), claim.right)
    return truth(kept, facts.values) is True


def needs(limit: Limit, claim: Compare, *, counted: bool) -> str:
    """Returns what to ask for, where it depends on the shares whether each keeps to its limit."""
    assert limit.per is not None
    each, bound = limit.per.text, limit.at_most if claim.op == "<=" else limit.at_least
    many = "" if counted else f"how many there are of {each}, and "
    word = "at most" if claim.op == "<=" else "at least"
    return f"needs {many}how {limit.counts} is shared out among them: {limit.name} is {word} {bound} for each {each}"


def _members_of(facts: DesignFacts, each: str) -> Name | None:
    path = f"{each}.copies"
    return Name(path) if path in facts.values and each in facts.design.components else None
