// The run of a liwang25 network: every token that it says, and which cell of the tape each token holds.

import { read, Run, toNumbers } from "../page/network.js";

const MOVES = { run: 1, left: -1, stay: 0 };
const BEST = 3; // logits that are kept

/** The tokens of the network, each with its name. */
export function vocabulary(network, tokens) {
  const { labels } = network.modules.find(({ name }) => name === "argmax").layouts[0].slices[0];
  return tokens.map(([symbol, state, mode, mark, held], k) => ({ symbol, state, mode, mark, held, name: labels[k] }));
}

/**
 * Run a word in a window of so many cells. `sequence` is the window at the start and what was said after it: after t
 * tokens the window is what stands at t and the following places. `passes[t]` is how token t + 1 came about.
 */
export function follow(file, tokens, word, window, max) {
  const network = read(file), { ops, modules, machine } = network, words = vocabulary(network, tokens);
  const embed = modules.find(({ name }) => name === "embed");
  const column = (k) => [...ops.part(embed.work(ops.vector(words.map((_, j) => Number(j === k)))), 0)];
  const first = Array.from({ length: window }, (_, cell) => words.findIndex(({ symbol, state, mode }) =>
    symbol === (word[cell] ?? machine.blank) && state === machine.initial && mode === "run"));
  const columns = first.map(column), run = new Run(network, { column: columns.at(-1), word: columns.slice(0, -1) });
  const sequence = first.map((k, cell) => ({ ...words[k], cell })), passes = [];
  let head = 0, held = null, step = 0, lo = 0, hi = Math.max(word.length - 1, 0);
  let status = word.length > window ? "full" : machine.halting.includes(machine.initial) ? "halted" : "limit";
  while (status === "limit" && passes.length < max) {
    const t = passes.length, newest = sequence.at(-1), oldest = sequence[t], seen = {};
    run.step((name, x, shares) => (seen[name] = { x: toNumbers(x), shares }));
    const logits = seen.unembed.x.map((logit, k) => ({ logit, name: words[k].name })).sort((a, b) => b.logit - a.logit);
    const said = words[seen.argmax.x.indexOf(1)], acts = newest.mode === "run" || oldest.mark;
    const pass = { said, newest, oldest, acts, head, step: step + 1, best: logits.slice(0, BEST), shares: seen.oldest.shares };
    passes.push(pass);
    if (said.state === null) {
      status = "jammed";
      break;
    }
    let cell = head; // what the new token holds
    if (said.mode === "left") [cell, held] = acts ? [null, head] : [held, oldest.cell];
    else if (!acts) ({ cell } = oldest);
    sequence.push({ ...said, cell });
    pass.ends = said.mode === "run" || sequence[t + 1].mark;
    if (!pass.ends) continue;
    step += 1;
    head += MOVES[said.mode];
    lo = Math.min(lo, head);
    hi = Math.max(hi, head);
    if (hi - lo >= window) status = "full";
    else if (machine.halting.includes(said.state)) status = "halted";
  }
  return { machine, sequence, passes, status, steps: step, head, lo, hi, window };
}
