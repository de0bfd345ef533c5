// The weight reader. The weights of the transition run the machine, and the picture of them shows how.

import { code, h, listen, live, onKeys, put, scroller, watch, widget, write } from "../page/dom.js";
import { answering } from "../page/hinton.js";
import { isSingle, verdictOf } from "../page/machine.js";
import { choosing, writerOf } from "../page/maker.js";
import { forward, read } from "../page/network.js";
import { createTape } from "../page/tape.js";
import { clamp, count, range, shown, signed } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { createWord } from "../page/word.js";

const RATE = 2; // steps a second

/** The label of the place of a slice that is 1, and nothing if there is none. */
function said({ slices }, name, vector) {
  const { start, size, labels } = slices.find((slice) => slice.name === name);
  return labels[range(size).findIndex((k) => vector[start + k] === 1)];
}

/**
 * Run the machine by its transition: each step is given state and symbol, and does what the vector says that comes out.
 * Row t has the configuration after t steps, the vectors of the step that follows, and what they say.
 */
export function runBy(network, machine, word, maxSteps) {
  const first = network.modules[0].layouts[0], last = network.modules.at(-1).layouts.at(-1);
  const tape = new Map(word.entries()), rows = [];
  let state = machine.initial, head = 0, lo = 0, hi = Math.max(0, word.length - 1);
  for (;;) {
    const symbol = tape.get(head) ?? machine.blank, x = Array(first.names.length).fill(0);
    for (const place of [`st[${state}]`, `sym1[${symbol}]`]) x[first.names.indexOf(place)] = 1;
    const vectors = [x, ...forward(network, x).map((y) => Array.from(y))], y = vectors.at(-1);
    const next = said(last, "st", y), written = said(last, "sym2", y), move = { R: 1, L: -1 }[said(last, "scr5", y)] ?? 0;
    lo = Math.min(lo, head);
    hi = Math.max(hi, head);
    rows.push({ state, head, read: symbol, vectors, next, written, move });
    if (next === undefined || rows.length > maxSteps) break;
    tape.set(head, written);
    [state, head] = [next, head + move];
  }
  const { state: end } = rows.at(-1), over = rows.at(-1).next === undefined;
  return { rows, lo, hi, status: !over ? "limit" : machine.halting.includes(end) ? "halted" : "jammed" };
}

export default {
  render({ model, el }) {
    const machine = model.get("machine"), entry = model.get("entry"), network = read(model.get("network"));
    const { modules } = network, hidden = modules[0].layouts[1];
    const first = modules[0].layouts[0], last = modules.at(-1).layouts.at(-1);
    const ones = ({ names }, vector) => names.filter((_, i) => vector[i] > 0);
    const tape = createTape(machine, { near: 1000 });
    const field = createWord((symbols) => {
      load(isSingle(machine) ? symbols.join("") : symbols);
      model.set("word", word);
      go(0);
    });
    const frame = scroller("weights", "Weights of the transition");
    frame.innerHTML = model.get("picture"); // our own picture, its names escaped where it is drawn
    const picture = frame.firstElementChild, natural = picture.width.baseVal.value;
    picture.style.cssText = `display: block; width: 100%; max-width: ${natural}px; min-width: ${0.6 * natural}px; height: auto`;
    const status = live("status"), story = live("story");
    const transport = createTransport("Step of the run", {
      first: 0,
      get last() {
        return run.rows.length - 1;
      },
      get now() {
        return step;
      },
      go,
    }, () => RATE);
    const reading = h("p", { class: "reading", "aria-live": "polite" });
    const root = widget("weight-reader", "Weights that run a machine", {},
      h("div", { class: "word" }, h("label", {}, "Word", field.input), field.hint),
      tape.frame, story,
      h("div", { class: "controls" }, transport.buttons, transport.slider),
      status, frame, reading);
    el.replaceChildren(root);
    const answers = answering(picture, reading);
    let word, run, step = 0, chosen = null, centre;

    function load(next) {
      transport.pause();
      word = next;
      run = runBy(network, machine, [...word], model.get("max_steps"));
      [step, chosen, centre] = [0, null, (word.length - 1) / 2];
    }
    function go(to) {
      step = clamp(to, 0, run.rows.length - 1);
      chosen = null;
      draw();
      put(model, { step });
    }
    const heads = () => run.rows.map(({ head }) => head);
    const symbolOf = (cell) => {
      const t = writerOf(heads(), step, cell);
      return t >= 0 ? run.rows[t].written : [...word][cell] ?? machine.blank;
    };
    function draw() {
      const now = run.rows[step], at = step < run.rows.length - 1 ? "running" : run.status;
      Object.assign(root.dataset, { step, state: now.state, head: now.head, status: at });
      transport.show();
      tape.show(symbolOf, run, now, { centre, chosen });
      centre = undefined;
      const wrote = chosen === null ? -1 : writerOf(heads(), step, chosen), lit = wrote < 0 ? step : wrote;
      const { vectors } = run.rows[lit];
      answers.show(vectors.slice(1).map((after, m) => [vectors[m], after])); // they go from matrix to matrix
      describe(run.rows[lit], lit, lit === step ? at : "running");
      if (chosen === null) write(story, "Click a cell of the tape, and see the weights that made it.");
      else explain(wrote);
    }

    /** What a step is given, which detector fires, and what comes out. */
    function describe({ state, read, vectors }, t, at) {
      const fires = ones(hidden, vectors[1]).filter((name) => !first.names.includes(name)), out = ones(last, vectors.at(-1));
      const end = {
        running: "", limit: ` Only the first ${count(step, "step")} are shown.`,
        halted: ` The machine has halted in ${state}${verdictOf(state, entry)}.`,
        jammed: ` There is no rule for (${state}, ${shown(read)}).`,
      }[at];
      status.replaceChildren(at === "running" ? `In step ${t + 1} ` : `After step ${t} `,
        code(`st[${state}]`), " and ", code(`sym1[${shown(read)}]`), " are 1",
        ...(fires.length ? [", ", code(fires.join(" ")), " fires"] : []),
        ...(out.length ? [", and out come ", code(out.join(" "))] : [", and nothing comes out"]), `.${end}`);
    }

    /** The weight that made what is on the chosen cell, by the step that wrote it. */
    function explain(t) {
      const holds = [`Cell ${signed(chosen)} holds `, code(shown(symbolOf(chosen)))], inWord = chosen in [...word];
      if (t < 0) {
        const found = inWord ? "It stands in the word" : "It is the blank";
        story.replaceChildren(...holds, `. ${found}: no step has written here, and no weight made it.`);
        return;
      }
      const { written, vectors } = run.rows[t], m = vectors.length - 2, row = last.names.indexOf(`sym2[${written}]`);
      const { read, name, weight } = answers.find(({ matrix, i, j }) => matrix === m && i === row && vectors[m][j] > 0);
      story.replaceChildren(...holds, `: step ${t + 1} wrote it. `, code(read), " fired, and its weight to ", code(name),
        ` is ${weight}.`);
    }

    choosing(tape.frame, () => chosen ?? run.rows[step].head, (cell) => {
      transport.pause();
      chosen = clamp(cell, run.lo - 1, run.hi + 1);
      draw();
    });
    onKeys(root, () => transport.keys);
    function onWord() {
      if (JSON.stringify(model.get("word")) === JSON.stringify(word)) return;
      load(model.get("word"));
      field.show([...word], machine, entry);
      go(model.get("step"));
    }
    const forget = listen(model, {
      word: onWord,
      step: () => model.get("step") !== step && transport.move(model.get("step")),
    });
    onWord();
    const unwatch = watch(root, () => {
      centre = run.rows[step].head;
      requestAnimationFrame(draw);
    }, () => {});
    return () => {
      transport.pause();
      unwatch();
      forget();
    };
  },
};
