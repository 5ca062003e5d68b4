"""Forecasts from measured sizes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import simulate

_SIZES = [
    {"records": 100_000, "rows": {"sync, s": 20.0, "disk, GiB": 0.5, "status, s": 1.0}},
    {"records": 300_000, "rows": {"sync, s": 40.0, "disk, GiB": 1.5}},
]


def test_a_forecast_adds_a_fixed_cost_and_one_a_record() -> None:
    forecasts = simulate.foretell(_SIZES, 1_000_000)
    seconds, exponent = forecasts["sync, s"]
    assert seconds == pytest.approx(110.0)  # 10 s, and 10 s for each 100,000 records
    assert exponent == pytest.approx(0.631, abs=0.001)  # log 2 / log 3
    assert forecasts["disk, GiB"] == (pytest.approx(5.0), pytest.approx(1.0))
    assert "status, s" not in forecasts, "not all sizes have it"


def test_one_size_foretells_nothing() -> None:
    with pytest.raises(ValueError, match="a forecast takes two"):
        simulate.foretell(_SIZES[:1], 1_000_000)


def test_the_largest_size_is_compared_with_its_forecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    larger = {"records": 1_000_000, "rows": {"sync, s": 100.0}}
    monkeypatch.setattr(simulate, "RESULTS", tmp_path / "growth.json")
    simulate.RESULTS.write_text(json.dumps({"sizes": [*_SIZES, larger]}))
    assert simulate.main(["--without-largest"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("sync")]
    assert row.split()[2:] == ["110", "0.63", "100", "+10%"]


def test_too_few_sizes_are_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulate, "RESULTS", tmp_path / "growth.json")
    with pytest.raises(SystemExit):
        simulate.main(["--foretell", "5000000"])
    assert "0 sizes are measured, too few" in capsys.readouterr().err
