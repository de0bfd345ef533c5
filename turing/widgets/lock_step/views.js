// The matrix of the rules with its three wires, and the past of the transformer with its arc.

import { h, on, svg } from "../page/dom.js";
import { appear, draw } from "../page/motion.js";
import { clamp, digits, length, range, shown, signed } from "../page/text.js";

const KIND = { st: "q", sym2: "a", scr5: "m" }, SENT = { st: "next state", sym2: "write", scr5: "move" };
const TOP = 46; // above the matrix: the names of its columns
const ROW = { wide: 27, narrow: 24 }, BELOW = 92; // of the matrix; for the boxes under a narrow one
const LETTER = 9.5; // of a value that is more than a symbol
const ROWS = { wide: 20, narrow: 12 }, PAST_ROW = 18; // of the past, at most; of a narrow one, in pixels

/** How high the matrix is, in pixels, as the style sheet says it too. */
export const matrixHeight = (isWide, rows) => TOP + (isWide ? rows * ROW.wide + 6 : rows * ROW.narrow + BELOW);

const text = (content, x, y, kind, more = {}) => svg("text", { x, y, class: kind, ...more }, content);

/** The numbers of a slice that are not 0, by name: "M", or "M 0.5" if it is no plain 1. */
function spoken(found) {
  if (found.length === 1 && found[0].value === 1) return shown(found[0].label);
  return found.map(({ label, value }) => `${shown(label)} ${digits(value, 3)}`).join(", ") || "none";
}

/** `touched(row, column)` is called when a weight is clicked, `looked` when the cursor is on it. */
export function createMatrix({ rows, columns }, touched, looked) {
  const node = svg("svg", { role: "grid", "aria-label": "Weights: a column for each rule, a row for each place" });
  const cells = rows.map((row, i) => columns.map((column, j) => on(on(on(
    svg("rect", { role: "gridcell", class: "hit", tabindex: i || j ? -1 : 0 }),
    "click", () => (enter(i, j), touched(row, column))), "focus", () => looked(row, column)),
    "pointerenter", () => looked(row, column))));
  const slices = Object.keys(SENT).filter((slice) => rows.some((row) => row.slice === slice));
  let place, at = [0, 0];

  function enter(i, j) {
    cells[at[0]][at[1]].setAttribute("tabindex", -1);
    at = [clamp(i, 0, rows.length - 1), clamp(j, 0, columns.length - 1)];
    const cell = cells[at[0]][at[1]];
    cell.setAttribute("tabindex", 0);
    cell.focus({ preventScroll: true });
  }
  on(node, "keydown", (event) => {
    const { key } = event, [i, j] = at;
    const moves = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
      Home: [i, 0], End: [i, columns.length - 1] };
    if (moves[key]) enter(...moves[key]);
    else if (key === "Enter" || key === " ") touched(rows[i], columns[j]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  /** Where everything is: the wires go to the right if there is room, else down. */
  function measure(width, isWide) {
    const left = 30, tall = isWide ? ROW.wide : ROW.narrow, right = isWide ? 158 : 4;
    const cell = Math.min(38, (width - left - right) / columns.length), end = left + cell * columns.length;
    const bottom = TOP + tall * rows.length;
    const boxes = slices.map((slice, k) => {
      const own = range(rows.length).filter((i) => rows[i].slice === slice);
      const middle = TOP + tall * (own[0] + own.at(-1) + 1) / 2;
      return isWide ? { slice, x: Math.min(width - 70, end + 100), y: middle - 14, box: 40 }
        : { slice, x: left + ((end - left) * (2 * k + 1)) / 6 - 18, y: bottom + 30, box: 36 };
    });
    return { isWide, left, tall, cell, end, bottom, boxes, height: matrixHeight(isWide, rows.length),
      x: (j) => left + cell * (j + 0.5), y: (i) => TOP + tall * (i + 0.5) };
  }

  /** A square whose area is the weight: filled if positive, hollow if negative. */
  function square(i, j, weight, kind) {
    const side = Math.min(place.cell, place.tall) * 0.68 * Math.sqrt(Math.min(1.6, Math.abs(weight)));
    return svg("rect", { class: `w ${kind} ${KIND[rows[i].slice]} ${weight < 0 ? "negative" : ""}`,
      x: place.x(j) - side / 2, y: place.y(i) - side / 2, width: side, height: side });
  }
  /** A box as wide as what it holds, as far as there is room. */
  function widened(box, need, width) {
    const { isWide, left, end } = place, x = Math.max(end + 12, Math.min(box.x, width - need - 1));
    const wide = Math.min(need, isWide ? width - x - 1 : (end - left) / 3 - 6);
    return { ...box, wide, x: isWide ? x : box.x + (box.box - wide) / 2 };
  }
  function wire(i, j, { x, y, box, wide }) {
    const [a, b] = [place.x(j), place.y(i)];
    const d = place.isWide ? `M${a} ${b}C${a + 60} ${b} ${x - 70} ${y + box / 2} ${x} ${y + box / 2}`
      : `M${a} ${b}C${a} ${place.bottom} ${x + wide / 2} ${place.bottom} ${x + wide / 2} ${y}`;
    return svg("path", { d, class: `wire ${KIND[rows[i].slice]}` });
  }

  return {
    node,
    /** The weights, what the last pass lit and sent (or nothing), and how much of that is to be seen: up to beat 2. */
    show(width, isRoomy, weightOf, isBroken, frame, beat, time) {
      place = measure(width, isRoomy);
      const focused = node.contains(document.activeElement) && document.activeElement; // it loses the focus when it is put again
      node.setAttribute("width", width);
      node.setAttribute("height", place.height);
      const { left, tall, cell, end, bottom, isWide } = place, fired = (beat && frame.fired) || [];
      const lit = range(columns.length).filter((j) => fired[j]), parts = [], wires = [], values = [];
      for (const j of lit) {
        const column = svg("rect", { class: "column", "data-rule": columns[j].name, "data-value": fired[j],
          x: left + cell * j, y: 0, width: cell, height: bottom, opacity: clamp(fired[j], 0.2, 1) });
        if (beat === 1) appear(column, time);
        parts.push(column);
      }
      const lines = [...columns.keys(), columns.length].map((j) => `M${left + cell * j} ${TOP}V${bottom}`);
      const strong = [];
      for (const i of range(rows.length + 1)) {
        const isEdge = !i || i === rows.length || rows[i].slice !== rows[i - 1].slice;
        (isEdge ? strong : lines).push(`M${left} ${TOP + tall * i}H${end}`);
      }
      parts.push(svg("path", { class: "line", d: lines.join("") }), svg("path", { class: "strong", d: strong.join("") }));
      columns.forEach(({ q, a }, j) => parts.push(text(shown(q), place.x(j), 17, "q"), text(shown(a), place.x(j), 37, "a")));
      rows.forEach(({ slice, label }, i) => parts.push(text(shown(label), left - 14, place.y(i) + 6, KIND[slice])));

      const grid = rows.map((row, i) => {
        const marks = columns.flatMap((column, j) => {
          const weight = weightOf(row, column), broken = isBroken(row, column), found = [];
          if (weight) found.push(square(i, j, weight, lit.includes(j) ? "lit" : ""));
          if (broken) {
            const [x, y, r] = [place.x(j), place.y(i), Math.min(cell, tall) * 0.4];
            found.push(svg("path", { class: "broken", d: `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}zM${x - r} ${y + r}l${2 * r} ${-2 * r}` }));
          }
          const name = `${shown(column.q)} reading ${shown(column.a)}, to ${row.name}: ${digits(weight)}${broken ? ", broken" : ""}`;
          const hit = cells[i][j];
          for (const [key, value] of Object.entries({ x: left + cell * j, y: TOP + tall * i, width: cell, height: tall, "aria-label": name }))
            hit.setAttribute(key, value);
          return [...found, hit];
        });
        return svg("g", { role: "row" }, ...marks);
      });

      for (const each of place.boxes) {
        const own = range(rows.length).filter((i) => rows[i].slice === each.slice), kind = KIND[each.slice];
        const found = beat < 2 || !frame.sent ? null
          : own.filter((i) => frame.sent[i]).map((i) => ({ label: rows[i].label, value: frame.sent[i], i }));
        const says = found && spoken(found), isLong = says?.length > 1, need = isLong ? says.length * LETTER + 12 : each.box;
        const box = widened(each, need, width), middle = box.x + box.wide / 2;
        const [near, far] = [box.y - 8, box.y + box.box + 19], name = isWide ? near : far;
        parts.push(text(SENT[box.slice], isWide ? box.x : middle, name, `sent ${isWide ? "" : "mid"}`),
          svg("rect", { class: "box", x: box.x, y: box.y, width: box.wide, height: box.box }));
        if (!found) continue;
        for (const j of lit)
          for (const i of own)
            if (weightOf(rows[i], columns[j])) wires.push(wire(i, j, box));
        const squeezed = box.wide < need ? { textLength: box.wide - 8, lengthAdjust: "spacingAndGlyphs" } : {};
        values.push(text(says, middle, box.y + box.box / 2 + (isLong ? 5 : 9), `value ${isLong ? "long" : ""} ${kind}`, squeezed));
      }
      if (beat === 2) wires.forEach((path) => draw(path, time)), values.forEach((value) => appear(value, time));
      node.replaceChildren(...parts, ...grid, ...wires, ...values);
      if (focused) focused.focus({ preventScroll: true });
    },
  };
}

/** What the last pass asked the past, and what answered. */
export function lookUp({ from, place, network }, step, word) {
  if (!step || !network) return "";
  const cell = `attention: cell ${signed(network.head)}?`;
  if (from === "step") return `${cell} step ${place} was here last`;
  return from === "word" ? `${cell} new: the word says ${shown(word[place])}` : `${cell} new: blank`;
}

/** The rows to draw: the last ones and, above a gap, the one that answered. */
function rowsOf(most, last, source) {
  if (last < most) return range(last + 1);
  const rows = range(most).map((k) => last - most + 1 + k);
  return source >= 0 && source < rows[0] ? [source, null, ...rows.slice(2)] : rows;
}

/** The past: one row a step, time runs down. */
export function createPast() {
  const node = svg("svg", { role: "img" });
  return {
    node,
    /** Beside the matrix it is as high as that; under it, as high as its rows. */
    show(width, isWide, beside, { frames, lo, hi, word, blank }, step, beat, time) {
      const most = isWide ? ROWS.wide : ROWS.narrow, height = isWide ? beside : most * PAST_ROW;
      const last = beat < 3 ? step - 1 : step, frame = frames[last], says = beat === 3 ? "" : lookUp(frame, last, word);
      const source = !says ? -1 : frame.from === "step" ? frame.place : frame.from === "word" ? 0 : -1;
      const steps = rowsOf(most, last, source), tall = height / most, left = 62, isNarrow = width < 460, room = width - left - (isNarrow ? 165 : 270);
      const wide = clamp(room / (hi - lo + 1), 9, 28), size = Math.min(wide * 0.68, 15), parts = [];
      const x = (cell) => left + (cell - lo) * wide, y = (t) => steps.indexOf(t) * tall;
      const empty = range(most - steps.length).map((k) => `M${left} ${height - k * tall - 0.5}H${x(hi + 1)}`);
      parts.push(svg("path", { class: "line", d: empty.join("") })); // rows that later steps fill
      steps.forEach((t, k) => {
        if (t === null) return parts.push(text("⋮", left - 14, k * tall + tall / 2 + 5, "t"));
        const { network, machine } = frames[t], now = network ?? frames[t - 1].network ?? machine, row = svg("g");
        const middle = k * tall + tall / 2 + 5;
        row.append(text(t, 26, middle, "t end"), text(network ? shown(now.state) : "?", 44, middle, "q"));
        for (let cell = lo; cell <= hi; cell++) {
          const symbol = now.symbolOf(cell), isHead = network && cell === now.head, isBlank = symbol === blank;
          const kind = isHead ? "head" : isBlank ? "blank" : "full";
          row.append(svg("rect", { class: `c ${kind}`, x: x(cell) + 0.5, y: k * tall + 0.5, width: wide - 1, height: tall - 1 }),
            text(shown(symbol), x(cell) + wide / 2, middle, `s ${kind}`, { style: `font-size: ${size}px` }));
        }
        if (beat === 3 && t === step) appear(row, time);
        parts.push(row);
      });
      if (says) {
        const { head } = frame.network, end = x(hi + 1), [from, to] = [y(last) + tall / 2, y(source) + tall / 2];
        const reach = clamp(18 + Math.abs(from - to) * 0.3, 24, isNarrow ? 40 : 90), kind = frame.from === "step" ? "" : "weak";
        const ring = (t) => svg("rect", { class: `ring ${kind}`, x: x(head) - 0.5, y: y(t) - 0.5, width: wide + 1, height: tall + 1 });
        const isArc = source >= 0, middle = isArc ? (from + to) / 2 : from;
        const arc = svg("path", { class: `arc ${kind}`, d: isArc
          ? `M${end} ${from}C${end + reach} ${from} ${end + reach} ${to} ${end} ${to}`
          : `M${end} ${from}h14` });
        const lines = says.split(isNarrow ? /(?<=attention:|\? \S+ \S+) / : /(?<=\?) /), long = 8 * Math.max(...lines.map(length));
        const at = Math.min(end + (isArc ? reach * 0.75 : 14) + 10, width - long), half = 9 * (lines.length - 1);
        const first = clamp(middle + 5, 16 + half, height - 8 - half) - half;
        const label = lines.map((line, k) => text(line, at, first + 18 * k, "says-so"));
        parts.push(...(isArc ? [ring(source)] : []), arc, ...label);
        if (beat === 4) (kind ? appear : draw)(arc, time), label.forEach((line) => appear(line, time));
      }
      node.setAttribute("width", width);
      node.setAttribute("height", height);
      node.setAttribute("aria-label", `The past of the transformer up to step ${Math.max(0, last)}, a row a step. ${says}`);
      node.replaceChildren(...parts);
    },
  };
}

/** What stands above a part; the second half only where there is room. */
export const caption = (first, rest = "") => h("p", { class: "titled" }, first, h("span", {}, rest));
