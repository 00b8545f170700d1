"""Makes states of loops that switch without a period: relays whose `enter` and `leave` act at the very crossing.

A loop with `enter` and `leave`, no period, and a value to set that does not move says all that a run needs: it is off
at first, on from where `enter` becomes true, off from where `leave` does, in continuous time.  In the model that
`at_crossings` returns its mode is a state with a `StateSwitch`, and what it sets is another.  The model of the design
itself keeps the gap, so that what only knows samples says what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from coherence.base.queries import cached
from coherence.base.reads import built, unnoted
from coherence.base.units import ONE
from coherence.language.design import Loop, Relay
from coherence.language.expressions.tree import Call, Held, Tree, names, walk
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model import laws
from coherence.model.boundary_gains import written_signal
from coherence.model.caps import capped, has_caps
from coherence.model.draft import ModelDraft
from coherence.model.model import EVERYTHING, Interval, Model, State, StateSwitch, interval
from coherence.model.sampled_loops import command_delay, read_by, stated_bounds, writers_of

COUNTS_SAMPLES = ("sampled", "mean_over", "max_over", "previous")
OFF = Interval(Fraction(0), Fraction(0))


@cached
def at_crossings(model: Model) -> Model:
    """Returns the model with the loops that switch at crossings as states; the model itself where there are none."""
    with unnoted():
        draft = ModelDraft(model.design, index=dict(model.index))
        loops = [loop for loop in model.design.loops.values() if _switches(draft, loop)]
        states = {state.path: state for loop in loops for state in _states(model, draft, loop)}
        return _with_states(model, states, {loop.name for loop in loops}) if states else model


def _switches(draft: ModelDraft, loop: Loop) -> bool:
    """Decides whether a loop says all that switching at crossings needs, and nothing beyond that."""
    actuation, relay, clock = loop.actuation, loop.trigger, loop.timescale
    if actuation is None or actuation.evict is not None or actuation.rate or loop.rules:
        return False
    if isinstance(actuation.initial, Formula) or any(isinstance(bound, Formula) for bound in actuation.bounds):
        return False
    if not isinstance(relay, Relay) or relay.enter is None or relay.leave is None:
        return False
    if clock is not None and any((clock.period, clock.phase, clock.hold_down, clock.hold_up, clock.cooldown)):
        return False
    if any(_counts_samples(read_by(draft, loop, formula.tree)) for formula in (relay.enter, relay.leave)):
        return False
    return laws.law_of(loop) in ("none", "unset") or _sets_alone(draft, loop)


def _counts_samples(tree: Tree) -> bool:
    return any(isinstance(node, Held) or (isinstance(node, Call) and node.function in COUNTS_SAMPLES)
               for node in walk(tree))  # fmt: skip


def _sets_alone(draft: ModelDraft, loop: Loop) -> bool:
    """Decides whether a loop sets a number at once, which no other loop writes."""
    actuation, signal = loop.actuation, written_signal(draft, loop)
    number = actuation is not None and isinstance(actuation.to, Quantity) and actuation.to.exact
    late = command_delay(draft, loop) > 0 or (loop.timescale is not None and loop.timescale.lands is not None)
    alone = len(writers_of(draft.design).get(signal, ())) < 2
    return laws.law_of(loop) == "set" and number and alone and not late


def _states(model: Model, draft: ModelDraft, loop: Loop) -> list[State]:
    """Returns the mode of a loop as a state, and what it sets as one that stays as it was set."""
    actuation, relay = loop.actuation, loop.trigger
    assert actuation is not None
    assert isinstance(relay, Relay)

    def switch(off: Fraction | None, on: Fraction, *, stays: bool) -> StateSwitch:
        assert relay.enter is not None
        assert relay.leave is not None
        leave = None if stays else read_by(draft, loop, relay.leave.tree)
        return StateSwitch(read_by(draft, loop, relay.enter.tree), leave, off, on)

    mode = _state(loop.name, lambda: OFF, loop, lambda: switch(Fraction(0), Fraction(1), stays=False))
    if laws.law_of(loop) != "set" or not isinstance(actuation.to, Quantity):
        return [mode]
    path = written_signal(draft, loop)

    def sets() -> StateSwitch:
        assert laws.law_of(loop) == "set"
        assert written_signal(draft, loop) == path
        assert isinstance(actuation.to, Quantity)
        bounds = stated_bounds(loop)
        with unnoted():
            within = has_caps(draft.design, path, _begins(model, path, loop), [bounds])
        return switch(
            None, (capped(draft.design, path, bounds) if within else bounds).clip(actuation.to.low), stays=True
        )

    return [mode, _state(path, lambda: _begins(model, path, loop), loop, sets)]


def _state(path: str, initial: Callable[[], Interval], loop: Loop, switch: Callable[[], StateSwitch]) -> State:
    fields = {"path": path, "range": EVERYTHING, "next": None, "flow": None, "step": None, "integer": False,
              "dimension": ONE, "place": loop.place}  # fmt: skip
    takes = {name: (lambda content=content: content) for name, content in fields.items()}
    return built(State, **takes, initial=initial, switch=switch)


def _begins(model: Model, path: str, loop: Loop) -> Interval:
    """Returns where a signal begins: as the loop states it, else as declared, else within its bounds."""
    stated = loop.actuation.initial if loop.actuation else None
    declared = model.constants.get(path)
    within = declared.range if declared is not None else stated_bounds(loop)
    return interval(stated) if isinstance(stated, Quantity) else within


def _with_states(model: Model, states: Mapping[str, State], loops: set[str]) -> Model:
    """Returns the model with these states in the place of what was open, and with what their conditions read."""
    trees = [tree for state in states.values() if state.switch for tree in state.switch.trees]
    inputs = {name: None for tree in trees for name in names(tree) if model.kind(name) == "input"}
    return replace(
        model,
        states={**model.states, **states},
        commands={path: c for path, c in model.commands.items() if path not in states},
        constants={path: c for path, c in model.constants.items() if path not in states},
        outputs=model.outputs,
        inputs={path: d for path, d in {**inputs, **model.inputs}.items() if path not in states},
        gaps=tuple(gap for gap in model.gaps if gap.of not in loops),
    )
