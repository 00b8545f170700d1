"""Defines the inference server and its load as values.  Seconds and tokens.

SOURCE: vLLM, `vllm/config` (SchedulerConfig, CacheConfig) for the names and meaning of the limits;
Kwon et al., Efficient Memory Management for LLM Serving with PagedAttention, SOSP 2023, for blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKED, PREFILL_FIRST = "chunked", "prefill-first"


@dataclass(frozen=True)
class InferenceServer:
    """What bounds a step, and what bounds memory.

    `max_num_seqs`: requests that run at once.  `max_num_batched_tokens`: tokens of one step.
    `blocks` of `block_size` tokens hold the keys and values of running requests.
    `prefill`: "chunked" (decodes first, prompts in pieces fill the rest of the step) or "prefill-first"
    (whole prompts in steps of their own, before any decode).
    `admits_whole`: a waiting request is admitted when blocks for all its tokens are free, not only for its first
    piece (vLLM: scheduler_reserve_full_isl).  `prefix_cache`: full blocks that nobody uses are found again.
    `copies`: servers behind one front, each with its own queue and cache; `together`: they take steps in step, each
    as long as the slowest (expert parallelism).
    """

    max_num_seqs: int
    max_num_batched_tokens: int
    blocks: int
    block_size: int = 16
    prefill: str = CHUNKED
    admits_whole: bool = False
    prefix_cache: bool = False
    copies: int = 1
    together: bool = False

    def __post_init__(self) -> None:
        for name in ("max_num_seqs", "max_num_batched_tokens", "blocks", "block_size", "copies"):
            _positive(name, getattr(self, name))
        if self.max_num_batched_tokens < self.max_num_seqs:
            limits = (
                f"max_num_batched_tokens(={self.max_num_batched_tokens}) must be >= max_num_seqs(={self.max_num_seqs})"
            )
            raise UsageError(f"{limits}: every running request decodes one token in a step")
        if self.prefill not in (CHUNKED, PREFILL_FIRST):
            raise UsageError(f"prefill(={self.prefill!r}) must be {CHUNKED!r} or {PREFILL_FIRST!r}")


@dataclass(frozen=True)
class Experts:
    """A mixture of experts: `chosen` of `count` for each token, and the seconds that reading all of them takes."""

    count: int
    chosen: int
    seconds: float

    def __post_init__(self) -> None:
        if not 1 <= self.chosen <= self.count:
            raise UsageError(f"experts of a token (={self.chosen}) must be at least 1 and at most all {self.count}")
        if not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise UsageError(f"the time of all experts (={self.seconds!r}) must be a number of seconds >= 0")

    def share(self, tokens: Any) -> Any:
        """Returns the expected share of experts that so many tokens reach, each choosing evenly and on its own.

        tokens: a number or an array.
        """
        return 1.0 - (1.0 - self.chosen / self.count) ** tokens


@dataclass(frozen=True)
class StepTime:
    """Seconds of a step: fixed + per_prefill_token p + per_sequence n + per_context_token c, and of its experts.

    p: prompt tokens computed in the step; n: requests in it; c: tokens that those requests already hold
    in the cache, read by attention.
    """

    fixed: float
    per_prefill_token: float
    per_sequence: float
    per_context_token: float
    experts: Experts | None = None

    def __post_init__(self) -> None:
        for name in ("fixed", "per_prefill_token", "per_sequence", "per_context_token"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds >= 0):
                raise UsageError(f"{name}(={seconds!r}) must be a number of seconds >= 0")
        if not self.fixed + self.per_sequence > 0:
            raise UsageError("fixed and per_sequence are both 0: a decode step would take no time")


@dataclass(frozen=True)
class TokenLoad:
    """Requests in order of arrival: when each comes, tokens of its prompt, tokens that it will write.

    `prefixes`: names of the blocks at the head of each prompt; equal names hold equal tokens behind equal tokens.
    `given`: tokens of each prompt that were computed elsewhere and come with it (None: none).
    `origin`: when the user asked, where another server was first (None: on arrival).
    """

    arrival: NDArray[Any]
    prompt: NDArray[Any]
    output: NDArray[Any]
    prefixes: tuple[tuple[int, ...], ...] = ()
    given: NDArray[Any] | None = None
    origin: NDArray[Any] | None = None

    @property
    def since(self) -> NDArray[Any]:
        """When users asked."""
        return self.arrival if self.origin is None else self.origin

    def __len__(self) -> int:
        return len(self.arrival)


def load(arrival: Iterable[float], prompt: Iterable[float], output: Iterable[float]) -> TokenLoad:
    """Returns a checked load.  Raises UsageError for unequal lengths, times out of order, and counts below one."""
    import numpy as np

    checked = TokenLoad(np.asarray(tuple(arrival), float), _whole("prompt", prompt), _whole("output", output))
    if not len(checked.arrival) == len(checked.prompt) == len(checked.output):
        counts = f"{len(checked.arrival)} arrivals, {len(checked.prompt)} prompts, {len(checked.output)} outputs"
        raise UsageError(f"a load needs as many prompts and outputs as arrivals: {counts}")
    if not np.isfinite(checked.arrival).all():
        raise UsageError(f"arrival {int(np.argmin(np.isfinite(checked.arrival)))} has no finite time")
    if (np.diff(checked.arrival) < 0).any():
        late = int(np.argmax(np.diff(checked.arrival) < 0)) + 1
        times = f"{checked.arrival[late]:g} s comes after {checked.arrival[late - 1]:g} s"
        raise UsageError(f"arrivals are out of order: request {late} at {times}; sort the load by arrival")
    return checked


def chosen(whole: TokenLoad, which: NDArray[Any]) -> TokenLoad:
    """Returns some requests of a load, by their numbers."""
    prefixes = tuple(whole.prefixes[i] for i in which) if whole.prefixes else ()
    given, origin = (None if column is None else column[which] for column in (whole.given, whole.origin))
    return TokenLoad(whole.arrival[which], whole.prompt[which], whole.output[which], prefixes, given, origin)


def _whole(name: str, counts: Iterable[float]) -> NDArray[Any]:
    import numpy as np

    numbers = np.asarray(tuple(counts), float)
    wrong = ~((numbers >= 1) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if wrong.any():
        index = int(np.argmax(wrong))
        raise UsageError(f"{name} of request {index} (={numbers[index]:g}) must be a whole number of tokens >= 1")
    return numbers.astype(np.int64)


def _positive(name: str, number: int) -> None:
    if number != int(number) or number < 1:
        raise UsageError(f"{name}(={number!r}) must be a whole number >= 1")
