"""Pictures: well-formed, complete, the same every time, and with words for what they show."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import turing
from book import ROOT
from paper import BALANCED
from turing import TuringMachine, space_time, state_diagram
from turing.pictures import Picture
from turing.pictures.graph import MAX_ARROWS, MAX_STATES

SVG = "{http://www.w3.org/2000/svg}"
RIGHT = TuringMachine({("A", "0"): ("A", "1", 1)}, "A", set(), "0")
BB4 = turing.zoo["bb4"]


def drawn(picture: Picture) -> ET.Element:
    root = ET.fromstring(picture.svg)
    assert root.tag == SVG + "svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == picture.alt
    return root


def texts(element: ET.Element) -> list[str]:
    """What is printed, tooltips aside."""
    return ["".join(t.itertext()).removeprefix(t.findtext(f"{SVG}title", "")) for t in element.iter(SVG + "text")]


def tooltips(element: ET.Element) -> list[str]:
    return [title.text for title in element.iter(SVG + "title")]


def test_a_short_run_prints_every_symbol_of_every_step_and_the_state_beside_it():
    root = drawn(space_time(BALANCED, "B()E"))
    groups = {group.get("style"): texts(group) for group in root.iter(SVG + "g")}
    states = next(text for style, text in groups.items() if "--turing-st" in style)
    assert "".join(states) == "IRRMRRVVVT"
    heads = next(text for style, text in groups.items() if "font-weight:600;fill:var(--turing-ground" in style)
    assert "".join(heads) == "B()(*E**B*"
    printed = [c for style, text in groups.items() if "--turing-mono" in style for c in text]
    rows = [c for now in BALANCED.trace("B()E") for c in now.cells.values()]
    assert sorted(printed) == sorted(rows)


def test_the_alt_text_of_a_run_has_its_steps_word_states_cells_and_tape():
    assert space_time(BALANCED, "B()E").alt == (
        "Space–time diagram of 9 steps on B()E, time running down. The head starts on cell 0 in state I, "
        "visits cells 0 to 3 and halts on cell 1 in state T. The tape then reads B**."
    )
    assert "107 steps on a blank tape" in space_time(BB4).alt
    assert "visits cells −10 to 3 and halts on cell −9 in state Z" in space_time(BB4).alt
    assert "jams, as no rule applies, on cell 0 in state I" in space_time(BALANCED, "E").alt
    assert "1 step on a blank tape" in space_time(RIGHT, "", 1).alt
    assert "is still running on cell 1" in space_time(RIGHT, "", 1).alt
    assert "on a word of 41 symbols" in space_time(RIGHT, "0" * 41, 3).alt


def test_a_run_and_its_machine_give_the_same_picture():
    assert space_time(BALANCED.run("B(())E")) == space_time(BALANCED, "B(())E")
    assert space_time(BALANCED, tuple("B(())E")) == space_time(BALANCED, "B(())E")


def test_the_part_of_the_tape_can_be_chosen():
    root = drawn(space_time(BALANCED, "B()E", cells=range(-1, 2)))
    axis = [text.text for text in root.iter(SVG + "text") if text.get("y") == "18"]
    assert axis == ["step", "state", "−1", "0", "1"]


@pytest.mark.parametrize(
    ("machine", "word", "steps", "limit"),
    [
        (BB4, "", 200, 20_000),
        (turing.zoo["bb5"], "", 2_000, 60_000),
        (turing.zoo["rule_110"], "1", 2_000, 60_000),
        (RIGHT, "", 5_000, 60_000),
    ],
    ids=["bb4", "bb5", "rule 110", "right"],
)
def test_long_runs_stay_small_and_name_their_shades(machine, word, steps, limit):
    picture = space_time(machine, word, steps)
    root = drawn(picture)
    assert len(picture.svg) < limit
    assert int(root.get("width")) < 800
    assert int(root.get("height")) < 900
    assert {"head", "1"} <= set(texts(root))


def test_pixels_cover_the_cells_that_are_not_blank():
    root = drawn(space_time(BB4))
    paths = {path.get("style"): path.get("d") for path in root.iter(SVG + "path") if "v" in path.get("d", "")}
    ones = next(d for style, d in paths.items() if "--turing-sym" in style)
    heads = next(d for style, d in paths.items() if style.startswith("fill:var(--turing-ink"))
    trace = list(BB4.trace())
    assert covered(ones) == {(cell + 10, now.step) for now in trace for cell in now.tape}
    assert covered(heads) == {(now.head + 10, now.step) for now in trace}


def covered(path: str) -> set[tuple[int, int]]:
    blocks = [tuple(map(int, block)) for block in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", path)]
    squares = [(x + i, y + j) for x, y, w, h in blocks for i in range(w) for j in range(h)]
    assert len(squares) == len(set(squares))
    return set(squares)


def test_a_picture_that_leaves_something_out_says_so_in_the_picture_and_in_the_alt_text():
    run = turing.zoo["bb5"].run("", 20_000)
    picture = space_time(run)
    for note in ("The first 10,000 of 20,000 steps.", "One row for every 28 steps, and the last."):
        assert note in picture.alt
        assert note in texts(drawn(picture))
    assert "One column for every 5 cells." in space_time(RIGHT, "", 3_000).alt
    assert "for every" not in space_time(BB4).alt
    short = space_time(run, max_steps=5)
    assert "The first 5 of 20,000 steps." in texts(drawn(short))


def rules_on_edges(root: ET.Element) -> list[int]:
    edges = [group for group in root.iter(SVG + "g") if group.get("class") == "edge"]
    return [int(number) for edge in edges for number in edge.get("data-rules").split()]


def test_a_state_diagram_shows_every_state_symbol_and_rule():
    root = drawn(state_diagram(BALANCED))
    nodes = {int(g.get("data-state")): g for g in root.iter(SVG + "g") if "node" in g.get("class", "")}
    assert [texts(nodes[i]) for i in range(len(nodes))] == [[state] for state in BALANCED.states]
    assert [len(list(nodes[i].iter(SVG + "rect"))) for i in nodes] == [
        2 if state in BALANCED.halting else 1 for state in BALANCED.states
    ]
    labels = {
        edge.get("data-rules"): [line for text in edge.iter(SVG + "text") for line in lines(text)]
        for edge in root.iter(SVG + "g")
        if edge.get("class") == "edge"
    }
    assert labels == {
        "0": ["B R"], "1 3": ["( * R"], "2": [") → * L"], "4": ["E L"], "5": ["B → * L"], "6": ["( → * R"],
        "7": ["* L"], "8": ["( → * L"], "9": ["* L"], "10": ["B R"],
    }  # fmt: skip


def lines(text: ET.Element) -> list[str]:
    return ["".join(line.itertext()).replace("\u00a0", " ") for line in text]


def test_the_alt_text_of_a_state_diagram_says_where_the_arrows_lead():
    assert state_diagram(BALANCED).alt == (
        "State diagram of 6 states and 11 rules. I is the initial state; F, T halt. "
        "Arrows lead from I to R; from R to R, M, V; from M to F, R, M; from V to F, V, T."
    )
    assert "; no state halts." in state_diagram(RIGHT).alt


def test_every_rule_of_every_machine_in_the_zoo_is_on_one_edge():
    for name in turing.zoo:
        machine = turing.zoo[name]
        root = drawn(state_diagram(machine))
        assert sorted(rules_on_edges(root)) == list(range(len(machine.delta))), name
        tips = " ".join(tooltips(root))
        for (_, read), (_, written, _) in machine.delta.items():
            assert read in tips
            assert written in tips


def test_no_label_of_the_first_machines_is_under_a_state_or_another_label():
    for name in ("balanced_parentheses", "binary_increment", "bb2", "bb3", "bb4", "bb5"):
        root = drawn(state_diagram(turing.zoo[name]))
        boxes = [
            tuple(float(rect.get(k)) for k in ("x", "y", "width", "height"))
            for node in root.iter(SVG + "g") if "node" in node.get("class", "")
            for rect in [next(node.iter(SVG + "rect"))]
        ]  # fmt: skip
        for text in root.iter(SVG + "text"):
            for line in text.findall(f"{SVG}tspan[@x]"):
                width = 9 * len("".join(line.itertext()))
                boxes.append((float(line.get("x")) - width / 2, float(line.get("y")) - 11, width, 13))
        for i, (x, y, w, h) in enumerate(boxes):
            for u, v, p, q in boxes[:i]:
                assert x >= u + p or u >= x + w or y >= v + q or v >= y + h, name


def test_a_state_diagram_of_hundreds_of_states_is_still_drawn():
    n = 10 * MAX_STATES
    machine = TuringMachine({(f"q{i}", "0"): (f"q{(i * 7 + 1) % n}", "0", 1) for i in range(n)}, "q0", set(), "0")
    assert sorted(rules_on_edges(drawn(state_diagram(machine)))) == list(range(n))


def fan(states: int, arrows: int) -> TuringMachine:
    """A machine with this many arrows, as many as can be from the first state, then from the second, …"""
    pairs = [(a, b) for a in range(states) for b in range(states)][:arrows]
    return TuringMachine({(f"q{a}", f"s{b}"): (f"q{b}", f"s{b}", 1) for a, b in pairs}, "q0", set(), "s0")


@pytest.mark.parametrize(
    ("machine", "in_rows"),
    [
        (fan(MAX_STATES, MAX_STATES), False),
        (fan(MAX_STATES + 1, MAX_STATES + 1), True),
        (fan(10, MAX_ARROWS), False),
        (fan(10, MAX_ARROWS + 1), True),
        (fan(MAX_STATES, MAX_STATES**2), True),
    ],
    ids=["most states", "one more state", "most arrows", "one more arrow", "every arrow"],
)
def test_a_machine_with_too_many_states_or_arrows_to_label_is_drawn_in_rows_with_only_tooltips(machine, in_rows):
    root = drawn(state_diagram(machine))
    assert sorted(rules_on_edges(root)) == list(range(len(machine.delta)))
    nodes = [group for group in root.iter(SVG + "g") if "node" in group.get("class", "")]
    first_row = [float(group.find(f"{SVG}text").get("y")) for group in nodes[:8]]
    assert (len(set(first_row)) == 1) == in_rows
    labels = [text for group in root.iter(SVG + "g") if group.get("class") == "edge" for text in texts(group)]
    assert (not labels) == in_rows
    tips = " ".join(tooltips(root))
    assert all(f"→ {target}: {read} R" in tips for (_, read), (target, _, _) in machine.delta.items())


def test_the_highlight_of_a_state_diagram_reaches_no_other_element():
    style = drawn(state_diagram(BALANCED)).find(f"{SVG}style").text
    selectors = [rule.split("{")[0].strip() for rule in style.split("}") if rule.strip()]
    assert selectors
    assert all(selector.startswith(".turing-states ") for selector in selectors)
    assert any(".edge.on" in selector for selector in selectors)
    assert any(".node.on" in selector for selector in selectors)


def test_names_are_text_and_never_markup():
    bad, long = "<script>alert('&\"')</script>", "a state with a name that goes on and on"
    machine = TuringMachine({(bad, "<b>"): (long, "&amp;", 1), (long, " "): (bad, "\x00", 0)}, bad, set(), " ")
    for picture in (state_diagram(machine), space_time(machine, ["<b>", " "])):
        root = drawn(picture)
        assert not list(root.iter(SVG + "script"))
        assert "<script" not in picture._repr_html_()
        assert bad in " ".join([picture.alt, *tooltips(root)])
        assert long in " ".join(tooltips(root))
        assert any("␣" in text for text in [*texts(root), *tooltips(root)])
        assert "\x00" not in picture.svg


names = st.text(min_size=1, max_size=20)


@st.composite
def machines(draw):
    states = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    symbols = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    target = st.tuples(st.sampled_from([*states, "halt!"]), st.sampled_from(symbols), st.sampled_from([-1, 0, 1]))
    keys = st.tuples(st.sampled_from(states), st.sampled_from(symbols))
    delta = draw(st.dictionaries(keys, target, min_size=1, max_size=10))
    delta = {key: value for key, value in delta.items() if key[0] != "halt!"} or {
        (states[0], symbols[0]): ("halt!", symbols[0], 1)
    }
    halting = {"halt!"} - {key[0] for key in delta}
    return TuringMachine(delta, next(iter(delta))[0], halting, symbols[0], alphabet=symbols)


@settings(max_examples=40, deadline=None)
@given(machines(), st.data())
def test_any_machine_with_any_names_gives_well_formed_and_repeatable_pictures(machine, data):
    word = data.draw(st.lists(st.sampled_from(machine.symbols), max_size=5))
    diagram = state_diagram(machine)
    root = drawn(diagram)
    assert sorted(rules_on_edges(root)) == list(range(len(machine.delta)))
    assert len([g for g in root.iter(SVG + "g") if "node" in g.get("class", "")]) == len(machine.states)
    assert state_diagram(machine) == diagram
    steps = data.draw(st.sampled_from([0, 5, 90]))
    picture = space_time(machine, word, steps)
    drawn(picture)
    assert space_time(machine, word, steps) == picture


def test_pictures_have_no_ids_so_that_many_fit_on_a_page():
    for picture in (state_diagram(BALANCED), space_time(BALANCED, "B()E"), space_time(BB4)):
        assert not re.search(r"\sid=|url\(|href", picture.svg)


def test_every_colour_is_a_variable_with_a_light_fallback():
    for picture in (state_diagram(BALANCED), space_time(BALANCED, "B()E"), space_time(BB4)):
        assert not re.sub(r"var\(--turing-[a-z]+,#[0-9A-F]{6}\)", "", picture.svg).count("#")


def test_a_notebook_shows_the_picture_in_its_own_frame():
    html = state_diagram(BALANCED)._repr_html_()
    assert html.startswith('<figure class="turing-figure" style="margin:1em 0;overflow-x:auto" tabindex="0"><svg ')
    assert html.endswith("</svg></figure>")
    assert "tabindex" not in space_time(BALANCED, "B()E")._repr_html_()
    ET.fromstring(html)


def test_a_picture_is_saved_as_svg_only(tmp_path):
    picture = space_time(BALANCED, "B()E")
    picture.save(tmp_path / "run.svg")
    assert (tmp_path / "run.svg").read_text(encoding="utf-8") == picture.svg + "\n"
    with pytest.raises(ValueError, match=r"saved as SVG, and the name 'run\.png' was given\. Use 'run\.svg'"):
        picture.save(tmp_path / "run.png")


def test_an_arc_leads_from_a_step_back_to_an_earlier_one_beside_the_cells():
    plain, arched = (drawn(space_time(BALANCED, "B()E", arcs=arcs)) for arcs in (None, {4: 2, 9: 7}))
    purple = [path.get("d") for path in arched.iter(f"{SVG}path") if "--turing-attn" in path.get("style")]
    assert len(purple) == 4  # two curves with a tip each
    assert len([*arched.iter()]) == len([*plain.iter()]) + 4
    right = float(plain.get("width")) - 8
    assert all(float(number) >= right for path in purple for number in re.findall(r"(?<=M)[\d.]+", path))
    assert float(arched.get("width")) > float(plain.get("width"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: space_time(BALANCED, "B()E", arcs={2: 4}), "back to an earlier one, and 2: 4 was given"),
        (lambda: space_time(BB4, arcs={9: 2}), "at most 48 rows and 40 cells, and this one has 108 and 14"),
        (lambda: space_time("bb4"), "space_time draws a Run or a TuringMachine, and 'bb4' was given"),
        (lambda: space_time(BB4.run(), "01"), "A run has its word already, and the word '01' was given too"),
        (
            lambda: space_time(BB4, cells=(0, 5)),
            r"cells is a range such as range\(-3, 8\), and \(0, 5\) was given",
        ),
        (lambda: space_time(BB4, cells=range(0)), "cells is a range"),
        (
            lambda: space_time(BB4, cells=range(10**20)),
            r"cells is a range of at most 1,000,000,000 cells, and range\(0, 1000.*\) was given\. Choose fewer",
        ),
        (
            lambda: space_time(BB4.run(), max_steps=-1),
            "max_steps must be an integer of at least 0, and -1 was given",
        ),
        (lambda: space_time(BB4, "x"), "Symbol 'x'"),
        (lambda: state_diagram("bb4"), "state_diagram draws a TuringMachine, and 'bb4' was given"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_was_expected(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_the_reference_shows_pictures_as_they_are_drawn():
    page = (ROOT / "book/library-machines.md").read_text(encoding="utf-8")
    balanced = turing.zoo["balanced_parentheses"]
    assert re.findall(r"^This is `([^`]+)`:\n\n(<figure .+?</figure>)$", page, re.MULTILINE | re.DOTALL) == [
        ('turing.space_time(turing.zoo["balanced_parentheses"], "B()E")', space_time(balanced, "B()E")._repr_html_()),
        ('turing.state_diagram(turing.zoo["balanced_parentheses"])', state_diagram(balanced)._repr_html_()),
    ]
