"""Converts the keys of an inference server into its limits and its step time; refuses what would have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherence.base.errors import Problem, UsageError
from coherence.base.places import Place
from coherence.language.design import Component
from coherence.language.schema_kinds import Quantity
from coherence.simulate.processes.numbers import lower
from coherence.simulate.serving.server import Experts, InferenceServer, StepTime

WHOLE = (
    "max_num_seqs", "max_num_batched_tokens", "blocks", "block_size", "admits_whole", "prefix_cache", "tensor_parallel",
    "all_reduces", "experts", "experts_per_token", "expert_parallel", "copies",
)  # fmt: skip
TIMES = (
    "step_time", "per_prompt_token", "per_request", "per_cached_token", "all_reduce_time", "all_reduce_per_token",
    "experts_time", "transfer_time", "transfer_per_token",
)  # fmt: skip
Numbers = Mapping[str, float]


def machine(
    component: Component, *, fed: bool, notes: list[str], problems: list[Problem]
) -> tuple[InferenceServer, StepTime] | None:
    """Returns limits and step time of a server; None, with problems, where they cannot be.

    `fed`: another server computes its prompts.
    """
    numbers = numbers_of(component, notes)
    wrong = [*_no_numbers(component, numbers)]
    wrong = wrong or [*_fractions(component, numbers), *_without_effect(component, numbers, fed=fed)]
    problems += wrong
    if wrong:
        return None
    notes += _open(component.name, numbers)
    try:
        return _server(numbers), _step(numbers)
    except UsageError as error:
        problems.append(Problem(component.place, f"{component.name}: {error}", "state numbers that go together"))
        return None


def numbers_of(component: Component, notes: list[str]) -> Numbers:
    """Returns the numbers of a server, in SI."""
    values = {key: component.constants.get(key) for key in (*WHOLE, *TIMES)}
    stated = {key: value for key, value in values.items() if isinstance(value, Quantity)}
    if isinstance(component.copies, Quantity):
        stated["copies"] = component.copies
    return {"copies": 1.0} | {key: lower(value, f"{key} of {component.name}", notes) for key, value in stated.items()}


def _server(numbers: Numbers) -> InferenceServer:
    whole = {key: int(numbers[key]) for key in WHOLE}
    return InferenceServer(
        whole["max_num_seqs"],
        whole["max_num_batched_tokens"],
        whole["blocks"],
        whole["block_size"],
        admits_whole=bool(whole["admits_whole"]),
        prefix_cache=bool(whole["prefix_cache"]),
        copies=whole["copies"],
        together=bool(whole["expert_parallel"]),
    )


def _step(numbers: Numbers) -> StepTime:
    """A group of accelerators divides what one would need, and adds its all-reduces."""
    group, reduces = numbers["tensor_parallel"], numbers["all_reduces"]
    each = reduces * numbers["all_reduce_per_token"]
    experts = Experts(int(numbers["experts"]), int(numbers["experts_per_token"]), numbers["experts_time"] / group)
    return StepTime(
        numbers["step_time"] / group + reduces * numbers["all_reduce_time"],
        numbers["per_prompt_token"] / group + each,
        numbers["per_request"] + each,
        numbers["per_cached_token"] / group,
        experts if experts.seconds else None,
    )


def _no_numbers(component: Component, numbers: Numbers) -> Iterator[Problem]:
    """Yields a problem for each key that is no number: an expression, or missing."""
    for key in (*WHOLE, *TIMES):
        if key not in numbers:
            yield Problem(_place(component, key), f"{key} of {component.name} is no number", "write one")


def _fractions(component: Component, numbers: Numbers) -> Iterator[Problem]:
    for key in WHOLE:
        if numbers[key] != int(numbers[key]):
            place = _place(component, key)
            yield Problem(
                place, f"{key} of {component.name} (={numbers[key]:g}) is no whole number", "write a whole one"
            )


def _without_effect(component: Component, numbers: Numbers, *, fed: bool) -> Iterator[Problem]:
    """Yields a problem for each key that is stated where it would change nothing."""
    times = ("all_reduce_time", "all_reduce_per_token")
    needs = (
        (("all_reduces", *times), numbers["tensor_parallel"] > 1, "tensor_parallel: 2"),
        (times, numbers["all_reduces"] > 0, "all_reduces: 64, two a layer"),
        (("experts_per_token", "expert_parallel"), numbers["experts"] > 1, "experts: 128"),
        (("expert_parallel",), numbers["copies"] > 1, "copies: 2"),
        (("transfer_time", "transfer_per_token"), fed, "a call from the server that computes the prompts"),
    )  # fmt: skip
    neutral = {"experts_per_token": 1}
    for keys, present, remedy in needs:
        for key in keys:
            if not present and numbers[key] != neutral.get(key, 0):
                message = f"{key} of {component.name} changes nothing here"
                yield Problem(_place(component, key), message, f"state {remedy}, or leave it out")


def _open(name: str, numbers: Numbers) -> Iterator[str]:
    """Yields what is taken to cost nothing."""
    if numbers["tensor_parallel"] > 1 and not numbers["all_reduces"]:
        yield f"all-reduces of {name} take no time: state all_reduces and the time of one"
    if numbers["experts"] > 1 and not numbers["experts_time"]:
        yield f"reading the experts of {name} takes no time of its own: state experts_time"


def _place(component: Component, key: str) -> Place:
    stated = component.copies if key == "copies" else component.constants.get(key)
    return stated.place if stated is not None else component.place
