"""Grading a class: what counts as an answer, what does not, and that nothing a student does stops the grading."""

import csv
import inspect
import io
import itertools
import os
import re
import runpy
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from plain import Hosted, plain

from book import ROOT
from turing import grading
from turing.cli import main
from turing.exercises import CHAPTERS, exercises
from turing.grading import Grade, grade, notebooks, own_cells, table, write_csv

HERE = Hosted(
    page="https://host/page.html",
    role=lambda role, content: content,
    file=lambda link: f"https://host/{link}",
    number=lambda label: "Exercise 1.1",
    folder=ROOT / "book",
)


def source(chapter):
    return nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4)


def solutions(chapter):
    """The book's solutions by name, as the text of their cells."""
    cells = [cell.source for cell in source(chapter).cells if "solution" in cell.metadata.get("tags", [])]
    return {name: text for name in exercises(chapter) for text in cells if f"turing.check({name})" in text}


def wrong(chapter, name):
    """The first plausible wrong answer, as the text of a cell, and what the check says of it."""
    path = ROOT / "tests" / "wrong_answers" / f"{chapter}.py"
    full, answer = next(item for item in runpy.run_path(str(path)).items() if item[0].startswith(f"{name}__"))
    return inspect.getsource(answer).replace(full, name), answer.__doc__


def handed_in(folder, answers=None, chapter="machines", name="ada.ipynb", more=(), copy=True):
    """A notebook as a student gives it back: the copy for Colab, with the stubs of some exercises filled in."""
    nb = plain(source(chapter), HERE) if copy else source(chapter)
    for cell in nb.cells:
        for exercise, answer in (answers or {}).items():
            if cell.source.startswith(f"def {exercise}()") and "solution" not in cell.metadata.get("tags", []):
                cell.source = answer
    nb.cells += [new_code_cell(text) for text in more]
    path = folder / name
    nbformat.write(nb, path)
    return path


def small(folder, *cells, name="ada.ipynb"):
    """A notebook with these cells only."""
    nbformat.write(new_notebook(cells=[new_code_cell(text) for text in ("import turing", *cells)]), folder / name)
    return folder / name


def verdicts(grades):
    return {g.exercise: g.verdict for g in grades}


def messages(grades):
    return {g.exercise: g.message for g in grades}


RIGHT = solutions("machines")


def test_right_and_wrong_answers_and_stubs_are_told_apart(tmp_path):
    answer, says = wrong("machines", "decrement")
    grades = grade(handed_in(tmp_path, {"even_ones": RIGHT["even_ones"], "decrement": answer}))
    assert verdicts(grades) == {
        "even_ones": "passed",
        "decrement": "failed",
        "as_then_bs": "not tried",
        "hold_a_beaver": "not tried",
    }
    assert messages(grades)["decrement"].startswith(says)
    assert messages(grades)["as_then_bs"] == "The stub is unchanged."
    assert {(g.notebook, g.chapter) for g in grades} == {("ada.ipynb", "machines")}


@pytest.mark.parametrize("copy", [True, False], ids=["the copy for Colab", "the notebook of the book"])
def test_the_solutions_of_the_book_do_not_count(tmp_path, copy):
    path = handed_in(tmp_path, copy=copy)
    assert set(verdicts(grade(path)).values()) == {"not tried"}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_solution_is_known_by_its_text_without_tags_and_ids(tmp_path, chapter):
    told = []
    for copy in (True, False):
        path = handed_in(tmp_path, chapter=chapter, copy=copy)
        nb = nbformat.read(path, as_version=4)
        for cell in nb.cells:
            cell.metadata, cell["id"] = {}, f"x{nb.cells.index(cell)}"
            cell.source = cell.source.replace("#@title", "# @title")  # as Colab writes it by now
        nbformat.write(nb, path)
        own = [text for _, text in own_cells(path)]
        solved = [text for text in own if any(solution in text for solution in solutions(chapter).values())]
        assert solved == []
        told.append({name for name in exercises(chapter) if any(f"turing.check({name})" in text for text in own)})
    assert told == [{*exercises(chapter)}] * 2


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_notebook_is_known_by_its_exercises_whatever_its_file_is_called(tmp_path, chapter):
    cells = own_cells(handed_in(tmp_path, chapter=chapter))
    whole = dict.fromkeys(exercises(chapter), chapter)
    assert grading._asked(cells, "Copy of homework (3).ipynb") == whole
    assert grading._asked([], f"ada_{chapter}.ipynb") == whole


def test_parts_that_are_brought_along_from_a_chapter_do_not_ask_for_the_rest_of_it():
    own = ["machines", "gates"]
    (other, *rest), checked = exercises(own[0]), next(iter(exercises(own[1])))
    cells = [("1", f"def {other}():\n    return 1"), ("2", f"turing.check({checked})")]
    assert grading._asked(cells, "ada.ipynb") == {other: own[0], **dict.fromkeys(exercises(own[1]), own[1])}
    assert rest
    assert grading._asked(cells[:1], "ada.ipynb") == dict.fromkeys(exercises(own[0]), own[0])


def test_an_exception_ends_its_cell_only(tmp_path):
    broken = {
        "even_ones": "def even_ones():\n    return 1 / 0\n\n\nturing.check(even_ones)",
        "decrement": f"1 / 0\n{RIGHT['decrement']}",
        "as_then_bs": "def as_then_bs(:\n    return None",
        "hold_a_beaver": RIGHT["hold_a_beaver"] + "\nraise SystemExit",
    }
    grades = grade(handed_in(tmp_path, broken))
    assert list(verdicts(grades).values()) == ["failed", "failed", "failed", "passed"]
    said = messages(grades)
    assert said["even_ones"] == "Your function raised ZeroDivisionError: division by zero (line 2 of the cell)."
    assert said["decrement"] == "The cell raised ZeroDivisionError: division by zero."
    assert said["as_then_bs"].startswith("The cell raised SyntaxError:")


def test_a_loop_without_end_costs_its_own_exercise_and_no_other(tmp_path):
    loops = {
        "even_ones": "def even_ones():\n    while True:\n        pass",  # the check does not end
        "decrement": "import time\n\n\ndef decrement():\n    ...\n\n\nwhile True:\n    time.sleep(1)",  # the cell
        "as_then_bs": RIGHT["as_then_bs"],
    }
    grades = grade(handed_in(tmp_path, loops), timeout=2)
    assert list(verdicts(grades).values()) == ["timed out", "timed out", "passed", "not tried"]
    assert messages(grades)["even_ones"] == "Not finished after 2 seconds."


def test_a_cell_that_ends_the_process_is_told_and_the_others_are_graded(tmp_path):
    path = handed_in(
        tmp_path, {"even_ones": "import os\n\n\ndef even_ones():\n    os._exit(0)"} | {"decrement": RIGHT["decrement"]}
    )
    grades = grade(path)
    assert list(verdicts(grades).values()) == ["failed", "passed", "not tried", "not tried"]
    assert messages(grades)["even_ones"] == "The kernel is lost: Kernel died."


def test_when_cell_after_cell_does_not_end_the_rest_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "ENDLESS", 2)
    grades = grade(small(tmp_path, *["import os\nos._exit(1)"] * 3, RIGHT["even_ones"]))
    assert verdicts(grades)["even_ones"] == "not run"
    assert messages(grades)["even_ones"] == "2 cells before it did not finish."


TRICKS = {
    "prints it": "print('even_ones: right on all 511 words up to length 8.')",
    "overwrites check": "turing.check = lambda answer: print('right')",
    "overwrites what check calls": (
        "import sys\n"
        "module = sys.modules['turing.exercises']\n"
        "module._judged = lambda *given: (True, 'right')\n"
        "module.first_failure = lambda answer: None\n"
        "module._returned = lambda answer: 1"
    ),
    "overwrites the judge": (
        "from turing.exercises import exercises, machines\n"
        "exercises('machines')['even_ones'] = lambda answer: 'everything'\n"
        "machines.runs = lambda *given: iter(())\n"
        "machines.decides = machines.words = lambda *given: []"
    ),
    "overwrites a class": "turing.TuringMachine.run = lambda *given: 1 / 0",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_what_a_notebook_says_of_itself_does_not_count(tmp_path, trick):
    answer, says = wrong("machines", "even_ones")
    text = TRICKS[trick]
    grades = grade(small(tmp_path, text, answer, f"{text}\n{answer}"))
    assert verdicts(grades)["even_ones"] == "failed"
    assert messages(grades)["even_ones"].startswith(says)


@pytest.mark.parametrize(
    "broken",
    [
        "import builtins\nbuiltins.isinstance = lambda *given: True",
        "from turing.exercises.cells import socket\nreal, held = socket.create_connection, []\n"
        "socket.create_connection = lambda address: held.append(real(address)) or real(address)",
    ],
    ids=["the language", "the line to the judge"],
)
def test_a_notebook_that_breaks_something_in_its_kernel_hurts_only_itself(tmp_path, monkeypatch, broken):
    monkeypatch.setattr(grading, "REACTING", 1)
    answer, _ = wrong("machines", "even_ones")
    assert verdicts(grade(small(tmp_path, broken, answer), timeout=1))["even_ones"] in ("failed", "timed out")


def test_a_judge_that_takes_too_long_is_stopped():
    with pytest.raises(grading._Late), grading._at_most(0.1):
        any(n < 0 for n in itertools.count())


def test_an_answer_has_to_be_a_function_of_its_own_name(tmp_path):
    other = RIGHT["decrement"] + "\neven_ones = decrement\nas_then_bs = 7"
    grades = grade(small(tmp_path, other))
    assert list(verdicts(grades).values()) == ["failed", "passed", "failed", "missing"]
    assert messages(grades)["even_ones"] == (
        "even_ones is a function that was defined under the name 'decrement'. Write def even_ones():."
    )
    assert messages(grades)["as_then_bs"] == "as_then_bs is an object of type int, and a function was expected."


def test_an_answer_in_another_cell_counts_and_one_right_answer_is_enough(tmp_path):
    answer, _ = wrong("machines", "even_ones")
    path = handed_in(tmp_path, {}, more=[RIGHT["even_ones"], answer])
    assert verdicts(grade(path))["even_ones"] == "passed"


def test_what_an_answer_needs_from_cells_above_is_there_magics_and_all(tmp_path):
    helper = "%matplotlib inline\n!true\nfrom IPython.display import display\n\nE = ('T', '_', 0)\ndisplay(E)"
    answer = RIGHT["even_ones"].replace('("T", "_", 0)', "E")
    assert "E," in answer
    assert verdicts(grade(small(tmp_path, helper, answer)))["even_ones"] == "passed"


def test_a_function_that_was_renamed_or_removed_is_missing(tmp_path):
    renamed = RIGHT["even_ones"].replace("even_ones", "my_even_ones")
    grades = grade(small(tmp_path, renamed, RIGHT["decrement"]))
    assert list(verdicts(grades).values()) == ["missing", "passed", "missing", "missing"]
    assert messages(grades)["even_ones"] == "No cell defines even_ones; a cell checks my_even_ones."
    assert messages(grades)["as_then_bs"] == "No cell defines as_then_bs."
    assert set(verdicts(grade(small(tmp_path, name="machines.ipynb"))).values()) == {"missing"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe\x00", "it is not text in UTF-8"),
        (b"PK\x03\x04 a zip", "Expecting value"),
        (b"[1, 2]", "it has no list of cells"),
        (b'{"cells": 3}', "it has no list of cells"),
        (b'{"cells": [3]}', "one of its cells is not an object"),
        (b"[" * 100_000, "recursion"),
        (b'{"cells": [{"cell_type": "code", "source": ["1\\n", "2"]}, {}, {"cell_type": "code"}]}', "No cell defines"),
    ],
)
def test_a_file_that_is_no_notebook_gets_one_row(tmp_path, content, says):
    path = tmp_path / "ada.ipynb"
    path.write_bytes(content)
    (only,) = grade(path)
    assert (only.notebook, only.chapter, only.exercise, only.verdict) == ("ada.ipynb", "", "", "not run")
    assert says in only.message


def test_a_class_is_graded_into_a_table_and_csv(tmp_path, capsys):
    answer, says = wrong("machines", "even_ones")
    (tmp_path / "ben").mkdir()
    (tmp_path / ".ipynb_checkpoints").mkdir()
    handed_in(tmp_path, {"even_ones": RIGHT["even_ones"]}, name="ada.ipynb")
    handed_in(tmp_path / "ben", {"even_ones": answer}, name="machines.ipynb")
    handed_in(tmp_path / ".ipynb_checkpoints", name="ada.ipynb")
    handed_in(tmp_path, {"equal_bits": solutions("gates")["equal_bits"]}, chapter="gates", name="=cmd.ipynb")
    (tmp_path / "eve.ipynb").write_text("no notebook")
    before = sorted(os.listdir(tmp_path))

    assert main(["grade", str(tmp_path), "--csv", str(tmp_path / "grades.csv")]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[:2] == [
        "gates",
        "notebook    equal_bits  embedded   multiplexer  majority   own_gate   points",
    ]
    assert "=cmd.ipynb  passed      not tried  not tried    not tried  not tried  1 of 9" in out
    assert "ada.ipynb           passed     not tried  not tried   not tried      1 of 9" in out
    assert "ben/machines.ipynb  failed     not tried  not tried   not tried      0 of 9" in out
    assert f"ben/machines.ipynb, even_ones: failed. {says}\n" in out
    assert "eve.ipynb: not run. This notebook cannot be read: Expecting value" in out

    with open(tmp_path / "grades.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 14
    assert rows[0] == {
        "notebook": "'=cmd.ipynb",
        "chapter": "gates",
        "exercise": "equal_bits",
        "verdict": "passed",
        "points": "1",
        "out_of": "1",
        "message": "equal_bits: right on all 4 rows, with 3 neurons in 2 layers.\n"
        "Score: 3 neurons and 6 non-zero weights, like the best known answer.",
    }
    (failed,) = [row for row in rows if row["verdict"] == "failed"]
    assert (failed["notebook"], failed["exercise"]) == ("ben/machines.ipynb", "even_ones")
    assert failed["message"].startswith(f"{says}\n  step 0")
    assert rows[-1]["notebook"] == "eve.ipynb"
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "grades.csv"]), "a notebook runs in a folder of its own"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["{}/nowhere"], "turing: There is no file and no folder '{}/nowhere'. Give notebooks, or folders of them.\n"),
        (["{}"], "turing: There is no notebook in the folder '{}': no file *.ipynb.\n"),
        (["{}", "--timeout", "0"], "seconds from 0 to 86,400 are expected, and '0' was given\n"),
        (
            ["{}/ada.ipynb", "--exercise", "even"],
            "turing: There is no exercise 'even'; did you mean even_ones. The exerc",
        ),
        (
            ["{}/ada.ipynb", "--points", "x=1"],
            "turing: There is no exercise 'x'. The exercises are even_ones, decr",
        ),
        (["{}", "--points", "even_ones"], "NAME=N is expected, such as even_ones=2, and 'even_ones' was given\n"),
        (["{}", "--points", "even_ones=-1"], "NAME=N is expected, such as even_ones=2, and 'even_ones=-1' was given\n"),
        (["{}", "--timeout", "soon"], "seconds from 0 to 86,400 are expected, and 'soon' was given\n"),
    ],
)
def test_bad_arguments_are_refused_before_anything_runs(tmp_path, capsys, given, says):
    if "exercise" in says:
        small(tmp_path)
    try:
        status = main(["grade", *(part.format(tmp_path) for part in given)])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert says.format(tmp_path, tmp_path) in capsys.readouterr().err


def test_a_file_for_the_grades_that_cannot_be_written_is_told_first(tmp_path, capsys):
    mark = tmp_path / "mark"
    path = small(tmp_path, f"open({str(mark)!r}, 'w')", RIGHT["even_ones"])
    assert main(["grade", str(path), "--csv", str(tmp_path / "no/where.csv")]) == 2
    assert "No such file or directory" in capsys.readouterr().err
    assert not mark.exists()
    assert main(["grade", str(path)]) == 0
    assert mark.exists()


def test_the_grades_can_be_printed_as_csv_and_nothing_else(tmp_path, capsys):
    assert main(["grade", str(small(tmp_path, RIGHT["even_ones"])), "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["verdict"] for row in rows] == ["passed", "missing", "missing", "missing"]


def test_ctrl_c_prints_what_is_done_and_leaves_no_process_behind(tmp_path):
    small(tmp_path, RIGHT["even_ones"], name="a.ipynb")
    mark = tmp_path / "mark"
    asleep = f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n# check(even_ones)"
    small(tmp_path, asleep, name="b.ipynb")
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    command = [sys.executable, "-m", "turing", "grade", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heed) as process:
        while not (mark.exists() and mark.read_text()):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=20)[0]
    assert process.returncode == 130
    assert "a.ipynb   passed" in out
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_names_and_messages_are_safe_for_a_terminal_and_a_spreadsheet():
    grades = [Grade("\x1b[2J\n.ipynb", "machines", "even_ones", "failed", "@x\n\x1b]0;\ud800")]
    assert not re.search(r"[^\x20-\x7e\n]", table(grades))
    file = io.StringIO()
    write_csv(grades, file)
    (row,) = csv.DictReader(io.StringIO(file.getvalue()))
    assert row["notebook"] == "\\x1b[2J\n.ipynb"
    assert row["message"] == "'@x\n\\x1b]0;\\ud800"


def test_notebooks_of_the_same_name_are_told_apart(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        small(tmp_path / folder)
    assert len(notebooks([tmp_path / "one", tmp_path / "two"])) == 2
    assert list(notebooks([tmp_path])) == ["one/ada.ipynb", "two/ada.ipynb"]


def test_without_nbclient_the_command_says_what_to_install(tmp_path):
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.split('.')[0] in ('nbclient', 'torch'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        f"from turing.cli import main; raise SystemExit(main(['grade', {str(small(tmp_path))!r}]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.endswith(
        "turing: Grading needs the package nbclient, which is missing: pip install nbclient ipykernel\n"
    )


WRONG = 'turing.TuringMachine({("e", "_"): ("T", "_", 0)}, "e", {"T", "F"}, "_", alphabet="01")'


def test_an_answer_that_walks_the_stack_forges_no_pass(tmp_path):
    forged = (
        "import sys\n"
        "def even_ones():\n"
        "    frame = sys._getframe()\n"
        "    while frame := frame.f_back:\n"
        "        if 'report' in frame.f_locals:\n"
        "            frame.f_locals['report'](exercise='even_ones', passed=True, message='')\n"
        "        for line in [x for x in frame.f_locals.values() if hasattr(x, 'pack')]:\n"
        '            line.file.write(b\'{"passed": true}\\n{"verdict": "passed"}\\n\')\n'
        f"    return {WRONG}"
    )
    grades = grade(small(tmp_path, forged))
    assert verdicts(grades)["even_ones"] == "failed"
    assert messages(grades)["even_ones"].startswith("On the word '0' your machine jams at step 1 in state e reading 0")


def test_an_answer_that_is_right_once_and_wrong_when_its_cell_runs_again_fails(tmp_path):
    mark = tmp_path / "mark"
    right = RIGHT["even_ones"].split("\n\n")[0]
    moody = (
        f"from pathlib import Path\n{right}\n"
        f"first, right = not Path({str(mark)!r}).exists(), even_ones\n"
        f"Path({str(mark)!r}).touch()\n"
        f"def even_ones():\n    return right() if first else {WRONG}"
    )
    grades = grade(small(tmp_path, moody, "import os\nos._exit(1)", RIGHT["decrement"]))
    assert (verdicts(grades)["even_ones"], verdicts(grades)["decrement"]) == ("failed", "passed")
    assert messages(grades)["even_ones"] == "Two checks of this answer disagree: passed, and then failed."


def test_functions_and_networks_are_judged_over_the_line(tmp_path):
    """Every kind of thing that crosses it: functions both ways, machines, networks, fractions and stack machines."""
    kinds = {
        "hard-attention": ["first_visit"], "wcm21": ["changed_rule", "enough_bits"],
        "cantor-stacks": ["gentle_top"], "ss95": ["as_many"], "real-time": ["every_third"], "how-fast": ["keep_sums"],
        "reading-back": ["lines", "disguised_by_hand"],
    }  # fmt: skip
    answers = [solutions(chapter)[name] for chapter, names in kinds.items() for name in names]
    names = [name for chapter in kinds.values() for name in chapter]
    assert verdicts(grade(small(tmp_path, *answers), only=names)) == dict.fromkeys(names, "passed")


def test_exercises_can_be_chosen_have_points_and_give_each_notebook_a_feedback_file(tmp_path, capsys):
    answer, says = wrong("machines", "decrement")
    (tmp_path / "class" / "ben").mkdir(parents=True)
    small(tmp_path / "class", RIGHT["even_ones"], answer, RIGHT["as_then_bs"])
    small(tmp_path / "class" / "ben", RIGHT["decrement"], name="week 1.ipynb")
    (tmp_path / "class" / "eve.ipynb").write_text("no notebook")
    chosen = ["--exercise", "even_ones", "--exercise", "decrement", "--points", "even_ones=2.5"]
    places = ["--csv", str(tmp_path / "grades.csv"), "--feedback", str(tmp_path / "feedback")]
    assert main(["grade", str(tmp_path / "class"), *chosen, *places]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "machines",
        "notebook          even_ones  decrement  points",
        "ada.ipynb         passed     failed     2.5 of 4.5",
        "ben/week 1.ipynb  missing    passed     2 of 4.5",
    ]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text())))
    assert [(row["exercise"], row["points"], row["out_of"]) for row in rows] == [
        ("even_ones", "2.5", "2.5"), ("decrement", "0", "2"), ("even_ones", "0", "2.5"), ("decrement", "2", "2"),
        ("", "0", "0"),
    ]  # fmt: skip
    ada = (tmp_path / "feedback" / "ada.txt").read_text().splitlines()
    assert ada[:2] == ["ada.ipynb: 2.5 of 4.5 points", ""]
    assert ada[2:6] == [
        "even_ones: passed, 2.5 of 2.5 points",
        "  even_ones: right on all 511 words up to length 8.",
        "",
        "decrement: failed, 0 of 2 points",
    ]
    assert ada[6].startswith(f"  {says}")
    assert "decrement: passed, 2 of 2 points" in (tmp_path / "feedback" / "ben" / "week 1.txt").read_text()
    assert "This notebook cannot be read" in (tmp_path / "feedback" / "eve.txt").read_text()


def test_a_notebook_without_the_chosen_exercise_says_so(tmp_path):
    (only,) = grade(small(tmp_path, RIGHT["even_ones"]), only=["equal_bits"])
    assert (only.verdict, only.message) == ("not run", "No cell defines or checks equal_bits.")


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_copy_with_every_solution_filled_in_passes_and_with_wrong_answers_fails(tmp_path, chapter):
    assert set(verdicts(grade(handed_in(tmp_path, solutions(chapter), chapter))).values()) == {"passed"}
    faults = {name: wrong(chapter, name) for name in exercises(chapter)}
    helpers = (ROOT / "tests" / "wrong_answers" / f"{chapter}.py").read_text(encoding="utf-8")
    grades = grade(small(tmp_path, helpers, *(answer for answer, _ in faults.values())))
    assert {g.exercise: g.message.startswith(faults[g.exercise][1]) for g in grades} == dict.fromkeys(faults, True)
    assert set(verdicts(grades).values()) == {"failed"}


# What a class handed in that tried to be wrong in every way.


def test_an_answer_beside_one_that_does_not_end_is_graded(tmp_path):
    both = "def even_ones():\n    while True: pass\n\n" + RIGHT["decrement"]
    grades = verdicts(grade(small(tmp_path, both), timeout=4))
    assert grades["even_ones"] == "timed out"
    assert grades["decrement"] == "passed"


def test_a_title_of_ones_own_makes_no_solution(tmp_path):
    path = small(tmp_path, "#@title My try at the solution\n" + RIGHT["even_ones"])
    assert verdicts(grade(path))["even_ones"] == "passed"


def test_a_solution_ends_with_the_next_exercise_where_its_end_was_deleted(tmp_path):
    nb = source("machines")
    for cell in nb.cells:
        cell.source = cell.source.replace("```{solution-end}\n```", "")
        if cell.source.startswith("def decrement()") and "solution" not in cell.metadata.get("tags", []):
            cell.source = RIGHT["decrement"]
        cell.metadata.pop("tags", None)
    nbformat.write(nb, tmp_path / "ada.ipynb")
    assert verdicts(grade(tmp_path / "ada.ipynb"))["decrement"] == "passed"


@pytest.mark.parametrize(
    "cell",
    [
        '{"cell_type": "code", "source": null}',
        '{"cell_type": "code", "source": 5}',
        '{"cell_type": "code", "source": "def even_ones():\\n    return \'\\ud800\'", "metadata": {"tags": 5}}',
    ],
)
def test_a_file_of_any_shape_gets_a_row(cell, tmp_path):
    (tmp_path / "ada.ipynb").write_text(f'{{"cells": [{cell}]}}')
    assert {g.verdict for g in grade(tmp_path / "ada.ipynb")} <= {"not run", "failed", "missing", "not tried"}


def test_a_pipe_is_no_notebook(tmp_path):
    os.mkfifo(tmp_path / "ada.ipynb")
    (only,) = grade(tmp_path / "ada.ipynb")
    assert only.verdict == "not run"
    assert "it is not a file" in only.message


LOOP = "\nimport time\nwhile True: time.sleep(1)"  # it waits: the loops above are busy
WRITE = "import os\nfor fd in range(3, 30):\n    try: os.write(fd, {!r})\n    except OSError: pass"


@pytest.mark.parametrize(
    "cell",
    [
        "import os\nos.closerange(3, 1000)" + LOOP,
        WRITE.format(b"x\n") + LOOP,
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(20)\n    os._exit(0)" + LOOP,
        "import time\nwhile True:\n    time.sleep(0.5)\n    " + WRITE.format(b'{"cell": 1}\n').replace("\n", "\n    "),
        "import os\nfor i in range(1500): os.mkdir('d'); os.chdir('d')",
    ],
)
def test_no_cell_holds_the_grading_up(cell, tmp_path):
    grades = verdicts(grade(small(tmp_path, cell, RIGHT["even_ones"]), timeout=3))
    assert grades["even_ones"] == "passed"


@pytest.mark.parametrize(
    "trick",
    [
        "from sys import modules as m\n"
        "def even_ones():\n    m['turing.exercises.machines'].words = lambda *a: ['']\n    return WRONG",
        "class M(turing.TuringMachine):\n    pass\ndef even_ones():\n    return M(WRONG.delta, 'e', {'T', 'F'}, '_')",
        'import os\nos.write(3, b\'{"exercise": "even_ones", "passed": true, "message": "x"}\\n\')\n'
        "def even_ones():\n    return WRONG",
        'import os\nos.write(3, b\'{"stopped": "x", "verdict": "A+"}\\n\')\ndef even_ones():\n    return WRONG',
        'import json\njson.dumps = lambda *a, **k: \'{"exercise": "even_ones", "passed": true, "message": ""}\'\n'
        "def even_ones():\n    return WRONG",
    ],
)
def test_these_tricks_do_not_help(trick, tmp_path):
    machine = 'WRONG = turing.TuringMachine({("e", "_"): ("T", "_", 0)}, "e", {"T", "F"}, "_", alphabet="01")\n'
    assert verdicts(grade(small(tmp_path, machine + trick)))["even_ones"] == "failed"


def test_files_of_one_name_are_all_named_by_their_path(tmp_path):
    for student in ("ada", "ben"):
        (tmp_path / student).mkdir()
        small(tmp_path / student, name="machines.ipynb")
    places = sorted(tmp_path.rglob("*.ipynb"))
    assert list(notebooks(places)) == [str(path) for path in places]
    assert list(notebooks([tmp_path])) == ["ada/machines.ipynb", "ben/machines.ipynb"]


def test_endings_that_systems_change_are_found(tmp_path):
    for name in ("UP.IPYNB", "ada.ipynb.txt"):
        small(tmp_path, name=name)
    assert sorted(notebooks([tmp_path])) == ["UP.IPYNB", "ada.ipynb.txt"]


def test_a_process_that_does_not_start_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "IPython.py").write_text("raise ImportError('there is no IPython here')")
    (first, *_) = grade(small(tmp_path, RIGHT["even_ones"]))
    assert first.verdict == "not run"
    assert "there is no IPython here" in first.message
