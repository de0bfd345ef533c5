// What the lab shows on demand of a run: space and time, the vectors, attention, and the layers with their weights.
// session.inside has the vectors of the step.

import { button, code, h, live, on, scroller, svg } from "../page/dom.js";
import { weightOf } from "../page/compile.js";
import { equationsOf } from "../page/equations.js";
import { comparison } from "../page/index.js";
import { isSingle } from "../page/machine.js";
import { draw } from "../page/motion.js";
import { big, clamp, count, digits, range, short, shown, signed } from "../page/text.js";
import { fill, line, named, row, table } from "./panels.js";

const LARGEST_CELL = 28, FITS = 18, TALLEST = 8e6, REACH = 84; // CSS pixels; of an arc at most
const MAX_ARCS = 40, ADVANCE = 8; // pixels of a letter
const MAX_FINE = 32; // chunks that are asked for to paint every step of what is in view
const WAS_HERE = 0.3; // how dark a cell is in whose row of many steps the head was

/**
 * The tape at every step, time running down, with arcs from the cell under the head to what attention reads for it. A row
 * of pixels stands for many steps where there are many.
 */
export function createSpaceTime(lab) {
  const { session } = lab, canvas = h("canvas", { role: "img" }), room = h("div", { class: "room" });
  const arcs = svg("svg", { class: "arcs", "aria-hidden": true }), view = h("div", { class: "view" }, canvas, arcs);
  const frame = scroller("spacetime", "Space–time picture", view, room), caption = h("p", { class: "hint" });
  const read = h("p", { class: "reads" });
  let zoom = 1, cost = 0, last = 0, seen = "", later = 0, drawn = "";

  /** Pixels a step and a cell, of the whole, of the frame; and the pixel at the top. */
  function measure() {
    const { known, lo, hi } = session.record, gutter = 28 + 7 * big(known).length; // for the numbers of the steps
    const most = frame.clientHeight || 1;
    const width = Math.max(50, frame.clientWidth - gutter - REACH);
    const size = (room, n) => Math.min(LARGEST_CELL, Math.min(FITS, room / n) * zoom);
    const tall = size(most, known + 1), wide = size(width, hi - lo + 1), total = (known + 1) * tall;
    const height = clamp(Math.ceil(total), 1, most), scrolls = frame.scrollHeight - frame.clientHeight;
    const top = scrolls > 0 ? (frame.scrollTop / scrolls) * (total - height) : 0;
    return { gutter, tall, wide, total, height, top };
  }
  function resize() {
    const { gutter, wide, total } = measure(), { lo, hi } = session.record;
    room.style.height = `${Math.min(total, TALLEST)}px`;
    room.style.width = `${gutter + (hi - lo + 1) * wide}px`;
    frame.classList.toggle("new", !session.record.known);
  }
  /** Nearer or further; the step that is shown stays in view. */
  function magnify(by) {
    zoom = clamp(zoom * by, 1, 2 ** 24);
    resize();
    const { tall, total, height } = measure(), above = session.step * tall - height / 2;
    frame.scrollTop = clamp(above / Math.max(1, total - height), 0, 1) * (frame.scrollHeight - frame.clientHeight);
    paint();
  }
  /** An arc for each key with weight, on the right side; a head over the word reaches for its row, the first. */
  function paintArcs({ gutter, wide, tall, height, top }, time) {
    const { record, step } = session, { lo, hi } = record, found = readsOf(lab);
    arcs.replaceChildren();
    read.textContent = found?.says ?? "";
    if (!found) return;
    if (drawn === (drawn = `${step} ${lab.module}`)) time = 0; // it was drawn there before
    const x = (cell) => gutter + (cell - lo) * wide - frame.scrollLeft, y = (t) => (t + 0.5) * tall - top;
    const end = Math.min(x(hi + 1), frame.clientWidth - REACH), from = y(step), kind = found.onWord ? "arc weak" : "arc";
    let edge = [end + 10, from];
    for (const [key, weight] of found.pairs.slice(-MAX_ARCS)) {
      const [row, cell] = found.onWord ? [0, key] : [key, record.head(key) ?? record.head(step)], to = y(row);
      const reach = clamp(18 + Math.abs(from - to) * 0.3, 24, REACH / 0.75 - 4), isRinged = wide > 4 && tall > 4;
      const side = (cell) => (isRinged ? end : Math.min(end, x(cell + 1)));
      const path = svg("path", { class: kind, "data-key": key, "data-weight": weight, "stroke-width": 1 + 1.5 * (weight ?? 0),
        d: `M${side(record.head(step))} ${from}H${end}C${end + reach} ${from} ${end + reach} ${to} ${end} ${to}H${side(cell)}` });
      const ring = svg("rect", { class: kind, x: x(cell), y: to - tall / 2, width: wide, height: tall });
      arcs.append(...(isRinged ? [ring] : []), path);
      draw(path, found.onWord ? 0 : time); // a line that is drawn has no dashes
      edge = [end + 0.75 * reach + 10, (from + to) / 2];
    }
    const fits = frame.clientWidth - edge[0] > ADVANCE * found.says.length;
    if (fits) arcs.append(svg("text", { x: edge[0], y: clamp(edge[1] + 5, 16, height - 4) }, found.says));
    read.style.visibility = fits ? "hidden" : "";
    arcs.setAttribute("width", frame.clientWidth);
    arcs.setAttribute("height", height);
  }
  function paint(time = 0) {
    const began = performance.now(), sizes = measure();
    if (!frame.clientWidth) return;
    paintRun(session, canvas, frame, sizes, getComputedStyle(lab.root));
    paintArcs(sizes, time);
    const { known, lo, hi } = session.record, each = Math.round(1 / sizes.tall);
    canvas.setAttribute("aria-label", `Space–time: ${count(known, "step")}, cells ${signed(lo)} to ${signed(hi)}. ${read.textContent}`);
    const many = each > 1 ? `A row of pixels stands for ${big(each)} steps, and shades the cells that the head was on. ` : "";
    caption.textContent = known ? `${many}Click a row to go to its step.` : "Play: the past grows here, a row a step.";
    [cost, last] = [performance.now() - began, performance.now()];
  }
  on(canvas, "click", ({ offsetY }) => {
    const { top, tall } = measure();
    session.go(Math.min(session.record.known, Math.floor((top + offsetY) / tall)));
  });
  on(frame, "scroll", () => requestAnimationFrame(() => paint()));
  return {
    nodes: [
      frame, read,
      line(button("+", () => magnify(2), { "aria-label": "Zoom in" }),
        button("−", () => magnify(0.5), { "aria-label": "Zoom out" }), button("Fit", () => magnify(0)), caption),
    ],
    draw(why, time) {
      if (why === "load") zoom = 1;
      clearTimeout(later);
      // While it runs, painting takes a tenth of the time at most.
      const wait = session.busy ? last + 10 * cost - performance.now() : 0;
      const { record: { known, restored }, step, inside, engine } = session;
      const now = [known, restored, step, inside?.step, engine, lab.module].join();
      if (wait > 0) later = setTimeout(() => lab.redraw(), wait);
      if (wait > 0 || (now === seen && !why)) return;
      seen = now;
      resize();
      paint(time);
    },
  };
}

/**
 * What a head reads in the pass that led here: the chosen module if it is a head, else the one whose symbol is taken. As
 * pairs of key and weight, and in words; nothing if the pass is not known yet.
 */
function readsOf({ session, module }) {
  const { inside, step, busy, record, network: { modules }, machine: { symbols }, word } = session;
  if (busy || !step || step > record.known || inside?.step !== step || session.parted) return null;
  const isVisited = inside.patterns.visited.some(([key]) => key >= 0), { name, key: isHead } = modules[module] ?? {};
  const head = isHead ? name : isVisited ? "last" : "initial", { head: at } = record.at(step), cell = `cell ${signed(at)}?`;
  const all = shared(session, at, head);
  const pairs = all.filter(([key]) => key >= 0), onWord = head === "initial";
  const says = isHead ? `${head} reads ${patternText(head, all)}` : isVisited ? `${cell} step ${big(pairs[0][0])} was here last`
    : pairs.length ? `${cell} new: the word says ${shown(symbols[symbols.indexOf(word[pairs[0][0]])])}` : `${cell} new: blank`;
  return { pairs, onWord, says };
}

const mixed = { key: "", colours: null }; // to read pixels back takes long

/** The colours of the blank and the other symbols, of the head, and of a symbol in whose row of many steps the head was. */
function coloursOf(n, pen, colour, strength) {
  const key = [...["ground", "ink", "sym"].map(colour), n, strength(1)].join();
  if (key === mixed.key) return mixed.colours;
  mixed.key = key;
  return mixed.colours = Uint32Array.from(range(2 * n + 1), (m) => {
    const k = m > n ? m - n - 1 : m, layers = [["ground", 1], [k === n ? "ink" : k ? "sym" : "ground", k && k < n ? strength(k) : 1]];
    if (m > n) layers.push(["ink", WAS_HERE]);
    for (const [name, alpha] of layers) {
      Object.assign(pen, { globalAlpha: alpha, fillStyle: colour(name) });
      pen.fillRect(0, 0, 1, 1);
    }
    const [pixel] = new Uint32Array(pen.getImageData(0, 0, 1, 1).data.buffer);
    pen.globalAlpha = 1;
    pen.clearRect(0, 0, 1, 1);
    return pixel;
  });
}

/**
 * What each row of pixels stands for: the steps from one to the one before another, the tape at the first of them, and from
 * which to which cell the head was in all of them. Where the steps in view are not kept, rows begin where those of the
 * record do.
 */
export function rowsOf(session, stepAt, height) {
  const { record } = session, { known, each } = record, from = stepAt(0), to = Math.min(known, stepAt(height));
  const missing = record.missing(from, to), isWide = (to - from) / height >= each;
  if ((to >> 16) - (from >> 16) < MAX_FINE && !isWide && !session.busy) missing.forEach((chunk) => session.fetch(chunk));
  if (missing.length || isWide) {
    const index = (y) => Math.min(record.rows.length, Math.floor(stepAt(y) / each));
    return (y) => {
      const begin = Math.min(index(y), record.rows.length - 1), end = Math.max(begin + 1, index(y + 1));
      const own = record.rows.slice(begin, end), { tape: { lo, symbols } } = own[0];
      return { from: begin * each, to: end * each, tape: { zero: -lo, data: symbols },
        first: own.reduce((a, { lo }) => Math.min(a, lo), Infinity), last: own.reduce((a, { hi }) => Math.max(a, hi), -Infinity) };
    };
  }
  let cells = null, t = 0;
  return (y) => {
    const now = Math.min(known, stepAt(y)), next = Math.max(now + 1, Math.min(known + 1, stepAt(y + 1)));
    const [first, last] = record.span(now, next);
    if (cells) record.walk(cells, t, now);
    else cells = record.cells(now);
    t = now;
    return { from: now, to: next, tape: cells, first, last };
  };
}

/** Paint what is in view of a run: pixel rows of the tape, names of steps, and symbols where there is room. */
function paintRun(session, canvas, frame, sizes, style) {
  const { record, machine, step } = session, { tall, wide, height, top } = sizes, { lo, hi, known } = record;
  const { clientWidth: width, scrollLeft } = frame, colour = (name) => style.getPropertyValue(`--${name}`);
  const ratio = window.devicePixelRatio || 1, gutter = Math.round(sizes.gutter * ratio);
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d", { willReadFrequently: true }), size = [width, height].map((n) => Math.round(n * ratio));
  if (canvas.width === size[0] && canvas.height === size[1]) pen.clearRect(0, 0, ...size);
  else [canvas.width, canvas.height] = size; // takes a new piece of memory
  const spelled = tall >= 14 && wide >= 10 && isSingle(machine), n = machine.symbols.length, letters = [];
  const colours = coloursOf(n, pen, colour, (k) => (spelled ? 0.14 : 0.85 - (0.55 * (k - 1)) / Math.max(1, n - 2)));
  const across = clamp(Math.ceil(((hi - lo + 1) * wide - scrollLeft) * ratio), 1, Math.max(1, canvas.width - gutter));
  const image = pen.createImageData(across, canvas.height), pixels = new Uint32Array(image.data.buffer);
  const cellAt = Int32Array.from(range(across + 1), (x) => lo + Math.floor((x / ratio + scrollLeft) / wide));
  const stepAt = (y) => Math.min(known + 1, Math.max(0, Math.floor((top + y / ratio) / tall)));
  const rows = rowsOf(session, stepAt, canvas.height);
  let t = -1;
  for (let y = 0, start = 0; y < canvas.height; y++, start += across) {
    const row = rows(y);
    if (row.from === t) {
      pixels.copyWithin(start, start - across, start);
      continue;
    }
    t = row.from;
    const { tape: { zero, data }, first, last, to } = row, head = to > t + 1 ? n + 1 : -1;
    for (let x = 0; x < across; x++) {
      const cell = cellAt[x], symbol = data[cell + zero] ?? 0, isHere = cell <= last && Math.max(cell + 1, cellAt[x + 1]) > first;
      pixels[start + x] = colours[!isHere ? symbol : head < 0 ? n : head + symbol];
    }
    for (let cell = cellAt[0]; spelled && cell <= cellAt[across - 1]; cell++)
      letters.push([t, cell, data[cell + zero] ?? 0, first]);
  }
  pen.putImageData(image, gutter, 0);

  const write = (text, x, row, size, name, align) => {
    const y = ((row + 0.5) * tall - top) * ratio;
    Object.assign(pen, { font: `${size * ratio}px ${colour("mono")}`, textAlign: align, textBaseline: "middle" });
    pen.fillStyle = colour(name);
    pen.fillText(text, x, clamp(y, (size * ratio) / 2, canvas.height - (size * ratio) / 2));
  };
  for (const [t, cell, symbol, head] of letters)
    write(shown(machine.symbols[symbol]), gutter + ((cell - lo + 0.5) * wide - scrollLeft) * ratio, t, tall * 0.66,
      cell === head ? "ground" : symbol ? "sym" : "scr", "center");
  const every = range(24).map((k) => [1, 2, 5][k % 3] * 10 ** Math.floor(k / 3)).find((n) => n * tall >= 24);
  for (let n = Math.ceil(top / tall / every) * every; n <= (top + height) / tall && n <= known; n += every)
    write(big(n), gutter - 14 * ratio, n, 11, "scr", "right");
  if (step >= top / tall - 1 && step <= (top + height) / tall)
    write("▸", gutter - 2 * ratio, step, 12, "ink", "right");
}

const NOT_YET = "Take a step, and every number of it is here.";

/** A slice of a vector, a cell for every place. */
function sliceNode({ name, start, size, labels }, vector) {
  const places = range(size).map((k) => {
    const x = vector[start + k], label = short(shown(labels[k] ?? `${k}`), 12);
    const kind = x > 0.5 ? "place one" : "place";
    return h("span", { class: kind, "data-value": x }, h("b", {}, digits(x)), h("i", {}, label));
  });
  return h("div", { class: "slice", "data-slice": name }, h("b", {}, name), ...places);
}

/** The state vector at the step that is shown, or what a module of that step gives. */
export function vectorPanel(lab) {
  const { session } = lab, which = h("select"), frame = scroller("vector", "The vector by slices");
  on(which, "change", () => lab.choose({ module: Number(which.value) }));
  let drawn;
  return {
    nodes: [line(named("Vector", which)), frame],
    draw(why) {
      const { inside, network: { modules, layouts }, step } = session, key = [inside?.step, step, lab.module].join();
      if (why === "load" && which.length !== modules.length + 1)
        fill(which, [[-1, "the column"], ...modules.map(({ name }, n) => [n, `what ${name} gives`])]);
      which.value = lab.module;
      if (!inside) frame.replaceChildren((drawn = NOT_YET));
      if (inside?.step !== session.inspected || (drawn === key && !why)) return; // it stays until the next one is here
      drawn = key;
      const n = lab.module, start = !step && !session.parted;
      const vector = n >= 0 ? inside.vectors[n] : start ? inside.before : inside.column;
      const title = n < 0 ? `Column ${big(start ? 0 : inside.step)}`
        : `What leaves ${modules[n].name} in step ${big(inside.step)}`;
      const { slices } = n < 0 ? layouts[0] : modules[n].layouts.at(-1);
      frame.replaceChildren(h("p", { class: "hint" }, title), ...slices.map((slice) => sliceNode(slice, vector)));
    },
  };
}

/** A cell of the tape: which step wrote it, and which head reads it. */
export function attentionPanel(lab) {
  const { session } = lab, cell = h("input", { type: "number", step: 1 }), telling = live("story"), jumps = line();
  const heads = scroller("heads", "What the heads of this step read");
  on(cell, "input", () => cell.value !== "" && lab.choose({ cell: Math.round(Number(cell.value)) }));
  let drawn;
  return {
    nodes: [line(named("Cell (or click one on the tape)", cell)), telling, jumps, heads],
    draw(why) {
      const { record, step, inside, busy, now } = session, at = lab.cell ?? now.head, here = now.head === at;
      const key = [step, at, record.known, inside?.step].join();
      if (document.activeElement !== cell) cell.value = at;
      if (busy || (drawn === key && !why)) return;
      drawn = key;
      const wrote = session.visit(at, -1), comes = session.visit(at, 1);
      if (wrote === null || comes === null) drawn = null; // it is looked for
      telling.replaceChildren(...storyOf(session, at, wrote, comes, here));
      jumps.replaceChildren(...[...new Set([wrote === null ? 0 : wrote + 1, comes])].filter((t) => t > 0 && t !== step).map(
        (t) => button(`Go to step ${big(t)}`, () => session.go(t))));
      const read = here && inside && inside.step === step ? Object.keys(inside.patterns) : [];
      heads.hidden = !read.length;
      heads.replaceChildren(table(["head", "reads", "with weight"],
        read.map((name) => patternRow(name, shared(session, at, name)))));
    },
  };
}

/**
 * What a head reads. An index names the last visit m, and earlier ones with an equal key have the same share: a search for
 * bit j looks at the bits from j on. Where these steps are not kept, m stands alone, without a weight.
 */
function shared({ inside: { patterns, engine }, record, step }, cell, name) {
  const pattern = patterns[name], bit = name.startsWith("search") ? Number(name.slice(6)) : name === "visited" ? 31 : null;
  const [[m]] = pattern;
  if (engine === "plain" || m < 0 || bit === null) return pattern;
  const same = record.visits(step, cell, bit === 31 ? 0 : (m >> bit) << bit);
  return same ? same.map((t) => [t, 1 / same.length]) : [[m, null]];
}

/** What a head reads, in words. */
function patternText(name, pattern) {
  const some = pattern.slice(0, 3), kind = name === "initial" ? "cell" : "column";
  const more = pattern.length > 3 ? ` and ${pattern.length - 3} more` : pattern[0][1] === null ? " and earlier ones" : "";
  return some.map(([key]) => (key < 0 ? "nothing (the null key)" : `${kind} ${big(key)}`)).join(", ") + more;
}
const patternRow = (name, pattern) => row(name, patternText(name, pattern),
  pattern.slice(0, 3).map(([, weight]) => (weight === null ? "equal shares" : digits(weight))).join(", "));

/** Who wrote what stands on a cell, and who reads it: text and code. */
function storyOf({ cells, machine, word, step }, at, wrote, comes, here) {
  const symbol = code(short(shown(machine.symbols[cells.get(at)]))), place = signed(at);
  if (wrote === null || comes === null)
    return [`After step ${big(step)} cell ${place} holds `, symbol, ". The steps that were here are made again …"];
  const [found, ...reads] = wrote >= 0
    ? [`: step ${big(wrote + 1)} wrote it. `, "head ", code("last"), ` reads column ${big(wrote)}, where it began.`]
    : at >= 0 && at < word.length
      ? [", of the word: no step has written here. ", "head ", code("initial"), ` reads cell ${place} of the word.`]
      : [", the blank: the head has not been here. ", "no head finds anything, and the blank is put there."];
  const then = here && !step ? ["It is put into column 0, and no head reads it."]
    : here ? ["In this step ", ...reads]
    : comes < 0 ? ["So far no step comes to it later."] : [`Step ${big(comes)} comes to it, and `, ...reads];
  return [`After step ${big(step)} cell ${place} holds `, symbol, found, ...then];
}

/** Every layer as equations, with the values of the step; any weight can be changed by hand. */
export function layersPanel(lab) {
  const { session } = lab, [which, part, at, other] = [h("select"), h("select"), h("select"), h("select")];
  const list = scroller("equations", "Equations"), weights = scroller("weights", "Weights of the row");
  const hint = live("hint"), values = h("p", { class: "hint" });
  const edits = h("ul", { class: "edits" }), index = h("p");
  const back = button("Put it back", () => (session.putBack(), list.focus())); // the button goes
  let names = { rows: [], columns: [] }, drawn;

  const number = () => Math.max(0, session.network.modules.findIndex(({ name }) => name === which.value));
  const module = () => session.network.modules[number()];
  const numbers = () => session.file.weights[part.value];
  const prefix = () => `pipeline.${module().name}.`;

  function showModule() {
    const found = Object.keys(session.file.weights).filter((name) => name.startsWith(prefix()));
    fill(part, found.map((name) => [name]));
    part.value = found.find((name) => name.endsWith(".weight"));
    showPart();
    showEquations();
  }
  function showPart() {
    names = placeNames(session, part.value);
    fill(at, names.rows.map((name, i) => [i, name]));
    at.value = numbers().values[0]?.[0] ?? 0;
    showRow();
  }
  function showRow() {
    const { shape, values } = numbers(), i = Number(at.value), wide = shape.length > 1;
    const places = wide ? values.filter(([k]) => k === i).map(([, j]) => [i, j]) : [[i]];
    fill(other, [["", "choose"], ...names.columns.map((name, j) => [j, name])]);
    weights.replaceChildren(...places.map(field), ...(wide ? [named("another column", other)] : []));
  }
  function field(place) {
    const input = h("input", { type: "number", step: "any", value: weightOf(session.file, part.value, place) });
    on(input, "change", () => {
      try {
        session.setWeight(part.value, place, input.value === "" ? NaN : Number(input.value));
        hint.textContent = "";
      } catch (error) {
        hint.textContent = error.message;
      }
    });
    return named(short(`${place.length > 1 ? names.columns[place[1]] : names.rows[place[0]]}`), input);
  }
  function showEquations() {
    values.textContent = session.inside ? `Values of step ${big(session.inside.step)}` : "";
    const { key, layers, layouts } = module(), out = session.inside?.vectors[number()];
    const lines = key ? describeHead(session.network, module()) : linesOf(layers[0], ...layouts);
    list.replaceChildren(...lines.map(({ i, name, text, gate }) => {
      const node = button("", () => pick(i), { class: "equation", "data-row": i ?? "" });
      const value = out && i >= 0 ? digits(out[i]) : "";
      node.append(h("b", {}, name), ` ← ${text}`, h("span", {}, gate), h("i", {}, value));
      return node;
    }));
  }
  function pick(i) {
    if (i === undefined) return;
    part.value = prefix() + (module().key ? "write.weight" : "weight");
    showPart();
    at.value = i;
    showRow();
    weights.querySelector("input, select").focus();
  }
  on(which, "change", () => {
    drawn.chosen = number();
    showModule();
    lab.choose({ module: drawn.chosen });
  });
  on(part, "change", showPart);
  on(at, "change", showRow);
  on(other, "change", () => {
    if (other.value === "") return;
    const node = field([Number(at.value), Number(other.value)]);
    weights.insertBefore(node, weights.lastChild);
    node.control.focus();
  });
  return {
    nodes: [
      line(named("Module", which)), index, values, list,
      h("p", { class: "hint" }, "Choose a row, change one of its weights, and see where network and machine part."),
      line(named("Numbers", part), named("row", at)), weights, hint, edits, line(back),
    ],
    draw(why) {
      const { network: { modules }, edits: changed, inside, file, engine } = session;
      const chosen = lab.module < 0 ? drawn?.chosen ?? 1 : lab.module;
      if (drawn?.file !== file) fill(which, modules.map(({ name }) => [name]));
      if (drawn?.file !== file || drawn.chosen !== chosen) {
        which.selectedIndex = chosen;
        showModule();
      } else if (why || drawn.inside !== inside) showEquations();
      drawn = { file, inside, chosen };
      if (why === "load" && !weights.contains(document.activeElement)) showRow();
      index.textContent = engine === "plain" ? `Plain attention, because ${session.why || "the index gave up"}.` : "";
      back.hidden = !changed.size;
      edits.replaceChildren(...(session.lost ? [h("li", {}, `${session.lost}: your changes were taken back.`)] : []),
        ...[...changed].map(
          ([name, { before, after }]) => h("li", {}, code(name), ` ${digits(before)} → ${digits(after)}`)));
    },
  };
}

/** The rows and columns of a matrix or vector, by name where its places have names. */
export function placeNames({ file, network }, part) {
  const [high, wide = 0] = file.weights[part].shape, spelled = (size, given) => (given.length === size ? given : range(size));
  const { name, key, layouts } = network.modules.find(({ name }) => part.startsWith(`pipeline.${name}.`));
  const ofColumn = !key || part.startsWith(`pipeline.${name}.write`);
  return { rows: spelled(high, ofColumn ? layouts.at(-1).names : []), columns: spelled(wide, layouts[0].names) };
}

/** The rows of a layer that do something, as turing.show prints them; a slice that is cleared takes one line. */
function linesOf(layer, before, after) {
  const lines = equationsOf(layer, before.names, after.names, (name) => short(name, 60));
  for (const { name, start, size } of after.slices) {
    const own = lines.filter(({ i, text }) => i >= start && i < start + size && text === "0");
    if (size > 1 && own.length === size) lines.splice(lines.indexOf(own[0]), size, { name, text: "0", gate: "" });
  }
  return lines;
}

/** A head as the look-up that it is, as turing.show prints it. */
function describeHead(network, head) {
  const { layouts: [layout] } = network, found = comparison(network, head), { ask, at, fetch, into } = found;
  if (!into)
    return [{ name: head.name, gate: "", text: "an average over all columns: these numbers are not a look-up by bits" }];
  const sliceOf = (i) => layout.slices.find(({ start, size }) => i >= start && i < start + size);
  const run = (from, n) => { // a run of places: pos1, pos1[2…6], or pos1[2]
    if (from === null) return "1";
    const { name, start, size } = sliceOf(from);
    return n === size ? name : n === 1 ? layout.names[from] : `${name}[${from - start}…${from - start + n - 1}]`;
  };
  const pairs = (one, two) => {
    const found = [];
    for (let k = 0, n; k < one.length; k += n) {
      const goesOn = (list) =>
        list[k] !== null && list[k + n] === list[k] + n && sliceOf(list[k + n]) === sliceOf(list[k]);
      for (n = 1; goesOn(one) && goesOn(two); ) n++;
      found.push([run(one[k], n), run(two[k], n), n === 1 ? two[k] : undefined]);
    }
    return found;
  };
  const [kind, empty] = head.mask === "cross" ? ["cell of the word", ", and 1 among sym1"] : ["column", ""];
  const where = pairs(at, ask).map(([looked, asked]) => `${looked} = ${asked}`).join(", ") + empty;
  return pairs(fetch, into).map(([value, place, i]) => ({
    i, name: place, gate: "",
    text: `${place} + (${value === "1" ? `1 if a ${kind} has` : `${value} of the ${kind} with`} ${where}, else 0)`,
  }));
}
