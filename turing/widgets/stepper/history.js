// The space–time picture of the stepper.

import { h, scroller } from "../page/dom.js";
import { isSingle } from "../page/machine.js";
import { clamp, length, shown } from "../page/text.js";

/** The space–time picture: one row a step, time runs down. Only the rows in view are drawn. */
export function createHistory(machine, root) {
  const canvas = h("canvas", { role: "img" }), rows = h("div", { class: "rows" });
  const frame = scroller("history", "Space–time picture", canvas, rows);
  const written = machine.symbols.slice(1), names = Math.min(6, Math.max(...machine.states.map(length)));
  const shade = (symbol) => 0.75 - (0.55 * written.indexOf(symbol)) / Math.max(1, written.length - 1);
  const key = (text, kind, opacity = 1) => h("span", {}, h("i", { class: kind, style: `opacity: ${opacity}` }), text);
  const legend = h("p", { class: "legend" }, key("head", "head"), key(`${shown(machine.blank)} (blank)`, "blank"),
    ...written.map((symbol) => key(shown(symbol), "symbol", shade(symbol))));
  const HEIGHT = 420, LARGEST = 28, READABLE = 13, SMALLEST = 3; // CSS pixels

  return {
    frame,
    legend,
    /** Paint the steps up to this one, after which the tape is as given. */
    paint({ trace, lo, hi }, step, tape, follow) {
      const ratio = window.devicePixelRatio || 1, width = frame.clientWidth;
      if (!width) return;
      const fit = (room, n) => Math.floor(clamp(room / n, SMALLEST, LARGEST) * ratio); // whole device pixels are crisp
      const tall = fit(HEIGHT, trace.length), spelled = tall >= READABLE * ratio && isSingle(machine);
      legend.hidden = spelled; // symbols that are printed need no key
      const gutter = Math.round((spelled ? 48 + 12 * names : 40) * ratio);
      const wide = Math.max(fit(width - 1 - gutter / ratio, hi - lo + 1), spelled ? tall : 0);
      const height = Math.min(HEIGHT, Math.ceil((trace.length * tall) / ratio));
      frame.style.height = `${height}px`;
      rows.style.height = `${((step + 1) * tall) / ratio}px`;
      if (follow) frame.scrollTop = frame.scrollHeight;
      Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
      Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
      canvas.setAttribute("aria-label", `Space–time picture of the tape, one row a step, up to step ${step}`);

      const style = getComputedStyle(root);
      const [ink, ground, st, sym, scr, line, mono] = ["ink", "ground", "st", "sym", "scr", "line", "mono"].map(
        (name) => style.getPropertyValue(`--${name}`));
      const pen = canvas.getContext("2d"), top = Math.round(frame.scrollTop * ratio);
      const columns = Math.floor((canvas.width - gutter) / wide);
      const left = clamp(trace[step].head - (columns >> 1), lo, Math.max(lo, hi + 1 - columns));
      const right = Math.min(hi, left + columns - 1);
      const every = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n * tall >= 20 * ratio) ?? 1000;
      pen.textBaseline = "middle";
      const write = (text, x, y, size, weight, colour, align) => {
        Object.assign(pen, { font: `${weight} ${size}px ${mono}`, fillStyle: colour, textAlign: align });
        pen.fillText(text, x, clamp(y, size / 2, canvas.height - size / 2));
      };
      const row = new Map(tape);
      for (let t = step; t >= 0 && (t + 1) * tall > top; t--) {
        const { state, head, read } = trace[t], y = t * tall - top, middle = y + tall / 2 + ratio / 2;
        if (t < step) row.set(head, read); // undo the step
        if (y >= canvas.height) continue;
        for (let i = left; i <= right; i++) {
          const symbol = row.get(i) ?? machine.blank, blank = symbol === machine.blank, here = i === head;
          const x = gutter + (i - left) * wide;
          pen.globalAlpha = here ? 1 : blank ? 0 : spelled ? 0.12 : shade(symbol);
          pen.fillStyle = here ? ink : sym;
          pen.fillRect(x, y, wide, tall);
          pen.globalAlpha = 1;
          const colour = here ? ground : blank ? scr : sym;
          if (spelled) write(shown(symbol), x + wide / 2, middle, tall * 0.68, here ? 600 : 400, colour, "center");
        }
        if (spelled) write([...state].slice(0, 6).join(""), 40 * ratio, middle, tall * 0.68, 600, st, "left");
        if (t % every === 0) write(t, 32 * ratio, middle, 11 * ratio, 400, scr, "right");
      }
      const hair = Math.ceil(ratio);
      pen.fillStyle = line;
      if (spelled) // rows that later steps fill
        for (let y = (step + 2) * tall - top; y < canvas.height; y += tall) pen.fillRect(gutter, y, (right + 1 - left) * wide, hair);
      if (!step && canvas.height > 3 * tall)
        write("each step adds a row", (gutter + canvas.width) / 2, 1.5 * tall + 12 * ratio, 13 * ratio, 400, scr, "center");
      pen.fillStyle = line;
      for (const x of [gutter - hair, gutter + (right + 1 - left) * wide]) pen.fillRect(x, 0, hair, canvas.height);
    },
  };
}
