// What the lab shows on demand of a run: space and time, the vectors, attention, and the layers with their weights.
// A panel that `inspects` has the vectors of the step fetched: session.inside.

import { button, code, h, live, on, scroller } from "../page/dom.js";
import { weightOf } from "../page/compile.js";
import { equationsOf } from "../page/equations.js";
import { comparison } from "../page/index.js";
import { isSingle } from "../page/machine.js";
import { big, clamp, count, digits, range, short, shown, signed } from "../page/text.js";
import { fill, line, named, row, table } from "./panels.js";

const HEIGHT = 360, LARGEST_CELL = 28, FITS = 18, TALLEST = 8e6; // CSS pixels

/** The tape at every step, time running down. A row of pixels stands for many steps where there are many. */
export function spaceTimePanel(lab) {
  const { session } = lab, canvas = h("canvas", { role: "img" }), room = h("div", { class: "room" });
  const frame = scroller("spacetime", "Space–time picture", canvas, room), caption = h("p", { class: "hint" });
  let zoom = 1, cost = 0, last = 0, seen = "", later = 0;

  /** Pixels a step and a cell, of the whole, of the frame; and the pixel at the top. */
  function measure() {
    const { known, lo, hi } = session.record, gutter = 28 + 7 * big(known).length; // for the numbers of the steps
    const width = Math.max(50, frame.clientWidth - gutter);
    const size = (room, n) => Math.min(LARGEST_CELL, Math.min(FITS, room / n) * zoom);
    const tall = size(HEIGHT, known + 1), wide = size(width, hi - lo + 1), total = (known + 1) * tall;
    const height = clamp(Math.ceil(total), 1, HEIGHT), scrolls = frame.scrollHeight - frame.clientHeight;
    const top = scrolls > 0 ? (frame.scrollTop / scrolls) * (total - height) : 0;
    return { gutter, tall, wide, total, height, top };
  }
  function resize() {
    const { gutter, wide, total, height } = measure(), { lo, hi } = session.record;
    frame.style.height = `${height + 2}px`;
    room.style.height = `${Math.min(total, TALLEST)}px`;
    room.style.width = `${gutter + (hi - lo + 1) * wide}px`;
  }
  /** Nearer or further; the step that is shown stays in view. */
  function magnify(by) {
    zoom = clamp(zoom * by, 1, 2 ** 24);
    resize();
    const { tall, total, height } = measure(), above = session.step * tall - height / 2;
    frame.scrollTop = clamp(above / Math.max(1, total - height), 0, 1) * (frame.scrollHeight - frame.clientHeight);
    paint();
  }
  function paint() {
    const began = performance.now(), sizes = measure();
    if (!frame.clientWidth) return;
    paintRun(session, canvas, frame, sizes, getComputedStyle(lab.root));
    const { known, lo, hi } = session.record, each = Math.round(1 / sizes.tall);
    canvas.setAttribute("aria-label", `Space–time: ${count(known, "step")}, cells ${signed(lo)} to ${signed(hi)}`);
    const many = each > 1 ? `A row of pixels stands for ${big(each)} steps. ` : "";
    caption.textContent = `${many}Click a row to go to its step.`;
    [cost, last] = [performance.now() - began, performance.now()];
  }
  on(canvas, "click", ({ offsetY }) => {
    const { top, tall } = measure();
    session.go(Math.min(session.record.known, Math.floor((top + offsetY) / tall)));
  });
  on(frame, "scroll", () => requestAnimationFrame(paint));
  return {
    nodes: [
      line(button("+", () => magnify(2), { "aria-label": "Zoom in" }),
        button("−", () => magnify(0.5), { "aria-label": "Zoom out" }), button("Fit", () => magnify(0))),
      frame, caption,
    ],
    draw(why) {
      if (why === "load") zoom = 1;
      clearTimeout(later);
      // While it runs, painting takes a tenth of the time at most.
      const wait = session.busy ? last + 10 * cost - performance.now() : 0;
      const now = `${session.record.known} ${session.step}`;
      if (wait > 0) later = setTimeout(() => lab.redraw(), wait);
      if (wait > 0 || (now === seen && !why)) return;
      seen = now;
      resize();
      paint();
    },
  };
}

/** The colours of the blank, the other symbols and the head, as numbers of pixels. */
function coloursOf(n, pen, colour, strength) {
  return Uint32Array.from(range(n + 1), (k) => {
    const layers = [["ground", 1], [k === n ? "ink" : k ? "sym" : "ground", k && k < n ? strength(k) : 1]];
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

/** Paint what is in view of a run: pixel rows of the tape, names of steps, and symbols where there is room. */
function paintRun({ record, machine, step }, canvas, frame, sizes, style) {
  const { tall, wide, height, top } = sizes, { lo, hi, known } = record;
  const { clientWidth: width, scrollLeft } = frame, colour = (name) => style.getPropertyValue(`--${name}`);
  const ratio = window.devicePixelRatio || 1, gutter = Math.round(sizes.gutter * ratio);
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const spelled = tall >= 14 && wide >= 10 && isSingle(machine), n = machine.symbols.length, letters = [];
  const colours = coloursOf(n, pen, colour, (k) => (spelled ? 0.14 : 0.85 - (0.55 * (k - 1)) / Math.max(1, n - 2)));
  const across = clamp(Math.ceil(((hi - lo + 1) * wide - scrollLeft) * ratio), 1, Math.max(1, canvas.width - gutter));
  const image = pen.createImageData(across, canvas.height), pixels = new Uint32Array(image.data.buffer);
  const cellAt = Int32Array.from(range(across), (x) => lo + Math.floor((x / ratio + scrollLeft) / wide));
  let t = -1, cells = null;
  for (let y = 0, start = 0; y < canvas.height; y++, start += across) {
    const next = Math.min(known, Math.floor((top + y / ratio) / tall));
    if (next === t) {
      pixels.copyWithin(start, start - across, start);
      continue;
    }
    if (cells) record.walk(cells, t, next);
    else cells = record.cells(next);
    t = next;
    const head = record.head(t), { data, zero } = cells;
    for (let x = 0; x < across; x++)
      pixels[start + x] = colours[cellAt[x] === head ? n : data[cellAt[x] + zero] ?? 0];
    for (let cell = cellAt[0]; spelled && cell <= cellAt.at(-1); cell++)
      letters.push([t, cell, cells.get(cell), head]);
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
  on(which, "change", () => lab.redraw("vector"));
  let drawn;
  return {
    inspects: true,
    nodes: [line(named("Vector", which)), frame],
    draw(why) {
      const { inside, network: { modules, layouts }, step } = session, key = [inside?.step, step, which.value].join();
      if (why === "load" && which.length !== modules.length + 1)
        fill(which, [[-1, "the column"], ...modules.map(({ name }, n) => [n, `what ${name} gives`])]);
      if (!inside) frame.replaceChildren((drawn = NOT_YET));
      if (inside?.step !== session.inspected || (drawn === key && !why)) return; // it stays until the next one is here
      drawn = key;
      const n = Number(which.value), start = !step && !session.parted;
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
  on(cell, "input", () => cell.value !== "" && lab.choose(Math.round(Number(cell.value))));
  let drawn;
  return {
    inspects: true,
    nodes: [line(named("Cell (or click one on the tape)", cell)), telling, jumps, heads],
    draw(why) {
      const { record, step, inside, busy, now } = session, at = lab.cell ?? now.head, here = now.head === at;
      const key = [step, at, record.known, inside?.step].join();
      if (document.activeElement !== cell) cell.value = at;
      if (busy || (drawn === key && !why)) return;
      drawn = key;
      const wrote = record.before(step, at), comes = record.after(step, at);
      telling.replaceChildren(...storyOf(session, at, wrote, comes, here));
      jumps.replaceChildren(...[...new Set([wrote + 1, comes])].filter((t) => t > 0 && t !== step).map(
        (t) => button(`Go to step ${big(t)}`, () => session.go(t))));
      const read = here && inside && inside.step === step ? shared(inside, record.visits(step, at)) : [];
      heads.hidden = !read.length;
      heads.replaceChildren(table(["head", "reads", "with weight"], read.map((pair) => patternRow(...pair))));
    },
  };
}

/** What the heads read. An index names the last visit, and equal keys before it have the same share. */
function shared({ patterns, engine }, visits) {
  return Object.entries(patterns).map(([name, pattern]) => {
    const bit = name.startsWith("search") ? Number(name.slice(6)) : null;
    if (engine === "plain" || pattern[0][0] < 0 || (bit === null && name !== "visited")) return [name, pattern];
    if (bit !== null) visits = visits.filter((t) => (t >> bit) & 1);
    return [name, visits.map((t) => [t, 1 / visits.length])];
  });
}

/** What a head reads, in words. */
function patternRow(name, pattern) {
  const some = pattern.slice(0, 3), kind = name === "initial" ? "cell" : "column";
  const more = pattern.length > 3 ? ` and ${pattern.length - 3} more` : "";
  const keys = some.map(([key]) => (key < 0 ? "nothing (the null key)" : `${kind} ${big(key)}`));
  return row(name, keys.join(", ") + more, some.map(([, weight]) => digits(weight)).join(", "));
}

/** Who wrote what stands on a cell, and who reads it: text and code. */
function storyOf({ cells, machine, word, step }, at, wrote, comes, here) {
  const symbol = code(short(shown(machine.symbols[cells.get(at)]))), place = signed(at);
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
  /** The rows of a matrix or vector, by name where its places have names. */
  function showPart() {
    const [high, wide = 0] = numbers().shape;
    const spelled = (size, given) => (given.length === size ? given : range(size));
    const { key, layouts } = module(), ofColumn = !key || part.value.startsWith(`${prefix()}write`);
    names = { rows: spelled(high, ofColumn ? layouts.at(-1).names : []), columns: spelled(wide, layouts[0].names) };
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
  on(which, "change", showModule);
  on(part, "change", showPart);
  on(at, "change", showRow);
  on(other, "change", () => {
    if (other.value === "") return;
    const node = field([Number(at.value), Number(other.value)]);
    weights.insertBefore(node, weights.lastChild);
    node.control.focus();
  });
  return {
    inspects: true,
    nodes: [
      line(named("Module", which)), index, values, list,
      h("p", { class: "hint" }, "Choose a row, change one of its weights, and see where network and machine part."),
      line(named("Numbers", part), named("row", at)), weights, hint, edits, line(back),
    ],
    draw(why) {
      const { network: { modules }, edits: changed, inside, file, engine } = session;
      if (drawn?.file !== file) {
        const chosen = which.value || "carry";
        fill(which, modules.map(({ name }) => [name]));
        which.value = chosen;
        which.selectedIndex = number();
        showModule();
      } else if (why || drawn.inside !== inside) showEquations();
      drawn = { file, inside };
      if (why === "load" && !weights.contains(document.activeElement)) showRow();
      index.textContent = engine === "plain" ? `Plain attention, because ${session.why || "the index gave up"}.` : "";
      back.hidden = !changed.size;
      edits.replaceChildren(...(session.lost ? [h("li", {}, `${session.lost}: your changes were taken back.`)] : []),
        ...[...changed].map(
          ([name, { before, after }]) => h("li", {}, code(name), ` ${digits(before)} → ${digits(after)}`)));
    },
  };
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
