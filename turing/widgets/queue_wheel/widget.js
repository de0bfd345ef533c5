// The window of a network as a wheel of cells: the head goes round, and every token is written on the oldest one.

import { h, listen, onKeys, put, svg, widget, write } from "../page/dom.js";
import { isSingle, verdictOf } from "../page/machine.js";
import { clamp, count, range, short, shown, signed } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { createWord } from "../page/word.js";
import { follow } from "./run.js";

const SIZE = 340, MIDDLE = SIZE / 2, RADIUS = 122, RATE = 4, TAIL = 8;

/** A point of the wheel, by slot: slot 0 is on top. */
const around = (slot, slots, radius) => {
  const angle = (2 * Math.PI * slot) / slots - Math.PI / 2;
  return [MIDDLE + radius * Math.cos(angle), MIDDLE + radius * Math.sin(angle)];
};
const symbolOf = ({ symbol }) => (symbol === null ? "⊥" : short(shown(symbol), 4));

function createWheel() {
  const cells = svg("g"), hand = svg("g", { class: "hand" }), state = svg("text", { class: "state", x: MIDDLE, y: MIDDLE - 2 });
  const doing = svg("text", { class: "doing", x: MIDDLE, y: MIDDLE + 22 });
  const holding = svg("text", { class: "doing", x: MIDDLE, y: MIDDLE + 42 });
  const rim = svg("circle", { class: "rim", cx: MIDDLE, cy: MIDDLE, r: RADIUS });
  const root = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" }, rim, cells, hand, state, doing, holding);
  let slots = [];

  function build(size) {
    const side = clamp((2 * Math.PI * RADIUS) / size - 5, 22, 44);
    cells.style.setProperty("--side", `${side * 0.56}px`);
    slots = range(size).map((k) => {
      const [x, y] = around(k, size, RADIUS), [u, v] = around(k, size, RADIUS + 0.72 * side + 9);
      const symbol = svg("text", { y: side * 0.2 }), number = svg("text", { class: "number", x: u, y: v + 4 });
      const face = svg("g", { class: "face" }, svg("rect", { x: -side / 2, y: -side / 2, width: side, height: side }), symbol);
      return { face, symbol, number, node: svg("g", {}, svg("g", { transform: `translate(${x} ${y})` }, face), number) };
    });
    cells.replaceChildren(...slots.map(({ node }) => node));
    const inner = RADIUS - 0.72 * side - 4, [x, y] = around(0, size, inner), [u, v] = around(-1, size, inner);
    const bend = size > 2 ? inner - 22 : inner - 40, [a, b] = around(-0.5, size, bend);
    const turn = size > 1 ? Math.atan2(x - a, b - y) : 0, [left, up] = [Math.sin(turn), Math.cos(turn)]; // of the tip
    hand.replaceChildren(
      svg("path", { class: "arc", d: size > 1 ? `M ${u} ${v} Q ${a} ${b} ${x - 7 * left} ${y + 7 * up}` : "" }),
      svg("path", { class: "tip", d: `M ${x} ${y} l -4 15 h 8 Z`, transform: `rotate(${(180 * turn) / Math.PI} ${x} ${y})` }));
  }

  return {
    node: root,
    /** After t tokens; `flips` if the last of them was said just now. */
    show({ sequence, window, lo, machine }, t, flips) {
      if (slots.length !== window) build(window);
      const newest = sequence[t + window - 1], place = (cell) => lo + ((((cell - lo) % window) + window) % window);
      range(window).forEach((k) => {
        const token = sequence[t + k], { face, symbol, number } = slots[(t + k) % window];
        write(symbol, symbolOf(token));
        write(number, token.cell === null ? "" : signed(place(token.cell)));
        face.setAttribute("class", ["face", k ? "" : "head", token.mark ? "mark" : "", token.symbol === machine.blank ? "blank" : "",
          flips && k === window - 1 ? "flip" : ""].filter(Boolean).join(" "));
      });
      hand.style.transform = `rotate(${(360 * t) / window}deg)`;
      write(state, newest.state === null ? "∅" : short(newest.state, 12));
      write(doing, { run: "", left: "a round to the left", stay: "a round for a stay" }[newest.mode]);
      write(holding, newest.held === null ? "" : `holds ${short(shown(newest.held), 6)}`);
      const said = range(window).map((k) => symbolOf(sequence[t + k])).join(" ");
      root.setAttribute("aria-label", `A wheel of ${count(window, "cell")}, from the oldest on: ${said}. The tape head is on the oldest.`);
    },
  };
}

/** What the last token did, in words. */
function describe({ passes, status, machine, window, steps, lo, hi }, t, entry) {
  if (!t) return `The word stands in the window, with blanks after it. The tape head is on the oldest token, in state ${machine.initial}.`;
  const { said, newest, oldest, acts, head, ends } = passes[t - 1], says = [], isLast = t === passes.length;
  const symbol = newest.mode === "left" ? newest.held : oldest.symbol, found = shown(symbol ?? "⊥");
  if (said.state === null)
    return `There is no rule for state ${newest.state} and ${found}. The network says ∅, and the machine has jammed.`;
  if (acts) {
    says.push(`In state ${newest.state} the tape head reads ${found} on cell ${signed(head)}.`);
    if (said.mode === "run") says.push(`The rule writes ${shown(said.symbol)} and goes right: one token.`);
    else if (said.mode === "left")
      says.push(`The rule writes ${shown(said.held)} and goes left. ⊥ marks where the round begins, and ${shown(said.held)} is held.`);
    else says.push(`The rule writes ${shown(said.symbol)} and stays. A mark shows where the round begins.`);
  } else if (said.mode === "left")
    says.push(`The held ${shown(said.symbol)} is written, and ${shown(said.held)} is held instead: every cell moves on by one.`);
  else says.push(`${shown(said.symbol)} is copied: the round goes on.`);
  if (ends && said.mode !== "run")
    says.push(`The mark has come round: the round is over after ${count(window, "token")}.` +
      (said.mode === "left" ? ` Under the tape head is what is held, ${shown(said.held)}.` : ""));
  if (isLast && status === "halted") says.push(`The machine halts after ${count(steps, "step")}${verdictOf(said.state, entry)}.`);
  if (isLast && status === "full")
    says.push(`This was step ${steps}, and a wheel of ${count(window, "cell")} has no room for the cells ${signed(lo)} to ` +
      `${signed(hi)}. Take ${hi - lo + 1} cells.`);
  if (isLast && status === "limit") says.push("The widget shows no more tokens than these.");
  return says.join(" ");
}

/** The tokens of the run so far, by the moves that they are for. */
function cost({ passes, window }, t) {
  const rights = passes.slice(0, t).filter(({ ends, said }) => ends && said.mode === "run").length;
  const rounds = passes.slice(0, t).filter(({ ends, said }) => ends && said.mode !== "run").length, rest = t - rights - rounds * window;
  return `${rights} to the right + ${rounds} × ${window} in rounds${rest ? ` + ${rest} of a round` : ""} = ${count(t, "token")}`;
}

export default {
  render({ model, el }) {
    const get = (name) => model.get(name), file = get("network"), max = get("max"), entry = get("entry");
    let result, key, busy = false, now = 0, before = -1;
    const change = (changes) => {
      busy = true; // several traits change at once, and are drawn at once
      put(model, changes);
      busy = false;
      draw();
    };
    const wordOf = () => (Array.isArray(get("word")) ? get("word") : [...get("word")]);
    const field = createWord((symbols) => {
      if (symbols.length > max.symbols) return field.say(`${max.symbols} symbols at most. The last good run stays.`);
      const window = clamp(symbols.length + 2, 1, max.cells);
      return change({ word: isSingle(result.machine) ? symbols.join("") : symbols, window, token: 0 });
    });
    const transport = createTransport("Tokens so far", {
      first: 0,
      get last() { return result.passes.length; },
      get now() { return now; },
      go: (token) => change({ token }),
    }, () => RATE);
    const size = h("input", { type: "range", min: 1, max: max.cells, step: 1, "aria-label": "Cells of the wheel" });
    const sizeText = h("output", { class: "label" });
    size.addEventListener("input", () => change({ window: Math.max(Number(size.value), wordOf().length, 1), token: 0 }));
    const wheel = createWheel(), where = h("p", { class: "where" }), paid = h("p", { class: "label cost" });
    const says = h("p", { class: "account", "aria-live": "polite" }), tail = h("p", { class: "tail" }), body = h("tbody");
    const table = h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "token"), h("th", { scope: "col" }, "logit"))), body);
    const root = widget("queue-wheel", "The window as a wheel of cells", { tabindex: 0 },
      h("div", { class: "word" }, h("label", {}, "Word", field.input), field.hint),
      h("div", { class: "controls" }, transport.buttons, transport.slider),
      h("div", { class: "size" }, h("span", { class: "label", "aria-hidden": true }, "Cells"), size, sizeText),
      h("div", { class: "panes" }, wheel.node, h("div", { class: "readings" }, where, says, paid,
        h("p", { class: "label" }, "What the network said"), tail,
        h("p", { class: "label" }, "Its best tokens, of which the argmax takes the first"), table)),
      h("p", { class: "keys" }, "Keys: ← → one token, p or space to play, Home and End."));
    el.replaceChildren(root);
    onKeys(root, () => transport.keys);

    function load() {
      const word = wordOf(), next = JSON.stringify([word, get("window")]);
      if (next === key) return false;
      key = next;
      result = follow(file, get("tokens"), word, get("window"), max.tokens);
      before = -1;
      return true;
    }

    function draw() {
      if (busy) return;
      const isNew = load(), { passes, status, window, sequence } = result, last = passes.length;
      now = clamp(get("token"), 0, last);
      if (isNew && document.activeElement !== field.input) field.show(wordOf(), result.machine, entry);
      const pass = passes[now - 1], shownTo = Math.min(now, sequence.length - window); // ∅ is not in the window
      wheel.show(result, shownTo, now === before + 1 && now === shownTo);
      before = now;
      Object.assign(root.dataset, { token: now, last, status: now === last ? status : "running", said: pass?.said.name ?? "",
        steps: result.steps });
      where.replaceChildren(h("b", {}, `Token ${now} of ${last}`), pass ? ` · step ${pass.step} of ${result.steps} of the machine` : "");
      write(says, status === "full" && !last ? `The word has more cells than the wheel.` : describe(result, now, entry));
      write(paid, cost(result, now));
      const from = Math.max(0, now - TAIL), text = passes.slice(from, now).map(({ said }) => said.name);
      tail.replaceChildren(...(from ? ["…"] : []), ...text.map((name, k) =>
        h(k === text.length - 1 ? "b" : "span", {}, short(name, 24))));
      body.replaceChildren(...(pass?.best ?? []).map(({ name, logit }) =>
        h("tr", {}, h("td", {}, short(name, 24)), h("td", {}, signed(logit)))));
      size.value = window;
      write(sizeText, `${window}`);
      size.setAttribute("aria-valuetext", count(window, "cell"));
      transport.show();
    }

    draw();
    const quiet = listen(model, { word: draw, window: draw, token: draw });
    return () => {
      transport.pause();
      quiet();
    };
  },
};
