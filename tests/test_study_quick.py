"""``make study-quick``: every experiment of the last chapter in small, and every claim of the chapter in its direction.

The tables that were measured have to pass the same check, and to be what ``make study`` would compute.
"""

import copy

import pytest
import torch

from turing.study import __main__ as study
from turing.study.__main__ import compute
from turing.study.claims import CLAIMS, check, factor
from turing.study.experiments import EXPERIMENTS, measured
from turing.study.sweep import read_table, write_table

torch.set_num_threads(1)
LONG = ("tolerance", "kappa", "damage", "training")  # nine tenths of the time of all


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in EXPERIMENTS]
)
def test_every_claim_holds_in_small(name):
    rows = compute(name, quick=True)
    assert set(rows[0]) == set(measured(name)[0])
    said = check({name: rows})
    assert len(said) == sum(claimed == name for claimed, *_ in CLAIMS) >= 1


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_committed_table_has_every_task_and_bears_out_the_claims(name):
    rows = measured(name)
    for key, _ in EXPERIMENTS[name](False):
        assert any(all(row[column] == value for column, value in key.items()) for row in rows), key
    assert check({name: rows})


def test_a_table_is_continued_where_it_was_left(tmp_path):
    path = tmp_path / "landscape.csv"
    whole = compute("landscape", quick=True, path=path)
    assert read_table(path) == whole
    write_table(path, [row for row in whole if row["direction"] == 0])
    again = compute("landscape", quick=True, path=path)
    assert again == whole


def test_a_run_that_is_stopped_goes_on_there_and_replaces_no_table_before_all_are_complete(tmp_path, monkeypatch):
    done, work, home = [], tmp_path / "work", tmp_path / "measured"
    home.mkdir()

    def experiment(name, stopped=False):
        def task():
            if stopped:
                raise KeyboardInterrupt
            done.append(name)
            return [{"number": 1, "value": 0.5}]

        return lambda quick: iter([({"number": 1}, task)])

    monkeypatch.setattr(study, "WORKPLACE", work)
    monkeypatch.setattr(study, "MEASURED", home)
    monkeypatch.setattr("sys.argv", ["study"])
    monkeypatch.setattr(study, "EXPERIMENTS", {"one": experiment("one"), "two": experiment("two", stopped=True)})
    with pytest.raises(KeyboardInterrupt):
        study.main()
    assert not list(home.iterdir())
    monkeypatch.setattr(study, "EXPERIMENTS", {"one": experiment("one"), "two": experiment("two")})
    study.main()
    assert done == ["one", "two"]
    assert [path.name for path in sorted(home.iterdir())] == ["one.csv", "two.csv"]
    assert not list(work.iterdir())


@pytest.mark.parametrize("name", ["growth", "paper_word", "curvature"])
def test_a_fault_in_a_table_is_caught(name):
    rows = copy.deepcopy(measured(name))
    faults = {
        "growth": ("median", lambda row: row["median"] * (1 if row["step"] == 1 else 100)),
        "paper_word": ("step", lambda row: 50),
        "curvature": ("autograd", lambda row: row["forward"]),
    }
    column, wrong = faults[name]
    for row in rows:
        row[column] = wrong(row)
    with pytest.raises(AssertionError, match="This does not hold"):
        check({name: rows})


def test_the_factor_of_doubling_is_2():
    assert factor([{"median": 1e-9 * 2**k} for k in range(40)]) == pytest.approx(2)
