"""The parts that wait for a time to pass, against plain programs that look at a clock.

SOURCE: KEDA 2.14 to 2.22, pkg/scaling/executor/scale_scaledobjects.go: RequestScale, scaleToZeroOrIdle (at each poll:
to 0 once the last active poll, kept in whole seconds, and the cooldown lie before now).
resilience4j 1.0 to 2.2, CircuitBreakerStateMachine.OpenState: tryAcquirePermission (the first call after the wait).
Kubernetes 1.23 to 1.35, pkg/kubelet/kuberuntime/kuberuntime_container.go: killContainer, executePreStopHook (whole
seconds of the hook are taken off the grace period, of which 2 s stay at least).
Kueue 0.6 to 0.19, pkg/controller/core/workload_controller.go: admittedNotReadyWorkload (the time since the admission,
which the API keeps in whole seconds).
Slurm 26.05, src/slurmd/slurmd/req.c: _rpc_terminate_job, src/slurmd/common/slurmd_common.c: pause_for_job_completion
(looks after 20, 50, 100 and 500 ms, which count as one second, and then each second).
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.jobs.run import simulate
from coherence.verify.timers.firing import FiringWindow, firing
from tests.draws import source, trace_counts

F = Fraction
LEAST_GRACE = 2  # seconds that a container gets whatever its hook took


def window(timer: str) -> FiringWindow:
    """Returns the firing window of a part."""
    text = f"coherence: 1\ntimers: {{guard: {{from: job starts, then: stop web, {timer}}}}}\n"
    fires = firing(read_text(text).timers["guard"])
    assert fires is not None
    return fires.window


def ends(window: FiringWindow) -> tuple[Fraction, Fraction]:
    assert window.latest is not None
    return window.earliest, window.latest


# --- KEDA


def idle_for(cooldown: int, every: int, begins: Fraction, late: Fraction) -> Fraction:
    """Returns how long after the last active poll a workload goes to 0; each poll comes so late."""
    active, now = math.floor(begins), begins
    while not active + cooldown < now:
        now += every + late
    return now - begins


@trace_counts(300, of=("keda_cooldown",))
def test_keda_goes_to_0_within_the_window_and_near_both_ends_of_it(traces: int) -> None:
    rng = source(31)
    settings = {
        (300, 30): window("uses: keda_cooldown"),
        (46, 45): window("uses: keda_cooldown, after: 46 s, jitter: -1 s .. 45 s"),
        (300, 7): window("uses: keda_cooldown, jitter: -1 s .. 7 s"),
    }
    shares = []
    for _ in range(traces):
        (cooldown, every), span = rng.choice(list(settings.items()))
        low, high = ends(span)
        late = F(rng.randint(0, 1000), 1000 * (cooldown // every + 2))
        lag = idle_for(cooldown, every, F(rng.randint(0, 10_000), 1000), late)
        assert low <= lag <= high + 1, (cooldown, every)  # polls that are late by 1 s together
        shares.append((lag - low) / (high - low))
    assert min(shares) < F(1, 10)
    assert max(shares) > F(9, 10)


def test_a_workload_that_idled_between_two_polls_stands_a_poll_longer() -> None:
    assert idle_for(300, 30, F(0), F(0)) == 330
    assert idle_for(300, 30, F(1, 2), F(0)) == 300
    assert idle_for(300, 7, F(0), F(0)) == 301


# --- resilience4j


@trace_counts(300, of=("circuit_breaker_open",))
def test_an_open_breaker_refuses_every_call_of_the_window_and_lets_the_first_one_after_it_try(traces: int) -> None:
    rng = source(32)
    spans = {60: window("uses: circuit_breaker_open"), 5: window("uses: circuit_breaker_open, after: 5 s")}
    for _ in range(traces):
        wait, opened = rng.choice([60, 5]), F(rng.randint(0, 10_000), 1000)
        low, high = ends(spans[wait])
        call = opened
        while not call > opened + wait:
            assert call - opened <= high
            call += F(rng.randint(1, 3000), 1000)
        assert call - opened > low


# --- kubelet


def killed_after(grace: int, hook: Fraction) -> Fraction:
    """Returns when a container that never ends is killed, after its end was ordered; its hook takes so long."""
    ran = min(hook, F(grace))
    return ran + max(LEAST_GRACE, grace - math.floor(ran))


@trace_counts(300, of=("termination_grace",))
def test_without_a_hook_kubelet_kills_just_at_the_time_and_with_one_less_than_2_s_later(traces: int) -> None:
    rng = source(33)
    late = []
    for _ in range(traces):
        grace = rng.choice((2, 5, 30, 60))
        low, high = ends(window(f"uses: termination_grace, after: {grace} s"))
        assert low <= killed_after(grace, F(0)) <= high
        lag = killed_after(grace, F(rng.randint(0, 1000 * (grace + 2)), 1000))
        assert low <= lag <= high + LEAST_GRACE
        late.append(lag - high)
    assert max(late) == LEAST_GRACE


def test_the_default_grace_is_30_s_and_none_is_shorter_than_2_s() -> None:
    assert ends(window("uses: termination_grace")) == (F(30), F(30))
    assert killed_after(1, F(0)) == LEAST_GRACE


# --- Kueue


def evicted_after(timeout: int, admitted: Fraction) -> Fraction:
    """Returns how long after its admission at a moment a workload that is never ready is evicted."""
    now = admitted
    while timeout - (now - math.floor(admitted)) > 0:  # asked again when the rest is over
        now += timeout - (now - math.floor(admitted))
    return now - admitted


@trace_counts(300, of=("kueue_pods_ready", "kueue_pods_ready_v1beta2"))
def test_kueue_evicts_within_the_window_and_near_both_ends_of_it(traces: int) -> None:
    rng = source(37)
    spans = {300: window("uses: kueue_pods_ready, unless: job ends")}
    spans[1800] = window("uses: kueue_pods_ready_v1beta2, unless: job ends")
    shares = []
    for _ in range(traces):
        admitted = F(rng.randint(0, 10_000), 1000)
        for timeout, span in spans.items():
            low, high = ends(span)
            shares.append((evicted_after(timeout, admitted) - low) / (high - low))
    assert 0 <= min(shares) < F(1, 10)
    assert F(9, 10) < max(shares) <= 1


def test_a_workload_admitted_a_minute_ago_is_asked_about_again_in_4_minutes() -> None:
    """A row of the original's own tests: workload_controller_test.go, TestAdmittedNotReadyWorkload (Apache-2.0)."""
    assert evicted_after(300, F(0)) - 60 == 240


# --- Slurm


def slurm_kills_after(kill_wait: int) -> Fraction:
    """Returns how long after SIGTERM slurmd sends SIGKILL to a job that does not end."""
    waits = iter((F(2, 100), F(5, 100), F(1, 10), F(1, 2)))
    limit, counted, passed, pause = max(kill_wait, 5), 0, F(0), 1
    while counted < limit:
        if counted > 10:
            pause = min(limit - counted, 10)
        wait = next(waits, None)
        passed += pause if wait is None else wait
        counted = counted + pause if wait is None else 1 if wait == F(1, 2) else 0
    return passed


@trace_counts(60, of=("slurm_kill_wait",), parts=50)
def test_slurm_kills_within_the_window(traces: int) -> None:
    rng = source(38)
    for _ in range(traces):
        wait = rng.choice((5, 11, 30, 90, rng.randint(5, 600)))
        low, high = ends(window(f"uses: slurm_kill_wait, after: {wait} s, unless: job ends"))
        assert low <= slurm_kills_after(wait) <= high


def test_slurm_kills_a_third_of_a_second_early_and_never_before_5_s() -> None:
    assert slurm_kills_after(30) == ends(window("uses: slurm_kill_wait, unless: job ends"))[0] == F(2967, 100)
    assert slurm_kills_after(0) == slurm_kills_after(5) == F(467, 100)


# --- saves of a training loop


def saves(steps: int, step: int, every: int, takes: int) -> list[int]:
    """Returns when a loop that looks at the clock after each step saves; the last is after its last step."""
    now = saved = 0
    begun: list[int] = []
    for number in range(steps):
        now += step
        if now - saved >= every or number == steps - 1:
            begun.append(now)
            now += takes
            saved = now
    return begun


@trace_counts(60, parts=50, of=("checkpoint",))
def test_a_simulated_job_saves_when_the_loop_does(traces: int) -> None:
    rng = source(34)
    for _ in range(traces):
        steps, step, every, takes = rng.randint(1, 200), rng.randint(1, 40), rng.randint(1, 900), rng.randint(1, 120)
        (job,) = jobs_of(
            read_text(f"""coherence: 1
components: {{train: {{uses: barrier, ranks: 2, typical: {step} s, spread: 0 %, work: {steps} step,
    takes: {{checkpoint: {takes} s}}}}}}
timers: {{save: {{uses: checkpoint, from: job starts, every: {every} s, then: train.checkpoint starts}}}}
""")
        )
        spans = [span for span in simulate(job).spans if span.state == "checkpoint"]
        assert [span.start // 10**9 for span in spans] == saves(steps, step, every, takes), (steps, step, every, takes)


@trace_counts(300, of=("checkpoint",))
def test_the_next_save_begins_within_the_window_of_any_moment_of_work_but_for_the_step_at_hand(traces: int) -> None:
    rng = source(35)
    low, high = ends(window("uses: checkpoint, every: 10 min"))
    waits = []
    for _ in range(traces):
        step, takes = rng.randint(1, 40), rng.randint(1, 120)
        begun = saves(3000 // step, step, 600, takes)
        failed = rng.randint(0, begun[-1])
        after = next(at for at in begun if at >= failed)
        inside = next((at for at in begun if at <= failed < at + takes), None)
        waits.append(after - failed if inside is None else 0)
        assert low <= waits[-1] < high + step + takes * (inside is not None), (step, takes, failed)
    assert max(waits) > high - 60
