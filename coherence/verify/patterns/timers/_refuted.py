"""Says which assumptions of other questions a timer shows to be wrong that fires in a healthy run."""

from __future__ import annotations

from coherence.findings.finding import Finding, Verdict
from coherence.findings.standing_proofs import taken_out
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import acted_on
from coherence.language.roles import role
from coherence.verify.timers.firing import action_of, ended_by


def refuting_firing(design: Design, timer: Timer, answer: Finding) -> Finding:
    """Returns an answer about a timer; a conflict refutes that it takes nothing out, that what it cuts ends in its own
    time, and that what it keeps from starting is ready some day.
    """
    if answer.verdict is not Verdict.CONFLICT:
        return answer
    return answer.refuting(*_refuted(design, timer))


def _refuted(design: Design, timer: Timer) -> tuple[str, ...]:
    from coherence.verify.events.drains import WAITS, WHOLE_DRAIN
    from coherence.verify.facts.design_facts import STARTED
    from coherence.verify.timers.removals import ENDS_NONE, REMOVING, TAKES_NONE

    then, unless = timer.then.text if timer.then is not None else "", timer.unless
    target = acted_on(then) if action_of(timer) in REMOVING else ended_by(timer)
    component, waited = design.components.get(target.partition(".")[0]), unless.thing if unless is not None else ""
    own = unless is not None and component is not None and waited == component.name
    of_what = role(component, unless.activity) if own and component is not None and unless is not None else ""
    started = (STARTED.format(waited),) if waited and (timer.every is not None or of_what == "start") else ()
    if component is None:
        return started
    cut = (WAITS.format(waited), WHOLE_DRAIN.format(waited)) if of_what == "drain" else ()
    ends = (words.format(timer.name, component.name) for words in (TAKES_NONE, ENDS_NONE))
    return (*started, *taken_out(design, timer.name), *ends, *cut)
