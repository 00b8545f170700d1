"""Exported networks: JSON that is read again, a script that gives the same systems, a .mat file with the matrices."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import loadmat

from coherence.base.errors import UsageError
from coherence.loops.analysis.network_reading import read_network
from coherence.loops.designs.design_network import network_of
from coherence.loops.interchange.design_systems import whole_system
from coherence.loops.interchange.export import exported
from coherence.loops.interchange.exported_network import ExportedNetwork
from coherence.loops.interchange.loop_analysis import analyze
from coherence.loops.multirate.sampled_system import Multirate, exactly
from coherence.loops.multirate.verdict import floquet
from coherence.loops.networks.network import Network, loop
from tests.draws import few
from tests.loops.designs.test_bridged_laps import LAG, drawn_design, smooth_at_rest

pytest.importorskip("control", reason="python-control is not installed")


def read_again(network: ExportedNetwork, folder: Path) -> Network | Multirate:
    file = folder / "network.json"
    file.write_text(network.to_json())
    return read_network(file)


@pytest.mark.slow
def test_a_thermostat_in_json_is_its_network(tmp_path: Path) -> None:
    network = exported(analyze(LAG))
    document = network.to_dict()
    assert document["samplers"]["heater.power"]["period"] == 60
    assert document["blocks"]["delay 1"] == {"numerator": [1.0], "denominator": [1.0], "delay": 60.0}
    assert document["couplings"][0] == {"from": "heater.power", "to": "room.temp", "gain": "1/150"}
    assert document["exported"]["operating_point"] == {"room.temp": 20, "heater.power": 5}
    again = read_again(network, tmp_path)
    assert isinstance(again, Multirate)
    assert floquet(again).modulus == pytest.approx(1.0428880490)
    file = tmp_path / "network.json"
    assert analyze(file).linearize("heater.power").L.dt == 60


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_design_that_is_read_again_is_the_same_system(tmp_path: Path, data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "set", "step", "proportional"))
    system = whole_system(network_of(model, point))
    again = read_again(ExportedNetwork("drawn", system, (), {}), tmp_path)
    assert isinstance(again, Multirate)
    for before, after in zip(system.samplers, again.samplers, strict=True):
        assert [exactly(x) for x in before.numerator] == [exactly(x) for x in after.numerator]
        times = [[exactly(getattr(s, key)) for key in ("period", "phase", "lands", "window")] for s in (before, after)]
        assert times[0] == times[1]
        assert before.rank == after.rank
    gains = [[float(c.gain) for c in each.couplings] for each in (system, again)]
    assert gains[0] == gains[1]
    assert np.allclose(floquet(again).multipliers, floquet(system).multipliers, atol=1e-6)


@pytest.mark.slow
def test_a_script_gives_the_same_systems(tmp_path: Path) -> None:
    analyses = {"sampled": analyze(LAG), "delayed": analyze(loop([0.05], [1, 0], 10))}
    for name, analysis in analyses.items():
        (tmp_path / f"{name}.py").write_text(exported(analysis).to_script())
    (tmp_path / "both.py").write_text(
        "import json, delayed, sampled\n"
        "print(json.dumps([sampled.L['ctl'].A.tolist(), sampled.L['ctl'].dt,\n"
        "      [[x(1j * 0.1).real, x(1j * 0.1).imag] for x in (s['loop']([0.1]) for s in (delayed.L, delayed.T))]]))\n"
    )
    done = subprocess.run([sys.executable, "both.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    matrix, dt, (there, closed) = json.loads(done.stdout)
    assert matrix == analyses["sampled"].linearize("ctl").L.A.tolist()
    assert dt == 60
    expected = analyses["delayed"].linearize("loop").over([0.1])
    assert complex(*there) == pytest.approx(complex(expected.L(0.1j)))
    assert complex(*closed) == pytest.approx(complex(expected.T(0.1j)))


@pytest.mark.slow
def test_a_mat_file_holds_the_matrices() -> None:
    content = loadmat(io.BytesIO(exported(analyze(LAG)).to_mat()), simplify_cells=True)
    assert np.allclose(content["loops"]["ctl"]["A"], analyze(LAG).linearize("ctl").L.A)
    assert content["loops"]["ctl"]["dt"] == 60
    assert content["samplers"]["heater_power"]["period"] == 60
    assert content["operating_point"]["room_temp"] == 20
    assert content["couplings"][0]["gain"] == pytest.approx(1 / 150)


def test_names_that_matlab_cannot_tell_apart_are_refused() -> None:
    network = exported(analyze(loop([0.05], [1, 0])))
    clash = ExportedNetwork("x", network.network, (), {"a.b": 1.0, "a b": 2.0})
    with pytest.raises(UsageError, match=r"cannot tell the names apart.*a\.b, a b"):
        clash.to_mat()
