"""Answers about loops whatever their phases and order: that they come to rest, that they never can, or one swing.

Two proofs come before any run, since they take parts of a second: what some loops make of a command never wakes the
others (`command_rests`), and no change of the commands can come again (`command_graph`).  That they never rest is
proved there too; a run among all orders and patterns of phases then shows how they swing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from coherence.base.clock import is_over
from coherence.base.solver import joined
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.groups import LAPS, MOST_INSTANTS, Group, oscillates, render_start
from coherence.model.model import Model
from coherence.simulate.execute.exact import MissingValueError
from coherence.simulate.execute.orbits import LongRun, long_run
from coherence.simulate.execute.schedules import NotCommensurateError
from coherence.simulate.execute.timeline import shown
from coherence.verify.convergence.command_graph import HOW as HOW_FOLLOWED
from coherence.verify.convergence.command_graph import GraphAnswer, follow_commands
from coherence.verify.convergence.command_rests import HOW as HOW_UNWOKEN
from coherence.verify.convergence.command_rests import CommandCrossing, CommandRest, command_rests
from coherence.verify.promises.run_choices import other_choices

MOST_RUNS = 120
MOST_POINTS = 3  # that a message names


def graph_of(group: Group, deadline: float) -> GraphAnswer | None:
    """Returns what every value of the commands shows, whoever acts when; None where it shows nothing."""
    return follow_commands(group.model, group.loops, lambda: is_over(deadline))


def rest_finding(
    question: Question, group: Group, graph: GraphAnswer | None, deadline: float
) -> Finding | CommandCrossing | None:
    """Returns the proof that a group comes to rest in every order and phase, or what stands against one."""
    if graph is not None and graph.rests:
        return _followed(question, group, graph)
    if graph is not None:
        return None
    rests, crossing = command_rests(group.model, group.loops, deadline)
    return _unwoken(question, group, rests) if rests else crossing


def swing_in_some_order(group: Group, deadline: float) -> LongRun | None:
    """Returns a run that swings, of all patterns of phases and orders, where one is found in time."""
    with suppress(NotExactError, MissingValueError, NotCommensurateError):
        for number, choices in enumerate(other_choices(group.model)):
            if number == MOST_RUNS or is_over(deadline):
                return None
            with suppress(NotExactError):
                run = long_run(group.model, choices, laps=LAPS, most=MOST_INSTANTS, deadline=deadline)
                if oscillates(group, run):
                    return run
    return None


def _followed(question: Question, group: Group, graph: GraphAnswer) -> Finding:
    """Returns the proof that no change of the commands can come again."""
    model = group.model
    points = [
        ", ".join(f"{path} = {shown(model, path, v)}" for path, v in zip(graph.signals, node, strict=True))
        for node in graph.rests
    ]
    at = " or ".join(points) if len(points) <= MOST_POINTS else f"one of {len(points)} points"
    numbers = {"values of the commands that are reached": (graph.count, ""), "of them at rest": (len(graph.rests), "")}
    evidence = Evidence(Grade.PROVED, HOW_FOLLOWED, certificate=graph.script, numbers=numbers)
    once = f", once {' and '.join(graph.limits)} is where its flow takes it" if graph.limits else ""
    message = f"{_settle(group)} from {render_start(model)}, in any order and with any phases{once}: {at}"
    assumed = dict.fromkeys((*model.abstractions, *graph.assumptions))
    return question.proved(message, group.places, group.names, evidence, assumptions=tuple(assumed))


def _unwoken(question: Question, group: Group, rests: Sequence[CommandRest]) -> Finding:
    """Returns the proof that each command comes to rest since what some loops make of it never wakes the others."""
    model: Model = group.model
    numbers = {name: number for rest in rests for name, number in rest.numbers(model).items()}
    evidence = Evidence(Grade.PROVED, HOW_UNWOKEN, certificate=joined([rest.script for rest in rests]), numbers=numbers)
    assumed = dict.fromkeys((*model.abstractions, *(words for rest in rests for words in rest.assumptions)))
    why = "; ".join(rest.render(model) for rest in rests)
    message = f"{_settle(group)} from {render_start(model)}: {why}"
    return question.proved(message, group.places, group.names, evidence, assumptions=tuple(assumed))


def _settle(group: Group) -> str:
    return f"{' and '.join(group.names)} {'settles' if len(group.names) == 1 else 'settle'}"
