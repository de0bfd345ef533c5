// Words for a WCM21 network.

import { bitOf, Refusal } from "./network.js";

/** What a run of WCM21 starts from: the first column, and the rows of a word. */
export function encode({ layouts: [{ at, names }], machine: { initial, blank, symbols, states } }, word) {
  const row = (symbol, cell) => {
    const x = Array(names.length).fill(0), k = symbols.indexOf(symbol);
    if (k < 0) throw new Refusal(`Symbol '${symbol}' is not on this machine's alphabet: ${symbols.join(" ")}`);
    x[at.sym1[k]] = 1;
    at.pos2.forEach((place, k) => (x[place] = bitOf(cell, k)));
    return x;
  };
  const column = row(word[0] ?? blank, 0);
  column[at.st[states.indexOf(initial)]] = 1;
  return { column, word: word.map(row) };
}
