// The lab: a machine becomes a transformer in the page, and runs there. More than the first view opens on demand.

const LARGEST = { text: 100_000, states: 200, symbols: 50, pairs: 2000 };

const shapeOf = ({ states, symbols }) => `${count(states.length, "state")} and ${count(symbols.length, "symbol")}`;

/** The machine, if it is not too large for the page. */
function checkSize(machine) {
  const { states: { length: q }, symbols: { length: a } } = machine, { states, symbols, pairs } = LARGEST;
  if (q <= states && a <= symbols && q * a <= pairs) return machine;
  throw new Error(`The machine has ${shapeOf(machine)}. Here are at most ${states} states, ${symbols} symbols and ` +
    `${big(pairs)} pairs of both; turing.compile takes more.`);
}
/** The machine that a text describes. */
function readMachine(text) {
  if (text.length <= LARGEST.text) return checkSize(parseMachine(text).machine);
  throw new Error(`The text has ${big(text.length)} characters, and at most ${big(LARGEST.text)} are read here.`);
}
/** The machine as text, for a link: as short as can be. */
function textOf(machine) {
  try {
    return dumpMachine(machine, "bbchallenge");
  } catch {
    return dumpMachine(machine, "json");
  }
}

/** A word of a machine; a complaint begins with where it is. */
function asWord(text, machine, where = "") {
  try {
    return parseWord(text, machine);
  } catch (error) {
    throw new Error(where + error.message.replace(" The last good run stays.", ""));
  }
}
const spell = (word, machine) => word.join(isSingle(machine) ? "" : " ");
const mostFor = (steps) => MOST_STEPS.find((most) => most >= steps) ?? MOST_STEPS.at(-1);

/** Machine, word and step of a link, or nothing. */
function readHash(hash) {
  if (!hash.startsWith("#m=")) return null;
  if (hash.length > 4 * LARGEST.text) throw new Error("It is too long.");
  const parts = new Map(hash.slice(1).split("&").map((part) => part.split("=", 2)));
  const [m, w, t] = ["m", "w", "t"].map((key) => decodeURIComponent(parts.get(key) ?? ""));
  return { m, w, t: clamp(Math.floor(Number(t)) || 0, 0, MOST_STEPS.at(-1)) };
}

/** The tape around the head: of a long one, not every cell is in the page. */
function createWindow(machine) {
  const view = createTape(machine), { symbols } = machine, NEAR = 30, SLACK = 10;
  let first = 0, last = -1, ring = null;
  const build = (lo, hi, cells, head, centre) => {
    [first, last] = [Math.max(lo - SLACK, head - 2 * NEAR), Math.min(hi + SLACK, head + 2 * NEAR)];
    view.build({ get: (cell) => symbols[cells.get(cell)] }, { lo: first, hi: last }, centre);
  };
  return {
    frame: view.frame,
    show({ lo, hi }, cells, { state, head, read }, chosen, centre) {
      const inside = Math.max(lo, head - NEAR) >= first && Math.min(hi, head + NEAR) <= last;
      if (!inside || centre !== undefined) build(lo, hi, cells, head, centre ?? head);
      for (let cell = first; cell <= last; cell++) view.write(cell, symbols[cells.get(cell)]);
      view.show({ state, head, read: symbols[read] });
      ring?.classList.remove("chosen");
      ring = chosen === null ? null : view.frame.querySelector(`[data-cell="${chosen}"]`);
      ring?.classList.add("chosen");
    },
  };
}

const PANELS = [
  ["Machine", "type, paste or edit one", machinePanel],
  ["Steps", "speed, breakpoints, any step", stepsPanel],
  ["Space–time", "a picture of the run", spaceTimePanel],
  ["Vector", "the state by slices", vectorPanel],
  ["Attention", "who wrote, who reads", attentionPanel],
  ["Layers", "equations and weights", layersPanel],
  ["Many words", "a verdict a row", wordsPanel],
  ["Take it away", "link, Python, weights", takePanel],
];

/** A part that is built when it is first opened. */
function createPanel(lab, [title, about, build]) {
  const body = h("div", { class: "panel" }), summary = h("summary", {}, h("b", {}, title), h("span", {}, about));
  const node = h("details", { "data-panel": title }, summary, body);
  let panel = null;
  on(node, "toggle", () => {
    if (node.open && !panel) body.append(...(panel = build(lab)).nodes);
    if (node.open) panel.draw("load");
    lab.redraw();
  });
  return { node, draw: (why) => node.open && panel?.draw(why), looks: () => node.open && panel?.looks };
}

/** How a run stands, in words. */
function tellStatus({ cells, message, most, rate, machine }, standing, { state, read }) {
  return {
    ready: "ready", paused: "", running: rate ? `running, ${big(Math.round(rate))} steps a second` : "running",
    halted: `halted, ${count(cells.filled, "cell")} not blank`,
    jammed: `jammed: no rule for (${short(state)}, ${short(shown(machine.symbols[read]))})`,
    limit: `not halted after ${count(most, "step")}, the most that were allowed`,
    breakpoint: "stopped at the breakpoint", diverged: "stopped where network and machine part",
  }[standing] ?? message;
}
/** Whether network and machine agree, in words. */
function tellMark(mark) {
  if (!mark) return "The network runs alone: the plain interpreter is off.";
  const { good, steps, step, layer, slice, place, given, expected, message } = mark;
  if (good) return `✓ network = machine, ${count(steps, "step")}`;
  const where = `step ${big(step)}, layer ${layer}, slice ${slice}: ${place} is ${given} instead of ${expected}`;
  return `✗ network ≠ machine: ${place ? short(where, 200) : short(message, 200)}`;
}

export default {
  async render({ model, el }) {
    const url = textUrl(CORE), core = await import(url), zoo = model.get("zoo"), linked = model.get("link");
    const choice = h("select"), input = textField(), hint = live("hint");
    const place = h("div", { class: "place-of-tape" });
    const status = h("p", { class: "status" }), mark = h("p", { class: "mark" }), says = live("says");
    const root = h("div", {
      class: "turing-widget turing-lab", tabindex: 0, role: "group",
      "aria-label": "A Turing machine as a transformer", "data-lm-suppress-shortcuts": true,
    });
    let tape, timer = 0, waiting = 0, drawn = 0, reason = "", hashing = 0, hashed = 0, written = null;

    const session = new Session(core, redraw), go = (step) => (stop(), session.go(step));
    const lab = {
      session, root, redraw, text: "", name: "", words: [], speed: 5, cell: null,
      get playing() {
        return timer !== 0;
      },
      /** Another machine, from the zoo or from a text; the word stays if it can. */
      take(machine, { name = "", text = "", word = null, words = [], steps = 0 } = {}) {
        stop();
        const { symbols } = (machine = core.canonical(machine)), kept = word ?? session.word ?? [];
        Object.assign(lab, { name, text: text || textOf(machine), words, cell: null });
        session.stopAt("", null);
        const fits = kept.every((symbol) => symbols.includes(symbol));
        session.load(machine, fits ? kept : [], mostFor(Math.max(steps, 1000)));
        reshape();
      },
      /** The same machine with other rules; returns the numbers that this changed. */
      edit(machine) {
        stop();
        if (!session.word.every((symbol) => machine.symbols.includes(symbol))) session.word = [];
        Object.assign(lab, { name: "", text: textOf(machine), cell: null });
        const told = session.rewrite(machine);
        reshape();
        return told;
      },
      play() {
        if (timer) return stop();
        if (isOver()) session.go(0);
        tick();
      },
      choose(cell) {
        lab.cell = clamp(cell, session.record.lo - 1, session.record.hi + 1);
        redraw();
      },
      /** A link that reopens what is shown; empty if there is no page for it. */
      link() {
        const page = linked ? location.href : model.get("page") && new URL(model.get("page"), location.href).href;
        const [m, w] = [lab.name || lab.text, spell(session.word, session.machine)].map(encodeURIComponent);
        return page && `${page.split("#")[0]}#m=${m}&w=${w}&t=${session.step}`;
      },
    };
    const isOver = () => (session.final || session.status === "limit") && session.step === session.record.known;
    const isRunning = () => session.busy && session.want === Infinity;
    const run = button("Run", () => (stop(), isRunning() ? session.pause() : session.run()), { class: "main" });
    const more = button("", () => {
      session.load(session.machine, session.word, mostFor(100 * session.most)); // more steps take more bits
      session.run();
      run.focus(); // this button goes
    });
    const panels = PANELS.map((panel) => createPanel(lab, panel));
    fill(choice, [["", "Your own machine"], ...zoo.map(({ name, title }) => [name, title])]);
    root.append(
      h("div", { class: "given" }, named("Machine", choice), named("Word", input)), hint, place, status,
      h("div", { class: "go" },
        h("div", { class: "buttons" }, run, button("Step", () => go(session.step + 1)),
          button("Back", () => go(session.step - 1)), button("Start", () => go(0))), more, mark),
      h("div", { class: "panels" }, ...panels.map(({ node }) => node)), says,
    );

    function tick() {
      if (isOver()) return stop();
      session.go(session.step + 1);
      timer = setTimeout(tick, 1000 / lab.speed);
    }
    function stop() {
      if (timer) redraw();
      clearTimeout(timer);
      timer = 0;
    }
    /** What depends on the machine: its tape, its alphabet, its name. */
    function reshape() {
      tape = createWindow(session.machine);
      place.replaceChildren(tape.frame);
      choice.value = lab.name;
      input.value = spell(session.word, session.machine);
      allow();
      centre();
    }
    function allow(problem = "") {
      const { machine, machine: { symbols } } = session, spaced = symbols.some((symbol) => /\s/.test(symbol));
      const but = spaced ? "; those with a space cannot be typed here" : "";
      const apart = isSingle(machine) ? "" : ` (put spaces between them${but})`;
      hint.textContent = problem || `Symbols: ${short(symbols.map(shown).join(" "), 80)}${apart}`;
      hint.classList.toggle("wrong", problem !== "");
      input.setAttribute("aria-invalid", problem !== "");
    }
    const shownNow = () => ({ ...session.now, state: session.machine.states[session.now.state] });
    /** The tape anew, with the word in the middle at the start. */
    function centre() {
      const middle = session.step ? session.now.head : (session.word.length - 1) / 2;
      if (root.clientWidth) tape.show(session.record, session.cells, shownNow(), lab.cell, middle);
    }

    /** Everything is drawn once a frame at most, and less often while the machine runs. */
    function redraw(why = "") {
      reason = reason === "load" ? reason : why || reason;
      waiting ||= setTimeout(() => requestAnimationFrame(() => {
        [waiting, drawn] = [0, performance.now()];
        if (tape) draw();
      }), isRunning() ? Math.max(0, drawn + 80 - performance.now()) : 0);
    }
    function draw() {
      const { cells, record, step, busy, engine, rate, most } = session, now = shownNow(), why = reason;
      const before = step === session.broke ? "breakpoint" : "paused";
      const standing = busy ? "running" : step === record.known ? session.status : before;
      const text = tellStatus(session, standing, now), agrees = tellMark(session.mark);
      reason = "";
      Object.assign(root.dataset, {
        status: standing, step, state: now.state, ones: cells.filled, engine, rate: Math.round(rate),
        mark: !session.mark ? "off" : session.mark.good ? "good" : "bad",
      });
      tape.show(record, cells, now, lab.cell);
      status.replaceChildren(h("span", {}, `step ${big(step)}`),
        h("span", {}, "state ", h("span", { class: "q" }, short(now.state))), h("b", {}, text));
      if (mark.textContent !== agrees) mark.textContent = agrees;
      run.textContent = isRunning() ? "Pause" : "Run";
      more.hidden = standing !== "limit" || most === MOST_STEPS.at(-1);
      more.textContent = `Allow ${big(mostFor(100 * most))} steps`;
      if (!busy && !timer)
        says.textContent = `Step ${step}: state ${short(now.state)}, head on cell ${now.head}; ${text}. ${agrees}`;
      if (panels.some((panel) => panel.looks())) session.inspect();
      for (const panel of panels) panel.draw(why);
      if (linked && !busy) remember();
    }
    const isOurs = () => location.hash.startsWith("#m=");
    /** Put what is shown into the address, twice a second at most; an anchor of the page stays until that changes. */
    function remember() {
      clearTimeout(hashing);
      hashing = setTimeout(() => {
        hashed = performance.now();
        const address = lab.link(), hash = address.slice(address.indexOf("#"));
        const stays = location.hash && !isOurs() && (written === null || written === hash);
        if (!stays) history.replaceState(history.state, "", hash);
        written = hash;
      }, Math.max(50, hashed + 500 - performance.now()));
    }

    /** What a link asks for, or else what the page was made for. */
    function open() {
      let problem = "";
      try {
        const asked = linked && readHash(location.hash);
        if (asked) return follow(asked);
      } catch (error) {
        problem = short(`The link cannot be followed. ${error.message}`, 300);
      }
      takeOwn();
      if (problem) allow(problem);
    }
    /** The machine and the word of the kernel or of the page. */
    function takeOwn() {
      const machine = model.get("machine"), same = JSON.stringify(machine);
      const own = zoo.find((entry) => JSON.stringify(entry.machine) === same);
      lab.take(machine, { ...own, word: [...model.get("word")] });
    }
    function follow({ m, w, t }) {
      const known = zoo.find(({ name }) => name === m), machine = known?.machine ?? readMachine(m);
      const word = asWord(w, machine), steps = Math.max(known?.steps ?? 0, t);
      lab.take(machine, known ? { ...known, word, steps } : { text: m, word, steps });
      if (t) session.go(t);
    }
    on(choice, "change", () => {
      const entry = zoo.find(({ name }) => name === choice.value);
      if (entry) lab.take(entry.machine, { ...entry, word: asWord(entry.words[0] ?? "", entry.machine) });
      else panels[0].node.open = true;
    });
    on(input, "input", () => {
      try {
        const { machine } = session, word = parseWord(input.value, machine), { symbols } = model.get("machine");
        stop();
        session.load(machine, word);
        centre();
        allow();
        if (!word.every((symbol) => symbols.includes(symbol))) return; // a word of another machine than the kernel's
        model.set("word", symbols.every((symbol) => length(symbol) === 1) ? word.join("") : word);
        model.save_changes();
      } catch (error) {
        allow(error.message);
      }
    });
    on(input, "keydown", ({ key }) => key === "Enter" && session.run());
    on(place, "click", ({ target }) => {
      const cell = target.closest(".cell");
      if (cell) lab.choose(Number(cell.dataset.cell));
    });
    on(root, "keydown", (event) => {
      const { target, key } = event, onTape = target === tape.frame, cell = lab.cell ?? session.now.head;
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (target !== root && !onTape && !target.matches(".buttons button")) return;
      const tell = () => (lab.choose(cell), (panels[4].node.open = true));
      const action = (onTape
        ? { ArrowLeft: () => lab.choose(cell - 1), ArrowRight: () => lab.choose(cell + 1), Enter: tell }
        : { ArrowLeft: () => go(session.step - 1), ArrowRight: () => go(session.step + 1), Home: () => go(0),
          End: () => go(session.record.known) })[key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    });
    const onWord = () => {
      const word = [...model.get("word")], { machine } = session;
      if (JSON.stringify(word) === JSON.stringify(session.word)) return;
      if (!word.every((symbol) => machine.symbols.includes(symbol))) return takeOwn();
      stop();
      session.load(machine, word);
      input.value = spell(word, machine);
      allow();
      centre();
    };
    const onHash = () => isOurs() && open();
    model.on("change:word", onWord);
    if (linked) window.addEventListener("hashchange", onHash);
    el.replaceChildren(root);
    open();

    let width = root.clientWidth;
    const resized = new ResizeObserver(() => {
      if (root.clientWidth === width) return;
      width = root.clientWidth;
      requestAnimationFrame(centre);
      redraw("size");
    });
    resized.observe(root);
    const themed = new MutationObserver(() => redraw("theme"));
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    await session.started;
    return () => {
      stop();
      clearTimeout(hashing);
      session.worker.terminate();
      resized.disconnect();
      themed.disconnect();
      model.off("change:word", onWord);
      window.removeEventListener("hashchange", onHash);
    };
  },
};
