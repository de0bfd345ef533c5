// Machines, words and links as the lab takes them.

import { dumpMachine, parseMachine } from "../page/formats.js";
import { parseWord } from "../page/machine.js";
import { big, clamp, count } from "../page/text.js";

export const LIMITS = [100, 1000, 10_000, 100_000, 1_000_000, 4_000_000, 10_000_000]; // of the steps of a run
export const LARGEST = { text: 100_000, states: 200, symbols: 50, pairs: 2000 };

export const shapeOf = ({ states, symbols }) => `${count(states.length, "state")} and ${count(symbols.length, "symbol")}`;

/** The machine, if it is not too large for the page. */
export function checkSize(machine) {
  const { states: { length: q }, symbols: { length: a } } = machine, { states, symbols, pairs } = LARGEST;
  if (q <= states && a <= symbols && q * a <= pairs) return machine;
  throw new Error(`The machine has ${shapeOf(machine)}. At most ${states} states, ${symbols} symbols and ` +
    `${big(pairs)} pairs of both are read here; turing.compile takes more.`);
}
/** The machine that a text describes. */
export function readMachine(text) {
  if (text.length <= LARGEST.text) return checkSize(parseMachine(text).machine);
  throw new Error(`The text has ${big(text.length)} characters, and at most ${big(LARGEST.text)} are read here.`);
}
/** The machine as text, for a link: as short as can be. */
export function textOf(machine) {
  try {
    return dumpMachine(machine, "bbchallenge");
  } catch {
    return dumpMachine(machine, "json");
  }
}

/** A word of a machine; an error begins with where it is. */
export function asWord(text, machine, where = "") {
  try {
    return parseWord(text, machine);
  } catch (error) {
    throw new Error(where + error.message);
  }
}
/** The limit to choose for a run of so many steps. */
export const limitFor = (steps) => LIMITS.find((limit) => limit >= steps) ?? LIMITS.at(-1);

/** Machine, word and step of a link, or nothing. */
export function readHash(hash) {
  if (!hash.startsWith("#m=")) return null;
  if (hash.length > 4 * LARGEST.text) throw new Error("It is too long.");
  const parts = new Map(hash.slice(1).split("&").map((part) => part.split("=", 2)));
  const [m, w, t] = ["m", "w", "t"].map((key) => decodeURIComponent(parts.get(key) ?? ""));
  return { m, w, t: clamp(Math.floor(Number(t)) || 0, 0, LIMITS.at(-1)) };
}
