// The lab says whether the network that it shows is right for all words: as it is compiled, and after each edit.

import { h, write } from "../page/dom.js";
import { describeProof, Prover } from "../page/proving.js";

export function createProof({ session, root }) {
  const node = h("p", { class: "proof" });
  let asked = null, edited = "";
  const say = (verdict, text) => {
    root.dataset.proof = verdict;
    write(node, text);
  };
  const prover = new Prover((found) => {
    const [mark, text] = describeProof(found, session.machine);
    say(found.verdict, `${mark} ${text}`);
  });
  return {
    node,
    /** Ask again if the weights are not those of the last time. */
    draw() {
      const { file, edits, word } = session, now = JSON.stringify([...edits.values()]);
      if (asked === file && edited === now) return;
      [asked, edited] = [file, now];
      say("asked", "… proving it for all words");
      prover.ask(file, [word]);
    },
    end: () => prover.end(),
  };
}
