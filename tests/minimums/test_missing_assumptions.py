"""Floors that a construction beats: each lists the assumption that the construction breaks, or has another value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.language.reading import read_text
from coherence.minimums import sensitivity
from coherence.minimums.assumptions import assumption
from coherence.minimums.bounds.network_coherence import settled
from coherence.minimums.bounds.optimisation_messages import error_left
from coherence.minimums.design_floors import design_floors
from coherence.minimums.fabric.wiring import Wire, fabric, ring
from coherence.minimums.floors import at
from coherence.minimums.registry import entry


@pytest.mark.parametrize(
    ("bound", "breaks"),
    [
        ("all_reduce_end_point", "one_attachment"),  # boxes of 8 with a link of their own beside the network port
        ("all_gather", "one_attachment"),
        ("all_to_all", "one_attachment"),
        ("reduce_scatter", "one_attachment"),
        ("all_reduce_latency", "end_point_reduction"),  # a switch that adds: two messages
        ("transfer_time_fabric", "forwarded_only"),  # XOR at the middle of a butterfly
        ("checkpoint_overhead", "failures_in_restarts"),  # nothing fails while the job is down
        ("transformer_operations", "full_heads"),  # StarCoder: one head of keys and values
        ("transformer_operations", "four_wide_layers"),
        ("data_rate_continuous", "uniform_samples"),  # an event-triggered sensor: the time of a bit tells more
        ("clock_synchronisation", "unicast"),  # one broadcast with a common delay (Elson 2002)
        ("agreement_rounds", "silent_crash"),  # a fast failure detector (Aguilera, Le Lann, Toueg 2002)
        ("agreement_rounds", "lock_step"),
        ("commit_messages", "late_messages"),  # a vote by silence: 3 messages of 3 participants, one of which may stop
        ("early_stopping_rounds", "decided_stops"),  # one round without a stop, for who goes on sending
        ("linearizable_read", "several_users"),  # one reader that holds the register reads at once
        ("linearizable_write", "several_users"),
        ("data_rate", "uniform_samples"),  # one bit as the state leaves its interval, silence until then
        ("eviction_ratio", "no_forecast"),  # a cache that knows what comes
        ("barrier_lognormal", "lognormal"),  # two values of the same spread
        ("batch_forming_delay", "patient"),  # who began gives up where the next one comes late
        ("age_least", "one_at_a_time"),  # several servers
        ("age_of_information", "one_at_a_time"),
        ("sojourn_quantile", "one_at_a_time"),
        ("bode_continuous", "linear_law"),  # a reset, or gains that change with time
        ("stale_updates", "linear_law"),  # no gain for d updates, then one of 1
        ("stale_updates", "integrator"),  # an error that halves by itself
        ("read_rounds", "separate_clients"),  # one client that reads and is told by those that write (SNOW revisited)
        ("one_round_read_servers", "reads_again"),  # two readers that read once each: four servers
        ("answers_heard", "unknown_places"),  # the owner of a key knows that the key is absent
        ("gradient_bits", "delimited_messages"),  # the empty message, 0 and 1
        ("election_messages", "unknown_size"),  # the theorem is of uniform algorithms
        ("bode_side_information", "gaussian_disturbance"),  # two levels, one bit
        ("coded_shuffle_load", "separate_values"),  # combiners
        ("product_exchange", "given_inputs"),  # factors that are computed where they are needed
        ("clock_skew_path", "unrelated_delays"),  # ways there and back of equal length
        ("clock_synchronisation", "unrelated_delays"),
        ("linearizable_read", "unrelated_delays"),
        ("linearizable_write", "unrelated_delays"),
        ("overload_free_load", "fcfs"),  # the newest is served first: it is answered in time
        ("overload_free_load", "long_queue"),  # room for as many as are answered in time
        ("neighbour_skew", "slow_drift"),  # what a fast member hears would come sooner than the least delay
        ("optimisation_messages", "many_coordinates"),  # a chain that ends has less behind the known ones
        ("selfish_placement_ratio", "settled_choices"),  # ten jobs that draw one of ten servers each: 2.7 together
        ("selfish_placement_ratio", "equal_servers"),  # a fast one beside a slow one: (1 + sqrt(5))/2
        ("whole_routing_ratio", "equal_users"),  # two sizes of users: (3 + sqrt(5))/2
        ("slotted_backlog", "independent_slots"),  # pairs that come at equal gaps
        ("task_system_ratio", "symmetric_moves"),  # round three states, one way dearer: 4.5 times
        ("task_system_ratio", "any_task"),  # paging: as many times as a cache has slots
        ("one_bit_sensors", "one_bit"),  # silence as a third message
        ("reading_age_mean", "free_phases"),  # a loop that reads just after its sensor
        ("reading_age_longest", "free_phases"),
    ],
)
def test_what_a_construction_breaks_is_listed(bound: str, breaks: str) -> None:
    assert breaks in entry(bound).bound.assumptions
    assert assumption(breaks).refuted_by


@pytest.mark.parametrize("others", range(1, 7))
def test_a_quorum_survives_each_minority_and_no_smaller_one_does(others: int) -> None:
    trips = tuple(Fraction(number + 1) for number in range(others))
    floor = entry("quorum_latency").bound.compute
    assert floor is not None
    replicas, gone = set(range(others + 1)), others // 2  # replica 0 leads; at most (n - 1) / 2 are lost
    best = min(
        max((trips[replica - 1] for replica in chosen), default=Fraction(0))
        for size in range(others + 1)
        for chosen in itertools.combinations(range(1, others + 1), size)
        if all({0, *chosen} - set(lost) for lost in itertools.combinations(replicas, gone))
    )
    assert floor({"round_trips": trips}) == best  # type: ignore[dict-item]


def test_the_edge_of_a_sampled_gain_is_the_first_loss() -> None:
    assert entry("sampled_gain").bound.quantity == "gain below which every gain is stable"


LOOP = """coherence: 1
components: {{pool: {{usage: 1}}}}
loops:
  slow:
    target: {{signal: pool.usage, setpoint: 50 %, sensor: [{sensor}]}}
    timescale: {{period: {period} s, phase: {phase} s}}
    actuation: {{signal: pool.replicas, bounds: [1, 12]}}
"""


@pytest.mark.parametrize("sensor", [(30,), (12,), (12, 5), (7, 21, 3)])
@pytest.mark.parametrize("period", [30, 9])
@pytest.mark.parametrize("phase", [0, 1, 11])
def test_ages_of_a_loop_whose_phase_is_stated_are_those_of_its_run(
    sensor: tuple[int, ...], period: int, phase: int
) -> None:
    chain = ", ".join(f"{'relist' if k else 'scrape'} {size} s" for k, size in enumerate(sensor))
    design = read_text(LOOP.format(sensor=chain, period=period, phase=phase))
    ages = _run(sensor, period, phase)
    bounds = {name: entry(name).bound for name in ("reading_age_mean", "reading_age_longest")}
    floors = {one.bound.name: one.floor for one in design_floors(design, bounds.values())}
    mean, longest = floors["reading_age_mean"], floors["reading_age_longest"]
    assert mean is not None
    assert longest is not None
    assert mean.low == mean.high == Fraction(sum(ages), len(ages)) + Fraction(1, 2)
    assert longest.low == longest.high == max(ages) + 1


def _run(sensor: tuple[int, ...], period: int, phase: int) -> list[int]:
    """The age of what the loop acts on at every second of a cycle; each part copies what the one before it shows."""
    cycle = math.lcm(period, *sensor)
    shown, acted, ages = [0] * len(sensor), 0, []
    for now in range(3 * cycle):
        for k, size in enumerate(sensor):
            if now % size == 0:
                shown[k] = now if k == 0 else shown[k - 1]
        if now % period == phase % period:
            acted = shown[-1]
        if now >= 2 * cycle:
            ages.append(now - acted)
    return ages


def test_a_float_stands_for_its_shortest_decimal() -> None:
    tenths: dict[str, Any] = {"sizes": (0.1, 0.2), "capacity": 0.3}
    for name in ("bins_needed", "bins_by_volume"):
        assert at(entry(name).bound, tenths) == 1


def test_numbers_beyond_floating_point_are_refused() -> None:
    with pytest.raises(UsageError, match="beyond"):
        at(entry("all_reduce_end_point").bound, {"n": 10**400, "size": 1, "bandwidth": 1})
    with pytest.raises(UsageError, match="no finite value"):
        at(entry("compute_time").bound, {"operations": 10**300, "units": 1, "peak": Fraction(1, 10**300)})


@pytest.mark.parametrize("staleness", range(1, 12))
def test_a_gain_that_waits_until_all_readings_are_alike_leaves_no_error(staleness: int) -> None:
    past = [Fraction(3)] * (staleness + 1)
    for gain in (*[0] * staleness, 1):
        past = [past[0] - gain * past[staleness], *past[:-1]]
    assert past[0] == 0
    assert at(entry("stale_updates").bound, {"staleness": staleness}) > 1


def test_an_error_that_halves_by_itself_needs_no_gain() -> None:
    assert 1 / math.log(2) < at(entry("stale_updates").bound, {"staleness": 8})


def test_three_messages_of_at_most_one_bit_tell_a_number_within_a_third() -> None:
    middles = {"": Fraction(-2, 3), "0": Fraction(0), "1": Fraction(2, 3)}
    line = [Fraction(k, 300) for k in range(-300, 301)]
    assert max(min(abs(x - middle) for middle in middles.values()) for x in line) == Fraction(1, 3)
    assert max(map(len, middles)) < at(entry("gradient_bits").bound, {"dimension": 1, "error": Fraction(1, 3)})


def test_the_owner_of_a_key_alone_knows_that_it_is_absent() -> None:
    """Whatever other holders have, the answer of the owner is that of all of them together."""
    holders, keys = 4, range(8)
    for have in itertools.product((False, True), repeat=len(keys)):
        placed = [{key for key in keys if have[key] and key % holders == holder} for holder in range(holders)]
        assert all((key in placed[key % holders]) is (key in set().union(*placed)) for key in keys)
    assert at(entry("answers_heard").bound, {"n": holders}) == 3


READ = ("begin", "ask", "ask")


def _orders(readers: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yields the orders of a write (shard, shard, a message to each reader, end) and of one read after another."""
    steps = [(0, step) for step in range(3 + readers)], [(1, step) for step in range(readers * len(READ))]
    for places in itertools.combinations(range(len(steps[0]) + len(steps[1])), len(steps[0])):
        write, reads = iter(steps[0]), iter(steps[1])
        yield tuple(next(write) if k in places else next(reads) for k in range(len(steps[0]) + len(steps[1])))


def _told_reads_are_right(readers: int, order: tuple[tuple[int, int], ...]) -> bool:
    """Runs reads of one round that ask for the version they were told of: each is whole, none is older than it must."""
    held, told, ended, must, asked = set[int](), set[int](), False, False, False
    for who, step in order:
        reader, kind = divmod(step, len(READ))
        if not who:
            held |= {step} if step < 2 else set()
            told |= {step - 2} if 2 <= step < 2 + readers else set()
            ended = step == 2 + readers
        elif READ[kind] == "begin":
            must, asked = must or ended or asked, reader in told  # after the write, or after a read that showed it
        elif asked and kind - 1 not in held:
            return False
        if must and not asked:
            return False
    return True


def test_one_reader_that_writers_tell_reads_in_one_round_and_two_readers_cannot() -> None:
    assert all(_told_reads_are_right(1, order) for order in _orders(1))
    assert not all(_told_reads_are_right(2, order) for order in _orders(2))
    assert at(entry("read_rounds").bound, {"shards": 2}) == 2


@pytest.mark.parametrize("exponent", [3, 9, 17, 40, 300])
def test_many_old_updates_take_half_an_update_more_than_they_are_old(exponent: int) -> None:
    staleness = 10**exponent
    value = float(at(entry("stale_updates").bound, {"staleness": staleness}))
    assert value == pytest.approx(staleness + 0.5, rel=1e-7 if exponent == 3 else 1e-15)


def test_a_value_beyond_floating_point_is_named_as_that() -> None:
    inputs: dict[str, Any] = {"growth": 2, "share": Fraction(999, 1000), "level": Fraction(1, 10), "preview": 1}
    with pytest.raises(UsageError, match=r"beyond 1\.8e308"):
        at(entry("bode_side_information").bound, inputs)


def test_a_slope_where_the_bound_holds_on_neither_side_is_that_of_its_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on an install without sympy; the step is one process."""
    monkeypatch.setattr(sensitivity, "_derivative", lambda *_: None)
    [slope] = sensitivity.sensitivities(entry("election_messages").bound, {"n": Fraction(4)})
    assert not slope.exact
    assert slope.elasticity == pytest.approx((5 * math.log2(5) / 4 + 0.5 - 2.5) * 4 / 2.5)


def test_both_ends_of_a_link_whose_wire_goes_one_way_correct() -> None:
    """A circle of three one-way wires is held as well as one of links: 1/2 (1/3 + 1/3)/3 = 1/9."""
    wires = [Wire(near, far, Fraction(1)) for near, far in itertools.pairwise("abca")]
    graphs: tuple[Any, ...] = (fabric("abc", wires), ring(3))
    held = [at(entry("network_coherence").bound, {"fabric": graph, "gain": 1, "noise": 1}) for graph in graphs]
    assert held == pytest.approx([1 / 9, 1 / 9])
    assert settled(3, dict.fromkeys(itertools.permutations(range(3), 2), 1.0)) == pytest.approx(1 / 9)


def test_a_chain_of_few_coordinates_is_nearer_its_minimum_than_an_endless_one() -> None:
    """Condition 100, 24 coordinates, 22 messages: 23 are known, and .6 of the endless chain's error is left."""
    share = 9 / 11
    left = math.sqrt((share**46 - share**48) / (1 - share**48))
    assert left < 0.6 * error_left(100, 23)
