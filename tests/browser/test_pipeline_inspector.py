"""The pipeline inspector in a real browser: every number held against torch, every sentence against the machine."""

import json
import re

import pytest

import turing
from pages import MODEL
from turing import TuringMachine
from turing.widgets import PipelineInspector

LEFT = TuringMachine(
    [("w", "x", "v", "y", 0), ("v", "y", "w", "y", -1), ("w", "_", "u", "x", -1), ("u", "_", "r", "z", 1),
     ("r", "x", "r", "x", 1), ("r", "y", "r", "z", 1), ("r", "z", "w", "x", -1)],
    "w", {"end"}, "_",
)  # fmt: skip
STAYS = TuringMachine([(f"s{k}", "1" if k else "_", f"s{k + 1}", "1", 0) for k in range(14)], "s0", {"s14"}, "_")
HOSTILE = "</script><b>bold</b>"
NAMED = TuringMachine(
    [(HOSTILE, "_", "<!--" * 9, "one " * 9, 1), ("<!--" * 9, "_", HOSTILE, "`&amp;", -1)], HOSTILE, set(), "_"
)
PAPER = turing.zoo["balanced_parentheses"]
NET = turing.compile(PAPER, "wcm21", T=100)
RUNS = {
    "balanced parentheses": (NET, "B(())E"),
    "binary increment": (turing.compile(turing.zoo["binary_increment"], "wcm21", T=32), "1011"),
    "bb3": (turing.compile(turing.zoo["bb3"], "wcm21", T=32), ""),
    "stays, and cells left of the word": (turing.compile(LEFT, "wcm21", T=16), "xz"),
    "literal softmax": (turing.compile(STAYS, "wcm21", T=16, average="literal"), ""),
    "lookahead": (turing.compile(PAPER, "wcm21", T=100, adder="lookahead"), "B(())E"),
    "lookahead, cells left of the word": (turing.compile(LEFT, "wcm21", T=16, adder="lookahead"), "xz"),
}
MORE = {"binary increment", "bb3"}  # of the kind of the first
each_run = pytest.mark.parametrize(
    "title", [pytest.param(title, marks=[pytest.mark.slow] * (title in MORE)) for title in RUNS]
)
INSPECTOR = ".turing-pipeline-inspector"

# Go to every step and every layer, and read what the page shows there.
WALK = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)], text = (selector) =>
    document.querySelector(selector).textContent, { layers, steps } = model.get("record");
  return JSON.stringify(Array.from({ length: steps }, (_, t) => {
    model.set("step", t + 1);
    const seen = layers.map(({ name }) => {
      model.set("layer", name);
      return {
        name, title: text(".title"), changes: text(".changes"), readout: text(".readout"),
        places: all(".slice:not(.away) .place").map(({ dataset, textContent, className, lastChild }) => [
          dataset.name, Number(dataset.value), textContent.slice(0, -lastChild.textContent.length), className]),
        words: Object.fromEntries(all(".slice:not(.away)").map((slice) =>
          [slice.dataset.slice, slice.querySelector(".words").textContent])),
      };
    });
    const heads = all("[data-head]").map((row) => [row.dataset.head,
      [...row.querySelectorAll("[data-key]")].map(({ dataset }) => [Number(dataset.key), Number(dataset.weight)])]);
    return { layers: seen, heads: Object.fromEntries(heads), status: text(".status") };
  }));
}"""

# Choose every cell of every row by the keyboard, and read the text.
STORIES = """() => {
  const root = document.querySelector(".turing-pipeline-inspector"), frame = root.querySelector(".picture");
  const press = (key) => frame.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const seen = {}, chosen = () => [root.dataset.row, root.dataset.cell, root.dataset.step].join();
  const far = (key, each = () => {}) => { for (let old; old !== chosen(); press(key)) { old = chosen(); each(); } };
  far("ArrowUp");
  far("ArrowDown", () => {
    far("ArrowLeft");
    far("ArrowRight", () => (seen[chosen()] = root.querySelector(".story").textContent));
  });
  return seen;
}"""


@pytest.fixture
def show(open_page):
    """Put an inspector on one page after the other, with a model as a kernel has it."""
    page = open_page()

    def _show(inspector):
        page.add_style_tag(content=inspector._css)
        page.evaluate(MODEL, [inspector._esm, inspector.get_state(["record", "step", "layer"])])
        return page

    return _show


def in_words(part, values, wide, cells):
    """A slice of 0s and 1s as a reader would say it."""
    if part.name == "scr4" and wide:
        return f"carry = {values[0]:g}"
    if part.labels:
        return f"= {' and '.join(label for label, x in zip(part.labels, values, strict=True) if x) or 'none'}"
    number = sum(int(x) << k for k, x in enumerate(values))
    below = [cell for cell in cells if cell < 0 and cell % 2**part.size == number]
    return f"= {number}" + (f", cell −{-below[0]}" if below and part.name in ("pos2", "pos3") else "")


def agrees(layer, now, before):
    """Every place has its number, and those that changed are framed and told of."""
    kinds = {place: kind.split() for place, _, _, kind in layer["places"]}
    assert {place: value for place, value, _, _ in layer["places"]} == now
    assert all(float(text.replace("−", "-")) == float(f"{value:.8g}") for _, value, text, _ in layer["places"])
    assert {place for place in kinds if "one" in kinds[place]} == {place for place in now if now[place] > 0.5}
    changed = {place for place in now if before and now[place] != before.get(place, 0)}
    assert {place for place in kinds if "changed" in kinds[place]} == changed
    told = layer["changes"].partition("framed: ")[2]
    assert {item.split(":")[0] for item in told.split("; ") if item} == {place.split("[")[0] for place in changed}


@each_run
def test_at_every_step_and_layer_of_a_run_the_numbers_are_those_of_torch(title, show):
    net, word = RUNS[title]
    inspector = PipelineInspector(net, word)
    shown = json.loads(show(inspector).evaluate(WALK))
    heads, before, odd = [now.head for now in net.machine.trace(word)], None, set()
    for step, (vectors, seen) in enumerate(zip(net.vectors([word], len(shown)), shown, strict=True), start=1):
        patterns = net.patterns(word, step)
        assert [layer["name"] for layer in seen["layers"]] == list(vectors)
        assert list(seen["heads"]) == list(patterns)
        for layer, (name, (vector,)) in zip(seen["layers"], vectors.items(), strict=True):
            layout, values = net.layout_of(name), vector.tolist()
            now = dict(zip(layout.names(), values, strict=True))
            agrees(layer, now, before)
            before = now
            odd |= {*values} - {0, 1}
            if {*values} <= {0, 1}:
                cells, wide = heads[step - 1 : step + 1], "add" in {part.name for part in layout}
                assert layer["words"] == {s.name: in_words(s, values[s.slice], wide, cells) for s in layout}
            weights = {weight for weight in patterns[name].tolist() if weight} if name in patterns else set()
            told = re.findall(r"[\d.e-]+(?= (?:each )?on )", layer["readout"])
            assert sorted(told) == sorted(f"{weight:.8g}" for weight in weights)
        for name, weights in patterns.items():
            *given, null = weights.tolist()
            assert dict(seen["heads"][name]) == {key: x for key, x in [*enumerate(given), (-1, null)] if x}
    assert bool(odd) == (title == "literal softmax")
    assert shown[-1]["status"].endswith(inspector.record["end"])


def story(net, word, t, cell):
    """The text on a cell of row t, from the trace of the machine alone."""
    trace, tape = list(net.machine.trace(word)), net.machine.tape(word)
    sets, drops = ("GetV", "ArrangeSymbols") if "v" in net.pipeline else ("Choose", "Choose")
    visits = [now.step for now in trace if now.head == cell]
    past, later = [i for i in visits if i < t], [i for i in visits if i > t]
    symbol, at = trace[t].cells.get(cell, net.machine.blank), str(cell).replace("-", "−")
    m = past[-1] if past else None
    if cell != trace[t].head:
        if past:
            wrote = f": step {m + 1}, which starts from column {m}, wrote it."
            then = f"Step {later[0]} comes back to it, and attention head last then reads column {m}." if later else ""
        elif cell in tape:
            wrote = ", a symbol of the word: no step has written here."
            then = f"and attention head initial then reads row {cell} of the tape."
        else:
            wrote = ": the tape head has not been here."
            then = f"No attention head finds anything then, and {sets} sets the blank flag."
        if later and not past:
            then = f"Step {later[0]} is the first to come to it{', ' if cell in tape else '. '}{then}"
        then = then if later else "No later step of this record comes to it."
        return f"In row {t} cell {at} holds {symbol}{wrote} {then}"
    if t == 0:
        put = f"The run starts here: the symbol {symbol} of cell {at} is put into column 0"
        return f"{put}, and no attention head reads it."
    comes = f"Step {t} {'leaves the tape head on' if trace[t - 1].head == cell else 'moves the tape head to'} cell {at}"
    if not past:
        answers = "visited and every search head" if cell in tape else "visited, every search head and initial"
        found = (
            f"Head initial reads row {cell} of the tape, {symbol}."
            if cell in tape
            else f"The cell is not on the word either, and {sets} sets the blank flag: {symbol}."
        )
        return (
            f"{comes}, where it has not been: the null key answers {answers}. {found} "
            f"Head last reads column 0, as scr3 is 0, and {drops} drops what it finds."
        )
    ties = {"visited": len(past)} | {
        f"search{j}": sum(i >> j == m >> j for i in past) for j in reversed(range(net.bits)) if m >> j & 1
    }
    *most, least = [name if n == 1 else f"{name} ({n} columns tie)" for name, n in ties.items()]
    also = f"{', '.join(most)} and {least}" if most else least
    null = "The null key answers the other search heads, and their bits are 0." if len(ties) <= net.bits else ""
    return (
        f"{comes}. It was last there in column {m}, which wrote {symbol}: the search leaves {m} in scr3, "
        f"and attention head last reads column {m}. Column {m} is also read by {also}. {null}"
    )


@each_run
def test_every_cell_of_every_row_tells_who_wrote_it_and_who_reads_it(title, show):
    net, word = RUNS[title]
    seen = show(PipelineInspector(net, word)).evaluate(STORIES)
    trace = list(net.machine.trace(word))
    cells = {now.head for now in trace} | {0, *net.machine.tape(word)}
    assert len(seen) == len(trace) * len(cells)
    for key, text in seen.items():
        row, cell, step = map(int, key.split(","))
        assert step == max(1, row)
        assert text.strip() == story(net, word, row, cell).strip()


def chosen(page):
    data = page.locator(INSPECTOR).evaluate("({dataset}) => ({...dataset})")
    return int(data["step"]), data["layer"], int(data["row"]), int(data["cell"])


PRESS = "(node, keys) => keys.forEach((key) => node.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})))"


def test_a_click_chooses_a_cell_keys_go_on_and_the_list_and_the_heads_choose_a_layer(open_page):
    inspector = PipelineInspector(NET, "B(())E")
    page = open_page(inspector, width=760)
    assert chosen(page) == (7, "visited", 7, 3)
    frame, pick = page.locator(".picture"), page.locator(".pick")
    frame.focus()
    for row, cell in [(13, 5), (18, 1), (2, 2), (0, 0), (0, 4), (11, 3)]:
        # Keys choose the cell and bring it into view; a click in its middle then has to choose it again.
        keys = ["ArrowUp"] * 20 + ["ArrowLeft"] * 9 + ["ArrowDown"] * row + ["ArrowRight"] * cell
        frame.evaluate(PRESS, keys)
        assert chosen(page) == (max(1, row), "visited", row, cell)
        box = pick.bounding_box()
        frame.press("ArrowLeft" if cell else "ArrowRight")
        text = page.locator(".story").text_content()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert chosen(page) == (max(1, row), "visited", row, cell)
        assert page.locator(".story").text_content() != text
        assert page.locator(".story").text_content().strip() == story(NET, "B(())E", row, cell).strip()

    page.locator(INSPECTOR).focus()
    names = ["column", *NET.pipeline]
    for key, step, layer in [
        ("Home", 1, "visited"), ("ArrowLeft", 1, "visited"), ("ArrowRight", 2, "visited"), ("ArrowDown", 2, "search6"),
        ("ArrowUp", 2, "visited"), ("End", 19, "visited"), ("ArrowRight", 19, "visited"), ("ArrowLeft", 18, "visited"),
        ("Control+ArrowLeft", 18, "visited"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert chosen(page)[:2] == (step, layer)
    page.get_by_role("option", name="combine").click()
    page.keyboard.press("ArrowDown")  # over the end of one step into the next
    assert chosen(page)[:2] == (19, "column")
    page.keyboard.press("ArrowUp")
    assert chosen(page)[:2] == (18, "combine")
    options = page.get_by_role("listbox").get_by_role("option")
    assert options.and_(page.locator("[aria-selected=true]")).text_content() == "combine"
    assert options.all_text_contents() == names

    page.locator("[data-head=search4]").click()
    assert chosen(page)[:2] == (18, "search4")
    assert page.locator(".readout").text_content().startswith("search4: ")
    page.locator("[data-head=last]").hover()
    assert page.locator(".readout").text_content().startswith("last: 1 on column ")
    slider = page.get_by_role("slider", name="Step of the run")
    slider.fill("12")
    slider.press("ArrowRight")
    assert chosen(page)[:2] == (13, "search4")
    for name, step in [("Start", 1), ("Back", 1), ("Step", 2), ("Step", 3), ("Back", 2), ("End", 19)]:
        page.get_by_role("button", name=name, exact=True).click()
        assert chosen(page)[:2] == (step, "search4")
    says = page.locator(".says")
    assert says.get_attribute("aria-live") == "polite"
    assert says.text_content() == "Step 19, layer search4. Changed here, and framed: scr3: 0 → 16."

    moving = """[...document.querySelectorAll('.turing-widget, .turing-widget *')].map(e => getComputedStyle(e))
        .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    assert page.evaluate(moving) == 0
    page.emulate_media(media="print")
    assert page.locator(".turing-fallback").is_visible()
    assert not page.locator(INSPECTOR).is_visible()


RINGS = """() => [...document.querySelectorAll(".picture .ring")].map((ring) => [ring.closest("svg").classList[0],
  ...["x", "y"].map((name) => Number(ring.getAttribute(name)))])"""


def test_the_picture_rings_what_the_head_reads(show):
    page = show(PipelineInspector(NET, "B(())E"))
    ys = {}
    for layer in ("visited", "last", "search6", "initial", "arrange"):
        page.evaluate("layer => model.set('layer', layer)", layer)
        ys[layer] = [(kind, y) for kind, _, y in page.evaluate(RINGS)]
    tall = 22
    assert ys["visited"] == [("rows", 3 * tall), ("rows", 5 * tall)]
    assert ys["last"] == ys["arrange"] == [("rows", 5 * tall)]
    assert ys["search6"] == []
    assert ys["initial"] == [("tape", tall)]
    page.evaluate("model.set('step', 2)")
    assert [kind for kind, *_ in page.evaluate(RINGS)] == ["tape"]


# Where each arc begins and ends, as rows of the picture; row −1 is the tape.
ARCS = """() => {
  const frame = document.querySelector(".picture"), rows = frame.querySelector(".rows");
  const at = (path, along) => path.getPointAtLength(along).matrixTransform(path.getScreenCTM());
  const row = (point) => Math.floor(point.matrixTransform(rows.getScreenCTM().inverse()).y / 22);
  return [...frame.querySelectorAll(".arc")].map((path) => {
    const [from, to] = [0, path.getTotalLength()].map((along) => row(at(path, along)));
    return [path.closest(".tape") ? -1 : to, from, Number(path.dataset.key), Number(path.dataset.weight)];
  });
}"""
WALK_ARCS = f"""([steps, names]) => steps.map((step) => {{
  model.set("step", step);
  return names.map((name) => (model.set("layer", name), ({ARCS})()));
}})"""


@each_run
def test_an_arc_leads_from_the_new_cell_to_every_column_that_the_head_reads(title, show):
    net, word = RUNS[title]
    _, kept = net.run_with_cache(word)
    patterns = {name.removesuffix(".pattern"): kept[name] for name in kept if name.endswith(".pattern")}
    steps = range(1, len(kept["column"]) + 1)
    shown = show(PipelineInspector(net, word)).evaluate(WALK_ARCS, [[*steps], [*patterns]])
    for step, arcs_of in zip(steps, shown, strict=True):
        for arcs, (name, pattern) in zip(arcs_of, patterns.items(), strict=True):
            read = [(key, weight) for key, weight in enumerate(pattern[step - 1].tolist()[:-1]) if weight]
            assert arcs == [[-1 if name == "initial" else key, step, key, weight] for key, weight in read]


def test_an_arc_to_the_tape_follows_the_rows_when_they_are_scrolled(show):
    page = show(PipelineInspector(NET, "B(())E"))
    page.add_style_tag(content=".picture { max-height: 12rem !important }")
    page.evaluate("model.set('step', 13), model.set('layer', 'initial')")
    for top in (0, 60, 200):
        page.locator(".picture").evaluate(
            "(frame, top) => new Promise((done) => { frame.scrollTop = top; requestAnimationFrame(done); })", top
        )
        assert [arc[:3] for arc in page.evaluate(ARCS)] == [[-1, 13, 5]]


def test_play_walks_layer_by_layer_through_every_step_and_stops_at_the_end(open_page):
    net = turing.compile(PAPER, "wcm21", T=16)
    page, names = open_page(PipelineInspector(net, "BE"), stopped=True), ["column", *net.pipeline]
    last = PAPER.run("BE").steps
    page.locator(INSPECTOR).press("Home")
    page.get_by_role("option", name="column").first.click()
    page.get_by_label("Speed").select_option("10 a second")
    page.get_by_role("button", name="Play", exact=True).click()
    walked = [chosen(page)[:2]]
    while page.get_by_role("button", name="Pause", exact=True).count():
        page.clock.run_for(100)
        walked.append(chosen(page)[:2])
    assert walked == [(step, name) for step in range(1, last + 1) for name in names]
    page.locator(INSPECTOR).press("p")
    page.clock.run_for(100)
    assert chosen(page)[:2] == (1, names[1])
    page.locator(INSPECTOR).press("ArrowDown")
    page.clock.run_for(1000)
    assert chosen(page)[:2] == (1, names[2])
    assert page.get_by_role("button", name="Play", exact=True).count() == 1


def test_arcs_are_drawn_and_changes_flip_unless_it_is_fast_or_the_reader_wants_stillness(open_page):
    moving = "document.getAnimations().length"
    for motion, speed, moves in (("null", "2", True), ("null", "30", False), ("reduce", "2", False)):
        page = open_page(PipelineInspector(NET, "B(())E"), reduced_motion=motion, stopped=True)
        page.get_by_label("Speed").select_option(speed)
        page.get_by_role("button", name="Play", exact=True).click()
        page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
        page.clock.run_for(1000 // int(speed) + 1)
        assert chosen(page)[:2] == (7, "search6")
        page.clock.run_for(4 * 1000 // int(speed))
        assert chosen(page)[:2] == (7, "search2")
        assert (page.evaluate(moving) > 0) == moves
        page.get_by_role("button", name="Pause", exact=True).click()


@pytest.mark.parametrize(("width", "height"), [(1000, 600), (390, 700)])
def test_the_buttons_stay_in_sight_all_the_way_down(width, height, open_page):
    page = open_page(PipelineInspector(NET, "B(())E"), width=width, height=height)
    page.locator(".readout").evaluate("node => node.scrollIntoView({block: 'end'})")
    assert page.locator(INSPECTOR).bounding_box()["y"] < -100
    for name in ("Play", "Back", "Step", "Start", "End"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert 0 <= box["y"] < 60
    page.get_by_role("button", name="Step", exact=True).click()
    assert chosen(page)[0] == 8


OVERLAPS = """() => {
  const names = [...document.querySelectorAll(".names span")], cross = (one, other, from, to) =>
    one[from] < other[to] - 0.5 && other[from] < one[to] - 0.5;
  const boxes = names.map((node) => [node.textContent, node.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], n) => boxes.slice(n + 1).filter(([, b]) =>
    cross(a, b, "left", "right") && cross(a, b, "top", "bottom")).map(([other]) => [one, other]));
}"""


@pytest.mark.parametrize("title", ["balanced parentheses", "lookahead", "stays, and cells left of the word"])
def test_the_names_of_the_slices_do_not_overlap(title, open_page):
    page = open_page(PipelineInspector(*RUNS[title]))
    page.add_style_tag(content="html { font-size: 18px }")  # the book's
    for width in (700, 800, 940, 980, 1120):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(".names span").first.is_visible()
        assert page.evaluate(OVERLAPS) == []


def test_a_kernel_moves_the_widget_and_hears_of_the_reader(show):
    page = show(PipelineInspector(NET, "B()E"))
    page.evaluate("model.set('step', 4), model.set('layer', 'project')")
    assert chosen(page)[:2] == (4, "project")
    page.get_by_role("button", name="Step", exact=True).click()
    page.get_by_role("option", name="last").click()
    saved = page.evaluate("model.saved.at(-1)")
    assert (saved["step"], saved["layer"]) == (5, "last")
    page.evaluate("model.set('step', 99)")
    assert chosen(page)[:2] == (9, "last")


def test_a_phone_shows_one_layer_at_a_time_also_of_a_long_word(open_page):
    named = PipelineInspector(turing.compile(NAMED, "wcm21", T=8), "")
    page = open_page(PipelineInspector(NET, "B()((()(()))())E"), named, width=360, height=740)
    root = page.locator(INSPECTOR).first
    assert not root.get_by_role("listbox").is_visible()
    select = root.get_by_role("combobox", name="Layer")
    select.select_option("preprocess")
    root.get_by_role("button", name="Layer after").click()
    root.get_by_role("button", name="Layer after").click()
    root.get_by_role("button", name="Layer before").click()
    assert root.get_attribute("data-layer") == "adder0"
    assert root.locator(".title").text_content().startswith("adder0 FullAdder")
    assert set(page.locator(INSPECTOR).last.locator(".status .q").all_text_contents()) == {HOSTILE, "<!--" * 9}
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_wide_pages_have_the_list_and_keep_their_height_from_layer_to_layer(open_page):
    page = open_page(PipelineInspector(NET, "B(())E"), width=800)
    assert page.get_by_role("listbox", name="Layers of the pipeline").is_visible()
    assert not page.get_by_role("combobox", name="Layer").is_visible()
    heights = """() => {
      const root = document.querySelector(".turing-pipeline-inspector"), found = [];
      const press = (key, times) => {
        for (let n = 0; n < times; n++) {
          root.dispatchEvent(new KeyboardEvent("keydown", { key }));
          found.push(root.getBoundingClientRect().height);
        }
      };
      press("ArrowDown", 26); // to this layer of the next step, and there is no text longer than a transition's
      root.querySelectorAll("[role=option]")[1].click();
      press("Home", 1);
      press("ArrowRight", 19);
      return found;
    }"""
    assert len(set(page.evaluate(heights))) == 1
