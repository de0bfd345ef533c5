// Networks are proved in a worker of their own, so that the page never waits; and what a proof says, in words.

import { spell } from "./machine.js";
import { big, short } from "./text.js";

const PATIENCE = 20_000; // milliseconds, then a network is too large for the page
const TOO_LARGE = { verdict: "undecided", reason: "too large to check in the page", at: "", margins: {} };

/** Proves one network after the other, always the newest; `heard` is given each answer, at most two for a network. */
export class Prover {
  #worker = null;
  #id = 0;
  #next = null; // asked while the worker was busy
  #timer = 0;

  constructor(heard) {
    this.heard = heard;
  }

  ask(file, words = []) {
    this.#next = { id: ++this.#id, file, words };
    if (!this.#timer) this.#send();
  }

  #send() {
    if (!this.#worker) {
      this.#worker = new Worker(import.meta.resolve("./prover.js"));
      this.#worker.onmessage = ({ data }) => this.#receive(data);
      this.#worker.onerror = () => this.#receive({ ...TOO_LARGE, id: this.#id, reason: "the check in the page failed" });
    }
    this.#worker.postMessage(this.#next);
    this.#next = null;
    this.#timer = setTimeout(() => {
      this.end();
      this.#receive({ ...TOO_LARGE, id: this.#id });
    }, PATIENCE);
  }

  #receive(data) {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#next) this.#send();
    if (data.id === this.#id) this.heard(data);
  }

  end() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#worker?.terminate();
    this.#worker = null;
  }
}

/** What was found about a network of a machine, as a mark and a sentence. */
export function describeProof({ verdict, reason, columns = [], word, step, steps, searches }, machine) {
  if (verdict === "proved") return ["✓", `proved for all words, to step ${big(steps)}`];
  if (verdict === "undecided") return ["?", `undecided: ${reason}`];
  const shown = word && (word.length ? short(spell(word, machine), 60) : "the empty word");
  const where = columns.map(([name, value]) => `${name} ${value}`.trim()).join(", ");
  const found = word ? `on ${word.length ? "the word " : ""}${shown}, at step ${big(step)}`
    : searches ? "a word is being looked for" : "no short word shows it";
  return ["✗", `wrong, ${found}: ${reason}${columns.length && !word ? `, for ${where}` : ""}`];
}
