// From a cell of the tape to what made it.

import { on } from "./dom.js";

/**
 * The step that wrote what a cell holds after so many steps, counted from 0; −1 if none has. `heads` has the cell on
 * which each step finds the head.
 */
export function writerOf(heads, steps, cell) {
  for (let t = steps - 1; t >= 0; t--) if (heads[t] === cell) return t;
  return -1;
}

/** Let a tape of page/tape.js choose cells: by click or tap, and by arrow keys while its frame has the focus. */
export function choosing(frame, now, choose) {
  on(frame, "click", ({ target }) => {
    const cell = target.closest(".cell");
    if (cell) choose(Number(cell.dataset.cell));
  });
  on(frame, "keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Enter: 0 }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    choose(now() + by);
  });
}
