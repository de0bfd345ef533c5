"""The Python side of the widgets: what they hand to a notebook, and what they refuse."""

import json
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from every_widget import bundle, every_form, html, state

import turing.widgets
from turing import TuringMachine
from turing.widgets import Predict, Stepper
from turing.widgets.base import FOLDER, PARTS, Widget, joined

WALK = TuringMachine({("A", "1"): ("A", "1", 1), ("A", "0"): ("halt", "0", 0)}, "A", {"halt"}, "0")
LONG = TuringMachine({("go", "one"): ("go", "zero", 1), ("go", "zero"): ("end", "zero", -1)}, "go", {"end"}, "zero")
VIEW = "application/vnd.jupyter.widget-view+json"
every_widget = pytest.mark.parametrize("name", turing.widgets.__all__)


# Every widget.


def test_every_widget_is_named_and_says_how_it_falls_back_and_what_it_is():
    assert {*Widget.__subclasses__()} == {getattr(turing.widgets, name) for name in turing.widgets.__all__}
    for cls in Widget.__subclasses__():
        assert "fallback" in vars(cls)
        assert "__repr__" in vars(cls)


@every_widget
def test_it_offers_the_live_view_the_page_and_plain_text_without_an_address(name):
    for widget in every_form(name):
        data = bundle(widget)
        assert set(data) == {VIEW, "text/html", "text/plain"}
        assert data["text/plain"] == repr(widget)
        assert repr(widget).startswith(f"{name}(")
        assert " object at " not in repr(widget)


@every_widget
def test_the_page_carries_its_own_traits_and_no_other(name):
    own = getattr(turing.widgets, name).class_own_traits(sync=True)
    for widget in every_form(name):
        assert set(state(widget)) == {trait for trait in own if not trait.startswith("_")}


@every_widget
def test_the_page_asks_no_other_host_for_anything_and_no_name_ends_its_script_or_leaves_the_fallback(name):
    for widget in every_form(name):
        page = html(widget)
        assert set(re.findall(r"https?://[^\s\"'\\]+", page)) <= {"http://www.w3.org/2000/svg"}
        fallback, script = page.split('<script type="module">')
        assert script.count("<") == 1
        assert script.endswith("\n</script>\n")
        assert "<b>bold" not in fallback
        assert "<!--" not in fallback


@every_widget
def test_two_equal_ones_and_one_shown_twice_have_ids_of_their_own(name):
    one, *_ = every_form(name)
    ids = [re.search(r'<div id="([^"]+)">', html(widget)).group(1) for widget in (one, one)]
    assert len(set(ids)) == 2
    assert all(re.fullmatch(rf"turing-{name.lower()}-\d+", found) for found in ids)


# The stepper and the prediction.


def predict():
    return Predict("Does it halt on `11`?", ["yes", "no"], 0, "It meets a `0`.")


def test_a_bundle_of_any_version_of_anywidget_gets_the_page(monkeypatch):
    for given in (None, {VIEW: {}}, ({VIEW: {}}, {VIEW: {"colab": 1}})):
        monkeypatch.setattr("anywidget.AnyWidget._repr_mimebundle_", lambda self, given=given, **_: given)
        data, metadata = predict()._repr_mimebundle_()
        assert "turing-fallback" in data["text/html"]
        assert metadata == ({VIEW: {"colab": 1}} if isinstance(given, tuple) else {})


def test_the_page_carries_the_traits_the_module_and_the_style():
    page, carried = html(Stepper(WALK, "11")), state(Stepper(WALK, "11"))
    assert carried["word"] == "11"
    assert carried["machine"] == {
        "rules": [["A", "1", "A", "1", 1], ["A", "0", "halt", "0", 0]],
        "initial": "A",
        "halting": ["halt"],
        "blank": "0",
        "states": ["A", "halt"],
        "symbols": ["0", "1"],
    }
    for css in (".turing-widget {", ".turing-stepper {"):
        assert css in page
        assert css in Stepper(WALK).get_state("_css")["_css"]


SOURCES = {path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.js")}
DECLARED = r"(?m)^{}(?:async )?(?:class|const|function\*?) (\w+)"


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_what_a_module_imports_is_exported_there_and_used(name):
    for names, path in re.findall(r'(?m)^import \{ ([^}]*) \} from "(.+)";$', SOURCES[name]):
        other = (FOLDER / name).parent.joinpath(path).resolve().relative_to(FOLDER.resolve()).as_posix()
        for imported in names.split(", "):
            assert imported in re.findall(DECLARED.format("export "), SOURCES[other]), f"{other} has no {imported}"
            assert len(re.findall(rf"\b{imported}\b", SOURCES[name])) > 1, f"{name} does not use {imported}"


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_modules_are_joined_each_once_and_without_imports(name):
    modules = joined(name).split("const loaded = ")[0]
    assert not re.search(r"(?m)^(?:import|export) |import\.meta", modules)
    keys = re.findall(r'(?m)^"([\w/.]+)"\(\) \{$', modules)
    assert keys[-1] == name
    assert len(keys) == len(set(keys))
    assert joined(name) == joined(name)


SHAPES = {("queue_wheel/widget.css", "mark")}  # a shape of a drawing has none of the box that the theme gives to a mark


def classes(path, pattern):
    """The classes that a pattern finds in the selectors of a style sheet."""
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"(?s)/\*.*?\*/", "", path.read_text(encoding="utf-8")))
    return {name for one in selectors for part in one.split(",") for name in re.findall(pattern, part)}


def test_no_class_of_a_widget_has_a_style_of_the_theme():
    packages = (Path(find_spec(name).origin).parent for name in ("pydata_sphinx_theme", "sphinx_book_theme"))
    sheets = [sheet for package in packages for sheet in package.rglob("static/styles/*.css")]
    themes = {name for sheet in sheets for name in classes(sheet, r"^\s*\.([\w-]+)\s*$")}
    assert {"mark", "btn"} <= themes
    own = {path.relative_to(FOLDER).as_posix(): classes(path, r"\.([a-z][\w-]*)") for path in FOLDER.rglob("*.css")}
    assert len(own) > 10
    assert {(sheet, name) for sheet, names in own.items() for name in names & themes} == SHAPES


def carried(page):
    return json.loads(re.search(r"const texts = Object.assign\(.*?, (\{.*\})\);\n", page)[1])


def test_a_module_is_in_the_output_of_the_first_widget_that_needs_it_and_in_no_other():
    first, second, third = html(Stepper(WALK)), bundle(predict())["text/html"], bundle(Stepper(WALK))["text/html"]
    assert carried(first) == PARTS[Stepper._esm]
    assert "".join(PARTS[Stepper._esm].values()) == Stepper._esm
    assert set(carried(second)) == {"predict/widget.js", "load predict/widget.js"}
    assert carried(third) == {}
    assert carried(html(predict())) == PARTS[Predict._esm]


def test_a_helper_is_written_once():
    declared = Counter(name for text in SOURCES.values() for name in re.findall(DECLARED.format("(?:export )?"), text))
    shared = "".join(SOURCES[f"page/{name}.js"] for name in ("dom", "text", "numbers", "machine"))
    assert [name for name in re.findall(DECLARED.format("export "), shared) if declared[name] > 1] == []


@pytest.mark.parametrize("name", ["</script><b>", "<!--<script>", "\u2028\u2029", "\"&'\\", "{id}"])
def test_no_name_breaks_out_of_the_script_or_the_fallback(name):
    machine = TuringMachine({(name, "0"): ("halt", name, 1)}, name, {"halt"}, "0")
    fallback, script = html(Stepper(machine)).split('<script type="module">')
    assert state(Stepper(machine))["machine"]["rules"] == [[name, "0", "halt", name, 1]]
    assert script.count("<") == 1
    assert script.endswith("\n</script>\n")
    assert "<b>" not in fallback
    assert "<!--" not in fallback
    assert not re.search("[\u2028\u2029]", script)


def test_the_plain_text_says_what_it_is_and_no_address():
    assert repr(Stepper(WALK, "11")) == "Stepper(<TuringMachine: 2 states, 2 symbols, 2 rules>, '11')"
    assert bundle(predict())["text/plain"] == "Predict('Does it halt on `11`?', ['yes', 'no'])"


def test_the_fallback_shows_the_rules_and_the_first_twelve_configurations():
    short, long = Stepper(WALK, "11").fallback(), Stepper(WALK, "1" * 20).fallback()
    assert "<tr><td>A</td><td>0</td><td>halt</td><td>0</td><td>0</td></tr>" in short
    assert "<pre>A  [1]1\nA  1[1]\nA  11[0]\nhalt  11[0]</pre>" in short
    assert "halted in state halt after 3 steps" in short
    assert long.split("<pre>")[1].split("</pre>")[0].count("\n") == 12
    assert "\n…</pre>" in long


def test_the_fallback_of_a_prediction_keeps_the_answer_folded():
    shown, folded = predict().fallback().split("<details>")
    assert "Does it halt on <code>11</code>?" in shown
    assert "It meets" not in shown
    assert "It meets a <code>0</code>." in folded


def test_only_backticks_are_marked_up_in_a_prediction():
    text = Predict("<i>`<b>`", ["*a*", "`c"], 1, "").fallback()
    assert "<p>&lt;i&gt;<code>&lt;b&gt;</code></p>" in text
    assert "<li>*a*</li>\n<li>`c</li>" in text


def test_a_word_is_what_run_takes_and_setting_it_starts_again():
    stepper = Stepper(WALK, iter("11"))
    assert stepper.word == "11"
    stepper.step = 2
    stepper.word = ["1", "0"]
    assert (stepper.word, stepper.step) == ("10", 0)
    assert Stepper(LONG, ("one", "zero")).word == ["one", "zero"]


def test_a_word_typed_in_the_page_keeps_the_step_that_came_with_it():
    stepper = Stepper(WALK, "1")
    stepper.set_state({"word": "11", "step": 1})
    assert (stepper.word, stepper.step) == ("11", 1)


def test_a_word_outside_the_alphabet_is_refused_in_the_machines_words_and_the_old_one_stays():
    message = r"Symbol 'x' \(cell 1 of the word\) is not in this machine's alphabet: 0 1\."
    with pytest.raises(ValueError, match=message):
        Stepper(WALK, "1x")
    stepper = Stepper(WALK, "11")
    with pytest.raises(ValueError, match=message):
        stepper.word = "1x"
    assert stepper.word == "11"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Stepper("bb4"), TypeError, "Stepper takes a TuringMachine, and 'bb4' was given."),
        (lambda: Stepper(WALK, "", -1), ValueError, "max_steps must be an integer of at least 0, and -1 was given."),
        (lambda: Predict("?", ["a"], 0, ""), ValueError, "needs two options or more, and 1 was given"),
        (
            lambda: Predict("?", "ab", 0, ""),
            ValueError,
            "options is a list of texts, and the string 'ab' was given",
        ),
        (
            lambda: Predict("?", ["a", "b"], 2, ""),
            ValueError,
            "index of the right option, 0 to 1, and 2 was given",
        ),
        (lambda: Predict("?", ["a", "b"], -1, ""), ValueError, "0 to 1, and -1 was given"),
        (lambda: Predict("?", ["a", "b"], "a", ""), ValueError, "0 to 1, and 'a' was given"),
        (lambda: Predict("?", ["a", "b"], True, ""), ValueError, "0 to 1, and True was given"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_helps(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()
