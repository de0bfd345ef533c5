// What the lab shows on demand: machine, steps, many words, and what to take away. A panel is built when it is first
// opened: its nodes, and how to draw them again. `why` is "load" when there is another network or run.

import { button, h, live, on, PLAIN_TEXT, scroller, textField } from "../page/dom.js";
import { canonical } from "../page/compile.js";
import { isSingle, parseWord, verdictOf } from "../page/machine.js";
import { big, count, digits, short, shown } from "../page/text.js";
import { checkSize, LARGEST, LIMITS, readMachine, shapeOf, textOf } from "./machines.js";

export const line = (...parts) => h("div", { class: "line" }, ...parts);
export function named(text, control) {
  control.setAttribute("aria-label", text); // a label's own text would take in the options of a menu
  return h("label", {}, h("span", {}, text), control);
}
export const fill = (select, pairs) =>
  select.replaceChildren(...pairs.map(([value, text]) => h("option", { value }, short(`${text ?? value}`))));
export const row = (...cells) => h("tr", {}, ...cells.map((cell) => h("td", {}, cell)));
export const table = (heads, rows) => h("table", {},
  h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows));

/** The machine as text, read as it is typed; an error points at its line. */
export function machinePanel(lab) {
  const HELP = "Type or paste a machine: bbchallenge, turingmachine.io, Morphett, or our JSON.";
  const message = live("hint"), editor = tableEditor(lab), lines = h("div", { class: "lines", "aria-hidden": true });
  const box = h("textarea", { rows: 7, wrap: "off", "aria-label": "The machine as text", ...PLAIN_TEXT });

  let begun = null; // the word that came with the text: it is taken when it is another one than before

  function report(problem = "", wrong = 0, note = "") {
    const numbers = box.value.slice(0, LARGEST.text).split("\n").map((_, n) => `${n + 1}\n`);
    lines.replaceChildren(numbers.slice(0, Math.max(0, wrong - 1)).join(""),
      ...(wrong ? [h("b", {}, wrong)] : []), numbers.slice(wrong).join(""));
    message.textContent = problem || note || HELP;
    message.classList.toggle("wrong", problem !== "");
    message.classList.toggle("reading-note", note !== "");
    box.setAttribute("aria-invalid", problem !== "");
  }
  on(box, "input", () => {
    try {
      if (!box.value.trim()) return report();
      const { machine, word, note } = readMachine(box.value), isNew = JSON.stringify(word) !== JSON.stringify(begun);
      lab.take(machine, { text: box.value, word: isNew ? word : null });
      begun = word;
      report("", 0, note);
    } catch (error) {
      report(`${error.message} The last good machine stays.`, error.line);
    }
  });
  on(box, "scroll", () => (lines.scrollTop = box.scrollTop));
  return {
    nodes: [h("div", { class: "box" }, lines, box), message, ...editor.nodes],
    draw(why) {
      if (why === "load" && lab.text !== box.value && document.activeElement !== box) {
        box.value = lab.text;
        begun = null;
        report();
      }
      editor.draw(why);
    },
  };
}

const LETTERS = { "-1": "L", 0: "S", 1: "R" };

/** A rule as it stands in a table: 1RB, or with spaces where a symbol is longer. */
const ruleText = (machine, next, write, move) =>
  [shown(write), LETTERS[move], next].join(isSingle(machine) ? "" : " ");

/** The rule in a field of the table: next state, symbol, move; nothing if it is empty. */
function readRule(text, machine, states) {
  if (/^[\s-]*$/.test(text)) return null;
  for (const symbol of [...machine.symbols].sort((one, other) => other.length - one.length))
    for (const start of [symbol, shown(symbol)]) {
      if (!text.startsWith(start)) continue;
      const [, move, next] = /^\s*([LRSN])\s*(.*?)\s*$/is.exec(text.slice(start.length)) ?? [];
      if (states.includes(next)) return [next, symbol, { L: -1, R: 1 }[move.toUpperCase()] ?? 0];
    }
  const example = ruleText(machine, short(states[0], 20), short(machine.symbols.at(-1), 20), 1);
  throw new Error(`“${short(text)}” is not a rule. Write the symbol, L, R or S, and a state, as in ${example}.`);
}

const MAX_FIELDS = 500;

/** The rules as a table, a row a state and a column a symbol; and the numbers of the network that an edit changed. */
function tableEditor(lab) {
  const { session } = lab, frame = scroller("rules", "Table of rules"), message = live("hint");
  const numbers = scroller("changes", "Numbers that changed"), name = textField(), kind = h("select");
  const legend = h("p", { class: "hint" });
  const large = h("p", { class: "hint" }, `The table has more than ${MAX_FIELDS} fields. Edit the text instead.`);
  fill(kind, [["state"], ["halting", "halting state"], ["symbol"]]);
  let added = [], machine, lit = "";

  /** The same machine with other rules or names; whether there is such a machine. */
  function change(parts) {
    try {
      const next = canonical({ ...machine, ...parts });
      if (!next.rules.length) throw new Error("A machine has at least one rule.");
      readMachine(textOf(checkSize(next))); // refuses what a link could not hold
      const { changes, sameShape } = lab.edit(next);
      ({ machine } = session);
      setTimeout(build); // when the focus has moved
      message.textContent = sameShape
        ? `This changed ${count(changes.length, "number")} of the network, all in pipeline.carry.weight.`
        : `For ${shapeOf(session.machine)} the network is compiled again.`;
      numbers.hidden = !sameShape || !changes.length;
      numbers.replaceChildren(table(["row", "column", "before → now"], numbers.hidden ? [] : changes.map(
        ({ row: to, column, before, after }) => row(to, column, `${digits(before)} → ${digits(after)}`))));
      return true;
    } catch (error) {
      message.textContent = error.message;
      return false;
    }
  }
  function setRule(state, symbol, field) {
    const at = machine.rules.findIndex(([q, a]) => q === state && a === symbol), rules = [...machine.rules];
    try {
      const rule = readRule(field.value, machine, [...machine.states, ...added]);
      rules.splice(at < 0 ? rules.length : at, at < 0 ? 0 : 1, ...(rule ? [[state, symbol, ...rule]] : []));
      const same = JSON.stringify(rules) === JSON.stringify(machine.rules);
      field.setAttribute("aria-invalid", !same && !change({ rules }));
    } catch (error) {
      field.setAttribute("aria-invalid", true);
      message.textContent = error.message;
    }
  }
  function remove(what, gone) {
    const [from, to] = what === "state" ? [0, 2] : [1, 3];
    const without = (names) => names.filter((other) => other !== gone);
    const rules = machine.rules.filter((rule) => rule[from] !== gone && rule[to] !== gone);
    if (what === "symbol") return change({ rules, symbols: without(machine.symbols) });
    added = without(added);
    if (machine.states.includes(gone)) change({ rules, halting: without(machine.halting) });
    else build();
  }
  function add() {
    const text = name.value.trim(), taken = kind.value === "symbol" ? machine.symbols : [...machine.states, ...added];
    if (!text || taken.includes(text)) return void (message.textContent = "Give it a name that is not there yet.");
    name.value = "";
    if (kind.value === "symbol") return change({ symbols: [...machine.symbols, text] });
    if (kind.value === "halting") return change({ halting: [...machine.halting, text] });
    added.push(text);
    message.textContent = `State ${short(text)} joins the network with its first rule.`;
    build();
  }

  const cross = (what, gone) =>
    button("×", () => remove(what, gone), { "aria-label": `Remove the ${what} ${short(shown(gone))}` });
  function cell(state, symbol) {
    const [, , ...rule] = machine.rules.find(([q, a]) => q === state && a === symbol) ?? [];
    const field = textField({ "aria-label": `Rule for state ${short(state)}, reading ${short(shown(symbol))}` });
    field.value = rule.length ? ruleText(machine, ...rule) : "";
    return h("td", { "data-rule": `${machine.states.indexOf(state)} ${machine.symbols.indexOf(symbol)}` }, on(field, "change", () => setRule(state, symbol, field)));
  }
  /** Build the table again; what has the focus keeps it, and if it is gone the table has it. */
  function build() {
    const held = frame.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
    machine = session.machine;
    const { states, symbols, halting, initial, blank } = machine;
    added = added.filter((state) => !states.includes(state));
    frame.hidden = states.length * symbols.length > MAX_FIELDS;
    large.hidden = !frame.hidden;
    const heads = symbols.map((symbol) => h("th", { scope: "col" },
      h("span", { class: "a" }, short(shown(symbol), 12)), ...(symbol === blank ? [] : [cross("symbol", symbol)])));
    const rows = frame.hidden ? [] : [...states, ...added].map((state) => h("tr", {},
      h("th", { scope: "row" }, h("span", { class: "q" }, short(state, 16)),
        ...(state === initial ? [] : [cross("state", state)])),
      ...(halting.includes(state) ? [h("td", { colspan: symbols.length }, `halts${verdictOf(state, lab.entry)}`)]
        : symbols.map((symbol) => cell(state, symbol)))));
    frame.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, h("td"), ...heads)), h("tbody", {}, ...rows)));
    const [[, , next, write, move] = []] = machine.rules, GO = { "-1": "go left", 0: "stay", 1: "go right" };
    legend.textContent = "A row for each state, a column for each symbol that is read. " + (next === undefined ? ""
      : short(`${ruleText(machine, next, write, move)} is: write ${shown(write)}, ${GO[move]}, then state ${next}. `, 120)) +
      "The rule of this pass is lit.";
    lit = "";
    const fields = [...frame.querySelectorAll("[aria-label]")];
    if (held) (fields.find((field) => field.getAttribute("aria-label") === held) ?? frame).focus();
  }
  return {
    nodes: [legend, frame, large, line(named("Add a", kind), named("called", name), button("Add", add)), message, numbers],
    draw(why) {
      if (why === "load" && machine !== session.machine) {
        message.textContent = "";
        numbers.hidden = true;
        added = [];
        build();
      }
      const { state, read } = session.before, now = `${state} ${read}`;
      if (now === lit) return;
      lit = now;
      for (const cell of frame.querySelectorAll("[data-rule]")) cell.classList.toggle("lit", cell.dataset.rule === now);
    },
  };
}

/** Any step of the run; speed, breakpoints, the most steps, and the interpreter beside it. */
export function stepsPanel(lab) {
  const { session } = lab, slider = h("input", { type: "range", min: 0, step: 1, "aria-label": "Step of the run" });
  const [speed, state, limit] = [h("select"), h("select"), h("select")];
  const cell = h("input", { type: "number", step: 1, placeholder: "none" });
  const compare = h("input", { type: "checkbox" });
  fill(speed, [1, 2, 5, 10, 30, 60].map((n) => [n, `${n} a second`]));
  fill(limit, LIMITS.map((n) => [n, big(n)]));
  speed.value = lab.speed;
  on(slider, "input", () => session.go(Number(slider.value)));
  on(speed, "change", () => (lab.speed = Number(speed.value)));
  const stops = () => session.stopAt(state.value, cell.value === "" ? null : Math.round(Number(cell.value)));
  on(state, "change", stops);
  on(cell, "change", stops);
  on(limit, "change", () => session.load(session.machine, session.word, Number(limit.value)));
  on(compare, "change", () => session.compare(compare.checked));
  return {
    nodes: [
      line(named("Speed", speed)), slider,
      line(named("Stop in state", state), named("Stop on cell", cell)),
      line(named("Most steps", limit), named("compare with the plain interpreter", compare)),
    ],
    draw(why) {
      if (why === "load") fill(state, [["", "none"], ...session.machine.states.map((q) => [q])]);
      if (why === "load") [state.value, cell.value] = [session.stopState, session.stopCell ?? ""];
      slider.max = session.record.known;
      slider.value = session.step;
      slider.setAttribute("aria-valuetext", `${session.step} of ${session.record.known}`);
      limit.value = session.limit;
      compare.checked = session.interpreter;
    },
  };
}

/** Many words, a verdict a row. After a word may stand what should come of it: a state, a verdict, or how the run ends. */
export function wordsPanel(lab) {
  const MAX_WORDS = 1000, { session } = lab, message = live("hint"), frame = scroller("verdicts", "Verdicts");
  const box = h("textarea", { rows: 5, wrap: "off", "aria-label": "Words, one a line", ...PLAIN_TEXT });
  const help = h("p", { class: "hint" });
  let of, given = "";
  const outcomes = () => [...session.machine.halting, ...Object.values(lab.entry.verdicts ?? {}), "halted", "jammed", "limit"];
  function judge() {
    const texts = box.value.replace(/\n$/, "").split("\n");
    if (texts.length > MAX_WORDS)
      return void (message.textContent = `At most ${big(MAX_WORDS)} words are run; here are ${big(texts.length)}.`);
    const lines = texts.map(readLine), good = lines.filter(({ problem }) => !problem);
    const asked = good.filter(({ expected }) => expected).length, bad = lines.length - good.length;
    for (const given of lines) {
      const cells = ["…", "", "", "", ...(asked ? [""] : [])];
      given.node = row(short(given.text || "(empty)", 60), ...cells);
      if (given.problem) given.node.replaceChildren(given.node.firstChild,
        h("td", { class: "wrong", colspan: cells.length }, `✗ not run: ${given.problem}`));
    }
    frame.replaceChildren(table(["word", "verdict", "steps", "not blank", "mark", ...(asked ? ["expected"] : [])],
      lines.map(({ node }) => node)));
    frame.hidden = false;
    message.textContent = "";
    let met = 0;
    const end = () => `${count(good.length, "word")} done${asked ? `, ${big(met)} of ${big(asked)} as expected` : ""}` +
      (bad ? `; ${count(bad, "line")} could not be run, and the table says why.` : ".");
    session.batch(good.map(({ word }) => word), (verdict, all, problem) => {
      if (!verdict) message.textContent = all ? end() : problem || "Stopped: another run began.";
      else if (good[verdict.row]) met += enter(good[verdict.row], verdict);
    });
  }
  /** The word of a line and what is expected of it: an outcome at its end, if the whole line is no word. */
  function readLine(line) {
    const ends = ["", ...outcomes().filter((outcome) => line.trim().endsWith(` ${outcome}`) || line.trim().endsWith(`\t${outcome}`))];
    let problem = "";
    for (const expected of ends.sort((one, other) => !other - !one || other.length - one.length)) {
      const text = expected ? line.trim().slice(0, -expected.length).trimEnd() : line;
      try {
        return { text, expected, word: fit(parseWord(text, session.machine)) };
      } catch (error) {
        problem ||= error.message;
      }
    }
    return { text: line, problem };
  }
  function fit(word) {
    if (session.limit + word.length <= 2 ** session.bits) return word;
    throw new Error("This word needs more bits. Put it into Word first, or allow fewer steps.");
  }
  /** Fill in a row; whether what was expected has come. */
  function enter({ node, expected }, { status, steps, state, ones, mark, message: failed }) {
    const meaning = verdictOf(state, lab.entry), halted = `halted in ${short(`${state}`, 30)}${meaning}`;
    const verdict = { halted, failed }[status] ?? status, equal = status === "jammed" ? "both jam" : "✓ equal";
    const agrees = !mark ? "off" : mark.good ? equal : `✗ ${mark.message}`;
    const came = status === "halted" ? ["halted", state, meaning.slice(2)] : [status], isMet = expected !== "" && came.includes(expected);
    const met = !expected ? "" : isMet ? `✓ ${expected}` : `✗ not ${expected}`;
    [...node.children].slice(1).forEach((cell, k) =>
      (cell.textContent = [verdict, big(steps), `${ones}`, agrees, met][k]));
    node.lastChild.classList.toggle("wrong", expected !== "" && !isMet);
    node.dataset.status = status;
    return isMet;
  }
  return {
    nodes: [help, box, line(button("Run them all", judge)), message, frame],
    draw(why) {
      if (why !== "load" || of === session.machine) return;
      of = session.machine;
      const [end] = outcomes();
      help.textContent = `A word a line. To test the machine, put what you expect after a word: ${short(end, 30)}, or jammed.`;
      if (box.value === given || lab.name) box.value = given = lab.words.join("\n"); // not what was typed
      message.textContent = "";
      frame.hidden = true;
    },
  };
}

/** The link, the lines of Python, the weights. */
export function takePanel(lab) {
  const { session } = lab, said = live("hint"), link = textField({ "aria-label": "Link to what is shown" });
  const lines = h("pre", { tabindex: 0, role: "group", "aria-label": "The same in Python" });
  link.readOnly = true;
  const copy = (text, what) => async () => {
    try {
      await navigator.clipboard.writeText(text());
      said.textContent = `${what} copied.`;
    } catch {
      said.textContent = "The browser does not let this page copy. Select the text, and copy it.";
    }
  };
  function download() {
    const url = URL.createObjectURL(new Blob([`${JSON.stringify(session.file)}\n`], { type: "application/json" }));
    h("a", { href: url, download: `${lab.name || "machine"}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
  const edited = h("p", { class: "hint" }, "The weights that you changed are in neither: Download weights has them.");
  const linked = line(link, button("Copy link", copy(() => link.value, "The link is")));
  const python = button("Copy Python", copy(() => lines.textContent, "The lines are"));
  return {
    nodes: [
      linked, h("p", {}, "The same in Python:"), lines, edited,
      line(python, button("Download weights", download)), said,
    ],
    draw() {
      link.value = lab.link();
      linked.hidden = !link.value;
      edited.hidden = !session.edits.size;
      lines.textContent = pythonOf(lab);
    },
  };
}

/** Three lines that compile the same network with turing, and run it. */
function pythonOf({ session, name, text }) {
  const { word, machine, file: { options: { T, bits } } } = session;
  const given = name ? `turing.zoo[${JSON.stringify(name)}]` : `turing.TuringMachine.parse(${JSON.stringify(text)})`;
  return `import turing
net = turing.compile(${given}, "wcm21", T=${T}, bits=${bits}, adder="lookahead")
print(net.run(${JSON.stringify(isSingle(machine) ? word.join("") : word)}, engine="indexed"))
`;
}
