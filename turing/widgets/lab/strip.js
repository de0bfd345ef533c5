// The network of the lab, always in sight: a tile for each module with the vector that leaves it, a row a slice.

import { button, h, scroller, svg } from "../page/dom.js";
import { big } from "../page/text.js";

const ROWS = ["st", "sym1", "sym2", "pos1", "pos2", "pos3", "scr1", "scr2", "scr3", "scr4", "scr5"];
const FAMILIES = [["st", 0, 1], ["sym", 1, 3], ["pos", 3, 6], ["scr", 6, 11]], ROW = 8; // pixels

/** Where each slice of a vector goes, as [row, rows]: slices that no column has take rows that are free. */
function rowsOf(slices) {
  const names = slices.map(({ name }) => name), free = ROWS.slice(6).filter((name) => !names.includes(name));
  return names.map((name) => name === "det" ? [0, 3] : [ROWS.indexOf(ROWS.includes(name) ? name : free.shift()), 1]);
}

/** The tile of a module; `show(vector)` draws a bar for every number that is not 0. */
function createTile({ name, key, layouts }, open) {
  const { slices } = layouts.at(-1), rows = rowsOf(slices);
  const bars = slices.map(({ name, size, labels }, n) => {
    const [y, height] = rows[n], path = svg("path");
    const row = svg("svg", { x: 0, y, width: 1, height: height - 0.2, viewBox: `0 0 ${size} 1`, preserveAspectRatio: "none",
      "data-slice": name }, svg("rect", { width: size, height: 1 }), path);
    return { row, path, at: (k) => (labels.length ? k : size - 1 - k) }; // bits stand as on paper
  });
  const picture = svg("svg", { viewBox: `0 0 1 ${ROWS.length}`, preserveAspectRatio: "none", "aria-hidden": true },
    ...bars.map(({ row }) => row));
  const node = button("", open, { class: key ? "tile head" : "tile", "data-module": name });
  node.append(h("span", {}, ...(key ? [h("i", { class: "dot" })] : []), name), picture);
  return {
    node,
    show: (vector) => slices.forEach(({ start, size }, n) => {
      let d = "";
      for (let k = 0; vector && k < size; k++)
        if (vector[start + k]) d += `M${bars[n].at(k)} 1h1v${-vector[start + k]}h-1z`;
      if (bars[n].path.getAttribute("d") !== d) bars[n].path.setAttribute("d", d);
    }),
  };
}

/** All modules in their order. A click opens one. The one in which network and machine part is hatched. */
export function createStrip(lab) {
  const { session } = lab, caption = h("p", { class: "legend" }, "what leaves each module (click to open); ",
    h("i", { class: "dot", "aria-hidden": true }), " is an attention head. ", h("b"));
  const names = h("div", { class: "families", "aria-hidden": true }, ...FAMILIES.map(([name, from, to]) =>
    h("i", { "data-slice": name, style: `top: ${(ROW * (from + to)) / 2}px` }, name)));
  const frame = scroller("strip scroll", "Modules of the network");
  let tiles = new Map(), file, shown, hatched = "";
  return {
    nodes: [caption, frame],
    draw(why) {
      const { network: { modules }, inside, inspected, step, parted, mark } = session;
      if (file !== session.file) {
        file = session.file;
        tiles = new Map(modules.map((module, n) => [module.name, createTile(module, () => lab.open(n))]));
        frame.replaceChildren(names, ...[...tiles.values()].map(({ node }) => node));
      }
      caption.lastChild.textContent = !inside ? "" : `Pass ${big(inside.step)}` +
        (parted === inside.step ? ", in which network and machine part" : inside.step > step ? ", which is next" : "");
      const part = parted ? mark.layer : "";
      for (const [name, { node }] of tiles) {
        node.classList.toggle("parted", name === part);
        node.setAttribute("aria-pressed", modules[lab.module]?.name === name);
        node.setAttribute("aria-label", name === part ? `${name}: here network and machine part` : name);
      }
      if (part && part !== hatched) reveal(tiles.get(part).node);
      hatched = part;
      if (inside && inside.step !== inspected) return; // it stays until the next one is here
      if (shown === inside && !why) return;
      shown = inside;
      [...tiles.values()].forEach(({ show }, n) => show(inside?.vectors[n]));
    },
  };
  function reveal({ offsetLeft, offsetWidth }) {
    frame.scrollLeft = Math.min(Math.max(frame.scrollLeft, offsetLeft + offsetWidth - frame.clientWidth + 40), offsetLeft - 60);
  }
}
