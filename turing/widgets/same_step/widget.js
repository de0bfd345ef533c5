// The same step in every construction: one tape, and below it the memory of each, lit where it keeps the head's cell.

import { createChoice, h, listen, onKeys, put, scroller, widget, write } from "../page/dom.js";
import { clamp, digits, shown, signed } from "../page/text.js";
import { createTape } from "../page/tape.js";
import { createTransport } from "../page/transport.js";
import { follow } from "./run.js";

const SMALL = 60; // items of a group that have room for their numbers

/** Where the cell is kept, in words. */
function where(places, groups) {
  if (!places) return "It does not say.";
  if (!places.length) return "Nowhere: the cell is new, and blank.";
  const found = groups.map(({ name, places, first = 0, items }) => [name, items.filter(({ lit }) => lit).map(({ number, text }) => (places ? text : signed(number + first)))]);
  return `Kept in ${found.filter(([, all]) => all.length).map(([name, all]) => `${name}: ${all.join(", ")}`).join("; ")}.`;
}

function groupNode({ name, places, first = 0, items }) {
  const bits = items.length > SMALL;
  const nodes = items.map(({ number, text, value, lit }) => {
    const label = places ? (value === 1 ? text : `${text} = ${digits(value, 4)}`) : text ? shown(text) : "·";
    const data = { "data-number": number, ...(places ? { "data-value": value } : { "data-text": text }) };
    return h("span", { class: `item ${lit ? "lit" : ""}`.trim(), ...data },
      h("b", {}, label), ...(places || bits ? [] : [h("i", {}, signed(number + first))]));
  });
  return h("div", { class: "group" }, h("span", { class: "label" }, name),
    h("div", { class: `items ${places ? "places" : bits ? "bits" : ""}`.trim() }, ...nodes));
}

function createRow({ construction, shows, refused }) {
  const groups = h("div", { class: "groups" }), passes = h("span", { class: "passes" }), says = h("p", { class: "where" });
  return {
    node: h("section", { role: "group", "aria-label": construction, "data-construction": construction },
      h("b", { class: "name" }, construction), ...(refused ? [h("p", { class: "where" }, refused)]
        : [passes, ...(shows ? [h("p", { class: "shows" }, shows)] : []), groups, says])),
    show({ passes: number, places, groups: all }) {
      write(passes, `${number} pass${number === 1 ? "" : "es"}`);
      groups.replaceChildren(...all.map(groupNode));
      write(says, where(places, all));
    },
  };
}

export default {
  render({ model, el }) {
    const get = (name) => model.get(name), runs = get("runs"), known = new Map();
    let busy = false, view = null;
    const change = (changes) => {
      busy = true;
      put(model, changes);
      busy = false;
      draw();
    };
    const runOf = () => runs.find(({ name }) => name === get("machine"));
    const stepOf = () => clamp(get("step"), 0, runOf().trace.length - 1);
    const transport = createTransport("Step of the machine", {
      first: 0,
      get last() { return runOf().trace.length - 1; },
      get now() { return stepOf(); },
      go: (step) => change({ step }),
    });
    const machines = createChoice("Machine", runs.map(({ name }) => [name.replaceAll("_", " "), name]),
      (machine) => change({ machine, step: Math.min(stepOf(), runs.find(({ name }) => name === machine).trace.length - 1) }));
    const tapes = h("div"), rows = h("div", { class: "rows" }), head = h("p", { class: "head", "aria-live": "polite" });
    const root = widget("same-step", "The same step in every construction", { tabindex: 0 }, machines.node,
      h("div", { class: "controls" }, transport.buttons, transport.slider), head, tapes,
      scroller("all", "Memories", rows), h("p", { class: "keys" }, "Keys: ← → one step, Home and End."));
    el.replaceChildren(root);
    onKeys(root, () => transport.keys);

    /** Tape and rows of the run that is chosen, evaluated once. */
    function viewOf(run) {
      if (!known.has(run)) known.set(run, run.networks.map((each) => (each.file ? follow(each) : null)));
      if (view?.run === run) return view;
      const found = run.networks.map((each) => createRow(each));
      const isLarge = (k) => !run.networks[k].file; // too large for the page: those come last
      rows.replaceChildren(...[...found.keys()].sort((a, b) => isLarge(a) - isLarge(b)).map((k) => found[k].node));
      const tape = createTape(run, { slack: 1 });
      tapes.replaceChildren(tape.frame);
      view = { run, tape, rows: found, steps: known.get(run) };
      return view;
    }

    function draw() {
      if (busy) return;
      const run = runOf(), step = stepOf(), { tape, rows: shownRows, steps } = viewOf(run), fresh = view.step === undefined;
      const [state, at, symbol, cells] = run.trace[step], symbols = new Map(cells), heads = run.trace.map(([, cell]) => cell);
      const lo = Math.min(0, ...heads), hi = Math.max(0, run.word.length - 1, ...heads);
      view.step = step;
      machines.show((name) => name === run.name);
      transport.show();
      write(head, `After step ${step} of ${run.trace.length - 1}: state ${state}, the tape head is on cell ${signed(at)}, which holds ${shown(symbol)}.`);
      tape.show((cell) => symbols.get(cell) ?? run.blank, { lo, hi }, { head: at, state, read: symbol }, fresh ? { centre: at } : {});
      shownRows.forEach((row, k) => steps[k] && row.show(steps[k][step]));
      Object.assign(root.dataset, { step, machine: run.name });
    }

    draw();
    return listen(model, { machine: draw, step: draw });
  },
};
