"""Draws designs of two loops over plants that both feel, of rules with a gap that last, and of a loop behind sensors.

Plants lag, integrate or hold back; laws step, set or follow a relay; what is read may be late, sampled or a mean.
"""

from __future__ import annotations

from random import Random

LATE = ("{}", "{}", "delayed({}, 1 s)", "delayed({}, 2 s)")


def opposed(random: Random) -> str:
    """Returns two step laws with thresholds of their own on one level: one of them fills it, the other empties it."""
    low, high = random.randint(1, 4), random.randint(2, 7)
    plant = random.choice(["0.5 * x + inlet.open - outlet.open", "max(0, x + inlet.open - outlet.open - 1)",
                           "0.75 * x + inlet.open - 0.5 * outlet.open"])  # fmt: skip
    tank = f'  tank: {{state: "x\' = {plant}", step: {random.choice(["1 s", "2 s"])}, from: {random.choice([0, 3])}}}\n'
    inlet, outlet, gap = _read(random), _read(random), random.choice([0, 1, 3])
    first = _step(random, "inlet", f"{inlet} < {low}", f"{inlet} >= {low + gap}")
    second = _step(random, "outlet", f"{outlet} > {high}", f"{outlet} <= {high - gap}")
    return _design(tank, first, second)


def cascade(random: Random) -> str:
    """Returns two tanks in a row with a law each; the second feels the first, and now and then the first the second."""
    back = random.choice(["", " - 0.25 * low.x"])
    plants = f'  tank: {{state: "x\' = 0.5 * x + inlet.open{back}", step: 1 s, from: {random.choice([0, 2])}}}\n'
    plants += (
        f'  low: {{state: "x\' = 0.75 * x + 0.5 * tank.x - outlet.open", step: 1 s, from: {random.choice([0, 4])}}}\n'
    )
    gain = random.choice(["0.25", "0.5", "1"])
    first = _set(random, "inlet", f"3 - {gain} * ({_read(random, 'low.x')} - 4)")
    second = _set(random, "outlet", f"{random.choice(['0.25', '0.5'])} * {_read(random, 'low.x')}")
    return _design(plants, first, second)


def hysteresis(random: Random) -> str:
    """Returns rules with a gap between them, which act once their threshold was passed for a while."""
    flows = ["x' = (1 - valve.open) / 2 s", "x' = (2 - valve.open) / 1 s"]
    moves = random.choice([*flows, "x' = 0.5 * x + 3 - valve.open", "x' = max(0, x + 2 - valve.open)"])
    step = "" if " s" in moves else ", step: 1 s"
    tank = f'  tank: {{state: "{moves}"{step}, from: {random.choice(["1", "2.5", "3"])}}}\n'
    low, high = random.choice([("1", "2"), ("1.5", "3"), ("0.5", "2.5")])
    lasts, late = random.choice(["", " for 2 s", " for 3 s"]), _read(random)
    acts = f'    rules: [{{when: "{late} >= {high}{lasts}", by: 1}}, {{when: "{late} <= {low}{lasts}", by: -1}}]\n'
    acts += (
        f"    actuation: {{signal: valve.open, bounds: [0, {random.choice([3, 4])}], from: {random.choice([0, 1])}}}\n"
    )
    return _design(tank, ("relay", _times(random), acts))


def sensed(random: Random) -> str:
    """Returns an autoscaler that reads through a chain of scrapes and means, over a backlog or a load."""
    chain = random.choice(["scrape 2 s", "mean 4 s", "scrape 2 s, mean 4 s", "scrape 3 s"])
    plant = random.choice([
        "load: 30, usage: load / n",
        "load: 6, \"state\": \"q' = max(0, q + load - n)\", step: 2 s, from: 5, usage: (load + q / 2) / n",
    ])  # fmt: skip
    acts = f"    target: {{signal: web.usage, setpoint: {random.choice(['3', '0.75'])}, sensor: [{chain}]"
    acts += f"{random.choice(['', ', tolerance: 10 %'])}}}\n"
    start = random.choice([2, 8])
    acts += f"    actuation: {{signal: web.n, law: proportional, bounds: [1, 40], from: {start}}}\n"
    return _design(f"  web: {{{plant}}}\n", ("scaler", _times(random), acts))


def _read(random: Random, signal: str = "tank.x") -> str:
    return random.choice(LATE).format(signal)


def _times(random: Random) -> str:
    more = random.choice(["", "", ", lands: 1 s", ", cooldown: 2 s", ", hold_down: 3 s"])
    return f"period: {random.choice(['1 s', '2 s'])}, phase: 0 s{more}"


def _step(random: Random, valve: str, up: str, down: str) -> tuple[str, str, str]:
    by = random.choice([1, 2])
    acts = f'    rules: [{{when: "{up}", by: {by}}}, {{when: "{down}", by: -{by}}}]\n'
    acts += f"    actuation: {{signal: {valve}.open, bounds: [0, 4], from: {random.choice([0, 1])}}}\n"
    return valve, _times(random), acts


def _set(random: Random, valve: str, law: str) -> tuple[str, str, str]:
    bounds = random.choice(["[0, 8]", "[-100, 100]"])
    acts = "    trigger: always\n"
    acts += f'    actuation: {{signal: {valve}.open, law: set, to: "{law}", bounds: {bounds}, from: 1}}\n'
    return valve, _times(random), acts


def _design(plants: str, *loops: tuple[str, str, str]) -> str:
    text = "".join(f"  {name}:\n    timescale: {{{times}}}\n{acts}" for name, times, acts in loops)
    return f"coherence: 1\ncomponents:\n{plants}loops:\n{text}"


FAMILIES = (opposed, cascade, hysteresis, sensed)
