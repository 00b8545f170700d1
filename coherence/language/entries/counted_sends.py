"""Reads which sends a limit counts: those to a callee, or those of the one workload that calls it."""

from __future__ import annotations

from coherence.language.design import Design
from coherence.language.expressions.tree import Call as Function
from coherence.language.expressions.tree import Name, Tree
from coherence.language.words import STATES

SENT = STATES["sent"]  # of a callee: every send to it counts


def counted_sends(design: Design, counted: Tree | None) -> tuple[str | None, str | None]:
    """Returns what is sent to, and the one workload whose sends are counted (None: everybody's).

    `attempts(api)`, `api.requests` and, of a workload that calls nothing else, `jobs.attempts` or `jobs.requests`.
    """
    match counted:
        case Function(function="attempts", arguments=(Name(path=callee),)):
            return callee, None
        case Name(path=path):
            thing, _, signal = path.partition(".")
            called = {call.callee.text for call in design.calls if call.callee is not None}
            own = {c.callee.text for c in design.calls if c.caller is not None and c.callee is not None
                   and c.caller.text == thing}  # fmt: skip
            if signal in SENT and thing in called:
                return thing, None
            if signal in SENT and thing in design.workload and len(own) == 1:
                return next(iter(own)), thing
    return None, None
