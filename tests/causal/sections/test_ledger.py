"""Where device time went: ten devices in constant states, every number by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.data.series import Floats
from coherence.causal.sections import ledger
from tests.causal.sections.contexts import CHAIN, FLEET, chain, context, lines, tables

PRICES = "prices: {h100: 2 usd/h}\n"
IDLE = "if it were idle for want of demand,"
ROWS = 400  # of 10 s: 4000 s, 1.111 h


def devices(**counts: float) -> dict[str, Floats]:
    """Returns how many devices are in each state, all the time."""
    return {f"h100.{state}": np.full(ROWS, float(count)) for state, count in counts.items()}


FULL = devices(useful=6, barrier=1, launch=0.5, idle_slack=2.5)


def test_capacity_is_what_was_done_lost_and_idle() -> None:
    """Ten devices of 50 req/s: 500; 6 useful, 1.5 lost, 2.5 idle."""
    section = ledger.answer(context(FLEET, FULL))
    assert section is not None
    heads = {row[0].strip(): row[1] for row in tables(section)[0].rows}
    assert list(heads.values()) == ["500", "300", "200", "125", "75", "20.0 %", "40.0 %"]
    assert tables(section)[0].header[:2] == ("1.111 h of 10 h100", "req/s")
    assert section.data["U_struct"]["value"] == pytest.approx(75 / 375)
    assert section.data["U_gap"]["value"] == pytest.approx(200 / 500)


def test_each_column_of_shares_is_of_its_own_whole() -> None:
    rows = {row[0].strip(): row[1:5] for row in tables(ledger.answer(context(FLEET, FULL)))[1].rows}
    assert rows["barrier"] == ("1.111", "10.0 %", "13.3 %", "13.3 %")
    assert rows["launch"] == ("0.5556", "5.0 %", "6.7 %", "6.7 %")
    assert rows["idle for want of demand"] == ("2.778", "25.0 %", "", "")  # a part of what is provisioned alone
    of_loss = [row[5] for row in tables(ledger.answer(context(FLEET, FULL)))[1].rows]
    assert of_loss == ["66.7 %", "66.7 %", "33.3 %", "33.3 %", ""]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"useful": 6.0, "barrier": 1.5, "idle_slack": 2.5}, "saves devices, and adds no work"),
        ({"useful": 8.0, "barrier": 2.0}, "time won back becomes work"),
    ],
)
def test_what_time_won_back_becomes(counts: dict[str, float], words: str) -> None:
    (line,) = lines(ledger.answer(context(FLEET, devices(**counts))))
    assert line.endswith(words)


def test_time_without_a_signal_is_told_with_what_it_would_be_if_idle() -> None:
    """3 of 10 devices without a state: as lost 4 / 10, as idle 1 / 7; what nothing names is not structural."""
    section = ledger.answer(context(FLEET, devices(useful=6, barrier=1)))
    assert lines(section) == [
        "30.0 % of device time has no state signal: it counts as unlabelled",
        f"if all of that were lost, U_struct would be 40.0 %; {IDLE} 14.3 %: log idle_slack",
    ]
    assert section is not None
    assert section.data["U_struct"]["value"] == pytest.approx(0.1)


def test_where_idle_time_is_logged_no_other_idle_time_is_imagined() -> None:
    told = lines(ledger.answer(context(FLEET, devices(useful=6, barrier=1, idle_slack=1))))
    assert told[0] == "20.0 % of device time has no state signal: it counts as unlabelled"
    assert told[1:] == [
        "if all of that were lost, U_struct would be 33.3 %",
        "devices idle for want of demand: time won back saves devices, and adds no work",
    ]


def test_more_states_than_devices_are_refused() -> None:
    (line,) = lines(ledger.answer(context(FLEET, devices(useful=9, barrier=2))))
    assert line.startswith("refused: the states of h100 add up to 11 devices at 0 s; there are 10")


def test_money_stands_beside_with_the_shares_of_time() -> None:
    """Ten devices for 4000 s at 2 usd an hour: 22.22 usd."""
    section = ledger.answer(context(FLEET + PRICES, FULL))
    assert section is not None
    money = {row[0]: row[1:4] for row in tables(section)[2].rows}
    assert money == {
        "barrier": ("2.222", "10.0 %", "10.0 %"),
        "launch": ("1.111", "5.0 %", "5.0 %"),
        "useful.chat": ("13.33", "60.0 %", "60.0 %"),
        "idle_slack": ("5.556", "25.0 %", "25.0 %"),
        "all": ("22.22", "100.0 %", "100.0 %"),
    }
    assert section.data["money"]["cost"] == pytest.approx(10 * 2 * 4000 / 3600)
    assert lines(section)[1].startswith("accelerator time without progress: 3.333 usd")  # barrier and launch
    assert all("not known; measure " in line for line in lines(section)[2:])


BURNED = {"chat.tokens_generated": np.full(ROWS, 20_000.0), "chat.tokens_delivered": np.full(ROWS, 12_000.0)}


def test_tokens_of_no_accepted_result_are_a_cost_where_they_are_counted_and_priced() -> None:
    """8,000 tokens a second for 4000 s at 2 usd a million: 64 usd."""
    priced = FLEET + PRICES.replace("}", ", token: 0.000002 usd/token}")
    every = lines(ledger.answer(context(priced, {**FULL, **BURNED})))
    (told,) = [line for line in every if line.startswith("tokens burned without delivery")]
    assert told.startswith("tokens burned without delivery: 64 usd")
    (half,) = [
        line for line in lines(ledger.answer(context(priced, {**FULL, "chat.tokens_generated": FULL["h100.useful"]})))
        if line.startswith("tokens burned")
    ]  # fmt: skip
    assert half.endswith("measure tokens in accepted results (<workload>.tokens_delivered)")


def test_what_is_not_structural_is_told_beside_what_is() -> None:
    """2 of 10 devices in a barrier, 1.5 wait for input data, 1.5 have no state: 20 % of what was demanded."""
    section = ledger.answer(context(FLEET, devices(useful=5, barrier=2, data_pipeline=1.5, unlabelled=1.5)))
    heads = {row[0].strip(): row[1] for row in tables(section)[0].rows}
    assert heads["of it lost, L_struct"] == "100"
    assert heads["of it not structural"] == "75"
    assert heads["of it unexplained"] == "75"
    assert heads["U_struct, lost of what was demanded"] == "20.0 %"


def test_what_is_explained_is_what_is_structural() -> None:
    made = devices(useful=5, data_pipeline=1.5, unlabelled=1.5) | {"h100.barrier": chain(ROWS)["disk.reads"] / 4}
    given = context(FLEET, made, loss="L_struct").loss
    assert given is not None
    assert given.values == pytest.approx(50 * made["h100.barrier"])
    whole = context(FLEET, made, loss="C_nom - C_eff").loss
    assert whole is not None
    assert whole.values == pytest.approx(50 * (10 - made["h100.useful"]))
    with pytest.raises(UsageError, match="no state that is structural has a signal"):
        _ = context(FLEET, devices(useful=5, data_pipeline=5), loss="L_struct").loss


def test_without_prices_there_is_no_money() -> None:
    section = ledger.answer(context(FLEET, FULL))
    assert section is not None
    assert "money" not in section.data
    assert len(tables(section)) == 2


def test_the_picture_falls_from_the_whole_to_what_was_done() -> None:
    section = ledger.answer(context(FLEET, FULL))
    assert section is not None
    (panel,) = section.panels
    spans = [(low, high) for low, _, high, _, _ in panel.cells]
    assert spans[0] == pytest.approx((0, 500))
    assert spans[-1] == pytest.approx((0, 300))
    steps = sorted(high - low for low, high in spans[1:-1])
    assert steps == pytest.approx([25, 50, 125])


def test_a_log_of_intervals_is_booked_like_signals(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"h100/{unit},useful,chat,0,60\nh100/{unit},barrier,,60,100" for unit in range(10)]
    path.write_text("\n".join(["device,state,class,start,end", *rows]) + "\n")
    section = ledger.answer(context(FLEET, chain(), ledger=str(path)))
    assert section is not None
    assert section.data["U_struct"]["value"] == pytest.approx(0.4)
    assert tables(section)[0].header[0] == "0.02778 h of 10 h100"


def test_nothing_is_told_where_nothing_says_what_devices_do() -> None:
    assert ledger.answer(context(CHAIN, chain())) is None
