// The tape stepper. It runs the machine in the page, so it needs no kernel and no network.

/**
 * Run a machine on a word. trace[t] is what step t finds: state, head, the symbol read, and the index
 * of the rule for it (-1 if there is none). Each rule changes one cell, so the trace is also the history
 * of the tape, forwards and backwards. lo and hi are the outermost cells of word and run.
 */
export function run(machine, symbols, maxSteps) {
  const rules = new Map(machine.states.map((state) => [state, new Map()]));
  machine.rules.forEach(([state, symbol], i) => rules.get(state).set(symbol, i));
  const tape = new Map(symbols.entries()), trace = [];
  let state = machine.initial, head = 0, lo = 0, hi = Math.max(0, symbols.length - 1);
  for (;;) {
    const read = tape.get(head) ?? machine.blank;
    const rule = rules.get(state).get(read) ?? -1;
    trace.push({ state, head, read, rule });
    const steps = trace.length - 1;
    if (rule < 0 || steps >= maxSteps) {
      const status = machine.halting.includes(state) ? "halted" : steps < maxSteps ? "jammed" : "limit";
      return { status, steps, trace, lo, hi };
    }
    const [, , next, write, move] = machine.rules[rule];
    tape.set(head, write);
    state = next;
    head += move;
    lo = Math.min(lo, head);
    hi = Math.max(hi, head);
  }
}

const h = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const shown = (symbol) => (symbol.trim() ? symbol : "␣");
const length = (text) => [...text].length;
const signed = (move) => ["−1", "0", "+1"][move + 1];
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const isSingle = (machine) => machine.symbols.every((symbol) => length(symbol) === 1);

/** The symbols of a typed word: one a character, or parted by spaces if some symbol is longer. */
function parse(text, machine) {
  const trimmed = machine.symbols.includes(" ") ? text : text.trim();
  const symbols = isSingle(machine) ? [...trimmed] : trimmed.split(/\s+/).filter(Boolean);
  const cell = symbols.findIndex((symbol) => !machine.symbols.includes(symbol));
  if (cell < 0) return symbols;
  throw new Error(
    `Symbol '${symbols[cell]}' (cell ${cell} of the word) is not in this machine's alphabet: ` +
      `${[...machine.symbols].sort().map(shown).join(" ")}. The last good run stays.`,
  );
}

/** The tape: every cell that the run will use, and blanks to fill the frame. */
function createTape(machine) {
  const cells = h("div", { class: "cells", role: "img" });
  const frame = h("div", { class: "tape", tabindex: 0, role: "group", "aria-label": "Tape" }, cells);
  const width = 16 * clamp(Math.max(...machine.symbols.map(length)) * 0.7 + 1.3, 2.25, 9);
  frame.style.setProperty("--cell", `${width}px`);
  let first = 0, old = null;

  const put = (node, symbol) => {
    node.dataset.symbol = symbol;
    node.firstChild.textContent = shown(symbol);
    node.classList.toggle("blank", symbol === machine.blank);
  };
  return {
    frame,
    build(tape, { lo, hi }) {
      const missing = Math.max(0, Math.ceil(frame.clientWidth / width) - (hi - lo + 3));
      first = lo - 1 - (missing >> 1);
      const last = hi + 1 + missing - (missing >> 1);
      const nodes = [];
      for (let i = first; i <= last; i++) {
        const node = h("span", { class: "cell", "data-cell": i }, h("b"), h("i", {}, `${i}`.replace("-", "−")));
        put(node, tape.get(i) ?? machine.blank);
        nodes.push(node);
      }
      cells.replaceChildren(...nodes);
      old = null;
    },
    write: (cell, symbol) => put(cells.children[cell - first], symbol),
    show({ state, head, read }) {
      old?.classList.remove("head");
      old = cells.children[head - first];
      old.classList.add("head");
      old.dataset.on = state;
      const word = [...cells.children].map((node) => node.dataset.symbol).join(" ");
      cells.setAttribute("aria-label", `Head on cell ${head}, reading ${shown(read)}. The cells from ${first}: ${word}`);
      const left = (head - first) * width, margin = Math.min(3 * width, frame.clientWidth / 3);
      if (left < frame.scrollLeft + margin) frame.scrollLeft = left - margin;
      if (left + width > frame.scrollLeft + frame.clientWidth - margin)
        frame.scrollLeft = left + width + margin - frame.clientWidth;
    },
  };
}

/** The space–time picture: one row a step, time runs down, drawn for the rows that are in view. */
function createHistory(machine, root) {
  const canvas = h("canvas", { role: "img" }), rows = h("div", { class: "rows" });
  const frame = h("div", { class: "history", tabindex: 0, role: "group", "aria-label": "Space–time picture" }, canvas, rows);
  const place = new Map(machine.symbols.map((symbol, i) => [symbol, i / Math.max(1, machine.symbols.length - 1)]));
  const WIDTH_OF_NUMBERS = 36, HEIGHT = 400, LARGEST = 22, SMALLEST = 3, READABLE = 13;

  return {
    frame,
    /** Paint the steps up to this one; tape is how it stands now. */
    paint({ trace, lo, hi }, step, tape, follow) {
      const ratio = window.devicePixelRatio || 1, width = frame.clientWidth;
      if (!width) return;
      const room = Math.min((width - WIDTH_OF_NUMBERS) / (hi - lo + 1), HEIGHT / trace.length);
      const cell = Math.floor(clamp(room, SMALLEST, LARGEST) * ratio); // whole device pixels stay crisp
      const height = Math.min(HEIGHT, Math.ceil((trace.length * cell) / ratio) + 1);
      frame.style.height = `${height}px`;
      rows.style.height = `${((step + 1) * cell) / ratio}px`;
      if (follow) frame.scrollTop = ((step + 1) * cell) / ratio;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.setAttribute("aria-label", `Space–time picture of the tape, one row a step, up to step ${step}`);

      const style = getComputedStyle(root), colour = (name) => style.getPropertyValue(name);
      const [ink, ground, sym, scr, line] = ["--ink", "--ground", "--sym", "--scr", "--line"].map(colour);
      const pen = canvas.getContext("2d"), readable = cell >= READABLE * ratio && isSingle(machine);
      const gutter = WIDTH_OF_NUMBERS * ratio, top = Math.round(frame.scrollTop * ratio);
      const columns = Math.floor((canvas.width - gutter) / cell);
      const left = clamp(trace[step].head - (columns >> 1), lo, Math.max(lo, hi + 1 - columns));
      const right = Math.min(hi, left + columns - 1);
      const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * cell >= 20 * ratio) ?? 2000;
      const [from, to] = [Math.floor(top / cell), Math.min(step, Math.ceil((top + canvas.height) / cell))];
      pen.textBaseline = "middle";

      const row = new Map(tape);
      for (let t = step; t >= from; t--) {
        if (t < step) row.set(trace[t].head, trace[t].read); // undo the step
        if (t > to) continue;
        const y = t * cell - top;
        for (let i = left; i <= right; i++) {
          const symbol = row.get(i) ?? machine.blank, x = gutter + (i - left) * cell, head = i === trace[t].head;
          pen.globalAlpha = head ? 1 : place.get(symbol) * (readable ? 0.4 : 0.8);
          pen.fillStyle = head ? ink : sym;
          pen.fillRect(x, y, cell, cell);
          pen.globalAlpha = 1;
          if (!readable) continue;
          pen.font = `${head ? 600 : 400} ${Math.round(cell * 0.68)}px ${colour("--mono")}`;
          pen.textAlign = "center";
          pen.fillStyle = head ? ground : symbol === machine.blank ? scr : ink;
          pen.fillText(shown(symbol), x + cell / 2, y + cell / 2 + ratio / 2);
        }
        if (t % every) continue;
        pen.font = `${11 * ratio}px ${colour("--mono")}`;
        pen.textAlign = "right";
        pen.fillStyle = scr;
        pen.fillText(t, gutter - 6 * ratio, y + cell / 2);
      }
      pen.fillStyle = line;
      for (const x of [left, right + 1]) pen.fillRect(gutter + (x - left) * cell, 0, Math.ceil(ratio), canvas.height);
    },
  };
}

function createRules(machine) {
  const rows = machine.rules.map(([q, a, p, b, move]) =>
    h("tr", {}, ...[["q", q], ["a", shown(a)], ["q", p], ["a", shown(b)], ["d", signed(move)]].map(
      ([kind, text]) => h("td", { class: kind, title: text }, text),
    )),
  );
  const head = h("tr", {}, ...["state", "read", "next", "write", "move"].map((name) => h("th", { scope: "col" }, name)));
  const frame = h("div", { class: "rules", tabindex: 0, role: "group", "aria-label": "Rules" },
    h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
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
      frame.scrollTop = clamp(frame.scrollTop, on.offsetTop + on.offsetHeight - frame.clientHeight, on.offsetTop - on.offsetHeight);
    },
  };
}

export default {
  render({ model, el }) {
    const machine = model.get("machine"), id = `turing-${Math.random().toString(36).slice(2)}`;
    const tapeView = createTape(machine), rulesView = createRules(machine);
    const button = (text, action, attributes = {}) => {
      const node = h("button", { type: "button", ...attributes }, text);
      node.addEventListener("click", action);
      return node;
    };
    const alphabet = `Symbols: ${machine.symbols.map(shown).join(" ")}${isSingle(machine) ? "" : " (put spaces between them)"}`;
    const input = h("input", { type: "text", spellcheck: false, autocomplete: "off", autocapitalize: "off", autocorrect: "off", "aria-describedby": id });
    const hint = h("span", { class: "hint", id, "aria-live": "polite" }, alphabet);
    const status = h("p", { class: "status" }), says = h("div", { class: "says", "aria-live": "polite" });
    const play = button("Play", () => (timer ? pause() : start()));
    const slider = h("input", { type: "range", min: 0, step: 1 });
    const speed = h("select", {}, ...[1, 2, 5, 10, 30, 60].map((n) => h("option", { value: n }, `${n} a second`)));
    speed.value = 5;
    const diagram = h("div", { class: "diagram" });
    diagram.innerHTML = model.get("diagram"); // our own picture, its names escaped where it is drawn
    const titled = (text, ...nodes) => h("div", {}, h("div", { class: "title", "aria-hidden": true }, text), ...nodes);
    const root = h("div", { class: "turing-widget turing-stepper", tabindex: 0, role: "group", "aria-label": "Turing machine, step by step", "data-lm-suppress-shortcuts": true });
    const history = createHistory(machine, root);
    root.append(
      h("div", { class: "top" },
        h("div", { class: "word" }, h("label", {}, "Word", input), hint),
        tapeView.frame,
        status,
        h("div", { class: "controls" },
          h("div", { class: "buttons" },
            button("Start", () => move(0)), button("Back", () => move(step - 1)), play,
            button("Step", () => move(step + 1), { class: "main" }), button("End", () => move(result.steps))),
          h("div", { class: "scrub" }, h("label", {}, "Step", slider), h("label", {}, "Speed", speed)))),
      h("div", { class: "more" },
        h("div", {}, titled("Rules; the next one to fire is inverted", rulesView.frame), diagram),
        titled("Space–time: a row a step", history.frame)),
      h("p", { class: "keys" }, "Keys: ← → one step, Home and End, Space plays."),
      says,
    );
    el.replaceChildren(root);

    let word, result, tape, step, timer = 0;

    function load(next) {
      pause();
      word = next;
      const symbols = [...word];
      result = run(machine, symbols, model.get("max_steps"));
      tape = new Map(symbols.entries());
      step = 0;
      slider.max = result.steps;
      tapeView.build(tape, result);
    }

    function go(target) {
      const { trace, steps } = result, set = (cell, symbol) => (tape.set(cell, symbol), tapeView.write(cell, symbol));
      target = clamp(target, 0, steps);
      while (step < target) set(trace[step].head, machine.rules[trace[step++].rule][3]);
      while (step > target) set(trace[--step].head, trace[step].read);
      draw();
    }

    function draw() {
      const now = result.trace[step], { state, head, read, rule } = now;
      const at = step < result.steps ? "running" : result.status;
      Object.assign(root.dataset, { state, step, head, status: at });
      const text = {
        running: "running",
        halted: `halted in ${state} after ${count(step, "step")}`,
        jammed: `jammed: no rule for (${state}, ${shown(read)})`,
        limit: `stopped after ${count(step, "step")}: raise max_steps`,
      }[at];
      status.replaceChildren(
        h("span", {}, `step ${step.toLocaleString("en")} of ${result.steps.toLocaleString("en")}`),
        h("span", {}, "state ", h("span", { class: "q" }, state)),
        h("b", {}, text),
      );
      slider.value = step;
      slider.setAttribute("aria-valuetext", `${step} of ${result.steps}`);
      tapeView.show(now);
      rulesView.show(rule);
      for (const edge of diagram.querySelectorAll(".edge"))
        edge.classList.toggle("on", edge.dataset.rules.split(" ").includes(`${rule}`));
      for (const node of diagram.querySelectorAll(".node"))
        node.classList.toggle("on", machine.states[node.dataset.state] === state);
      history.paint(result, step, tape, true);
      // Speech would lag behind a running machine: it hears of single steps and of the end.
      if (!timer || at !== "running") says.textContent = `Step ${step}: state ${state}, head on cell ${head}, reading ${shown(read)}; ${text}`;
    }

    /** What the reader does, and the kernel hears of. */
    function move(target) {
      pause();
      advance(target);
    }
    function advance(target) {
      go(target);
      model.set("step", step);
      model.save_changes();
    }
    function start() {
      if (step === result.steps) advance(0);
      timer = setInterval(() => (step < result.steps ? advance(step + 1) : pause()), 1000 / speed.value);
      play.textContent = "Pause";
    }
    function pause() {
      clearInterval(timer);
      timer = 0;
      play.textContent = "Play";
    }
    const text = () => (typeof word === "string" ? word : word.join(" "));

    input.addEventListener("input", () => {
      let symbols;
      try {
        symbols = parse(input.value, machine);
      } catch (error) {
        hint.textContent = error.message;
      }
      hint.classList.toggle("wrong", !symbols);
      input.setAttribute("aria-invalid", !symbols);
      if (!symbols) return;
      hint.textContent = alphabet;
      load(isSingle(machine) ? symbols.join("") : symbols);
      model.set("word", word);
      advance(0);
    });
    slider.addEventListener("input", () => move(Number(slider.value)));
    speed.addEventListener("change", () => timer && (pause(), start()));
    root.addEventListener("keydown", (event) => {
      const { target, key } = event;
      const own = target === slider ? key !== " " : target.matches("select, input") || (target.matches("button") && key === " ");
      if (own || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const action = {
        ArrowLeft: () => move(step - 1), ArrowRight: () => move(step + 1),
        Home: () => move(0), End: () => move(result.steps), " ": () => play.click(),
      }[key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    });
    history.frame.addEventListener("scroll", () => history.paint(result, step, tape, false));

    const onWord = () => {
      if (JSON.stringify(model.get("word")) === JSON.stringify(word)) return;
      load(model.get("word"));
      input.value = text();
      go(model.get("step"));
    };
    const onStep = () => model.get("step") !== step && (pause(), go(model.get("step")));
    model.on("change:word", onWord);
    model.on("change:step", onStep);
    onWord();

    let width = root.clientWidth;
    const resized = new ResizeObserver(() => {
      if (root.clientWidth === width) return;
      width = root.clientWidth;
      requestAnimationFrame(() => (tapeView.build(tape, result), draw()));
    });
    resized.observe(root);
    const themed = new MutationObserver(() => history.paint(result, step, tape, false));
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      pause();
      resized.disconnect();
      themed.disconnect();
      model.off("change:word", onWord);
      model.off("change:step", onStep);
    };
  },
};
