// A machine and its transformer in lock step. A step has four beats: a rule's column lights up, three wires carry what it
// says out of the matrix, the head moves, and attention looks up the symbol of the new cell.

import { button, h, listen, live, on, onKeys, put, textField, uniqueId, watch, widget, write } from "../page/dom.js";
import { setWeight, weightOf } from "../page/compile.js";
import { alphabet, parseWord, spell, verdictOf } from "../page/machine.js";
import { choosing, writerOf } from "../page/maker.js";
import { appear, isStill } from "../page/motion.js";
import { read } from "../page/network.js";
import { createTape } from "../page/tape.js";
import { clamp, digits, shown, signed } from "../page/text.js";
import { withEnds } from "../page/word.js";
import { record } from "./run.js";
import { caption, createMatrix, createPast, lookUp, matrixHeight } from "./views.js";

const BEATS = [0, 0.2, 0.25, 0.25, 0.3]; // how a step's time is shared
const SLOW = 1700, FAST = 900; // milliseconds a step, for the first ones and for the rest
const MAX_WORD = 16; // cells that fit a phone

export default {
  render({ model, el }) {
    const file = structuredClone(model.get("file")), entry = model.get("entry"), maxSteps = file.options.T;
    const { machine } = read(file), page = model.get("page"), task = model.get("task");
    const broken = new Map();
    let run, word, step = 0, beat = 4, until = 0, timer = 0, isPlaying = false, centre, looked = null, asked = null, wasSeen = false;

    const tapes = ["tape", "network"].map(() => createTape(machine, { least: 42 }));
    const names = tapes.map(() => h("p", { class: "titled" }, "network"));
    const strips = tapes.map(({ frame }, k) => h("div", { class: "strip" }, names[k], frame));
    strips[1].hidden = true;
    const play = button("Play", () => (isPlaying ? go(step) : start(Infinity)), { class: "main" });
    const buttons = h("div", { class: "buttons" }, play, button("Step", forward), button("Start", () => go(0)));
    const status = h("p", { class: "status" }), says = live("says");
    const back = button("Put the weights back", () => change(() => {
      for (const { name, place, before } of broken.values()) setWeight(file, name, place, before);
      broken.clear();
      matrix.node.querySelector("[tabindex='0']").focus({ preventScroll: true }); // this button goes
    }));
    const about = h("p", { class: "about" }), id = uniqueId(), hint = live("hint");
    const field = textField({ "aria-describedby": (hint.id = id), maxlength: 40 });
    const lab = h("a", { class: "lab touch" }, "Open it in the lab");
    const block = (run = record(read(file), [], 0)).block;
    const matrix = createMatrix(block, touched, (row, column) => {
      looked = [row, column];
      describe();
    });
    const past = createPast();
    const left = h("div", { class: "past" }, caption("the transformer’s past: one token a step"), past.node);
    const right = h("div", { class: "matrix" }, caption("the weights: a column is a rule"),
      matrix.node, h("div", { class: "under" }, about, back));
    const root = widget("lock-step", "A Turing machine and its transformer in lock step", { tabindex: 0, style: `--rows: ${block.rows.length}` },
      ...(task ? [h("p", { class: "task" }, task)] : []),
      h("div", { class: "tapes" }, ...strips),
      h("div", { class: "controls" }, buttons, status),
      h("div", { class: "parts" }, right, left),
      h("div", { class: "foot" }, h("label", {}, "Your word", field), hint, ...(page ? [lab] : [])), says);

    const last = () => run.frames.length - 1, middle = () => (word.length - 1) / 2;
    const valueOf = (row, column) => weightOf(file, block.weight, [row.place, column.place]);

    /** Run the network on a word, with the weights as they are. */
    function load(next) {
      word = next;
      run = { ...record(read(file), word, maxSteps), word, blank: machine.blank };
      centre = middle();
    }
    /** To a step at once; `isOwn` if the kernel has to hear of it. */
    function go(target, isOwn = true) {
      stop();
      forgetCell();
      step = clamp(target, 0, last());
      beat = 4;
      show(0);
      if (isOwn) put(model, { step });
    }
    function stop() {
      clearTimeout(timer);
      timer = 0;
      isPlaying = false;
    }
    function forward() {
      if (timer || isStill()) go(step + !timer);
      if (!isStill()) start(step + 1);
    }
    /** Beat by beat as far as a step, or to the end. */
    function start(target) {
      if (target === Infinity && step === last()) go(0);
      until = Math.min(target, last());
      if (step === until) return;
      forgetCell();
      isPlaying = target === Infinity;
      tick();
    }
    function tick() {
      const isWhole = beat === 4;
      if (isWhole && step >= until) return go(step);
      if (isWhole) step += 1;
      beat = isStill() ? 4 : isWhole ? 1 : beat + 1;
      const whole = step < 4 ? SLOW : FAST, time = isStill() ? whole : whole * BEATS[beat];
      timer = setTimeout(tick, time);
      show(isStill() ? 0 : 0.9 * time);
      if (beat === 4) put(model, { step });
    }

    /** The step that wrote what the cell holds that was asked for, counted from 0; −1 if none has, or none was asked for. */
    const writer = () => (asked === null ? -1 : writerOf(run.frames.map(({ machine }) => machine.head), step, asked));
    function forgetCell() {
      if (asked === null) return;
      asked = null;
      describe();
    }

    /** What the machine does in a state, if the zoo says it. */
    const doing = (state) => (entry.tasks[state] ? `the tape; state ${state} ${entry.tasks[state]}` : "the tape");

    /** What has come of a step, in words. */
    function standing(t) {
      const { frames, parted, status, message } = run, { state, read } = frames[t].machine;
      if (parted && t >= parted.step)
        return `step ${parted.step} · network ≠ machine ✗ module ${parted.layer}, slice ${parted.slice}: ` +
          `${parted.place} is ${digits(parted.given)} instead of ${parted.expected}`;
      const here = `step ${t} · network = machine`;
      if (t < last()) return `${here} ✓`;
      return { halted: `${here} ✓ halted in ${state}${verdictOf(state, entry)}`,
        jammed: `${here}: both jam, as there is no rule for (${state}, ${shown(read)})`,
        limit: `${here} ✓ and no halt in the ${maxSteps} steps that this network counts` }[status] ?? `${here}. ${message}`;
    }
    function describe() {
      const [row, column] = looked ?? [], isBroken = row && broken.has(`${row.place} ${column.place}`);
      const what = row && `From (${shown(column.q)}, ${shown(column.a)}) to ${row.name}: ${digits(valueOf(row, column))}. `;
      write(about, asked !== null && !row ? made() : broken.size && !run.parted ? "Broken, and not missed: no rule that fires on this word needs it."
        : `${what ?? ""}${isBroken ? "Click to put it back." : row ? "Click to break it." : "Click a weight to break it, a cell to see what made it."}`);
      back.style.visibility = broken.size ? "visible" : "hidden";
    }

    /** From the cell that was asked for to the weights that made it, in words; their column is lit. */
    function made() {
      const t = writer(), { state, read, symbolOf } = run.frames[Math.max(t, 0)].machine;
      const holds = `Cell ${signed(asked)} holds ${shown(t < 0 ? symbolOf(asked) : run.frames[step].machine.symbolOf(asked))}`;
      if (t >= 0) return `${holds}: step ${t + 1} wrote it. Lit: the rule (${shown(state)}, ${shown(read)}).`;
      return `${holds}${asked in word ? ", as the word does" : ", the blank"}. No step wrote here.`;
    }

    /** The step and beat that we are at; what is new moves for a time. */
    function show(time) {
      const done = beat < 4 ? step - 1 : step, t = beat < 3 ? step - 1 : step, { frames, parted } = run;
      const now = frames[t].machine, isSplit = Boolean(parted) && t >= parted.step, isApart = done >= parted?.step;
      const other = frames[t].network ?? { ...frames[Math.max(0, t - 1)].network, state: "?" };
      Object.assign(root.dataset, { step, beat, state: now.state, head: now.head, mark: isApart ? "bad" : "good",
        status: done < last() ? "running" : run.status });
      if (isSplit === strips[1].hidden) {
        strips[1].hidden = !isSplit;
        root.classList.toggle("split", isSplit);
        centre = middle();
        strips.forEach((strip) => appear(strip, time));
      }
      write(names[0], isSplit ? "machine" : doing(now.state));
      const how = { centre, time: beat === 3 ? time : 0 };
      tapes[0].show(now.symbolOf, run, now, { ...how, chosen: asked });
      if (isSplit) tapes[1].show(other.symbolOf, run, other, how);
      centre = undefined;
      const isRoomy = left.offsetTop === right.offsetTop, tall = matrixHeight(isRoomy, block.rows.length) - 4;
      if (root.clientWidth) matrix.show(right.clientWidth, isRoomy, valueOf, (row, column) => broken.has(`${row.place} ${column.place}`),
        ...(writer() < 0 ? [frames[step], beat, time] : [frames[writer() + 1], 4, 0]));
      if (root.clientWidth) past.show(left.clientWidth, isRoomy, tall, run, step, beat, time);
      write(status, standing(done));
      play.textContent = isPlaying ? "Pause" : "Play";
      lab.href = `${page}#m=${encodeURIComponent(model.get("name"))}&w=${encodeURIComponent(spell(word, machine))}&t=${step}`;
      if (beat === 4 && !isPlaying)
        write(says, `${standing(step)}. State ${now.state}, head on cell ${now.head}. ${lookUp(frames[step], step, word)}`);
    }

    /** A weight is 1 or 0: a click makes it the other, a second click puts it back. */
    function touched(row, column) {
      change(() => {
        const key = `${row.place} ${column.place}`, name = block.weight, place = [row.place, column.place];
        const before = valueOf(row, column);
        setWeight(file, name, place, before ? 0 : 1);
        if (!broken.delete(key)) broken.set(key, { name, place, before });
      });
    }
    /** Change weights, run again, and go to where machine and network part, if they do. */
    function change(how) {
      wasSeen = true;
      how();
      load(word);
      go(run.parted ? run.parted.step : step);
      describe();
    }
    function take(text) {
      let given;
      try {
        given = parseWord(text, machine);
      } catch (error) {
        return tell(error.message);
      }
      const whole = withEnds(given, machine, entry) ?? given;
      if (whole.length > MAX_WORD) return tell(`A word of ${whole.length} symbols was given, and ${MAX_WORD} fit here. The lab takes longer ones.`);
      tell("", whole);
      wasSeen = true;
      load(whole);
      put(model, { word: whole.join("") });
      go(0);
      describe();
    }
    function tell(problem, whole = word) {
      const isEnded = !problem && spell(whole, machine) !== field.value.trim();
      hint.textContent = problem || (isEnded ? `It runs as ${spell(whole, machine)}.` : alphabet(machine));
      hint.classList.toggle("wrong", problem !== "");
      field.setAttribute("aria-invalid", problem !== "");
    }
    choosing(tapes[0].frame, () => asked ?? run.frames[step].machine.head, (cell) => {
      wasSeen = true;
      go(step);
      [asked, looked] = [clamp(cell, run.lo - 1, run.hi + 1), null];
      show(0);
      describe();
      write(says, made());
    });
    on(field, "input", () => take(field.value));
    on(field, "keydown", ({ key }) => key === "Enter" && start(Infinity));
    onKeys(root, ({ target }) => target === root || target.closest(".buttons, .tape") ? {
      ArrowRight: forward, ArrowLeft: () => go(step - 1), Home: () => go(0), End: () => go(last()),
      p: () => play.click(), " ": () => play.click(),
    } : {});

    function onWord() {
      if (model.get("word") === word?.join("")) return;
      load([...model.get("word")]);
      field.value = spell(word, machine);
      tell("");
      go(model.get("step"), false);
      describe();
    }
    el.replaceChildren(root);
    const forget = listen(model, { word: onWord, step: () => model.get("step") !== step && go(model.get("step"), false) });
    onWord();
    const telling = run.frames.findIndex(({ from, place }, t) => from === "step" && place < t - 1);
    if (isStill() && !step && telling > 0) go(telling, false); // a step that says it all

    const view = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting || wasSeen) return;
      wasSeen = true;
      if (!isStill() && !step) start(Infinity);
    }, { threshold: 0.6 });
    view.observe(strips[0]);
    on(root, "click", () => (wasSeen = true));
    const redraw = () => (centre = middle(), show(0));
    const unwatch = watch(root, () => requestAnimationFrame(redraw), () => show(0));
    return () => {
      stop();
      view.disconnect();
      unwatch();
      forget();
    };
  },
};
