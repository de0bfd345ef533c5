// The networks of one run, each evaluated in the page, and what its memory holds after each step of the machine.

import { read, Run, toNumbers } from "../page/network.js";
import { range } from "../page/text.js";

const isOne = (x) => Math.abs(x - 1) < 0.25;

/** What the rows that a head looks at are called, by its mask. */
const ROWS = { cross: "the word", causal: "the columns so far", prefix: "the tokens", window: "the window" };

/** The symbol of a row that is one-hot at the beginning; a single number is a bit. */
function content(numbers, symbols) {
  if (numbers.length === 1) return isOne(numbers[0]) ? "1" : "0";
  const k = numbers.slice(0, symbols.length).findIndex(isOne);
  return k < 0 ? "" : symbols[k];
}

/** The labels of the slice that a head copies its symbols from: those of the machine, and a mark that it may have. */
function symbolsOf(head, layout) {
  const place = head.value.start.findIndex((from, j) => head.value.start[j + 1] > from && head.value.to[from] === 0);
  const slice = layout.slices.find(({ start, size }) => place >= start && place < start + size);
  return slice?.labels.length ? slice.labels : [];
}

/**
 * For each step of the machine the passes so far and the groups of the memory: a name, the number of its first row, and
 * items with what they hold and whether the cell under the head is kept there.
 */
export function follow({ file, first = {}, start, steps }) {
  const network = read(file), { ops, cells, modules, layouts: [layout] } = network, run = new Run(network, start);
  const names = [...new Set(steps.flatMap(([, places]) => (places ?? []).map(([name]) => name)))];
  const heads = modules.filter(({ key, name }) => key && names.includes(name));
  const width = start.word.length + 1; // of a window
  // Some keep the cell in a row that the next pass remembers first.
  const ahead = heads.filter(({ name, mask }) => mask === "window" || steps.some(([passes, places]) => places?.some(
    ([where, k]) => mask !== "cross" && where === name && k >= passes + (mask === "prefix" ? start.word.length : 0))));
  const lit = (places, name, k) => (places ?? []).some(([where, number]) => where === name && number === k);

  function groups(places) {
    const found = [];
    if (cells) found.push({ name: "the cells", items: run.state.map((x, k) => {
      const numbers = toNumbers(x), [sym] = layout.slices;
      return { number: k, text: content(numbers.slice(sym.start, sym.start + sym.size), sym.labels), lit: lit(places, "cells", k) };
    }) });
    for (const head of heads) {
      const { values } = run.memory.get(head), symbols = symbolsOf(head, layout);
      const all = ahead.includes(head) ? [...values, ops.through(head.value, run.state)] : values;
      const from = head.mask === "window" ? all.length - width : 0, shown = all.slice(from);
      found.push({ name: ROWS[head.mask], head: head.name, first: first[head.mask] ?? 0, items: shown.map((x, k) => ({
        number: from + k, text: content(toNumbers(x), symbols), lit: lit(places, head.name, from + k),
      })) });
    }
    if (names.includes("column")) {
      const numbers = toNumbers(run.state);
      found.push({ name: heads.some(({ mask }) => mask === "window") ? "the newest token" : "the vector", places: true,
        items: range(numbers.length).filter((k) => numbers[k]).map((k) => ({
          number: k, text: layout.names[k], value: numbers[k], lit: lit(places, "column", k),
        })) });
    }
    return found;
  }

  return steps.map(([passes, places]) => {
    while (run.t < passes) run.step();
    return { passes, places, groups: groups(places) };
  });
}
