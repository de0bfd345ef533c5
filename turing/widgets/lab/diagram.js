// The state diagram of any machine, its states on a circle: the rule of the pass that is shown is lit, and pulses.

import { h, scroller, svg } from "../page/dom.js";
import { pulse } from "../page/motion.js";
import { short, shown } from "../page/text.js";

const MAX_STATES = 30, NODE = 19, MOVES = { "-1": "L", 0: "S", 1: "R" };

/** A rule as an arrow has it: what is read, what is written if that is another symbol, and the move. */
const ruleText = ([, read, , write, move]) =>
  `${short(shown(read), 8)}${read === write ? "" : ` → ${short(shown(write), 8)}`} ${MOVES[move]}`;

export function createDiagram(lab) {
  const { session } = lab, frame = scroller("diagram", "State diagram"), said = h("p", { class: "rule" });
  let machine, edges = [], nodes = [], lit = -1;

  function build() {
    const { states, rules, halting, initial } = (machine = session.machine), n = states.length, pairs = new Map();
    [edges, nodes, lit] = [[], [], -1];
    if (n > MAX_STATES)
      return frame.replaceChildren(h("p", { class: "hint" }, `A diagram of ${n} states would be too dense to read.`));
    const R = Math.max(78, 15 * n), [cx, cy] = [R + 62, R + 52];
    const angle = (k) => (2 * Math.PI * k) / n - Math.PI / 2 - (n > 2 ? Math.PI / n : Math.PI / 2);
    const at = (k, r = R) => [cx + r * 1.12 * Math.cos(angle(k)), cy + r * 0.96 * Math.sin(angle(k))];
    rules.forEach(([q, , p], i) => {
      const key = `${states.indexOf(q)} ${states.indexOf(p)}`;
      pairs.set(key, [...(pairs.get(key) ?? []), i]);
    });
    edges = [...pairs].map(([key, own]) => {
      const [from, to] = key.split(" ").map(Number), curve = from === to ? loop(at(from), at(from, R + 58)) : bend(at(from), at(to));
      const text = own.map((i) => ruleText(rules[i])).join(", ");
      return { own, node: svg("g", { class: "edge", "data-rules": own.join(" ") }, svg("title", {}, `${states[from]} → ${states[to]}: ${text}`),
        svg("path", { class: "line", d: curve.d }), svg("path", { class: "tip", d: tip(...curve.end) })) };
    });
    nodes = states.map((state, k) => {
      const [x, y] = at(k), name = short(shown(state), 4);
      return svg("g", { class: "node", "data-state": k }, svg("title", {}, state),
        svg("circle", { cx: x, cy: y, r: NODE }), ...(halting.includes(state) ? [svg("circle", { class: "inner", cx: x, cy: y, r: NODE - 4 })] : []),
        svg("text", { x, y: y + 5.5 }, name));
    });
    const [x, y] = at(states.indexOf(initial)), [far] = [at(states.indexOf(initial), R + 44)];
    const first = toward(far, [x, y], Math.hypot(far[0] - x, far[1] - y) - NODE - 1);
    const start = svg("g", { class: "edge" }, svg("path", { class: "line", d: `M${far}L${first}` }),
      svg("path", { class: "tip", d: tip(first, Math.atan2(y - far[1], x - far[0])) }));
    const label = `State diagram: ${n} states, ${rules.length} rules. ${initial} is the initial state.`;
    frame.replaceChildren(svg("svg", { viewBox: `0 0 ${2 * cx} ${2 * cy}`, role: "img", "aria-label": short(label, 300) },
      start, ...edges.map(({ node }) => node), ...nodes));
  }

  return {
    nodes: [frame, said],
    draw(time) {
      if (machine !== session.machine) build();
      const { now, before: from } = session, { states, symbols, rules } = machine;
      const rule = rules.findIndex(([q, a]) => q === states[from.state] && a === symbols[from.read]);
      nodes.forEach((node, k) => node.classList.toggle("on", k === now.state));
      for (const { own, node } of edges) {
        const isOn = own.includes(rule);
        node.classList.toggle("on", isOn);
        if (!isOn) continue;
        node.parentNode.insertBefore(node, nodes[0]); // above the others
        pulse(node, time);
      }
      if (rule === lit) return;
      lit = rule;
      const named = (kind, text) => h("span", { class: kind }, short(text, 12)), [q, a, p, b, move] = rules[rule] ?? [];
      said.replaceChildren(...(rule < 0 ? ["No rule fires here."] : ["Rule: in ", named("q", q), " reading ", named("a", shown(a)),
        ", write ", named("a", shown(b)), `, ${{ "-1": "go left", 0: "stay", 1: "go right" }[move]}, then `, named("q", p), "."]));
    },
  };
}

const toward = ([x, y], [u, v], by) => {
  const length = Math.hypot(u - x, v - y) || 1;
  return [x + ((u - x) * by) / length, y + ((v - y) * by) / length];
};
/** An arrow head with its point at a place, in a direction. */
function tip([x, y], turn) {
  const back = (by) => [x - 9 * Math.cos(turn + by), y - 9 * Math.sin(turn + by)];
  return `M${[x, y]}L${back(0.42)}L${back(-0.42)}Z`;
}
/** From one node to another, with a bend to the left, so that the way back has a line of its own. */
function bend(one, other) {
  const [dx, dy] = [other[0] - one[0], other[1] - one[1]], length = Math.hypot(dx, dy), by = Math.min(22, length / 6) / length;
  const middle = [(one[0] + other[0]) / 2 + dy * by, (one[1] + other[1]) / 2 - dx * by];
  const end = toward(other, middle, NODE + 1);
  return { d: `M${toward(one, middle, NODE)}Q${middle} ${end}`, end: [end, Math.atan2(other[1] - middle[1], other[0] - middle[0])] };
}
/** From a node to itself, around a place further out. */
function loop(node, out) {
  const turn = Math.atan2(out[1] - node[1], out[0] - node[0]);
  const side = (by, r) => [node[0] + r * Math.cos(turn + by), node[1] + r * Math.sin(turn + by)];
  const end = side(0.55, NODE + 1), far = side(0.6, 66);
  return { d: `M${side(-0.55, NODE)}C${side(-0.6, 66)} ${far} ${end}`, end: [end, Math.atan2(end[1] - far[1], end[0] - far[0])] };
}
