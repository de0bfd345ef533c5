// Hinton pictures that answer: a square that is pointed at, tapped or reached by keys tells its row, column, weight and
// equation; and where the numbers of a step are given, what the equation comes to.

import { h, on, svg } from "./dom.js";
import { rowText } from "./sums.js";
import { clamp, digits, range, short } from "./text.js";

const INK = "var(--turing-ink, #1B1F27)", NEAR = 14, LONG = 160; // pixels around a pointer, letters of an equation
const TITLE = /^(.*) ← (\S+) · (.*)$/s;

/** The squares of a picture that turing.draw has drawn, in reading order, and the matrices that they stand in. */
function squaresOf(picture) {
  const matrices = [...picture.querySelectorAll("g.matrix")].map((panel) => {
    const { e, f } = panel.transform.baseVal.consolidate().matrix, { cell, activation } = panel.dataset;
    return { panel, x: e, y: f, cell: Number(cell), activation, squares: [] };
  });
  for (const matrix of matrices) {
    for (const rect of matrix.panel.querySelectorAll("rect[data-at]")) {
      const [row, column] = rect.dataset.at.split(" "), [, name, weight, read] = TITLE.exec(rect.textContent);
      const [x, y, side] = ["x", "y", "width"].map((key) => Number(rect.getAttribute(key)));
      matrix.squares.push({ matrix, rect, i: Number(row), j: column, name, read, weight, x: x + side / 2, y: y + side / 2 });
    }
    matrix.squares.sort((one, other) => one.i - other.i || one.x - other.x);
  }
  return matrices;
}

/** A number as the picture writes it: a decimal or a fraction. */
function numberOf(text) {
  const [numerator, denominator = "1"] = text.replace("−", "-").split("/").map(Number);
  return numerator / denominator;
}

/** The row of a square as an equation: its terms, what it comes to, and how each number is written. */
function rowOf({ matrix, i }) {
  const own = matrix.squares.filter((square) => square.i === i), texts = new Map();
  const value = ({ weight }) => {
    const x = numberOf(weight);
    texts.set(Math.abs(x), weight.replace("−", ""));
    return x;
  };
  const bias = own.find(({ j }) => j === "bias"), inside = own.filter(({ j }) => /^\d+$/.test(j));
  const row = { terms: inside.map((square) => [Number(square.j), value(square)]), bias: bias ? value(bias) : 0 };
  const names = Object.fromEntries(inside.map(({ j, read }) => [j, read]));
  return { row: { ...row, activation: matrix.activation }, names, format: (x) => texts.get(x) ?? digits(x, 6) };
}

const isIdentity = (matrix, i) => {
  const own = matrix.squares.filter((square) => square.i === i);
  return own.length === 1 && own[0].weight === "1" && own[0].name === own[0].read;
};

/**
 * Let a picture answer. `show` gives it the numbers of a step, and `find` chooses a square. What is said goes into
 * `reading`.
 */
export function answering(picture, reading = h("p", { class: "turing-reading", "aria-live": "polite" })) {
  const matrices = squaresOf(picture), all = matrices.flatMap(({ squares }) => squares);
  const cursor = svg("rect", { class: "cursor", style: `fill: none; stroke: ${INK}; stroke-width: 2; pointer-events: none` });
  const hint = "Point at a square or tap it; arrow keys go from square to square.";
  let vectors = null, pinned = null;
  picture.append(cursor);
  picture.setAttribute("role", "application");
  picture.setAttribute("aria-roledescription", "Hinton picture");
  picture.setAttribute("tabindex", 0);
  picture.parentNode?.removeAttribute("tabindex"); // the squares scroll into view themselves

  function tell(square) {
    cursor.style.display = square ? "" : "none";
    if (!square) {
      delete reading.dataset.at;
      reading.replaceChildren(hint);
      return;
    }
    const { matrix: { x, y, cell }, i, j, name, read, weight } = square, half = Math.max(cell / 2, 6);
    for (const [key, value] of Object.entries({ x: x + square.x - half, y: y + square.y - half, width: 2 * half, height: 2 * half }))
      cursor.setAttribute(key, value);
    const { row, names, format } = rowOf(square), at = matrices.indexOf(square.matrix);
    const law = short(`${name} ← ${rowText(row, names, " ", format)}`, LONG), given = vectors?.[at];
    const comes = given ? ` = ${short(rowText(row, given[0].map((x) => digits(x)), "·", format), LONG)} = ${digits(given[1][i])}` : "";
    const of = j === "bias" || j === "null" ? j : `column ${read}`;
    reading.replaceChildren(h("span", {}, `Row ${name}, ${of}: ${weight}. `), h("code", {}, law + comes));
    reading.dataset.at = square.rect.dataset.at;
  }
  const choose = (square) => {
    pinned = square;
    tell(square);
    square?.rect.scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  function nearest({ clientX, clientY }) {
    const point = new DOMPoint(clientX, clientY).matrixTransform(picture.getScreenCTM().inverse());
    const far = ({ matrix, x, y }) => Math.hypot(matrix.x + x - point.x, matrix.y + y - point.y);
    const best = all.reduce((one, other) => (one && far(one) <= far(other) ? one : other), null);
    return best && far(best) * picture.getScreenCTM().a <= Math.max(NEAR, best.matrix.cell) ? best : null;
  }
  on(picture, "pointermove", (event) => tell(nearest(event) ?? pinned));
  on(picture, "pointerleave", () => tell(pinned));
  on(picture, "click", (event) => choose(nearest(event)));
  on(picture, "focus", () => picture.matches(":focus-visible") && !pinned && choose(all[0]));
  on(picture, "keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const at = all.indexOf(pinned), beyond = (by) => {
      const rows = all.filter((square) => square.matrix === pinned?.matrix && (square.i - pinned.i) * by > 0);
      const row = by > 0 ? rows[0]?.i : rows.at(-1)?.i;
      const inRow = rows.filter(({ i }) => i === row);
      return inRow.sort((one, other) => Math.abs(one.x - pinned.x) - Math.abs(other.x - pinned.x))[0] ?? pinned;
    };
    const go = {
      ArrowLeft: () => all[clamp(at - 1, 0, all.length - 1)], ArrowRight: () => all[clamp(at + 1, 0, all.length - 1)],
      ArrowUp: () => beyond(-1), ArrowDown: () => beyond(1), Home: () => all[0], End: () => all.at(-1), Escape: () => null,
    }[event.key];
    if (!go) return;
    event.preventDefault();
    event.stopPropagation();
    choose(go());
  });
  tell(null);

  /** Shade a row of a matrix from edge to edge, or a column. */
  const band = ({ cell }, bounds, i, across) => svg("rect", {
    class: across ? "fires" : "read", style: `fill: ${INK}; opacity: ${across ? 0.2 : 0.1}; pointer-events: none`,
    x: across ? bounds.x : i * cell, y: across ? i * cell : bounds.y,
    width: across ? bounds.width : cell, height: across ? cell : bounds.height,
  });
  return {
    reading,
    /** The vector before each matrix and the one after it: rows that fire are shaded, and what they read. */
    show(given) {
      vectors = given;
      matrices.forEach((matrix, m) => {
        matrix.panel.querySelectorAll(".fires, .read").forEach((old) => old.remove());
        const [before, after] = given[m], bounds = matrix.panel.querySelector("path").getBBox();
        const rows = range(after.length).filter((i) => after[i] > 0 && !isIdentity(matrix, i));
        const used = matrix.squares.filter(({ i, j }) => rows.includes(i) && before[j]).map(({ j }) => Number(j));
        matrix.panel.prepend(...rows.map((i) => band(matrix, bounds, i, true)),
          ...[...new Set(used)].map((j) => band(matrix, bounds, j, false)));
      });
      tell(pinned);
    },
    /** Choose the first square for which `is` holds; returns it. */
    find(is) {
      const found = all.find((square) => is({ ...square, matrix: matrices.indexOf(square.matrix) }));
      if (found) choose(found);
      return found;
    },
  };
}

/** Let every such picture of a page answer, in the paragraph after it. */
export function answerAll() {
  for (const picture of document.querySelectorAll("figure:not(.turing-fallback figure) > svg.turing-hinton:has(rect[data-at])"))
    answering(picture, picture.parentNode.nextElementSibling);
}
