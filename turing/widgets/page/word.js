// The field for the word of a machine, with a hint that says what can be typed, or what is wrong with it.

import { button, live, on, textField, uniqueId } from "./dom.js";
import { alphabet, parseWord, spell } from "./machine.js";
import { short } from "./text.js";

/** The word between the end marks of a machine of the zoo; null if nothing is missing, or a mark is inside it. */
export function withEnds(word, { blank }, { ends: [first = "", last = ""] = [] }) {
  const begins = !first || word[0] === first, closes = !last || word.at(-1) === last;
  const inside = word.slice(first && begins ? 1 : 0, last && closes ? -1 : undefined);
  if ((begins && (closes || last === blank)) || inside.includes(first) || inside.includes(last)) return null;
  return [first, ...inside, last].filter(Boolean);
}

/** `take(word)` is called with every good word that is typed. */
export function createWord(take) {
  const id = uniqueId(), input = textField({ "aria-describedby": id }), hint = live("hint");
  let machine, entry;
  hint.id = id;

  function show(word, ...of) {
    if (of.length) [machine, entry] = of;
    input.value = spell(word, machine);
    offer(word);
  }
  function offer(word) {
    const whole = withEnds(word, machine, entry);
    say("");
    if (!whole) return;
    hint.prepend(button(`Add the ends: ${short(spell(whole, machine))}`, () => {
      show(whole);
      take(whole);
      input.focus(); // the button is gone
    }), " ");
  }
  function say(problem) {
    hint.textContent = problem || alphabet(machine);
    hint.classList.toggle("wrong", problem !== "");
    input.setAttribute("aria-invalid", problem !== "");
  }
  on(input, "input", () => {
    let word;
    try {
      word = parseWord(input.value, machine);
    } catch (error) {
      return say(`${error.message} The last good run stays.`);
    }
    offer(word);
    take(word);
  });
  /** `show(word, machine, entry)`: with a machine there may be what the zoo says of it. */
  return { input, hint, show, say };
}
