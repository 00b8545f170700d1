"""Values of textbooks and papers by the command alone; each was written down before the command was asked.

SOURCE: D. Gross et al., Fundamentals of Queueing Theory, chapters 2 and 5 (Erlang, Pollaczek and Khinchine); J. Dean
and L. Barroso, CACM 56(2), 2013 (63 % of requests to 100 servers of which each is slow once in 100); the sources on
the bounds' own pages for the rest.
"""

from __future__ import annotations

import json
import math

import pytest

from coherence.cli._run import run

CASES: tuple[tuple[str, float], ...] = (  # command, value in SI units (bytes for bits)
    ("erlang_loss servers=5 offered=3", 81 / 736),
    ("erlang_waiting servers=2 offered=1", 1 / 3),
    ("erlang_wait servers=2 rate=1_Hz mean=1_s", 1 / 3),
    ("single_server_wait load=0.5 mean=1_s cv=0", 0.5),
    ("single_server_wait load=0.8 mean=10_ms cv=1", 0.04),
    ("fork_join_two load=0.8 mean=1_s", 7.0),
    ("age_of_information load=0.5 mean=1_s", 3.5),
    ("tail_at_scale p=0.99 n=100", 1 - 0.99**100),
    ("barrier_exponential n=3 mean=6_s", 11.0),
    ("gossip_calls n=10", 16.0),
    ("crash_replicas failures=3", 7.0),
    ("byzantine_replicas failures=3", 10.0),
    ("byzantine_delay replicas=13 failures=3 delay=1_ms", 0.003),
    ("byzantine_delay replicas=14 failures=3 delay=1_ms", 0.002),
    ("agreement_rounds failures=2 processes=7 delay=10_ms", 0.03),
    ("commit_messages n=4", 6.0),
    ("clock_synchronisation uncertainty=1_ms n=4", 0.00075),
    ("linearizable_write uncertainty=8_ms", 0.004),
    ("partition_answer_time duration=2_min", 120.0),
    ("ski_rental price=2", 1.5),
    ("rental_by_lot_ratio price=1000", 1 / (1 - 0.999**1000)),
    ("task_system_ratio states=10", 19.0),
    ("selfish_placement_ratio servers=3", 1.5),
    ("list_scheduling_ratio servers=3", 5 / 3),
    ("whole_routing_ratio users=3", 2.5),
    ("shares_by_bids_ratio users=1e9", 4 / 3),
    ("lossy_channel_growth loss=50_% bits=1 moment=2", math.sqrt(1.6)),
    ("randomised_agreement_steps processes=5", 10.0),
    ("merged_counter_bits replicas=10 most=1023", 100.0),
    ("follower_time_gap lag=0.3_s", 0.6),
    ("fullest_bin_load balls=2 bins=4 choices=1", 1.25),
    ("one_round_read_servers readers=10 failures=1", 13.0),
    ("eviction_ratio slots=4 other=4", 4.0),
    ("randomised_eviction_ratio slots=2", 1.5),
    ("checkpoint_interval_young write=60_s mtbf=1_d", math.sqrt(2 * 60 * 86400)),
    ("pipeline_bubble_share p=8 m=64", 7 / 71),
    ("all_reduce_end_point n=4 size=1_GB bandwidth=100_GB/s", 0.015),
    ("data_rate eigenvalues=2,1.5", math.log2(3) / 8),
    ("gradient_coding_load workers=4 late=1", 0.5),
    ("nested_attempts outer=4 inner=3", 12.0),
    ("retry_attempts p=0.5 tries=3", 1.75),
)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "value"), CASES, ids=[command for command, _ in CASES])
def test_the_command_gives_the_published_value(capsys: pytest.CaptureFixture[str], command: str, value: float) -> None:
    words = [word.replace("_", " ") if "=" in word else word for word in command.split()]
    assert run(["bound", *words, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"]["low"] == pytest.approx(value, rel=1e-6)
