// A run of a network with the machine beside it: what each pass lights up, sends on and looks up. Every number that is
// shown of the network came out of its weights.

import { Lockstep } from "../lab/lockstep.js";
import { encode } from "../page/encode.js";
import { Interpreter } from "../page/machine.js";
import { Run } from "../page/network.js";

/** The rules as columns of the matrix that holds them, and the places that they are sent to as rows. */
export function blockOf({ machine: { rules, states, symbols }, modules: [detect, carry] }) {
  const [{ at: { det }, names }, after] = [detect.layouts[1], carry.layouts[1]];
  const columns = rules.map(([q, a]) => {
    const place = det[states.indexOf(q) * symbols.length + symbols.indexOf(a)];
    return { q, a, place, name: names[place] };
  });
  const rows = ["st", "sym2", "scr5"].flatMap((slice) => {
    const { start, labels } = after.slices.find(({ name }) => name === slice);
    return labels.map((label, k) => ({ slice, label, place: start + k, name: after.names[start + k] }));
  });
  return { weight: carry.entry.layers[0].weight, columns, rows };
}

/** The number of the key with the greatest share; the null key has the number −1. */
const best = (shares) => shares.reduce((one, other) => (other[1] > one[1] ? other : one))[0];

/** One pass: what the detectors and the rows of the matrix give, and where the heads find the symbol of the new cell. */
function pass(run, { columns, rows }) {
  const { at } = run.network.layouts[0], found = {};
  let fired, sent, isVisited;
  run.step((name, x, shares) => {
    if (name === "detect") fired = columns.map(({ place }) => x[place]);
    if (name === "carry") sent = rows.map(({ place }) => x[place]);
    if (name === "visited") isVisited = x[at.scr4[0]] > 0.5;
    if (shares) found[name] = best(shares);
  });
  const [from, place] = isVisited ? ["step", found.last] : found.initial < 0 ? ["blank", -1] : ["word", found.initial];
  return { fired, sent, from, place };
}

/** State, head and tape, as names. */
function configuration({ states, symbols }, { state, cell, head = cell, tape }) {
  const cells = new Map([...tape].map(([cell, symbol]) => [cell, symbols[symbol]]));
  const symbolOf = (cell) => cells.get(cell) ?? symbols[0];
  return { state: states[state], head, read: symbolOf(head), symbolOf };
}

/**
 * Frame t is what t passes led to: the configurations of machine and network, null where the network has none, and what
 * the last pass did. `parted` is the mark of the first number that is not what the machine requires.
 */
export function record(network, word, maxSteps) {
  const { machine } = network, block = blockOf(network), run = new Run(network, encode(network, word));
  const beside = new Interpreter(machine, word), lock = new Lockstep(network, word), alone = new Lockstep(network, word, false);
  const frames = [{ machine: configuration(machine, beside), network: configuration(machine, alone) }];
  while (alone.status === "running" && alone.steps < maxSteps) {
    lock.step();
    alone.step();
    if (alone.status === "jammed") break;
    beside.step();
    const now = alone.status === "failed" ? null : configuration(machine, alone);
    frames.push({ ...pass(run, block), machine: configuration(machine, beside), network: now });
  }
  const heads = frames.flatMap(({ machine, network }) => [machine.head, (network ?? machine).head]);
  const { status, message } = alone, isOver = status !== "running";
  return {
    frames, block, status: isOver ? status : "limit", message, parted: lock.mark.good ? null : lock.mark,
    lo: Math.min(0, ...heads), hi: Math.max(word.length - 1, ...heads),
  };
}
