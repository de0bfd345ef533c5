// The lab: a machine becomes a transformer in the page, and runs there. More than the first view opens on demand.

import { button, h, live, on, onKeys, put, watch, widget, write } from "../page/dom.js";
import { canonical } from "../page/compile.js";
import { isSingle, parseWord, spell, verdictOf } from "../page/machine.js";
import { createTape } from "../page/tape.js";
import { big, clamp, count, short, shown } from "../page/text.js";
import { createWord } from "../page/word.js";
import { attentionPanel, layersPanel, spaceTimePanel, vectorPanel } from "./views.js";
import { limitFor, LIMITS, readHash, readMachine, textOf } from "./machines.js";
import { fill, machinePanel, named, stepsPanel, takePanel, wordsPanel } from "./panels.js";
import { Session } from "./session.js";

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
  return { node, draw: (why) => node.open && panel?.draw(why), inspects: () => node.open && panel?.inspects };
}

/** How a run stands, in words. */
function describeStatus({ cells, message, limit, rate }, standing, { state, read }, entry) {
  const verdict = verdictOf(state, entry);
  return {
    ready: "ready", paused: "", running: rate ? `running, ${big(Math.round(rate))} steps a second` : "running",
    halted: verdict ? `halted in ${short(state)}${verdict}` : `halted, ${count(cells.filled, "cell")} not blank`,
    jammed: `jammed: no rule for (${short(state)}, ${short(shown(read))})`,
    limit: `not halted after ${count(limit, "step")}, the most that were allowed`,
    breakpoint: "stopped at the breakpoint", diverged: "stopped where network and machine part",
  }[standing] ?? message;
}
/** Whether network and machine agree, in words. A jam gets no tick: it would look like the answer yes. */
function describeMark(mark, standing) {
  if (!mark) return "The network runs alone: the plain interpreter is off.";
  const { good, steps, step, layer, slice, place, given, expected, message } = mark;
  if (good && standing === "jammed") return `network = machine: both jam after ${count(steps, "step")}`;
  if (good) return `✓ network = machine, ${count(steps, "step")}`;
  const where = `step ${big(step)}, layer ${layer}, slice ${slice}: ${place} is ${given} instead of ${expected}`;
  return `✗ network ≠ machine: ${place ? short(where, 200) : short(message, 200)}`;
}

export default {
  async render({ model, el }) {
    const zoo = model.get("zoo"), linked = model.get("link");
    const choice = h("select"), field = createWord(takeWord);
    const place = h("div", { class: "place-of-tape" });
    const status = h("p", { class: "status" }), mark = h("p", { class: "agreement" }), says = live("says");
    const root = widget("lab", "A Turing machine as a transformer", { tabindex: 0 });
    let tape, timer = 0, waiting = 0, drawn = 0, reason = "", hashing = 0, hashed = 0, written = "";

    const session = new Session(redraw), go = (step) => (stop(), session.go(step));
    const lab = {
      session, root, redraw, text: "", name: "", words: [], entry: {}, speed: 5, cell: null,
      get playing() {
        return timer !== 0;
      },
      /** Another machine, from the zoo or from a text; the word stays if it can. */
      take(machine, { name = "", text = "", word = null, words = [], steps = 0, ...entry } = {}) {
        stop();
        const { symbols } = (machine = canonical(machine)), kept = word ?? session.word ?? [];
        Object.assign(lab, { name, text: text || textOf(machine), words, entry, cell: null });
        session.stopAt("", null);
        const fits = kept.every((symbol) => symbols.includes(symbol));
        session.load(machine, fits ? kept : [], limitFor(Math.max(steps, 1000)));
        reshape();
      },
      /** The same machine with other rules; returns the numbers that this changed. */
      edit(machine) {
        stop();
        if (!session.word.every((symbol) => machine.symbols.includes(symbol))) session.word = [];
        Object.assign(lab, { name: "", text: textOf(machine), entry: {}, cell: null });
        const rewritten = session.rewrite(machine);
        reshape();
        return rewritten;
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
      session.load(session.machine, session.word, limitFor(100 * session.limit)); // more steps take more bits
      session.run();
      run.focus(); // this button goes
    });
    const panels = PANELS.map((panel) => createPanel(lab, panel));
    fill(choice, [["", "Your own machine"], ...zoo.map(({ name, title }) => [name, title])]);
    root.append(
      h("div", { class: "given" }, named("Machine", choice), named("Word", field.input)), field.hint, place, status,
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
      tape = createTape(session.machine, { near: 30, slack: 10 });
      place.replaceChildren(tape.frame);
      choice.value = lab.name;
      field.show(session.word, session.machine, lab.entry);
      centre();
    }
    const shownNow = () => {
      const { now, machine: { states, symbols } } = session;
      return { ...now, state: states[now.state], read: symbols[now.read] };
    };
    function drawTape(now, centre) {
      const { cells, record, machine: { symbols } } = session;
      tape.show((cell) => symbols[cells.get(cell)], record, now, { centre, chosen: lab.cell });
    }
    /** Build the tape again, with the word in the middle at the start. */
    function centre() {
      const middle = session.step ? session.now.head : (session.word.length - 1) / 2;
      if (root.clientWidth) drawTape(shownNow(), middle);
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
      const { cells, record, step, busy, engine, rate, limit } = session, now = shownNow(), why = reason;
      const before = step === session.broke ? "breakpoint" : "paused";
      const standing = busy ? "running" : step === record.known ? session.status : before;
      const text = describeStatus(session, standing, now, lab.entry), agrees = describeMark(session.mark, standing);
      reason = "";
      Object.assign(root.dataset, {
        status: standing, step, state: now.state, ones: cells.filled, engine, rate: Math.round(rate),
        mark: !session.mark ? "off" : session.mark.good ? "good" : "bad",
      });
      drawTape(now);
      status.replaceChildren(h("span", {}, `step ${big(step)}`),
        h("span", {}, "state ", h("span", { class: "q" }, short(now.state))), h("b", {}, text));
      write(mark, agrees);
      run.textContent = isRunning() ? "Pause" : "Run";
      more.hidden = standing !== "limit" || limit === LIMITS.at(-1);
      more.textContent = `Allow ${big(limitFor(100 * limit))} steps`;
      if (!busy && !timer)
        says.textContent = `Step ${step}: state ${short(now.state)}, head on cell ${now.head}; ${text}. ${agrees}`;
      if (panels.some((panel) => panel.inspects())) session.inspect();
      for (const panel of panels) panel.draw(why);
      if (linked && !busy) remember();
    }
    const ownHash = () => lab.link().replace(/^[^#]*/, "");
    const isOurs = () => location.hash.startsWith("#m=");
    /** Put what is shown into the address, twice a second at most; an anchor of the page stays until that changes. */
    function remember() {
      clearTimeout(hashing);
      hashing = setTimeout(() => {
        hashed = performance.now();
        const hash = ownHash();
        const stays = location.hash && !isOurs() && written === hash;
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
      if (problem) field.say(problem);
    }
    /** The machine and the word of the kernel or of the page. */
    function takeOwn() {
      const machine = model.get("machine"), same = JSON.stringify(machine);
      const own = zoo.find((entry) => JSON.stringify(entry.machine) === same);
      lab.take(machine, { ...own, word: [...model.get("word")] });
    }
    function follow({ m, w, t }) {
      const known = zoo.find(({ name }) => name === m), { machine } = known ?? readMachine(m);
      const word = parseWord(w, machine), steps = Math.max(known?.steps ?? 0, t);
      lab.take(machine, known ? { ...known, word, steps } : { text: m, word, steps });
      if (t) session.go(t);
    }
    on(choice, "change", () => {
      const entry = zoo.find(({ name }) => name === choice.value);
      if (entry) lab.take(entry.machine, { ...entry, word: parseWord(entry.words[0] ?? "", entry.machine) });
      else panels[0].node.open = true;
    });
    function takeWord(word) {
      const { symbols } = model.get("machine");
      stop();
      session.load(session.machine, word);
      centre();
      if (!word.every((symbol) => symbols.includes(symbol))) return; // a word of another machine than the kernel's
      put(model, { word: isSingle({ symbols }) ? word.join("") : word });
    }
    on(field.input, "keydown", ({ key }) => key === "Enter" && session.run());
    on(place, "click", ({ target }) => {
      const cell = target.closest(".cell");
      if (cell) lab.choose(Number(cell.dataset.cell));
    });
    onKeys(root, ({ target }) => {
      const onTape = target === tape.frame, cell = lab.cell ?? session.now.head;
      if (target !== root && !onTape && !target.matches(".buttons button")) return {};
      const explain = () => (lab.choose(cell), (panels[4].node.open = true));
      return onTape
        ? { ArrowLeft: () => lab.choose(cell - 1), ArrowRight: () => lab.choose(cell + 1), Enter: explain }
        : { ArrowLeft: () => go(session.step - 1), ArrowRight: () => go(session.step + 1), Home: () => go(0),
          End: () => go(session.record.known) };
    });
    const onWord = () => {
      const word = [...model.get("word")], { machine } = session;
      if (JSON.stringify(word) === JSON.stringify(session.word)) return;
      if (!word.every((symbol) => machine.symbols.includes(symbol))) return takeOwn();
      stop();
      session.load(machine, word);
      field.show(word, machine, lab.entry);
      centre();
    };
    const onHash = () => isOurs() && open();
    model.on("change:word", onWord);
    if (linked) window.addEventListener("hashchange", onHash);
    el.replaceChildren(root);
    open();
    written = ownHash(); // what the page itself shows is no reason to change its address

    const unwatch = watch(root, () => {
      requestAnimationFrame(centre);
      redraw("size");
    }, () => redraw("theme"));
    await session.started;
    return () => {
      stop();
      clearTimeout(hashing);
      session.worker.terminate();
      unwatch();
      model.off("change:word", onWord);
      window.removeEventListener("hashchange", onHash);
    };
  },
};
