// The SS95 stepper. The network runs in the page, in the numbers of torch or exactly, so it needs no kernel.

import { button, createChoice, h, listen, onKeys, put, svg, textField, uniqueId, widget, write } from "../page/dom.js";
import { alphabet, isSingle, splitWord } from "../page/machine.js";
import { rowsOf } from "../page/network.js";
import { digitsOf, fractionOf, lowest } from "../page/numbers.js";
import { clamp, count, digits, length, range, shown, signed, sum } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { OPERATIONS, readNetwork, runNetwork, stackValue, valueOf } from "./run.js";

const brief = (x) => digits(x, x < 1e-4 ? 3 : 8);

const MAX_SLOTS = 60; // of a stack, that are drawn

/** The fraction that a number is: a float, or an integer number of units. */
const exactly = (value, unit) => (typeof value === "bigint" ? lowest(value, unit) : fractionOf(value));
/** A fraction; a long one with its middle left out, over a power of the base. */
function fractionText([n, unit], base) {
  const text = unit === 1n ? `${n}` : `${n}/${unit}`, b = BigInt(base);
  if (text.length <= 26) return text;
  const raised = (power) => [...`${power}`].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  let power = 0;
  for (let rest = unit; rest % b === 0n; rest /= b) power += 1;
  return `${`${n}`.replace(/^(.{5}).{4,}(.{5})$/, "$1…$2")}/${base}${raised(power)}`;
}

/** A typed word for a stack. */
function readWord(text, machine, max) {
  const symbols = splitWord(text, machine), wrong = symbols.find((symbol) => !machine.symbols.includes(symbol));
  if (wrong !== undefined)
    throw new Error(`Symbol '${wrong}' is not one of this machine's: ${machine.symbols.map(shown).join(" ")}.`);
  if (symbols.length > max)
    throw new Error(`A word has at most ${max} symbols here, and this one has ${symbols.length}.`);
  return isSingle(machine) ? symbols.join("") : symbols;
}

/** What a step did, in words: state, tops, operations, next state. */
function describeStep({ from, operations, state }, { symbols }) {
  const named = (kind, text) => h("span", { class: kind }, shown(text));
  const tops = from.stacks.flatMap(([top], i) => (top === undefined
    ? [`, nothing on stack ${i}`] : [", ", named("a", symbols[top]), ` on top of stack ${i}`]));
  const done = operations.flatMap((operation, i) => [i ? ", " : ": ",
    ...(operation === "pop" ? [`pop stack ${i}`] : operation === "noop" ? [`leave stack ${i}`]
      : ["push ", named("a", symbols[operation.at(-1)]), ` on stack ${i}`])]);
  const next = state === from.state ? "; stay in " : "; go to ";
  return [named("q", from.state), ...tops, ...done, next, named("q", state), "."];
}

/** A stack: its symbols, top first, each above its digit; the places that are left; and its number. */
function createStack(i, { symbols }) {
  const wide = clamp(0.65 * Math.max(...symbols.map(length)) + 0.6, 1.25, 4);
  const size = h("span"), slots = h("div", { class: "slots", role: "img", style: `--slot: ${wide}rem` });
  const number = h("span", { class: "number" }), off = h("span", { class: "off" });
  return {
    node: h("div", { class: "stack", role: "group", "aria-label": `Stack ${i}` },
      h("p", { class: "heading" }, h("b", {}, `Stack ${i}`), size, off), h("p", {}, number), slots),
    show({ now, result, network, depth }) {
      const bits = now.stacks[i], step = result.steps.indexOf(now);
      const room = Math.max(depth ?? 1, ...result.steps.map(({ stacks }) => stacks[i].length)); // the same at every step
      const drawn = Math.min(room, MAX_SLOTS);
      slots.replaceChildren(...range(drawn).map((k) => {
        const kinds = [bits[k] === undefined && "free", k >= (depth ?? 0) && "beyond", depth !== null && k >= depth && "over",
          k + 1 === depth && "wall"];
        return h("span", { class: ["slot", ...kinds.filter(Boolean)].join(" ") },
          h("b", {}, k < bits.length ? shown(symbols[bits[k]]) : ""), h("i", {}, network.digits[bits[k]] ?? 0));
      }));
      const spelled = bits.map((bit) => shown(symbols[bit])).join(" ");
      slots.setAttribute("aria-label", spelled ? `${spelled}, the top first` : "empty");
      const more = bits.length > drawn ? `, the first ${drawn} drawn` : "";
      write(size, bits.length ? count(bits.length, "symbol") + more : "empty");

      const numberOf = ({ vectors }) => stackValue(network, vectors.at(-1), i);
      const fraction = (step) => exactly(numberOf(step), step.vectors.at(-1).unit);
      const [n, unit] = fraction(now), right = fraction(result.exact[step]);
      const error = lowest(n * right[1] - right[0] * unit, unit * right[1]);
      const float = now.arithmetic !== "exact", x = float ? numberOf(now) : valueOf({ 0: n, unit }, 0);
      const decimal = digits(x, float ? digitsOf(x, now.arithmetic) : 12);
      const [before, after = ""] = decimal.split(".");
      const same = float ? !error[0] : BigInt(before + after) * unit === n * 10n ** BigInt(after.length);
      const rational = fractionText(right, network.base);
      number.dataset.value = float ? x : `${n}/${unit}`;
      const pair = rational === decimal ? [decimal] : float ? [decimal, rational] : [rational, decimal];
      write(number, pair.join(same ? " = " : " ≈ "));
      write(off, float && !same ? `off by ${signed(Math.abs(Number(error[0]) / Number(error[1])).toExponential(1))}` : "");
    },
  };
}

/** How many symbols the arithmetic still holds, as a bar and in words; and what it stopped at. */
function createMeter() {
  const bar = h("i"), words = h("p"), lost = h("p", { class: "lost", "aria-live": "polite" });
  const track = h("div", { class: "track", role: "meter", "aria-label": "Headroom", "aria-valuemin": 0 }, bar);
  return {
    node: h("div", { class: "meter" }, track, words, lost),
    show({ now, result, network, depth, arithmetic }) {
      const used = Math.max(...now.stacks.map(({ length }) => length)), { stopped } = result;
      const deepest = Math.max(1, ...result.steps.flatMap(({ stacks }) => stacks.map(({ length }) => length)));
      const dead = stopped && now.arithmetic === "exact", left = dead ? 0 : depth - used;
      const bits = used ? `, ${(BigInt(network.base) ** BigInt(used) - 1n).toString(2).length} bits` : "";
      const where = dead && [stopped.step ? `at step ${stopped.step}` : "before the first step",
        ...(stopped.on === null ? [] : [`on stack ${stopped.on}`])].join(", ");
      const [first, then] = dead ? [`${arithmetic} stopped ${where}.`, "The page goes on exactly."]
        : [depth === null ? "No end." : `${left} of ${count(depth, "symbol")} left.`,
          `The deepest stack has ${used ? count(used, "symbol") : "none"}${depth === null ? bits : ""}.`];
      track.className = `track${depth === null ? " open" : ""}${dead ? " dead" : ""}`;
      bar.style.width = `${dead ? 100 : (100 * used) / (depth ?? deepest)}%`;
      track.setAttribute("aria-valuemax", depth ?? deepest);
      track.setAttribute("aria-valuenow", depth === null ? used : left);
      track.setAttribute("aria-valuetext", `${first} ${then}`);
      words.replaceChildren(h("b", {}, first), ` ${then}`);
      write(lost, dead ? `${stopped.kind}: ${stopped.text}` : "");
    },
  };
}

/** The layers in order, each with its vector as a line of bars. */
function createLayers(choose) {
  const node = h("div", { class: "layers", role: "group", "aria-label": "Layer" });
  let buttons = [], drawn;
  return {
    node,
    show({ network, now, layer }) {
      if (drawn !== network) {
        buttons = network.vectors.map(({ name }) => button(name, () => choose(name), { "data-layer": name }));
        node.replaceChildren(...buttons);
        drawn = network;
      }
      buttons.forEach((one, n) => {
        const { slices, width, name } = network.vectors[n], vector = now.vectors[n], gap = width / 40;
        const bar = (i, s) => `M${i + gap * s + 0.08} 8h.84v${-Math.max(7.4 * valueOf(vector, i), 0.5)}h-.84z`;
        const bars = !vector ? [] : slices.map(({ name, start, size }, s) =>
          svg("path", { "data-slice": name, d: range(size).map((k) => bar(start + k, s)).join("") }));
        const box = `0 0 ${width + gap * (slices.length - 1)} 8`;
        one.replaceChildren(h("b", {}, name), " ", h("span", {}, `${width}`),
          svg("svg", { viewBox: box, preserveAspectRatio: "none", "aria-hidden": true }, ...bars));
        one.disabled = !vector;
        one.setAttribute("aria-pressed", name === layer.name);
      });
    },
  };
}

/** What the places of a slice say, and how detectors are named. */
function meaning(name, { symbols, p }) {
  const [zero, one] = symbols.map(shown);
  return { st: "state", q: "stacks", some: "not empty", one: `${one} on top`, rule: "state and tops of a rule",
    noop: "as it is", push0: `${zero} pushed`, push1: `${one} pushed`, pop: "popped",
    det: `detectors${p > 1 ? ": stack 0 down, stack 1 across" : ""}` }[name] ?? "";
}
const topText = (symbol) => (symbol === null || symbol === undefined ? "–" : shown(symbol));
const ruleLabel = ([state, ...tops]) => [h("span", { class: "q" }, state), tops.map(topText).join(" ")];
const kindText = ([state, ...operations], { symbols }) => `${state}: ${operations.map((name) =>
  name.replace(/^push(.)/, (_, bit) => `push ${shown(symbols[bit])}`)).join(", ")}`;

/** The vector that leaves a layer: bits as boxes, stacks as numbers, detectors in blocks; framed what changed. */
function createVector(machine, pick) {
  const title = h("p", { class: "title" }), says = h("p", { class: "what" }), body = h("div", { class: "vector" });
  body.addEventListener("click", ({ target }) => {
    const place = target.closest("[data-index]");
    if (place) pick(Number(place.dataset.index));
  });
  return {
    node: h("div", { class: "vectors", role: "group", "aria-label": "The vector that leaves the layer" },
      title, says, body),
    show({ network, now, before, layer, place }) {
      const n = network.vectors.indexOf(layer), vector = now.vectors[n], old = before?.vectors[n];
      const fraction = (x, i) => exactly(x[i], x.unit).join("/");
      const changed = range(layer.width).filter((i) => old && fraction(vector, i) !== fraction(old, i));
      const box = (i, label, stack) => {
        const x = valueOf(vector, i), near = Math.round(x), bit = near === x ? near : `≈${near}`;
        const kinds = [stack && "long", x > 0.5 && "one", changed.includes(i) && "changed", i === place && "picked"];
        return h("span", {
          class: ["place", ...kinds.filter(Boolean)].join(" "), title: `${layer.names[i]} = ${digits(x, 12)}`,
          "data-index": i, "data-name": layer.names[i], "data-value": vector.unit ? fraction(vector, i) : vector[i],
        }, h("b", {}, stack ? brief(x) : bit), h("i", {}, ...label));
      };
      const blocks = layer.slices.map(({ name, start, size: places, labels }) => {
        const stack = name === "q" || OPERATIONS.includes(name), size = 3 ** machine.p;
        const label = (k) => (name === "rule" ? ruleLabel(machine.rules[k][0]) : [shown(labels[k] ?? `${k}`)]);
        const boxes = name === "det" ? network.classes.map((kind, k) => detectors(kind, start + k * size, box))
          : range(places).map((k) => box(start + k, label(k), stack));
        const attributes = { class: `slice${stack ? " upright" : ""}`, role: "group", "aria-label": name };
        return h("div", { ...attributes, "data-slice": name },
          h("p", {}, h("b", {}, name), " ", h("span", {}, meaning(name, machine))),
          h("div", { class: "places" }, ...boxes));
      });
      const from = n ? ` ${network.vectors[n - 1].width} → ${layer.width}` : "";
      const differs = changed.length ? `${changed.length} of ${layer.width} places changed since the step before, framed`
        : "as in the step before";
      title.replaceChildren(h("b", {}, layer.name), from, old ? ` · ${differs}` : "");
      write(says, layer.says);
      body.replaceChildren(...blocks);
    },
  };

  /** The detectors of one kind of step: a line for each beginning of stack 0, in it a box for each of stack 1. */
  function detectors(kind, start, box) {
    const tops = ["–", ...machine.symbols.map(shown)], across = 3 ** (machine.p - 1);
    return h("div", { class: "kind", role: "group", "aria-label": kindText(kind, machine) },
      h("p", {}, kindText(kind, machine)),
      h("div", { class: "grid", style: `--across: ${across}` }, ...tops.flatMap((top, level) => [
        h("i", { "aria-hidden": true }, top), ...range(across).map((k) => box(start + level * across + k, []))]),
        h("i"), ...(machine.p > 1 ? tops.map((top) => h("i", { "aria-hidden": true }, top)) : [])));
  }
}

/** The row of one place: its equation with names, and with the numbers of this step. */
function createEquation(pick) {
  const select = h("select", { "aria-label": "Equation of a place" });
  const text = h("p", { class: "names" }), filled = h("p");
  select.addEventListener("change", () => pick(Number(select.value)));
  let drawn;
  return {
    node: h("div", { class: "equation", role: "group", "aria-label": "Equation" }, select, h("div", {}, text, filled)),
    show({ network, now, layer, place }) {
      if (drawn !== layer) select.replaceChildren(...layer.names.map((name, i) => h("option", { value: i }, name)));
      drawn = layer;
      select.value = place;
      const n = network.vectors.indexOf(layer), value = brief(valueOf(now.vectors[n], place));
      if (!n) {
        write(text, `${layer.names[place]} = ${value}`);
        write(filled, now.from ? "It left the step before." : "The run starts with it.");
        return;
      }
      const found = network.layers[n - 1], { bias, terms } = rowsOf(found)[place];
      const { names } = network.vectors[n - 1], from = now.vectors[n - 1];
      const awake = terms.filter(([j]) => from[j]), kept = terms.length > 14 ? awake : terms;
      const weight = (number) =>
        lowest(number < 0 ? -number : number, found.denominator).join("/").replace(/\/1$/, "");
      const row = (some, product) => sum([...some.map(([j, number]) => [number, product(weight(number), j)]),
        ...(bias ? [[bias, weight(bias)]] : [])]) || "0";
      const named = row(kept, (factor, j) => (factor === "1" ? "" : `${factor}·`) + names[j]);
      const numbers = row(awake, (factor, j) =>
        [factor, brief(valueOf(from, j))].filter((part) => part !== "1").join("·") || "1");
      const rest = kept === terms ? "" : `, and ${count(terms.length - kept.length, "place")} that are 0`;
      write(text, `${layer.names[place]} = σ(${named}${rest})`);
      write(filled, `= σ(${numbers}) = ${value}`);
    },
  };
}

const STATE = ["word", "step", "layer", "version", "base", "arithmetic"];
const TELLING = ["rule", "some", "pop", "push0", "push1", "noop", "q", "det", "st"];

export default {
  render({ model, el }) {
    const get = (name) => model.get(name), machine = get("machine"), max = get("max"), picked = new Map();
    const networks = get("networks").map(readNetwork), id = uniqueId();
    let busy = false, result, of, view;
    const change = (changes) => {
      busy = true; // several traits change at once, and are drawn at once
      put(model, changes);
      busy = false;
      draw();
    };

    const input = textField({ "aria-describedby": id });
    const hint = h("span", { class: "hint", id, "aria-live": "polite" });
    const where = h("p", { class: "where" }), status = h("p", { class: "status" });
    const says = h("div", { class: "says", "aria-live": "polite" });
    const transport = createTransport("Step of the run", {
      first: 0,
      get last() {
        return result.steps.length - 1;
      },
      get now() {
        return view.step;
      },
      go: (step) => change({ step }),
    });
    const stacks = range(machine.p).map((i) => createStack(i, machine)), key = h("p", { class: "key" });
    const meter = createMeter(), layers = createLayers((layer) => change({ layer }));
    const pick = (place) => (picked.set(view.layer, place), draw());
    const vectorView = createVector(machine, pick), equation = createEquation(pick);
    const arithmetics = createChoice("Arithmetic", ["float32", "float64", "exact"].map((name) => [name, name]),
      (arithmetic) => change({ arithmetic }));
    const options = networks.map(({ version, base }) =>
      [`${version === 4 ? "4 layers" : "1 layer"}, base ${base}`, { version, base }]);
    const which = createChoice("Network", options, (chosen) => {
      const { vectors } = find(chosen), there = vectors.some(({ name }) => name === get("layer"));
      change({ ...chosen, layer: there ? get("layer") : vectors.at(-1).name });
    });
    const root = widget("stack-stepper", "A stack network, step by step", { tabindex: 0 },
      h("div", { class: "word" }, h("label", {}, "Word", input), hint),
      h("div", { class: "controls" }, transport.buttons, transport.slider),
      where, status,
      h("div", { class: "stacks" }, ...stacks.map(({ node }) => node)), key,
      h("div", { class: "part" }, arithmetics.node, meter.node),
      h("div", { class: "part" }, which.node, layers.node, vectorView.node, equation.node),
      h("p", { class: "key keys" },
        "Keys: ← → one step, ↑ ↓ one layer, Home and End. A click on a place shows its equation."),
      says,
    );
    el.replaceChildren(root);

    const find = ({ version, base }) => networks.find((one) => one.version === version && one.base === base)
      ?? networks.find((one) => one.version === version);

    function draw() {
      if (busy) return;
      const network = find({ version: get("version"), base: get("base") }), arithmetic = get("arithmetic");
      const word = [...get("word")], asked = JSON.stringify([network.version, network.base, arithmetic, word]);
      if (of !== asked) {
        const bits = word.map((symbol) => machine.symbols.indexOf(symbol));
        result = runNetwork(network, machine, bits, arithmetic, max.steps);
        of = asked;
      }
      const last = result.steps.length - 1, step = clamp(get("step"), 0, last), now = result.steps[step];
      const chosen = network.vectors.find(({ name }) => name === get("layer")) ?? network.vectors.at(-1);
      const layer = step ? chosen : network.vectors[0];
      const vector = now.vectors[network.vectors.indexOf(layer)];
      const telling = TELLING.flatMap((name) => layer.slices.filter((part) => part.name === name))
        .flatMap(({ start, size }) => range(size).map((k) => start + k)).find((i) => vector[i]);
      view = { network, arithmetic, result, now, before: result.steps[step - 1], step, layer,
        place: picked.get(layer) ?? telling ?? 0, depth: network.depth[arithmetic] };

      const end = step < last ? "" : {
        halted: "halted", limit: `${max.steps} steps are shown, and it has not halted`,
        jammed: `jammed: there is no rule for ${[now.state, ...now.stacks.map(([top]) =>
          topText(machine.symbols[top]))].join(" ")}`,
      }[result.status];
      const rule = step ? describeStep(now, machine) : [`The word is on stack 0, its first symbol on top, and the state is `,
        h("span", { class: "q" }, now.state), "."];
      Object.assign(root.dataset, { step, state: now.state, layer: layer.name, arithmetic: now.arithmetic,
        status: step < last ? "running" : result.status });
      where.replaceChildren(h("b", {}, `Step ${step} of ${last}`), " · state ", h("span", { class: "q" }, now.state),
        end && " · ", h("b", {}, end));
      status.replaceChildren(...rule);
      write(says, `Step ${step} of ${last}, state ${now.state}${end && `, ${end}`}. ${status.textContent}`);
      transport.show();
      const digits = machine.symbols.map((symbol, bit) => `${network.digits[bit]} for ${shown(symbol)}`).join(" and ");
      const wall = view.depth === null ? "" : ` The bar ends what ${arithmetic} holds.`;
      write(key, `Top first. Below each symbol is its digit, ${digits}: the digits after the point, in base ` +
        `${network.base}.${wall}`);
      const fits = view.depth !== null && word.length <= view.depth;
      if (!hint.classList.contains("wrong"))
        write(hint, `${alphabet(machine)}.` + (fits ? ` Try more than ${view.depth} of them.` : ""));
      for (const stack of stacks) stack.show(view);
      meter.show(view);
      arithmetics.show((name) => name === arithmetic);
      which.show(({ version, base }) => version === network.version && base === network.base);
      layers.show(view);
      vectorView.show(view);
      equation.show(view);
    }

    input.addEventListener("input", () => {
      let word;
      try {
        word = readWord(input.value, machine, max.symbols);
      } catch (error) {
        write(hint, `${error.message} The last good word stays.`);
      }
      hint.classList.toggle("wrong", word === undefined);
      input.setAttribute("aria-invalid", word === undefined);
      if (word === undefined) return;
      change({ word, step: 0 });
    });
    /** One layer on or back, and at the ends into the neighbouring step. */
    function shift(by) {
      const { vectors } = view.network, n = vectors.indexOf(view.layer) + by, step = view.step + by;
      if (n >= 0 && n < vectors.length && view.step) change({ layer: vectors[n].name });
      else if (step >= 0 && step < result.steps.length) change({ step, layer: vectors.at(by < 0 ? -1 : 0).name });
    }
    onKeys(root, () => ({ ...transport.keys, ArrowUp: () => shift(-1), ArrowDown: () => shift(1) }));

    const onWord = () => {
      const word = get("word"), spelled = typeof word === "string" ? word : word.join(" ");
      if (!busy && input.value !== spelled) input.value = spelled;
    };
    onWord();
    draw();
    const forgetWord = listen(model, { word: onWord });
    const forget = listen(model, Object.fromEntries(STATE.map((name) => [name, draw])));
    return () => (forgetWord(), forget());
  },
};
