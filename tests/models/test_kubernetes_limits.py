"""The parts of rolling updates and PodDisruptionBudgets against plain ones, number by number.

`Deployment` and `Budget` are written from what the controllers do, over integers, and share nothing with the engine.
SOURCE: Kubernetes 1.21 to 1.35, pkg/controller/deployment/util/deployment_util.go: ResolveFenceposts;
pkg/apis/apps/validation/validation.go: ValidateRollingUpdateDeployment; pkg/controller/disruption/disruption.go:
getExpectedPodCount, updatePdbStatus; apimachinery, util/intstr: GetScaledValueFromIntOrPercent.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.limits.limit_against_demand import ask as demands
from coherence.verify.patterns.limits.rollout_feasibility import FENCEPOST
from coherence.verify.patterns.limits.rollout_feasibility import ask as rollouts
from tests.draws import source, trace_counts

Amount = tuple[int, bool]  # a number of pods, or so many percent


def scaled(amount: Amount, pods: int, *, up: bool) -> int:
    """Returns a number of pods; a percentage of them rounded up or down, in whole numbers alone."""
    value, percent = amount
    if not percent:
        return value
    return (value * pods + 99) // 100 if up else value * pods // 100


@dataclass(frozen=True)
class Deployment:
    """The strategy of a rolling update."""

    surge: Amount
    unavailable: Amount

    @property
    def accepted(self) -> bool:
        return self.surge[0] > 0 or self.unavailable[0] > 0

    def fenceposts(self, pods: int) -> tuple[int, int]:
        """Returns how many pods may be extra, and how many may be missing."""
        surge, missing = scaled(self.surge, pods, up=True), scaled(self.unavailable, pods, up=False)
        return (surge, missing) if surge or missing else (0, 1)


@dataclass(frozen=True)
class Budget:
    """One of minAvailable and maxUnavailable."""

    least: Amount | None
    most: Amount | None

    def disruptions(self, pods: int) -> int:
        """Returns how many evictions it allows while all pods are healthy."""
        if self.most is not None:
            healthy = max(0, pods - scaled(self.most, pods, up=True))
        else:
            assert self.least is not None
            healthy = scaled(self.least, pods, up=True)
        return max(0, pods - healthy)


def text(amount: Amount) -> str:
    return f"{amount[0]} %" if amount[1] else str(amount[0])


def drawn(rng: random.Random) -> Amount:
    percent = rng.random() < 0.6
    return (
        rng.choice((0, 0, 1, 10, 25, 33, 50, 99, 100, rng.randint(0, 100))) if percent else rng.randint(0, 6)
    ), percent


def update(strategy: Deployment, pods: int) -> str:
    return f"""coherence: 1
components: {{web: {{copies: {pods}, needs: {{gpu: 1}}}}, pool: {{gpu: {pods}}}}}
limits:
  surge: {{uses: rolling_update_surge, counts: web.extra, at_most: {text(strategy.surge)}}}
  gone: {{uses: rolling_update_unavailable, counts: web.down, at_most: {text(strategy.unavailable)}}}
"""


def guarded(budget: Budget, pods: int) -> str:
    key, amount = ("at_most", budget.most) if budget.most is not None else ("at_least", budget.least)
    assert amount is not None
    return f"""coherence: 1
components: {{web: {{copies: {pods}}}}}
limits: {{pdb: {{uses: pod_disruption_budget, counts: web.healthy, {key}: {text(amount)}}}}}
"""


def update_of(design: str) -> tuple[Finding, int, int]:
    """Returns the answer about an update, and the numbers of extra and of missing pods that it stands on."""
    (answer,) = rollouts(Subject(read_text(design)))
    numbers = {name: value for name, (value, _) in answer.evidence.numbers.items()}
    extra, missing = int(numbers["may be extra"]), int(numbers["may be missing"])
    return answer, extra, 1 if FENCEPOST in answer.assumptions else missing


def same_update(strategy: Deployment, pods: int) -> None:
    answer, extra, missing = update_of(update(strategy, pods))
    if not strategy.accepted:
        assert "the API server rejects" in answer.message, (strategy, pods)
        return
    assert (extra, missing) == strategy.fenceposts(pods), (strategy, pods)
    assert (answer.verdict is Verdict.PROVED) == (missing > 0), (strategy, pods)  # there is no room for an extra pod


def same_budget(budget: Budget, pods: int) -> None:
    (answer,) = demands(Subject(read_text(guarded(budget, pods))))
    allowed = budget.disruptions(pods)
    assert answer.evidence.numbers["free to go"] == (allowed, ""), (budget, pods)
    assert (answer.verdict is Verdict.PROVED) == (allowed > 0), (budget, pods)


@trace_counts(150, of=("rolling_update_surge", "rolling_update_unavailable"))
def test_an_update_has_as_many_extra_and_missing_pods_as_the_controller(traces: int) -> None:
    rng = source(21)
    for _ in range(traces):
        same_update(Deployment(drawn(rng), drawn(rng)), rng.randint(1, 40))


@trace_counts(150, of=("pod_disruption_budget",))
def test_a_budget_lets_as_many_pods_go_as_the_controller(traces: int) -> None:
    rng = source(26)
    for _ in range(traces):
        same_budget(Budget(drawn(rng), None) if rng.random() < 0.5 else Budget(None, drawn(rng)), rng.randint(1, 40))


# --- rows of the original's own tests: deployment_util_test.go, TestResolveFenceposts; disruption_test.go.
# Kubernetes, Apache License 2.0.


@pytest.mark.parametrize(
    ("surge", "unavailable", "pods", "expected"),
    [
        ((0, True), (0, True), 0, (0, 1)),
        ((39, True), (39, True), 10, (4, 3)),
        ((0, False), (39, True), 10, (0, 3)),  # a strategy without maxSurge
        ((39, True), (0, False), 10, (4, 0)),  # and without maxUnavailable
        ((0, False), (0, False), 10, (0, 1)),
    ],
)
def test_fenceposts_as_the_original_tests_them(
    surge: Amount, unavailable: Amount, pods: int, expected: tuple[int, int]
) -> None:
    strategy = Deployment(surge, unavailable)
    assert strategy.fenceposts(pods) == expected
    if pods:
        same_update(strategy, pods)


@pytest.mark.parametrize(
    ("budget", "pods", "allowed"),
    [
        (Budget(None, (2, False)), 7, 2),  # TestIntegerMaxUnavailableWithScaling: 5 of 7 must be healthy
        (Budget(None, (2, False)), 5, 2),  # and 3 of 5
        (Budget((28, True), None), 10, 7),
        (Budget(None, (30, True)), 10, 3),
        (Budget((3, False), None), 4, 1),
        (Budget((100, True), None), 3, 0),
        (Budget(None, (9, False)), 4, 4),
    ],
)
def test_disruptions_as_the_original_tests_them_and_by_hand(budget: Budget, pods: int, allowed: int) -> None:
    assert budget.disruptions(pods) == allowed
    same_budget(budget, pods)


def test_the_defaults_of_an_update_are_shares_of_the_pods() -> None:
    plain = update(Deployment((25, True), (25, True)), 1).replace(", at_most: 25 %", "")
    assert update_of(plain)[1:] == (1, 0)


def test_two_budgets_on_one_pod_refuse_every_eviction() -> None:
    other = "limits: {other: {uses: pod_disruption_budget, counts: web.healthy, at_most: 3}, "
    both = read_text(guarded(Budget((1, False), None), 4).replace("limits: {", other))
    answers = [answer for answer in demands(Subject(both)) if set(answer.of) == {"pdb", "other"}]
    assert [answer.verdict for answer in answers] == [Verdict.CONFLICT]
