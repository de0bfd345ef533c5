// The tape stepper. It runs the machine in the page, so it needs no kernel and no network.

import { button, h, listen, onKeys, put, scroller, watch, widget } from "../page/dom.js";
import { Interpreter, isSingle, verdictOf } from "../page/machine.js";
import { motionTime, pulse } from "../page/motion.js";
import { createTape } from "../page/tape.js";
import { big, clamp, count, shown } from "../page/text.js";
import { createTransport } from "../page/transport.js";
import { createWord } from "../page/word.js";
import { createHistory } from "./history.js";

const MAX_STEPS = 200_000; // that a reader can ask for

/**
 * Run a machine on a word. trace[t] is what step t finds: state, head, the symbol read, and the index of the rule for
 * it (−1 if there is none). Each rule changes one cell, so the trace is also the history of the tape, forwards and
 * backwards. lo and hi are the outermost cells of word and run.
 */
export function run(machine, symbols, maxSteps) {
  const interpreter = new Interpreter(machine, symbols), trace = [];
  let lo = 0, hi = Math.max(0, symbols.length - 1);
  do {
    const { state, head, read, rule } = interpreter;
    trace.push({ state: machine.states[state], head, read: machine.symbols[read], rule });
    lo = Math.min(lo, head);
    hi = Math.max(hi, head);
  } while (interpreter.steps < maxSteps && interpreter.step());
  const { steps } = interpreter, isHalted = machine.halting.includes(trace.at(-1).state);
  return { status: isHalted ? "halted" : steps < maxSteps ? "jammed" : "limit", steps, trace, lo, hi };
}

function createRules(machine) {
  const rows = machine.rules.map(([q, a, p, b, move]) =>
    h("tr", {}, ...[["q", q], ["a", shown(a)], ["q", p], ["a", shown(b)], ["d", ["−1", "0", "+1"][move + 1]]].map(
      ([kind, text]) => h("td", { class: kind, title: text }, text),
    )),
  );
  const head = h("tr", {}, ...["state", "read", "next", "write", "move"].map((name) => h("th", { scope: "col" }, name)));
  const frame = scroller("rules", "Rules", h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
  let on = null;
  return {
    frame,
    show(rule) {
      on?.classList.remove("on");
      on?.removeAttribute("aria-current");
      on = rows[rule];
      if (!on) return;
      on.classList.add("on");
      on.setAttribute("aria-current", "true");
      const { offsetTop: top, offsetHeight: height } = on; // in view, and clear of the heading that stays
      frame.scrollTop = clamp(frame.scrollTop, top + height - frame.clientHeight, top - height);
    },
  };
}

export default {
  render({ model, el }) {
    const machine = model.get("machine"), entry = model.get("entry");
    const tapeView = createTape(machine, { near: 1000 }), rulesView = createRules(machine);
    const field = createWord((symbols) => {
      load(isSingle(machine) ? symbols.join("") : symbols);
      model.set("word", word);
      advance(0);
    });
    const status = h("p", { class: "status" }), says = h("div", { class: "says", "aria-live": "polite" });
    const speed = h("select", {}, ...[1, 2, 5, 10, 30, 60].map((n) => h("option", { value: n }, `${n}/s`)));
    speed.value = 5;
    const nextLimit = () => clamp(10 * limit, 1000, MAX_STEPS);
    const more = button("", () => {
      limit = nextLimit();
      result = run(machine, [...word], limit);
      advance(step);
      transport.slider.focus(); // this button may go
    });
    const diagram = scroller("diagram", "State diagram");
    diagram.innerHTML = model.get("diagram"); // our own picture, its names escaped where it is drawn
    const natural = diagram.firstElementChild.width.baseVal.value;
    diagram.classList.toggle("wide", natural > 520);
    diagram.firstElementChild.style.minWidth = `${0.6 * natural}px`; // smaller is not legible; then it scrolls
    const titled = (name, text, ...parts) =>
      h("div", { class: name }, h("div", { class: "title", "aria-hidden": true }, text), ...parts);
    const transport = createTransport("Step of the run", {
      first: 0,
      get last() {
        return result.steps;
      },
      get now() {
        return step;
      },
      go: advance,
    }, () => speed.value, "To the end");
    const root = widget("stepper", "Turing machine, step by step", { tabindex: 0 });
    const history = createHistory(machine, root);
    root.append(
      h("div", { class: "top" },
        h("div", { class: "word" }, h("label", {}, "Word", field.input), field.hint),
        tapeView.frame,
        status,
        h("div", { class: "controls" }, transport.buttons,
          h("div", { class: "scrub" }, transport.slider, h("label", {}, "Speed", speed)))),
      h("div", { class: "more" },
        titled("left", "Rules; the next one to fire is inverted", rulesView.frame), diagram,
        titled("right", "Space–time: a row a step", history.frame, history.legend)),
      h("p", { class: "keys" }, "Keys: ← → one step, Home and End, P plays and pauses."),
      says,
    );
    el.replaceChildren(root);

    let word, result, tape, step, centre, limit = model.get("max_steps");

    function load(next) {
      transport.pause();
      word = next;
      const symbols = [...word];
      result = run(machine, symbols, limit);
      tape = new Map(symbols.entries());
      step = 0;
      centre = (symbols.length - 1) / 2;
    }

    /** Walk to a step through the history, one written or restored cell at a time; tell the kernel. */
    function advance(target) {
      const { trace, steps } = result;
      target = clamp(target, 0, steps);
      const taken = target === step + 1 ? trace[step].rule : -1;
      while (step < target) tape.set(trace[step].head, machine.rules[trace[step++].rule][3]);
      while (step > target) tape.set(trace[--step].head, trace[step].read);
      draw(taken < 0 ? 0 : motionTime(transport.playing ? Number(speed.value) : 1), taken);
      put(model, { step });
    }

    /** What is new moves for a time: it came by the rule that was taken. */
    function draw(time = 0, taken = -1) {
      const now = result.trace[step], { state, head, read, rule } = now;
      const at = step < result.steps ? "running" : result.status;
      Object.assign(root.dataset, { state, step, head, status: at });
      const text = {
        running: "running",
        halted: `halted in ${state} after ${count(step, "step")}${verdictOf(state, entry)}`,
        jammed: `jammed: no rule for (${state}, ${shown(read)})`,
        limit: `not halted after ${count(step, "step")}, the most that were allowed`,
      }[at];
      status.replaceChildren(
        h("span", {}, `step ${big(step)} of ${big(result.steps)}`),
        h("span", {}, "state ", h("span", { class: "q" }, state)),
        h("b", {}, text),
      );
      if (at === "limit" && limit < MAX_STEPS) root.firstChild.append(more);
      else more.remove();
      more.textContent = `Allow ${big(nextLimit())} steps`;
      transport.show();
      tapeView.show((cell) => tape.get(cell) ?? machine.blank, result, now, { centre, time });
      centre = undefined;
      rulesView.show(rule);
      for (const edge of diagram.querySelectorAll(".edge")) {
        const rules = edge.dataset.rules.split(" ");
        edge.classList.toggle("on", rules.includes(`${rule}`));
        if (time && rules.includes(`${taken}`)) pulse(edge, time);
      }
      const frame = diagram.getBoundingClientRect();
      for (const node of diagram.querySelectorAll(".node")) {
        if (!node.classList.toggle("on", machine.states[node.dataset.state] === state)) continue;
        const { left, right } = node.getBoundingClientRect();
        if (left < frame.left || right > frame.right) diagram.scrollLeft += (left + right - frame.left - frame.right) / 2;
      }
      history.paint(result, step, tape, true);
      // Speech would fall behind a running machine: it is given single steps and the end.
      if (!transport.playing || at !== "running")
        says.textContent = `Step ${step}: state ${state}, head on cell ${head}, reading ${shown(read)}; ${text}`;
    }

    speed.addEventListener("change", () => transport.hurry());
    onKeys(root, () => transport.keys);
    history.frame.addEventListener("scroll", () => history.paint(result, step, tape, false));

    function onWord() {
      if (JSON.stringify(model.get("word")) === JSON.stringify(word)) return;
      load(model.get("word"));
      field.show([...word], machine, entry);
      advance(model.get("step"));
    }
    const forget = listen(model, {
      word: onWord,
      step: () => model.get("step") !== step && transport.move(model.get("step")),
    });
    onWord();

    const unwatch = watch(root, () => {
      centre = result.trace[step].head;
      requestAnimationFrame(() => draw());
    }, () => history.paint(result, step, tape, false));
    return () => {
      transport.pause();
      unwatch();
      forget();
    };
  },
};
