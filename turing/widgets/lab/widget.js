// The lab: a machine becomes a transformer in the page, and runs there. More than the first view opens on demand.

import { button, h, live, on, onKeys, put, watch, widget, write } from "../page/dom.js";
import { canonical } from "../page/compile.js";
import { isSingle, parseWord, spell, verdictOf } from "../page/machine.js";
import { motionTime } from "../page/motion.js";
import { createTape } from "../page/tape.js";
import { big, clamp, count, digits, short, shown } from "../page/text.js";
import { createWord } from "../page/word.js";
import { createDiagram } from "./diagram.js";
import { limitFor, LIMITS, readHash, readMachine, textOf } from "./machines.js";
import { fill, machinePanel, named, stepsPanel, takePanel, wordsPanel } from "./panels.js";
import { createProof } from "./proof.js";
import { Session } from "./session.js";
import { createStrip } from "./strip.js";
import { attentionPanel, createSpaceTime, layersPanel, placeNames, vectorPanel } from "./views.js";

const MODULE_PANELS = [["Vector", "what a module gives", vectorPanel], ["Layers", "equations and weights", layersPanel]];
const PANELS = [
  ["Machine", "type, paste or edit one", machinePanel],
  ["Steps", "speed, breakpoints, any step", stepsPanel],
  ["Attention", "who wrote, who reads", attentionPanel],
  ["Many words", "a test, a verdict a row", wordsPanel],
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
  return { node, draw: (why) => node.open && panel?.draw(why) };
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
function describeMark(session, standing) {
  const { mark } = session;
  if (!mark) return "The network runs alone: the plain interpreter is off.";
  const { good, steps, step, layer, slice, place, given, expected, message } = mark;
  if (good && standing === "jammed") return `network = machine: both jam after ${count(steps, "step")}`;
  if (good) return `✓ network = machine, ${count(steps, "step")}`;
  const where = `step ${big(step)}, layer ${layer}, slice ${slice}: ${place} is ${given} instead of ${expected}`;
  return `✗ network ≠ machine: ${short(place ? where : message, 200)}${describeEdit(session)}`;
}
/** The weight that the reader changed: the one of the place where the two part, or of its module, or any. */
function describeEdit(session) {
  const { edits, mark: { layer, place } } = session, own = `pipeline.${layer}.`;
  const found = [...edits.values()].map(({ name, place: at, before, after }) => {
    const { rows, columns } = placeNames(session, name), spelled = at.map((k, n) => (n ? columns : rows)[k]);
    const rank = name.startsWith(own) + (name.startsWith(own) && spelled[0] === place);
    return { rank, text: `. The weight ${name}[${spelled.join(", ")}] is ${digits(after)} instead of ${digits(before)}` };
  });
  return found.sort((one, other) => other.rank - one.rank)[0]?.text ?? "";
}

export default {
  async render({ model, el }) {
    const zoo = model.get("zoo"), linked = model.get("link");
    const choice = h("select"), field = createWord(takeWord);
    const place = h("div", { class: "place-of-tape" });
    const status = h("p", { class: "status" }), mark = h("p", { class: "agreement" }), says = live("says");
    const root = widget("lab", "A Turing machine as a transformer", { tabindex: 0 });
    let tape, timer = 0, waiting = 0, drawn = 0, reason = "", hashing = 0, hashed = 0, written = "", wasAt = null, pace = 2;
    let isPictureTurn = false;

    const session = new Session(redraw), go = (step) => (stop(), (pace = 2), session.go(step));
    const lab = {
      session, root, redraw, text: "", name: "", words: [], entry: {}, speed: 5, cell: null, module: -1,
      get playing() {
        return timer !== 0;
      },
      /** Another machine, from the zoo or from a text; the word stays if it can. */
      take(machine, { name = "", text = "", word = null, words = [], steps = 0, ...entry } = {}) {
        stop();
        const { symbols } = (machine = canonical(machine)), kept = word ?? session.word ?? [];
        Object.assign(lab, { name, text: text || textOf(machine), words, entry: name ? entry : known(machine), cell: null });
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
      /** A cell of the tape, or a module by its number; −1 is the column. */
      choose({ cell = lab.cell, module = lab.module }) {
        lab.cell = cell === null ? null : clamp(cell, session.record.lo - 1, session.record.hi + 1);
        lab.module = module;
        redraw("choice");
      },
      /** Open a module of the network: what leaves it, and its equations and weights. */
      open(module) {
        lab.choose({ module });
        for (const { node } of modulePanels) node.open = true;
        modulePanels[0].node.scrollIntoView({ block: "nearest" });
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
    /** What the zoo says of a machine with these rules. */
    const known = ({ rules }) => {
      const [mine, theirs] = [(rules) => JSON.stringify([...rules].map(String).sort()), ({ machine }) => mine(machine.rules)];
      return zoo.find((entry) => entry.machine.rules.length === rules.length && theirs(entry) === mine(rules)) ?? {};
    };
    const play = button("Play", () => lab.play(), { class: "main" });
    const run = button("To the end", () => (stop(), isRunning() ? session.pause() : session.run()));
    const more = button("", () => {
      session.load(session.machine, session.word, limitFor(100 * session.limit)); // more steps take more bits
      session.run();
      run.focus(); // this button goes
    });
    const panels = PANELS.map((panel) => createPanel(lab, panel));
    const modulePanels = MODULE_PANELS.map((panel) => createPanel(lab, panel));
    const strip = createStrip(lab), diagram = createDiagram(lab), spaceTime = createSpaceTime(lab), proof = createProof(lab);
    const titled = (name, text, nodes) => h("div", { class: name }, h("p", { class: "legend" }, text), ...nodes);
    fill(choice, [["", "Your own machine"], ...zoo.map(({ name, title }) => [name, title])]);
    root.append(
      h("div", { class: "given" }, named("Machine", choice), named("Word", field.input)), field.hint, place, status,
      h("div", { class: "go" },
        h("div", { class: "buttons" }, play, button("Step", () => go(session.step + 1)),
          button("Back", () => go(session.step - 1)), button("Start", () => go(0)), run), more, mark, proof.node),
      h("div", { class: "net" }, ...strip.nodes, h("div", { class: "panels" }, ...modulePanels.map(({ node }) => node))),
      h("div", { class: "stage" },
        titled("machine", "the machine: the rule of this pass, and the state it leads to", diagram.nodes),
        titled("past", "the past: a row a step, and an arc to what attention reads", spaceTime.nodes)),
      h("div", { class: "panels" }, ...panels.map(({ node }) => node)), says,
    );

    function tick() {
      if (isOver()) return stop();
      pace = lab.speed;
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
    function drawTape(now, centre, time) {
      const { cells, record, machine: { symbols } } = session;
      tape.show((cell) => symbols[cells.get(cell)], record, now, { centre, chosen: lab.cell, time });
    }
    /** How long what is new moves: from a step to its neighbour of the same run, and not while the machine runs. */
    function timeOf() {
      const { record, step } = session, isNext = wasAt?.record === record && Math.abs(step - wasAt.step) === 1;
      if (wasAt?.record === record && wasAt.step === step) return 0;
      wasAt = { record, step, time: isNext && !isRunning() ? motionTime(pace) : 0 };
      return wasAt.time;
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
      const text = describeStatus(session, standing, now, lab.entry), agrees = describeMark(session, standing);
      const time = timeOf();
      reason = "";
      Object.assign(root.dataset, {
        status: standing, step, state: now.state, ones: cells.filled, engine, rate: Math.round(rate),
        mark: !session.mark ? "off" : session.mark.good ? "good" : "bad",
      });
      isPictureTurn = isRunning() && !why && !isPictureTurn; // while it runs, tape and picture in turn: both take long
      if (!isPictureTurn) drawTape(now, undefined, time);
      status.replaceChildren(h("span", {}, `step ${big(step)}`),
        h("span", {}, "state ", h("span", { class: "q" }, short(now.state))), h("b", {}, text));
      write(mark, agrees);
      run.textContent = isRunning() ? "Pause" : "To the end";
      play.textContent = timer ? "Pause" : "Play";
      more.hidden = standing !== "limit" || limit === LIMITS.at(-1);
      more.textContent = `Allow ${big(limitFor(100 * limit))} steps`;
      if (!busy && !timer)
        says.textContent = `Step ${step}: state ${short(now.state)}, head on cell ${now.head}; ${text}. ${agrees}`;
      session.inspect();
      proof.draw();
      strip.draw(why);
      if (!session.busy || time) diagram.draw(time);
      if (isRunning() && (isPictureTurn || why)) spaceTime.draw(why, 0);
      else if (!isRunning()) spaceTime.draw(why, wasAt.time); // what attention reads comes a little later
      for (const panel of [...modulePanels, ...panels]) panel.draw(why);
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
      if (cell) lab.choose({ cell: Number(cell.dataset.cell) });
    });
    onKeys(root, ({ target }) => {
      const onTape = target === tape.frame, cell = lab.cell ?? session.now.head;
      if (target !== root && !onTape && !target.matches(".buttons button")) return {};
      const explain = () => (lab.choose({ cell }), (panels[2].node.open = true));
      return onTape
        ? { ArrowLeft: () => lab.choose({ cell: cell - 1 }), ArrowRight: () => lab.choose({ cell: cell + 1 }), Enter: explain }
        : { p: () => play.click(), ArrowLeft: () => go(session.step - 1), ArrowRight: () => go(session.step + 1), Home: () => go(0),
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
    draw();
    written = ownHash(); // what the page itself shows is no reason to change its address

    const unwatch = watch(root, () => {
      requestAnimationFrame(centre);
      redraw("size");
    }, () => redraw("theme"));
    await session.started;
    draw();
    return () => {
      stop();
      clearTimeout(hashing);
      session.worker.terminate();
      proof.end();
      unwatch();
      model.off("change:word", onWord);
      window.removeEventListener("hashchange", onHash);
    };
  },
};
