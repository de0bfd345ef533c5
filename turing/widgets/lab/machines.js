// Machines, words and links as the lab takes them.

import { dumpMachine, parseMachine } from "../page/formats.js";
import { big, clamp, count, short } from "../page/text.js";

export const LIMITS = [100, 1000, 10_000, 100_000, 1_000_000, 4_000_000, 10_000_000, 50_000_000, 200_000_000]; // of the steps of a run
export const LARGEST = { text: 100_000, states: 200, symbols: 50, pairs: 2000 };

export const shapeOf = ({ states, symbols }) => `${count(states.length, "state")} and ${count(symbols.length, "symbol")}`;

/** The machine, if it is not too large for the page. */
export function checkSize(machine) {
  const { states: { length: q }, symbols: { length: a } } = machine, { states, symbols, pairs } = LARGEST;
  if (q <= states && a <= symbols && q * a <= pairs) return machine;
  throw new Error(`The machine has ${shapeOf(machine)}. At most ${states} states, ${symbols} symbols and ` +
    `${big(pairs)} pairs of both are read here; turing.compile takes more.`);
}
/** The machine that a text describes, and the word if it comes with one; `note` names states that may be misspelt. */
export function readMachine(text) {
  if (text.length > LARGEST.text)
    throw new Error(`The text has ${big(text.length)} characters, and at most ${big(LARGEST.text)} are read here.`);
  const { machine, format, word = null, rowless = [] } = parseMachine(text);
  const { states, rules, halting } = checkSize(machine);
  const stuck = states.filter((state) => !halting.includes(state) && !rules.some(([from]) => from === state));
  const note = rowless.length ? noteOn(rowless, "row", "halts")
    : stuck.length && format !== "bbchallenge" ? noteOn(stuck, "rule", "jams") : "";
  return { machine, word, note };
}
function noteOn(states, what, ends) {
  const names = short(states.map((state) => short(state)).join(", "), 80);
  const [have, are] = states.length > 1 ? [`States ${names} have`, "Are they"] : [`State ${names} has`, "Is it"];
  return `${have} no ${what}, so a run ${ends} there. ${are} spelt right?`;
}
/** The machine as text, for a link: as short as can be. */
export function textOf(machine) {
  try {
    return dumpMachine(machine, "bbchallenge");
  } catch {
    return dumpMachine(machine, "json");
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
