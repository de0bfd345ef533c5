// The tape: a row of cells around the head, which is the inverted one; the state stands on it.

import { h, scroller } from "./dom.js";
import { flip, slide } from "./motion.js";
import { clamp, length, shown, signed } from "./text.js";

/**
 * Cells that are near the head are always drawn; slack is how many are drawn beyond those that the run has used. Cells are
 * as wide as the longest symbol needs, and as `least` says.
 */
export function createTape(machine, { near = Infinity, slack = 0, least = 36 } = {}) {
  const row = h("div", { class: "cells", role: "img" }), frame = scroller("tape", "Tape", row);
  const width = Math.max(least, 16 * clamp(Math.max(...machine.symbols.map(length)) * 0.7 + 1.3, 2.25, 9));
  frame.style.setProperty("--cell", `${width}px`);
  let first = 0, last = -1, head = null, ring = null;

  /** The cells near the head, and blanks to fill the frame. */
  function build(lo, hi, centre) {
    const missing = Math.max(0, Math.ceil(frame.clientWidth / width) - (hi - lo + 3));
    first = lo - 1 - (missing >> 1);
    last = hi + 1 + missing - (missing >> 1);
    while (row.childElementCount > last - first + 1) row.lastChild.remove();
    for (let cell = first; cell <= last; cell++) {
      const node = row.children[cell - first] ?? row.appendChild(h("span", { class: "cell" }, h("b"), h("i")));
      node.dataset.cell = cell;
      node.lastChild.textContent = Math.abs(cell) >= 10_000 && cell % 2 ? "" : signed(cell); // long numbers at every other cell
    }
    frame.scrollLeft = (centre - first + 0.5) * width - frame.clientWidth / 2;
  }
  function put(node, symbol, time) {
    if (node.dataset.symbol === symbol) return;
    flip(node, time);
    node.dataset.symbol = symbol;
    node.firstChild.textContent = shown(symbol);
    node.classList.toggle("blank", symbol === machine.blank);
  }
  function scrollTo(cell) {
    const left = (cell - first) * width, margin = Math.min(3 * width, frame.clientWidth / 3);
    if (left < frame.scrollLeft + margin) frame.scrollLeft = left - margin;
    if (left + width > frame.scrollLeft + frame.clientWidth - margin)
      frame.scrollLeft = left + width + margin - frame.clientWidth;
  }

  return {
    frame,
    /**
     * Show the symbols that `symbolOf(cell)` gives, where the run has used the cells from lo to hi. With a centre the
     * row is built again around it. With a time, in milliseconds, what is new moves there.
     */
    show(symbolOf, { lo, hi }, now, { centre, chosen = null, time = 0 } = {}) {
      const isInside = Math.max(lo, now.head - near) >= first && Math.min(hi, now.head + near) <= last;
      const before = head, isBuilt = !isInside || centre !== undefined;
      if (isBuilt)
        build(Math.max(lo - slack, now.head - 2 * near), Math.min(hi + slack, now.head + 2 * near), centre ?? now.head);
      for (let cell = first; cell <= last; cell++) put(row.children[cell - first], symbolOf(cell), isBuilt ? 0 : time);
      head?.classList.remove("head");
      ring?.classList.remove("chosen");
      head = row.children[now.head - first];
      ring = chosen === null ? null : row.children[chosen - first];
      head.classList.add("head");
      ring?.classList.add("chosen");
      head.dataset.on = now.state;
      if (!isBuilt && time && (head === before?.nextSibling || head === before?.previousSibling)) slide(before, head, time);
      row.setAttribute("aria-label", `Tape with the head on cell ${now.head}, which reads ${shown(now.read)}`);
      scrollTo(now.head);
    },
  };
}
