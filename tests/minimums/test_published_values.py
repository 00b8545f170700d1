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


def _lost(servers: int, load: float) -> float:
    """Erlang's recursion for the share that is lost."""
    share = 1.0
    for k in range(1, servers + 1):
        share = load * share / (k + load * share)
    return share


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
    ("sojourn_quantile service_rate=10_req/s rate=8_req/s q=90_%", math.log(10) / 2),
    ("single_server_wait load=90_% mean=100_ms cv=0", 0.45),
    ("erlang_loss servers=10 offered=5", _lost(10, 5)),
    ("erlang_waiting servers=5 offered=4", 5 * _lost(5, 4) / (5 - 4 * (1 - _lost(5, 4)))),
    ("blind_dispatch_time servers=2 rate=1_req/s mean=1_s", (1 + math.sqrt(5)) / 2),
    ("join_shortest_time servers=1 rate=3_req/s mean=250_ms", 1.0),
    ("fork_join_two load=0.5 mean=1_s", 2.875),
    ("bode_sampled growth=2 share=25_% level=10_%", math.exp((math.log(2) + math.log(10) / 4) / 0.75)),
    ("data_rate eigenvalues=3,0.5,2", math.log2(6) / 8),
    ("unstable_pole_peak pole=3_rad/s delay=200_ms", math.exp(0.6)),
    ("delay_gain_continuous delay=2_s", math.pi / 4),
    ("sampled_gain weights=0,1", 1.0),
    ("checkpoint_interval_young write=5_min mtbf=24_h", 7200.0),
    ("checkpoint_interval_exact write=5_min mtbf=24_h", 7001.404399599507),
    ("retries_for_availability p=10_% availability=99.999_%", 4.0),
    ("price_of_anarchy degree=2", 1 / (1 - 2 * 3**-1.5)),
    ("coded_shuffle_load machines=10 repeats=2", 0.4),
    ("leaf_spine_bisection leaves=4 hosts=8 spines=2 host_rate=25_GB/s up_rate=50_GB/s", 200e9),
    (
        "transformer_operations batch=1 sequence=2048 layers=96 width=12288",
        72 * 2048 * 96 * 12288**2 * (1 + 2048 / (6 * 12288)),
    ),
    ("kv_bytes_per_token layers=32 kv_heads=32 head=128 number=2_B", 524288.0),
    ("quorum_latency round_trips=12_ms,34_ms,56_ms,78_ms", 0.034),
    ("cache_fetches trace=7,0,1,2,0,3,0,4,2,3,0,3,2,1,2,0,1,7,0,1 slots=3", 8.0),  # an item need not be kept
    ("page_faults trace=7,0,1,2,0,3,0,4,2,3,0,3,2,1,2,0,1,7,0,1 slots=3", 9.0),
    ("bins_needed sizes=4,8,1,4,2,1 capacity=10", 2.0),
    ("network_coherence fabric=ring:4 gain=1_Hz noise=1_Hz", (1 / 2 + 1 / 2 + 1 / 4) / 8),
    (
        "detection_samples false_alarm=1_% miss=10_% information=0.5",
        (0.9 * math.log(90) + 0.1 * math.log(0.1 / 0.99)) / 0.5,
    ),
    ("age_least mean=1_s", 3.484435331765),
    ("tokens_sent_again calls=10 first=1000_token added=200_token", 19000.0),
    ("migration_time state=80_GB rate=100_Gbit/s", 6.4),
    ("slice_packing compute=7 memory=8 each=2 each_memory=2", 1 / 7),
    ("job_failure_time part_mtbf=50000_h n=10000", 18000.0),
    ("all_gather n=16 size=1_GB bandwidth=400_Gbit/s", 15 / 16 / 50),
    ("all_to_all n=8 size=8_GB bandwidth=450_GB/s", 7 / 8 * 8 / 450),
    ("product_traffic m=1024 k=1024 n=1024 room=1024", 2 * 1024**3 / 32 - 2048),
    ("barrier_variance n=5 mean=10_s sigma=3_s", 14.0),
    ("optimisation_messages condition=9 error=0.01", math.log(100) / math.log(2) - 1),
    ("lossy_channel_growth loss=0_% bits=2 moment=2", 4.0),
)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "value"), CASES, ids=[command for command, _ in CASES])
def test_the_command_gives_the_published_value(capsys: pytest.CaptureFixture[str], command: str, value: float) -> None:
    name, *given = command.split()
    parts = [word.partition("=") for word in given]
    words = [f"{symbol}={value.replace('_', ' ')}" for symbol, _, value in parts]
    assert run(["bound", name, *words, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"]["low"] == pytest.approx(value, rel=1e-6)
