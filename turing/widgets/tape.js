// The tape, and small things that the stepper and the lab share. The module of a widget follows in the same text.

const h = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
/** A frame that scrolls on its own, so keys must reach it. */
const scroller = (name, label, ...children) =>
  h("div", { class: name, tabindex: 0, role: "group", "aria-label": label }, ...children);
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const shown = (symbol) => (symbol.trim() ? symbol : "␣");
const length = (text) => [...text].length;
const signed = (move) => ["−1", "0", "+1"][move + 1];
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const isSingle = (machine) => machine.symbols.every((symbol) => length(symbol) === 1);

/** The symbols of a typed word: one a character, or parted by spaces if some symbol is longer. */
function parseWord(text, machine) {
  const trimmed = machine.symbols.includes(" ") ? text : text.trim();
  const symbols = isSingle(machine) ? [...trimmed] : trimmed.split(/\s+/).filter(Boolean);
  const cell = symbols.findIndex((symbol) => !machine.symbols.includes(symbol));
  if (cell < 0) return symbols;
  throw new Error(
    `Symbol '${symbols[cell]}' (cell ${cell} of the word) is not in this machine's alphabet: ` +
      `${[...machine.symbols].sort().map(shown).join(" ")}. The last good run stays.`,
  );
}

/** The tape: every cell that the run will use, and blanks to fill the frame. */
function createTape(machine) {
  const cells = h("div", { class: "cells", role: "img" });
  const frame = scroller("tape", "Tape", cells);
  const width = 16 * clamp(Math.max(...machine.symbols.map(length)) * 0.7 + 1.3, 2.25, 9);
  frame.style.setProperty("--cell", `${width}px`);
  let first = 0, old = null;

  const put = (node, symbol) => {
    if (node.dataset.symbol === symbol) return;
    node.dataset.symbol = symbol;
    node.firstChild.textContent = shown(symbol);
    node.classList.toggle("blank", symbol === machine.blank);
  };
  return {
    frame,
    build(tape, { lo, hi }, centre) {
      const missing = Math.max(0, Math.ceil(frame.clientWidth / width) - (hi - lo + 3));
      first = lo - 1 - (missing >> 1);
      const last = hi + 1 + missing - (missing >> 1);
      while (cells.childElementCount > last - first + 1) cells.lastChild.remove();
      for (let i = first; i <= last; i++) {
        const node = cells.children[i - first] ?? cells.appendChild(h("span", { class: "cell" }, h("b"), h("i")));
        node.dataset.cell = i;
        node.lastChild.textContent = `${i}`.replace("-", "−");
        put(node, tape.get(i) ?? machine.blank);
      }
      old?.classList.remove("head");
      old = null;
      frame.scrollLeft = (centre - first + 0.5) * width - frame.clientWidth / 2;
    },
    write: (cell, symbol) => put(cells.children[cell - first], symbol),
    show({ state, head, read }) {
      old?.classList.remove("head");
      old = cells.children[head - first];
      old.classList.add("head");
      old.dataset.on = state;
      cells.setAttribute("aria-label", `Tape with the head on cell ${head}, which reads ${shown(read)}`);
      const left = (head - first) * width, margin = Math.min(3 * width, frame.clientWidth / 3);
      if (left < frame.scrollLeft + margin) frame.scrollLeft = left - margin;
      if (left + width > frame.scrollLeft + frame.clientWidth - margin)
        frame.scrollLeft = left + width + margin - frame.clientWidth;
    },
  };
}
