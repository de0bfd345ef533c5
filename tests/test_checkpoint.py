"""Checkpoints of a native run: it goes on where it stood, and whatever is not its own file is refused."""

import io
import pickle
import zipfile

import numpy as np
import pytest
import torch
from machines import numbered, walker
from ways import lookahead as compiled

from paper import BALANCED
from turing.engine import Native, Program, Refusal
from turing.engine import checkpoint as files
from turing.engine.native import HALTED, LIMIT
from turing.wcm import WCM21
from turing.zoo import zoo

slow = pytest.mark.slow
pairs = pytest.mark.parametrize(("adder", "dtype"), [("lookahead", torch.float32), ("ripple", torch.float64)], ids=str)
BB4 = zoo["bb4"]


@pytest.fixture
def net() -> WCM21:
    return compiled()


@pairs
def test_a_run_in_pieces_ends_as_a_run_in_one_piece(tmp_path, adder, dtype):
    net = compiled(BB4, 128, dtype, adder=adder)
    for ends in ([0, 1, 107], [53, 106, 120], [2, 2, 128, 128]):
        file = tmp_path / f"{ends}.npz"
        for end in ends:
            run = net.run("", end, engine="native", checkpoint=file)
            assert run == BB4.run("", end)
        assert numbered(run.trace) == numbered(BB4.trace("", end))
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"] * 3


def test_a_run_in_pieces_goes_on_after_its_index_has_grown(tmp_path):
    machine = walker(-1)
    net = compiled(machine, 400, bits=9)
    for end in (3, 150, 151, 400):
        assert net.run("a" * 20, end, engine="native", checkpoint=tmp_path / "walk") == machine.run("a" * 20, end)


def test_a_run_that_has_jammed_or_halted_is_over_when_it_goes_on(tmp_path, net):
    for k, word in enumerate(("B(B", "B()E", "(")):
        for _ in range(2):
            assert net.run(word, engine="native", checkpoint=tmp_path / str(k)) == BALANCED.run(word)


def test_a_run_that_jams_behind_its_limit_has_the_status_of_the_limit(tmp_path, net):
    for limit in (3, 2):
        run = net.run("B(B", limit, engine="native", checkpoint=tmp_path / "run")
        assert run == BALANCED.run("B(B", limit)


def test_a_run_that_is_refused_leaves_the_last_good_checkpoint(tmp_path, net, monkeypatch):
    with torch.no_grad():
        net.pipeline["carry"].bias[net.pipeline["carry"].layouts[1].carry[3]] = -2.5
    monkeypatch.setattr("turing.engine.runs.PAUSE", -1)
    good = net.run("B((((E", 3, engine="native", checkpoint=tmp_path / "run")
    for _ in range(2):
        with pytest.raises(Refusal, match="At step 4, "):
            net.run("B((((E", engine="native", checkpoint=tmp_path / "run")
    assert net.run("B((((E", 3, engine="native", checkpoint=tmp_path / "run") == good


def test_a_checkpoint_takes_no_file_of_somebody_elses_and_follows_a_link(tmp_path):
    net, other, link = compiled(BB4, 128), tmp_path / "run.new", tmp_path / "link"
    other.write_text("mine")
    link.symlink_to(tmp_path / "run")
    for limit in (50, 107):
        assert net.run("", limit, engine="native", checkpoint=link) == BB4.run("", limit)
    assert other.read_text() == "mine"
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.new", "link"}


def test_a_checkpoint_that_could_not_be_written_leaves_nothing_behind(tmp_path, program, monkeypatch):
    monkeypatch.setattr(files, "signed", lambda body: None)
    with pytest.raises(TypeError):
        files.store(Native(program, ""), tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["", ".", "/dev/null", "/dev/zero", "/dev/full"])
def test_a_checkpoint_is_a_file(path):
    with pytest.raises(ValueError, match=f"A checkpoint is a file, and '{path}' was given, which is not a file"):
        compiled(BB4, 128).run("", engine="native", checkpoint=path)


def test_a_network_that_was_changed_goes_on_with_its_odd_numbers(tmp_path):
    """A move of 1.25 to the right is read as 1: where it comes in, sums are added up anew."""
    net = compiled(BB4, 128)
    with torch.no_grad():
        net.pipeline["choose"].weight[net.layout_of("choose").scr5["R"]] *= 1.25
    for end in range(1, 12):
        file = tmp_path / str(end)
        assert net.run("", end, engine="native", checkpoint=file) == BB4.run("", end)
        assert net.run("", engine="native", checkpoint=file) == BB4.run()
    assert net.run("") == BB4.run()


@pytest.mark.parametrize("engines", [("native", "indexed"), ("indexed", "native")], ids=str)
def test_a_checkpoint_of_one_engine_is_taken_up_by_the_other(tmp_path, engines):
    net, machine = compiled(BALANCED, 128), BALANCED
    for end, engine in zip((7, 13, 30, 128), engines * 2, strict=True):
        assert net.run("B(()(", end, engine=engine, checkpoint=tmp_path / "run") == machine.run("B(()(", end)


@torch.no_grad()
@pairs
def test_plain_torch_goes_on_from_where_a_native_run_stands(adder, dtype):
    """It remembers the first column and the last visits, and its vectors are those of a run that remembers all."""
    net, word = compiled(BALANCED, 128, dtype, adder=adder), "B(()())E"
    plain = list(net.vectors([word], 29))
    for begun in (0, 1, 12, 25):
        run = Native(net, word, guarded=True)
        run.advance(begun)
        state = run.standing().state(net, word)
        for theirs in plain[begun:]:
            state = net.step(state)
            assert all(torch.equal(state.vectors[name], vector) for name, vector in theirs.items())


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(compiled(zoo["bb2"], 8))


@pytest.fixture
def stored(program, tmp_path):
    """A checkpoint after four of six steps, and a run of the same word that has not begun."""
    run = Native(program, "", guarded=True)
    run.advance(4)
    files.store(run, tmp_path / "run.npz")
    return tmp_path / "run.npz", Native(program, "", guarded=True)


def standing(run: Native) -> dict[str, list]:
    """All that a run is."""
    found = run.standing()
    return {name: np.asarray(getattr(found, name)).tolist() for name in files.ARRAYS} | {"status": run.status}


def test_a_checkpoint_holds_all_that_a_run_is(stored, program):
    file, run = stored
    files.restore(run, file)
    other = Native(program, "", guarded=True)
    other.advance(4)
    assert standing(run) == standing(other)
    assert not run.advance(4)
    assert (run.steps, run.tape()) == (6, zoo["bb2"].run().tape)


DAMAGED = "run.npz is not a checkpoint, or it is damaged. Remove it to begin anew."


def refused(run: Native, file) -> str:
    """The message with which a file is refused; it leaves the run as it was."""
    before = standing(run)
    with pytest.raises(ValueError, match=r"^run\.npz ") as error:
        files.restore(run, file)
    assert standing(run) == before
    return str(error.value)


def truncated(stored, step: int) -> int:
    file, run = stored
    whole, tried = file.read_bytes(), 0
    for length in range(0, len(whole), step):
        file.write_bytes(whole[:length])
        assert refused(run, file) == DAMAGED
        tried += 1
    return tried


def test_a_truncated_file_is_refused(stored):
    assert truncated(stored, 151) >= 20


@slow
def test_a_file_truncated_anywhere_is_refused(stored):
    assert truncated(stored, 1) >= 3_000


def altered(stored, places) -> int:
    """Change a byte at each of these places; how many there were."""
    file, run = stored
    whole, tried = file.read_bytes(), 0
    for place in places:
        data = bytearray(whole)
        data[place % len(whole)] ^= 0x55
        file.write_bytes(data)
        assert refused(run, file) == DAMAGED
        tried += 1
    return tried


def test_a_file_with_an_altered_byte_is_refused(stored):
    assert altered(stored, [*range(0, 60, 7), *range(60, 6_000, 397), *range(-700, 0, 41)]) >= 40


@slow
def test_a_file_with_any_byte_altered_is_refused(stored):
    size = altered(stored, range(stored[0].stat().st_size))
    print(f"{size:,} bytes altered, one by one: all refused")
    assert size >= 3_000


def rewritten(file, sign: bool, **changes) -> None:
    """Exchange arrays of a checkpoint; its digest is that of the new file if it is signed."""
    with np.load(file, allow_pickle=False) as found:
        arrays = dict(found) | changes
    out, old = io.BytesIO(), file.read_bytes()[-files.SIZE :]
    np.savez(out, **arrays)
    file.write_bytes(files.signed(out.getvalue()) if sign else out.getvalue() + old)


@pytest.mark.parametrize("name", [*files.ARRAYS, "of", "version"])
def test_an_altered_array_is_refused(stored, name):
    file, run = stored
    with np.load(file) as arrays:
        array = arrays[name].copy()
    array = np.array("another") if name == "of" else array + array.dtype.type(1)
    rewritten(file, sign=False, **{name: array})
    assert refused(run, file) == DAMAGED


def test_a_file_of_another_version_is_refused(stored):
    file, run = stored
    rewritten(file, sign=True, version=np.array(1))
    assert refused(run, file) == "run.npz is of version 1; version 3 is read here. Remove it to begin anew."


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("step", lambda step: step - 99),
        ("step", lambda step: step + 5),  # more than T
        ("head", lambda head: head + 99),
        ("last", lambda last: last + 99),
        ("last", lambda last: last - 99),
        ("last", lambda last: last[:-1]),
        ("marks", lambda marks: marks - 99),
        ("marks", lambda marks: marks + 2),
        ("cells", lambda cells: cells + 1),
        ("positions", lambda positions: positions * np.uint64(0)),
        ("positions", lambda positions: positions + np.uint64(8)),
        ("positions", lambda positions: positions.astype(np.float64)),
        ("column", lambda column: column[:-1]),
        ("column", lambda column: column * 0),
        ("wrote", lambda wrote: wrote[:, :1]),
        ("wrote", lambda wrote: wrote.astype(np.int32)),
        ("first", lambda first: first[:0]),
    ],
)
def test_numbers_that_would_lead_the_loop_out_of_its_arrays_are_refused_even_with_a_digest(stored, name, change):
    file, run = stored
    with np.load(file) as arrays:
        array = change(arrays[name])
    rewritten(file, sign=True, **{name: array})
    assert refused(run, file) == "run.npz holds numbers that no run has. Remove it to begin anew."


def test_whether_a_run_is_over_follows_from_its_column_and_not_from_what_a_file_says(stored):
    file, run = stored
    for status in range(3):
        rewritten(file, sign=True, status=np.array(status))
        files.restore(run, file)
        assert run.status == LIMIT
    assert not run.advance(4)
    assert (run.steps, run.status) == (6, HALTED)


def members(file, **options) -> None:
    """Write the archive of a checkpoint again, with other options of its members and a digest of its own."""
    with zipfile.ZipFile(io.BytesIO(file.read_bytes()[: -files.SIZE])) as old:
        contents = {name: old.read(name) for name in old.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as new:
        for name, data in contents.items():
            new.writestr(name, data)
    file.write_bytes(files.signed(out.getvalue()))


def test_compressed_members_are_refused_before_they_are_inflated(stored, monkeypatch):
    file, run = stored
    members(file, compression=zipfile.ZIP_STORED)
    files.restore(run, file)
    members(file, compression=zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("a member was read"))
    assert refused(run, file) == "run.npz is not a checkpoint. Remove it to begin anew."


def test_nothing_is_read_from_a_file_whose_digest_is_another(stored, monkeypatch):
    file, run = stored
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    monkeypatch.setattr(files, "_arrays", lambda body: pytest.fail("a member was read"))
    assert refused(run, file) == DAMAGED


class Pickled:
    """Says so if it is unpickled."""

    loaded = False

    def __reduce__(self):
        return _loaded, ()


def _loaded() -> None:
    Pickled.loaded = True


def test_nothing_is_unpickled(stored):
    file, run = stored
    rewritten(file, sign=True, first=np.array([Pickled()], dtype=object))
    assert refused(run, file) == "run.npz is not a checkpoint. Remove it to begin anew."
    out = io.BytesIO()
    np.save(out, np.array([Pickled()], dtype=object), allow_pickle=True)
    for data in (out.getvalue(), pickle.dumps(Pickled())):
        file.write_bytes(files.signed(data))
        assert refused(run, file) == "run.npz is not a checkpoint. Remove it to begin anew."
    assert not Pickled.loaded
    pickle.loads(pickle.dumps(Pickled()))
    assert Pickled.loaded


@pytest.mark.parametrize("data", [b"", b"not a checkpoint", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x80\x04N."])
def test_another_kind_of_file_is_refused(stored, data):
    file, run = stored
    file.write_bytes(data)
    assert refused(run, file) == DAMAGED
    file.write_bytes(files.signed(data))
    assert refused(run, file) == "run.npz is not a checkpoint. Remove it to begin anew."


def test_an_array_alone_or_an_archive_without_a_digest_is_not_a_checkpoint(stored):
    file, run = stored
    for save in (lambda out: np.save(out, np.zeros(3)), lambda out: np.savez(out, first=np.zeros(3))):
        with file.open("wb") as out:
            save(out)
        assert refused(run, file) == DAMAGED


def test_a_checkpoint_of_another_network_or_word_is_refused(stored):
    file, _ = stored
    changed, bb2 = compiled(zoo["bb2"], 8), zoo["bb2"]
    with torch.no_grad():
        changed.pipeline["carry"].weight[0, 0] = 0.5
    others = [
        (changed, ""),
        (compiled(bb2, 9), ""),
        (compiled(bb2, 8, bits=5), ""),
        (compiled(bb2, 8, adder="ripple"), ""),
        (compiled(bb2, 8, torch.float64), ""),
        (compiled(bb2.rename(states={"B": "b"}), 8), ""),
        (compiled(bb2, 8), "0"),
        (compiled(bb2, 8), "1"),
    ]
    for net, word in others:
        with pytest.raises(ValueError, match=r"run\.npz was written for another network or another word. Give it"):
            net.run(word, engine="native", checkpoint=file)
    assert compiled(bb2, 8).run("", engine="native", checkpoint=file) == bb2.run()


def test_a_checkpoint_beyond_the_limit_is_refused(stored):
    with pytest.raises(ValueError, match=r"run\.npz stands at step 4, and max_steps = 3 was given"):
        compiled(zoo["bb2"], 8).run("", 3, engine="native", checkpoint=stored[0])


def test_a_checkpoint_that_cannot_be_written_is_known_before_the_run(tmp_path):
    with pytest.raises(FileNotFoundError):
        compiled(zoo["bb5"], 100_000_000).run("", engine="native", checkpoint=tmp_path / "none" / "run.npz")
    with pytest.raises(ValueError, match="A checkpoint is a file"):
        compiled(zoo["bb5"], 100_000_000).run("", engine="native", checkpoint=tmp_path)
