// A circuit on a tape of tokens: inputs that can be flipped, then one token for each gate, with arcs to what it reads.

import { button, createChoice, h, listen, live, onKeys, put, svg, watch, widget, write } from "../page/dom.js";
import { clamp, count, digits, range } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { gatesOf } from "./run.js";

const RISE = 0.28, LOWEST = 16, HIGHEST = 40; // how high an arc is, of its width and in pixels

const rounded = (x) => digits(x, 3);

/** The tokens, an input as a button, and above them the arcs of the newest one. */
function createTape(names, inputs, flip) {
  const bit = (node) => node.querySelector(".bit"), arcs = svg("svg", { "aria-hidden": true });
  const tokens = names.map((name, wire) => {
    const value = wire < inputs ? button("", () => flip(wire), { class: "bit" }) : h("span", { class: "bit" });
    return h("li", {}, h("span", { class: "number" }, `${wire}`), value, h("span", { class: "name" }, name));
  });
  const list = h("ol", { start: 0 }, ...tokens), node = h("div", { class: "tape" }, list, arcs);
  const place = (wire) => {
    const { offsetLeft: x, offsetTop: y, offsetWidth: width } = bit(tokens[wire]);
    return { x: x + width / 2, y, end: tokens[wire].offsetTop + tokens[wire].offsetHeight };
  };
  return {
    node,
    show(values, right, done, gate) {
      tokens.forEach((token, wire) => {
        const known = wire < inputs + done, box = bit(token), wrong = known && values[wire] !== right[wire];
        write(box, known ? `${values[wire]}` : "");
        token.className = [wire < inputs ? "input" : "gate", known ? "known" : "", wrong ? "wrong" : "",
          done && wire === inputs + done - 1 ? "newest" : "",
          gate?.heads.some(({ asks }) => asks === wire) ? "read" : ""].filter(Boolean).join(" ");
        if (wire < inputs) {
          box.setAttribute("aria-pressed", values[wire] === 1);
          box.setAttribute("aria-label", `${names[wire]} is ${values[wire]}. Flip it.`);
        }
      });
      this.arcs(gate, inputs + done - 1);
    },
    /** From the newest token to every token that a head looks at, as strong as its share. */
    arcs(gate, newest) {
      arcs.replaceChildren(...(gate?.heads ?? []).flatMap(({ asks, shares }, k) => shares.filter(([, share]) => share >= 0.005)
        .map(([wire, share]) => {
          const side = k ? 5 : -5, from = place(newest), to = place(wire), x = from.x + side, toX = to.x + side;
          const high = from.y - clamp(RISE * Math.abs(x - toX), LOWEST, HIGHEST);
          const way = from.y === to.y ? `M ${x} ${from.y} C ${x} ${high} ${toX} ${high} ${toX} ${to.y - 2}`
            : `M ${x} ${from.y} C ${x} ${from.y - HIGHEST} ${toX} ${to.end + HIGHEST} ${toX} ${to.end}`; // in a row above
          return svg("path", { class: wire === asks ? "asked" : "other", d: way, "stroke-width": (0.75 + 1.75 * share).toFixed(2),
            "data-head": k + 1, "data-to": wire, "data-share": share });
        })));
    },
  };
}

/** What each head asks for and finds. */
function createTable(bits) {
  const body = h("tbody");
  const heads = ["attention head", "asks for", "in binary", "share", "finds"].map((name) => h("th", { scope: "col" }, name));
  return {
    node: h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body),
    show(gate, names) {
      const rows = gate ? gate.heads : [];
      body.replaceChildren(...rows.map(({ asks, shares, found }, k) => {
        const share = shares.find(([wire]) => wire === asks)?.[1] ?? 0;
        const cells = [`${asks}, ${names[asks]}`, asks.toString(2).padStart(bits, "0"), rounded(share), rounded(found)];
        return h("tr", {}, h("th", { scope: "row" }, `${k + 1}`), ...cells.map((text) => h("td", {}, text)));
      }));
    },
  };
}

export default {
  render({ model, el }) {
    const get = (name) => model.get(name), file = get("network"), names = get("names"), inputs = get("word").length;
    const last = names.length - inputs, runs = new Map();
    let busy = false, now = 0, shown = {};
    const change = (changes) => {
      busy = true;
      put(model, changes);
      busy = false;
      draw();
    };
    const transport = createTransport("Gates computed", {
      first: 0, last,
      get now() { return now; },
      go: (gate) => change({ gate }),
    }, () => 1.5);
    const kappas = createChoice("Sharpness of attention, κ", get("kappas").map((kappa) => [`${kappa}`, kappa]), (kappa) => change({ kappa }));
    const flip = (wire) => change({ word: [...get("word")].map((bit, k) => (k === wire ? `${1 - bit}` : bit)).join("") });
    const tape = createTape(names, inputs, flip), heads = createTable((names.length - 1).toString(2).length);
    const says = live("account"), results = h("p", { class: "results" }), limits = h("p", { class: "label" });
    const root = widget("circuit-tape", "A circuit, token by token", { tabindex: 0 },
      h("div", { class: "controls" }, transport.buttons, transport.slider), tape.node,
      h("div", { class: "panes" }, h("div", {}, says, results),
        h("div", { class: "list" }, h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "What the attention heads find" }, heads.node))),
      kappas.node, limits,
      h("p", { class: "keys" }, "Keys: ← → one gate, Home and End, P plays. Click an input to flip it."));
    el.replaceChildren(root);
    onKeys(root, () => transport.keys);

    /** All gates of a run, computed once. */
    function gates(word, kappa) {
      const key = `${word} ${kappa}`;
      if (!runs.has(key)) runs.set(key, gatesOf(file, [...word].map(Number), kappa));
      return runs.get(key);
    }

    function draw() {
      if (busy) return;
      const word = get("word"), kappa = get("kappa"), mine = gates(word, kappa), exact = gates(word, get("kappas")[0]);
      const values = (list) => [...[...word].map(Number), ...list.map(({ token }) => token)];
      const tokens = values(mine), right = values(exact), wrong = range(last).filter((k) => mine[k].token !== exact[k].token);
      now = clamp(get("gate"), 0, last);
      const gate = mine[now - 1];
      shown = { gate, newest: inputs + now - 1 };
      transport.show();
      kappas.show((value) => value === kappa);
      Object.assign(root.dataset, { gate: now, tokens: tokens.slice(0, inputs + now).join(""), kappa, wrong: wrong.length });
      tape.show(tokens, right, now, gate);
      heads.show(gate, names);
      write(says, gate ? describe(gate, names, inputs + now - 1, now, last) : `The ${count(inputs, "input")} are given. Step adds a token.`);
      const known = Object.entries(get("outputs")).filter(([, wire]) => wire < inputs + now);
      write(results, known.length ? `Known so far: ${known.map(([name, wire]) => `${name} = ${tokens[wire]}`).join(", ")}.` : "");
      write(limits, wrong.length ? `With κ = ${kappa}, ${count(wrong.length, "token")} of ${last} on this input ` +
        `${wrong.length > 1 ? "are wrong; the first is" : "is wrong:"} token ${inputs + wrong[0]}.`
        : kappa === get("kappas")[0] ? "Each head looks at one token, with a share of exactly 1." : `With κ = ${kappa} other tokens have a share too, and argmax still chooses the right ones on this input.`);
    }

    draw();
    const ends = [watch(root, () => tape.arcs(shown.gate, shown.newest), () => {}), listen(model, { word: draw, gate: draw, kappa: draw })];
    return () => ends.forEach((end) => end());
  },
};

function describe({ kind, heads, fires, logits, token }, names, wire, gate, last) {
  const reads = heads.map(({ asks, found }) => `${names[asks]} = ${rounded(found)}`).join(" and ");
  const lines = fires.map(([line, value]) => (value === 1 ? line : `${line} (${rounded(value)})`)).join(", ");
  return `Gate ${gate} of ${last}, token ${wire}, ${names[wire]}: ${kind} reads ${reads}. ` +
    `${fires.length === 1 ? "The neuron" : "The neurons"} ${lines} ${fires.length === 1 ? "fires" : "fire"}, ` +
    `the logits are ${logits.map(rounded).join(" and ")}, and the token is ${token}.`;
}
