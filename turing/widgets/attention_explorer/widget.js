// Attention in the page: every operation is rounded as torch rounds it, so it needs no kernel.

import { button, createChoice, h, listen, put, widget, write } from "../page/dom.js";
import { digitsOf, ROUND } from "../page/numbers.js";
import { clamp, range, signed } from "../page/text.js";

/** A cell to tap: a bit, and a note below it. */
const cell = (name, action, kind = "bit") => {
  const node = button("", action, { class: kind });
  node.append(h("span", { class: "says" }, `${name}: `), h("b"), " ", h("i"));
  return node;
};
const showCell = (node, bit, note) => {
  const [, digit, below] = node.children;
  digit.textContent = bit;
  below.textContent = note;
  node.setAttribute("aria-pressed", Number(bit) === 1);
};
const flip = (word, place) => [...word].map((bit, i) => (i === place ? 1 - bit : bit)).join("");

const MAX_KEYS = 16, MAX_KAPPA = 9999, STOPS = 200;

/** Scores, weights and result as torch gives them, the null key last, and what hard attention gives. */
function attend({ query, pairs, kappa, average, dtype }) {
  const round = ROUND[dtype], sum = (terms) => terms.reduce((total, term) => round(total + term), 0);
  const sign = (bit) => 2 * bit - 1;
  const scores = pairs.map(([key]) => sum([...key].map((bit, i) => (sign(query[i]) * sign(bit)) / 2)));
  scores.push((query.length - 1) / 2);
  const values = [...pairs.map(([, value]) => value), 0];
  const fetch = (weights) => sum(weights.map((weight, i) => weight * values[i]));

  const k = round(kappa), top = Math.max(...scores);
  const powers = scores.map((score) => round(Math.exp(round(k * round(score - top)))));
  const total = sum(powers), weights = powers.map((power) => round(power / total)); // softmax(κ scores)
  const result = average === "ratio" ? round(fetch(powers) / total) : fetch(weights);

  const best = range(scores.length).filter((i) => scores[i] === top);
  const ones = best.filter((i) => values[i]).length;
  return { scores, values, weights, result, best, ones, top, hard: round(ones / best.length) };
}

/** A number to so many digits, as Python's format g writes it. */
function general(x, digits) {
  const text = x.toExponential(digits - 1), [head, power] = text.split("e");
  if (x === 0 || Number(power) >= -4) return `${Number(text)}`;
  return `${head.replace(/\.?0+$/, "")}e-${power.slice(1).padStart(2, "0")}`;
}
/** With the fewest digits that name a number of this type and no other. */
const exact = (x, dtype) => general(x, digitsOf(x, dtype));
/** Every digit where the result is near the right one, and otherwise six. */
const resultText = (x, hard, dtype) => (Math.abs(x - hard) < 1e-6 * hard || x === hard ? exact(x, dtype) : general(x, 6));
const weightText = (x) => (x < 1 && Number(x.toPrecision(3)) === 1 ? "≈ 1" : general(x, 3));

const WORDS = ",,,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,fifteen,sixteen".split(",");
const times = (n) => ["", "once", "twice"][n] ?? `${WORDS[n]} times`;

/** What is going on, in words: which keys fit, and what becomes of the weight. */
function describe({ kappa, average, dtype, least }, { scores, values, weights, result, best, ones, top, hard }) {
  const tied = best.length, round = ROUND[dtype], share = round(1 / tied), kappaIs = (x) => `κ\u00a0=\u00a0${x}`;
  const lost = weights.reduce((sum, weight, i) => (best.includes(i) ? sum : sum + weight), 0);
  const says = [];
  if (best[0] === scores.length - 1)
    says.push(`No key matches the query. The null key scores ${top}, more than the others, and its value is 0.`);
  else if (tied === 1)
    says.push(`Key ${best[0] + 1} matches the query in every bit. It scores ${top}, and the null key ½ less.`);
  else if (ones % tied)
    says.push(`${tied} keys match the query and tie at ${top}.`,
      `${ones} of their values ${ones > 1 ? "are" : "is"} 1, so the average is not a bit.`);
  else says.push(`${tied} keys match the query and tie at ${top}, each with the value ${values[best[0]]}.`);

  if (lost > 0) {
    const hidden = result === hard ? ", though rounding hides it in the result" : "";
    says.push(`${kappaIs(kappa)} is too small: the others keep ${general(lost, 3)} of the weight${hidden}.`,
      `From ${kappaIs(least[dtype])} on, ${dtype} gives a miss exactly 0.`);
  } else if (tied === 1) {
    says.push("It has all the weight, and the others exactly 0.");
    if (kappa < least[dtype]) says.push(`No key comes near; for a near miss ${dtype} needs ${kappaIs(least[dtype])}.`);
  } else if (average === "ratio") says.push(`The ratio is ${ones}/${tied}: two integers, divided once.`);

  if (average === "literal" && tied > 1 && weights[best[0]] === share) {
    const total = range(ones).reduce((sum) => round(sum + share), 0);
    const wrong = total === hard ? "" : `, not ${exact(hard, dtype)}`;
    says.push(ones ? `They share the weight: ${times(ones)} fl(1/${tied}) is ${exact(total, dtype)}${wrong}.` +
      ` fl(x) is the ${dtype} nearest to x.` : "They share the weight, and there is nothing to add up.");
  }
  return says.join(" ");
}

/** Bits to tap, most significant first, in groups of four. */
function createBits(bits, owner, action) {
  const cells = range(bits).map((place) => cell(`${owner}, bit ${bits - 1 - place}`, () => action(place)));
  const groups = [];
  for (let end = bits; end > 0; end -= 4) groups.unshift(h("span", {}, ...cells.slice(Math.max(0, end - 4), end)));
  return {
    node: h("span", { class: "cells" }, ...groups),
    show: (word, note) => cells.forEach((node, place) => showCell(node, word[place], note(place))),
  };
}

/** A key with its score, its weight and its value. */
function createRow(name, tag, cells, value, ...after) {
  const score = h("data"), weight = h("data"), bar = h("i");
  const node = h("div", { class: "entry", role: "group", "aria-label": name },
    h("span", { class: "name", "aria-hidden": true }, tag), cells,
    h("span", { class: "score" }, h("span", { class: "tag" }, "score "), score),
    h("span", { class: "weight" }, h("span", { class: "tag" }, "weight "), weight,
      h("span", { class: "track", "aria-hidden": true }, bar)),
    value, ...after);
  return {
    node,
    show(i, { scores, weights, best }) {
      score.value = scores[i];
      write(score, signed(scores[i]));
      weight.value = weights[i];
      write(weight, weightText(weights[i]));
      bar.style.width = `${100 * weights[i]}%`;
      bar.hidden = weights[i] === 0;
      node.classList.toggle("best", best.includes(i));
    },
  };
}

function createKey(i, bits, { onBit, onValue, onRemove }) {
  const owner = `Key ${i + 1}`, word = createBits(bits, owner, (place) => onBit(i, place));
  const value = cell(owner, () => onValue(i), "bit value");
  const remove = button("×", () => onRemove(i), { class: "remove", "aria-label": `Remove key ${i + 1}` });
  const row = createRow(owner, i + 1, word.node, value, remove);
  return {
    node: row.node,
    remove,
    show({ query, pairs }, found) {
      const [key, one] = pairs[i];
      word.show(key, (place) => (key[place] === query[place] ? "+0.5" : "−0.5"));
      showCell(value, one, "value");
      remove.disabled = pairs.length === 1;
      row.show(i, found);
    },
  };
}

const placeOf = (kappa) => Math.log(kappa) / Math.log(MAX_KAPPA);
const kappaAt = (place) => clamp(Number((MAX_KAPPA ** place).toPrecision(3)), 1, MAX_KAPPA);

/** κ on a scale of powers, and as a number to type. */
function createKappa(put) {
  const slider = h("input", { type: "range", min: 0, max: STOPS, "aria-label": "κ, on a logarithmic scale" });
  const limits = { min: 1, max: MAX_KAPPA, step: "any" };
  const field = h("input", { type: "number", ...limits, "aria-label": "κ", autocomplete: "off" });
  const mark = h("span", { class: "least" }), hint = h("p", { class: "hint", role: "status" });
  const at = (kappa) => `--at: ${placeOf(kappa)}`;
  const scale = h("div", { class: "scale", "aria-hidden": true },
    ...[1, 10, 100, 1000].map((kappa) => h("span", { style: at(kappa) }, kappa)), mark);
  let now = 0, says = "";
  const wrong = (is) => {
    field.setAttribute("aria-invalid", is);
    write(hint, is ? `κ is a number from 1 to ${MAX_KAPPA}. ${now} stays.` : says);
  };
  slider.addEventListener("input", () => put(kappaAt(slider.value / STOPS)));
  field.addEventListener("input", () => {
    const kappa = field.valueAsNumber, fits = kappa >= 1 && kappa <= MAX_KAPPA;
    if (fits) put(kappa);
    if (fits || !Number.isNaN(kappa)) wrong(!fits); // an unfinished number is not wrong yet
  });
  field.addEventListener("change", () => {
    if (field.valueAsNumber !== now) field.value = now;
    wrong(false);
  });
  return {
    node: h("div", { class: "kappa", role: "group", "aria-label": "κ" },
      h("span", { class: "label", "aria-hidden": true }, "κ"), field,
      h("div", { class: "slide" }, slider, scale), hint),
    show({ kappa, dtype, least }) {
      now = kappa;
      slider.value = STOPS * placeOf(kappa);
      slider.setAttribute("aria-valuetext", `${kappa}`);
      mark.style = at(least[dtype]);
      says = `▲ from ${least[dtype]} on, a miss has the weight 0`;
      if (field.valueAsNumber !== kappa) field.value = kappa;
      wrong(false);
    },
  };
}

const named = (values) => values.map((value) => [value, value]);
const STATE = ["query", "pairs", "kappa", "average", "dtype"];
const FORMULAS = { ratio: "(Σ e·v) / (Σ e)", literal: "Σ (e / Σ e)·v" };

export default {
  render({ model, el }) {
    const bits = model.get("bits"), least = model.get("least"), get = (name) => model.get(name);
    const change = (changes) => put(model, changes);
    const putPair = (i, pair) => change({ pairs: get("pairs").map((old, j) => (j === i ? pair : old)) });

    const query = createBits(bits, "Query", (place) => change({ query: flip(get("query"), place) }));
    const rows = [], actions = {
      onBit(i, place) {
        const [key, value] = get("pairs")[i];
        putPair(i, [flip(key, place), value]);
      },
      onValue(i) {
        const [key, value] = get("pairs")[i];
        putPair(i, [key, 1 - value]);
      },
      onRemove(i) {
        change({ pairs: get("pairs").filter((_, j) => j !== i) });
        const next = rows[Math.min(i, rows.length - 1)].remove;
        (next.disabled ? add : next).focus(); // what had the focus may be gone
      },
    };
    const nothing = createRow("Null key", "null", h("span", { class: "cells fixed" }, `(${bits} − 1)/2`),
      h("span", { class: "value fixed" }, h("b", {}, h("span", { class: "says" }, "value "), "0"),
        h("i", { "aria-hidden": true }, "value")));
    nothing.node.classList.add("nothing");
    const add = button("", () => change({ pairs: [...get("pairs"), [get("query"), 1]] }), { class: "add" });
    const list = h("div", { class: "pairs" });

    const kappa = createKappa((value) => change({ kappa: value }));
    const dtype = createChoice("number type", named(["float32", "float64"]), (value) => change({ dtype: value }));
    const average = createChoice("average", named(["ratio", "literal"]), (value) => change({ average: value }));
    const formula = h("code");
    const presets = model.get("presets").map(({ name, ...state }) => button(name, () => change(state)));

    const result = h("data"), hard = h("data"), error = h("data"), says = h("p", { class: "account" });
    const entry = (name, node) => h("div", {}, h("dt", {}, name), h("dd", {}, node));
    const head = ["", "", "score", "weight", "value", ""].map((name) => h("span", {}, name));
    const root = widget("attention-explorer", "Hard attention: query, keys and weights", {
      class: bits > 3 ? "long" : "", style: `--across: ${clamp(bits, 3, 4)}`,
    },
      h("div", { class: "presets", role: "group", "aria-label": "Set an example" }, ...presets),
      h("div", { class: "settings" }, kappa.node, dtype.node, average.node),
      h("div", { class: "panes" },
        h("div", { class: "side" },
          h("p", { class: "formula" }, formula, " ", h("code", {}, "e = exp(κ·score)")),
          h("div", { "aria-live": "polite", "aria-atomic": true },
            h("dl", {}, entry("result", result), entry("hard attention", hard), entry("error", error)), says)),
        h("div", { class: "sheet" },
          h("div", { class: "entry query", role: "group", "aria-label": "Query" },
            h("span", { class: "name", "aria-hidden": true }, "query"), query.node),
          h("div", { class: "entry head", "aria-hidden": true }, ...head),
          list, nothing.node, add)));
    el.replaceChildren(root);

    function draw() {
      const state = { least, ...Object.fromEntries(STATE.map((name) => [name, get(name)])) };
      const found = attend(state), { length } = state.pairs;
      while (rows.length > length) rows.pop().node.remove();
      while (rows.length < length) {
        rows.push(createKey(rows.length, bits, actions));
        list.append(rows.at(-1).node);
      }
      for (const row of rows) row.show(state, found);
      nothing.show(length, found);
      query.show(state.query, (place) => `q[${bits - 1 - place}]`);
      add.disabled = length === MAX_KEYS;
      write(add, add.disabled ? `${MAX_KEYS} keys at most` : "Add a key");
      kappa.show(state);
      dtype.show((value) => value === state.dtype);
      average.show((value) => value === state.average);
      write(formula, FORMULAS[state.average]);
      for (const [node, number] of [[result, found.result], [hard, found.hard]]) {
        node.value = number;
        write(node, resultText(number, found.hard, state.dtype));
      }
      error.value = Math.abs(found.result - found.hard);
      write(error, general(Math.abs(found.result - found.hard), 3));
      write(says, describe(state, found));
    }

    draw();
    return listen(model, Object.fromEntries(STATE.map((name) => [name, draw])));
  },
};
