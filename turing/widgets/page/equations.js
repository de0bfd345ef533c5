// The rows of a layer as equations with names, as turing.show prints them.

import { rowsOf } from "./network.js";
import { gateName, rowText } from "./sums.js";

/** Does a row hand on the place of its own name, which stands where it stood? */
function isIdentity({ terms, bias }, i, before, after) {
  return !bias && terms.length === 1 && terms[0][0] === i && terms[0][1] === 1 && before[i] === after[i];
}

/** The rows of a layer that are not identities: index, name, equation, and the gate that they are. */
export function equationsOf(layer, before, after, spell = (name) => name) {
  const names = before.map(spell);
  return rowsOf(layer).flatMap((row, i) => {
    if (isIdentity(row, i, before, after)) return [];
    const text = rowText(row, names);
    return [{ i, row, name: spell(after[i]), text, gate: text === "0" ? "" : gateName(row, names) }];
  });
}
