// A stack as a point of the number line: integers of any size, and floats rounded as turing.cantor rounds them.

import { button, createChoice, h, listen, onKeys, put, widget, write } from "../page/dom.js";
import { fractionOf, lowest, ROUND } from "../page/numbers.js";
import { clamp, count, range, signed } from "../page/text.js";

const PRECISION = { float32: 24, float64: 53 };
const CODES = [[4, [1, 3]], [16, [11, 15]], [40, [31, 39]]];
const MAX_SYMBOLS = 32, PLACES = 18, HEAD = 3, TAIL = 6; // symbols, decimals, lines above and below a fold
const CODE = ["base", "digits", "arithmetic"], STATE = ["stack", ...CODE];

const unit = (x) => clamp(x, 0, 1);

/** A stack machine's arithmetic in floats: every operation rounded, in the order of turing.cantor. */
function floats({ base, digits, arithmetic }) {
  const round = ROUND[arithmetic], [d0, d1] = digits, grown = (v) => round(base * v);
  const tau = (v) => unit(grown(v)), zeta = (v) => unit(round(grown(v) - (d0 + 1)));
  let limit = 0;
  while (BigInt(base) ** BigInt(limit + 1) <= 2n ** BigInt(PRECISION[arithmetic])) limit++;
  return {
    limit,
    push: (v, symbol) => round(round(v + digits[symbol]) / base),
    pop: (v) => unit(round(round(grown(v) - round(d0 * tau(v))) - round((d1 - d0) * zeta(v)))),
    read: (v) => (2 * tau(v) > 1 ? `${Number(2 * zeta(v) > 1)}` : ""),
  };
}

/** What is left of a float after each pop, and the symbol it reads there; "" once it is empty. */
function unfold(float, value, pops) {
  const left = [value];
  while (left.length <= pops) left.push(float.pop(left.at(-1)));
  const symbols = left.map(float.read), end = symbols.indexOf("");
  return { left, symbols: symbols.map((symbol, i) => (end < 0 || i < end ? symbol : "")) };
}

/** An empty stack that nothing has happened to. */
export const begin = (code) => ({ ...code, stack: "", value: 0, moves: 0, died: 0, over: false, last: null, out: [] });

/** Push a symbol, or pop with "". died is the first move after which turing.cantor decodes another stack. */
export function move(was, symbol) {
  const float = floats(was), stack = symbol ? symbol + was.stack : was.stack.slice(1), moves = was.moves + 1;
  const value = symbol ? float.push(was.value, symbol) : float.pop(was.value);
  const decoded = unfold(float, value, float.limit).symbols.slice(0, float.limit).join("");
  return {
    ...was, stack, value, moves, died: was.died || (decoded === stack ? 0 : moves),
    over: was.died ? was.over : stack.length > float.limit,
    last: { symbol: symbol || was.stack[0], pushed: symbol !== "", from: was.stack },
    out: symbol ? [] : [...was.out, [was.stack[0], float.read(was.value)]],
  };
}

/** A stack's number as a fraction in lowest terms. */
export function fraction({ stack, base, digits }) {
  const b = BigInt(base), under = b ** BigInt(stack.length);
  return lowest([...stack].reduce((sum, symbol) => sum * b + BigInt(digits[symbol]), 0n), under);
}
const slash = ([over, under]) => (under === 1n ? `${over}` : `${over}/${under}`);
function decimal([over, under], places = PLACES) {
  const scale = 10n ** BigInt(places), all = (over * scale) / under;
  const tail = `${all % scale}`.padStart(places, "0"), cut = (over * scale) % under ? "…" : "";
  return `${all / scale}.${tail}`.replace(cut ? "" : /\.?0+$/, "") + cut;
}
const brief = (number) => (number[1] < 10n ** 5n ? slash(number) : decimal(number, 6));
/** So many digits of a base, the number rounded to them. */
function expansion([over, under], base, places) {
  const b = BigInt(base), scale = b ** BigInt(places);
  let rest = (2n * over * scale + under) / (2n * under);
  const digits = range(places).map(() => [rest % b, (rest /= b)][0]);
  return { integer: `${rest}`, digits: digits.reverse().map(String), rounded: (over * scale) % under !== 0n };
}

/** The lines: each is the interval that the line above points at, times b, and so what a pop leaves. */
function createLadder() {
  const list = h("ol"), rungs = new Map(), fold = h("li", { class: "fold" }), key = h("span"), words = h("span");
  const caption = h("p", { class: "legend label" }, h("i", { class: "needle" }), "exact ", h("i", { class: "hollow" }),
    key, words);
  let shown = "";
  const hidden = { "aria-hidden": true }, percent = (x) => `${100 * x}%`;
  const makeRung = () => {
    const bars = range(2).map((symbol) => h("i", { class: "bar", "data-symbol": symbol }, h("i"), h("i")));
    const parts = { said: h("span", { class: "says" }), exact: h("b", hidden), float: h("b", hidden),
      band: h("span", { class: "band" }, ...bars), zoom: h("span", { class: "zoom" }),
      needle: h("i", { class: "needle" }), hollow: h("i", { class: "hollow" }), bars };
    const names = range(2).map((symbol) => h("span", { class: "name", "data-symbol": symbol }, symbol));
    const line = h("span", { class: "line", ...hidden }, parts.zoom, h("span", { class: "clip" }, parts.band), ...names,
      parts.needle, parts.hollow);
    return { node: h("li", {}, parts.said, parts.exact, parts.float, line), names, ...parts };
  };
  const slide = (node, frames) => node.animate(frames, { duration: 500, easing: "ease-in-out" });

  return {
    nodes: [list, caption],
    show(now, { left, symbols }, moved) {
      const { stack, base: b, digits, arithmetic } = now, n = stack.length, code = `${b} ${digits}`;
      if (shown !== code) rungs.clear();
      shown = code;
      write(key, arithmetic);
      write(words, `. Each line shows an interval of the line above, enlarged ${b} times: what a pop leaves. No stack lies in a gap.`);
      list.style = `--b: ${b}; --d0: ${digits[0]}; --d1: ${digits[1]}`;
      const folded = n + 1 > HEAD + TAIL + 1, visible = (k) => !folded || k < HEAD || k > n - TAIL;
      const old = new Map([...list.children, caption].map((node) => [node, node.offsetTop]));
      const rest = [0]; // the value of each line from the empty stack up
      for (const symbol of [...stack].reverse()) rest.push((rest.at(-1) + digits[symbol]) / b);
      const kept = range(n + 1).filter(visible), nodes = kept.map((k) => {
        const from = n - k, rung = rungs.get(from) ?? makeRung(), symbol = stack[k] ?? "", read = symbols[k];
        rungs.set(from, rung);
        write(rung.exact, symbol || "–");
        write(rung.float, read || "–");
        const place = symbol ? `Symbol ${k + 1} from the top: ${symbol}` : "The empty stack";
        write(rung.said, `${place}; ${arithmetic} ${read ? `reads ${read}` : "is empty"}. `);
        rung.node.className = read === symbol ? "rung" : "rung wrong";
        rung.node.dataset.symbol = symbol;
        rung.needle.style.left = percent(rest[from]);
        rung.hollow.style.left = percent(left[k]);
        for (const part of [...rung.bars, ...rung.names]) part.classList.toggle("on", part.dataset.symbol === symbol);
        const d = symbol ? digits[symbol] / b : 0;
        rung.zoom.hidden = !symbol || (folded && k === HEAD - 1);
        rung.zoom.style.clipPath = `polygon(${percent(d)} 0, ${percent(d + 1 / b)} 0, 100% 100%, 0 100%)`;
        return rung.node;
      });
      for (const from of rungs.keys()) if (!kept.includes(n - from)) rungs.delete(from);
      if (folded) {
        const between = (all) => [...all].slice(HEAD, n - TAIL + 1).join("");
        const [exact, float] = [stack, symbols.map((symbol) => symbol || "–")].map(between);
        fold.replaceChildren(h("span", {}, `⋮ ${exact.length} more: `), h("code", {}, exact),
          ...(exact === float ? [] : [`, ${arithmetic} `, h("code", {}, float)]));
        nodes.splice(HEAD, 0, fold);
      }
      list.replaceChildren(...nodes);
      if (!moved || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;

      for (const [node, top] of old) {
        const by = top - node.offsetTop;
        if (by && node.isConnected) slide(node, [{ transform: `translateY(${by}px)` }, { transform: "none" }]);
      }
      // The top line as it was before: the interval that has been left for the whole, or the whole before the interval.
      const { symbol, pushed } = now.last, d = digits[symbol], top = rungs.get(n);
      const [by, scale] = pushed ? [-d, b] : [d / b, 1 / b];
      slide(top.band, [{ transform: `translateX(${percent(by)}) scaleX(${scale})` }, { transform: "none" }]);
      for (const node of [...top.names, ...(pushed ? [top.zoom, top.exact, top.float] : [])])
        slide(node, [{ opacity: 0 }, { opacity: 1 }]);
      for (const mark of [top.needle, top.hollow]) {
        const to = parseFloat(mark.style.left) / 100;
        slide(mark, [{ left: percent(scale * to + by) }, { left: percent(to) }]);
      }
    },
  };
}

/** Value and float below each other: as fractions, as digits of the base, as decimals. */
function createNumbers() {
  const kinds = ["fraction", "digits", "decimal"].map((kind) => {
    const pair = range(2).map(() => ({ label: h("dt"), value: h("dd", { "data-kind": kind }) }));
    const title = h("p", { class: "label" }, kind);
    return { title, pair, node: h("div", {}, title, h("dl", {}, ...pair.flatMap((p) => [p.label, p.value]))) };
  });
  const error = h("data"), growth = h("span"), off = h("p", { class: "error label" }, "float − exact ", error, growth);
  return {
    node: h("div", { class: "numbers" }, ...kinds.map((kind) => kind.node), off),
    show(now) {
      const both = [fraction(now), fractionOf(now.value)], { base, arithmetic, stack } = now, [[a, b], [c, d]] = both;
      const expansions = both.map((number) => expansion(number, base, stack.length));
      write(kinds[1].title, `in base ${base}`);
      for (const { pair } of kinds) ["exact", arithmetic].forEach((name, i) => write(pair[i].label, name));
      both.forEach((number, i) => {
        const { integer, digits, rounded } = expansions[i];
        const [over, under] = slash(number).split("/");
        kinds[0].pair[i].value.replaceChildren(over, ...(under ? ["/", h("wbr"), under] : []));
        const nodes = digits.map((digit, k) => (digit === expansions[0].digits[k] ? digit : h("em", {}, digit)));
        kinds[1].pair[i].value.replaceChildren(integer, ...nodes.flatMap((node, k) => [k ? " " : ".", node]),
          rounded ? " ≈" : "");
        write(kinds[2].pair[i].value, decimal(number));
      });
      error.value = Number(c * b - a * d) / Number(b * d);
      write(error, error.value === "0" ? "0" : signed(Number(error.value).toExponential(2)));
      write(growth, error.value === "0" ? "" : `, times ${base} on each line`);
    },
  };
}

/** The last move as an equation. */
function equation({ base, digits, last, stack }) {
  if (!last) return `push: (x + d) / ${base}, pop: ${base}x − d`;
  const [from, to] = [last.from, stack].map((each) => brief(fraction({ stack: each, base, digits })));
  const d = digits[last.symbol];
  return last.pushed ? `(x + ${d}) / ${base} = (${from} + ${d}) / ${base} = ${to}`
    : `${base}x − ${d} = ${base} · ${from} − ${d} = ${to}`;
}

/** What the last move did. */
function describeMove({ stack, base, last }) {
  const place = stack ? `x lies in the interval of ${stack[0]}, the top symbol.` : "x is 0, the empty stack.";
  if (last?.pushed) return `Push ${last.symbol}: the line shrinks to 1/${base} of its length, and ${place}`;
  if (last) return `Pop: the interval of ${last.symbol} grows ${base} times, to the whole line, and ${place}`;
  return `Here ${place}${stack ? "" : ` A push divides by ${base} and moves x into a symbol's interval.`}`;
}

/** How the float fares, given the symbols that it reads. */
function describeFloat({ stack, base, arithmetic, moves, died, over, out }, symbols, limit) {
  const n = stack.length, wrong = range(n).filter((k) => symbols[k] !== stack[k]), says = [];
  if (!died) {
    says.push(n < limit ? `${arithmetic} has room for ${count(limit - n, "more symbol")}.`
      : `${arithmetic} is full: it holds ${count(limit, "symbol")} of base ${base}.`);
  } else {
    const holds = `${arithmetic} holds ${count(limit, "symbol")} of base ${base}`;
    if (!over) says.push(`${arithmetic} has been off since move ${died}: in base ${base} every push rounds.`);
    else if (moves > died) says.push(`Move ${died} was one too many for ${arithmetic}.`);
    else says.push(`Move ${died} is one too many: ${holds}, and turing.cantor.Stack refuses this push.`);
    if (wrong.length > 1) says.push(`Symbol ${wrong[0] + 1} is the first of ${wrong.length} that are lost or wrong.`);
    else if (wrong.length) {
      const [k] = wrong, name = k === n - 1 ? "The bottom symbol" : `Symbol ${k + 1}`;
      says.push(`${name}, ${stack[k]}, ${symbols[k] ? `reads as ${symbols[k]}` : "is lost"}.`);
    } else if (n) says.push(`${n > limit ? "This time all" : "All"} its symbols still read right.`);
    if (symbols[n]) says.push("It goes on where the exact stack ends.");
  }
  if (out.length > 1) {
    const [exact, float] = [0, 1].map((i) => out.map((pair) => pair[i] || "–").join(""));
    says.push(`Popped: ${exact}${exact === float ? "" : `, by ${arithmetic} ${float}`}.`);
  }
  if (n === MAX_SYMBOLS) says.push(`The picture ends at ${MAX_SYMBOLS} symbols.`);
  return says.join(" ");
}

/** A stack of so many symbols without a pattern, 0 at the bottom: Thue and Morse. */
const filled = (n) => range(n).map((i) => i.toString(2).replaceAll("0", "").length % 2).reverse().join("");

export default {
  render({ model, el }) {
    let now = null, codes = CODES, setting = false;
    const change = (changes) => {
      setting = true; // a new base with old digits is not a code
      put(model, changes);
      setting = false;
      draw();
    };
    const anew = (stack) => {
      now = null; // the float starts from 0 too
      change({ stack });
    };
    const push = (symbol) => model.get("stack").length < MAX_SYMBOLS && change({ stack: symbol + model.get("stack") });
    const pop = () => change({ stack: model.get("stack").slice(1) });
    const limit = () => floats(now).limit;
    const acts = { 0: () => push("0"), 1: () => push("1"), Backspace: pop };
    const pushes = range(2).map((symbol) => button(`Push ${symbol}`, acts[symbol], { class: "main" }));
    const popping = button("Pop", pop, { class: "main" });
    const presets = [
      button("Fill to the limit", () => anew(filled(limit()))),
      button("One too many", () => {
        anew(filled(limit()));
        push("1");
      }),
      button("Pop everything", () => {
        while (model.get("stack")) model.set("stack", model.get("stack").slice(1));
        change({});
      }),
      button("Start again", () => anew("")),
    ];
    const name = ([base, [d0, d1]]) => `${base} (${d0}, ${d1})`, options = () => codes.map((each) => [name(each), each]);
    const encoding = createChoice("base (digits)", options(), ([base, digits]) => change({ base, digits }));
    const arithmetic = createChoice("arithmetic", Object.keys(ROUND).map((type) => [type, type]),
      (type) => change({ arithmetic: type }));
    const formula = h("code", { class: "formula" }), moves = h("span", { class: "label" }), says = [h("p"), h("p")];
    const ladder = createLadder(), numbers = createNumbers(), float = h("span");
    const root = widget("cantor-zoom", "A stack as a number", { tabindex: -1 },
      h("div", { class: "settings" }, encoding.node, arithmetic.node),
      h("div", { class: "acts", role: "group", "aria-label": "Push and pop" }, ...pushes, popping),
      h("div", { class: "presets", role: "group", "aria-label": "Set an example" }, ...presets),
      h("div", { class: "account", "aria-live": "polite", "aria-atomic": true }, h("p", {}, formula, moves), ...says),
      h("div", { class: "panes" },
        h("div", { class: "ladder" },
          h("p", { class: "heads label", "aria-hidden": true }, h("span", {}, "exact"), float,
            h("span", {}, h("span", {}, "x = 0"), h("span", {}, "x = 1"))),
          ...ladder.nodes),
        numbers.node),
      h("p", { class: "hint label" }, "Keys: 0 and 1 push, Backspace pops."));
    el.replaceChildren(root);
    onKeys(root, () => acts);

    function draw() {
      const stack = model.get("stack"), code = Object.fromEntries(CODE.map((name) => [name, model.get(name)]));
      const same = now && CODE.every((name) => `${now[name]}` === `${code[name]}`), { length } = stack;
      if (setting || (same && stack === now.stack)) return;
      const pushed = same && stack.slice(1) === now.stack && length, popped = same && stack === now.stack.slice(1);
      now = pushed ? move(now, stack[0]) : popped ? move(now, "")
        : { ...[...stack].reverse().reduce(move, begin(code)), last: null };
      const inFloats = floats(now), read = unfold(inFloats, now.value, length);
      if (length >= inFloats.limit) read.symbols[length] = ""; // turing.cantor looks no deeper
      const chosen = name([code.base, code.digits]);
      if (!codes.some((each) => name(each) === chosen)) {
        codes = [...CODES, [code.base, code.digits]];
        encoding.offer(options());
      }
      encoding.show((each) => name(each) === chosen);
      arithmetic.show((type) => type === code.arithmetic);
      for (const node of pushes) node.setAttribute("aria-disabled", length === MAX_SYMBOLS);
      popping.setAttribute("aria-disabled", !length);
      write(float, code.arithmetic);
      write(formula, equation(now));
      write(moves, ` move ${now.moves}, depth ${length}`);
      write(says[0], describeMove(now));
      write(says[1], describeFloat(now, read.symbols, inFloats.limit));
      root.dataset.died = now.died;
      ladder.show(now, read, pushed || popped);
      numbers.show(now);
    }

    draw();
    return listen(model, Object.fromEntries(STATE.map((trait) => [trait, draw])));
  },
};
