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

/** The space–time picture: one row a step, time runs down. Only the rows in view are drawn. */
function createHistory(machine, root) {
  const canvas = h("canvas", { role: "img" }), rows = h("div", { class: "rows" });
  const frame = scroller("history", "Space–time picture", canvas, rows);
  const written = machine.symbols.slice(1), names = Math.min(6, Math.max(...machine.states.map(length)));
  const shade = (symbol) => 0.75 - (0.55 * written.indexOf(symbol)) / Math.max(1, written.length - 1);
  const key = (text, kind, opacity = 1) => h("span", {}, h("i", { class: kind, style: `opacity: ${opacity}` }), text);
  const legend = h("p", { class: "legend" }, key("head", "head"), key(`${shown(machine.blank)} (blank)`, "blank"),
    ...written.map((symbol) => key(shown(symbol), "symbol", shade(symbol))));
  const HEIGHT = 420, LARGEST = 28, READABLE = 13, SMALLEST = 3; // CSS pixels

  return {
    frame,
    legend,
    /** Paint the steps up to this one, after which the tape is as given. */
    paint({ trace, lo, hi }, step, tape, follow) {
      const ratio = window.devicePixelRatio || 1, width = frame.clientWidth;
      if (!width) return;
      const fit = (room, n) => Math.floor(clamp(room / n, SMALLEST, LARGEST) * ratio); // whole device pixels are crisp
      const tall = fit(HEIGHT, trace.length), spelled = tall >= READABLE * ratio && isSingle(machine);
      legend.hidden = spelled; // symbols that are printed need no key
      const gutter = Math.round((spelled ? 48 + 12 * names : 40) * ratio);
      const wide = Math.max(fit(width - gutter / ratio, hi - lo + 1), spelled ? tall : 0);
      const height = Math.min(HEIGHT, Math.ceil((trace.length * tall) / ratio));
      frame.style.height = `${height}px`;
      rows.style.height = `${((step + 1) * tall) / ratio}px`;
      if (follow) frame.scrollTop = frame.scrollHeight;
      Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
      Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
      canvas.setAttribute("aria-label", `Space–time picture of the tape, one row a step, up to step ${step}`);

      const style = getComputedStyle(root);
      const [ink, ground, st, sym, scr, line, mono] = ["ink", "ground", "st", "sym", "scr", "line", "mono"].map(
        (name) => style.getPropertyValue(`--${name}`));
      const pen = canvas.getContext("2d"), top = Math.round(frame.scrollTop * ratio);
      const columns = Math.floor((canvas.width - gutter) / wide);
      const left = clamp(trace[step].head - (columns >> 1), lo, Math.max(lo, hi + 1 - columns));
      const right = Math.min(hi, left + columns - 1);
      const every = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n * tall >= 20 * ratio) ?? 1000;
      pen.textBaseline = "middle";
      const write = (text, x, y, size, weight, colour, align) => {
        Object.assign(pen, { font: `${weight} ${size}px ${mono}`, fillStyle: colour, textAlign: align });
        pen.fillText(text, x, clamp(y, size / 2, canvas.height - size / 2));
      };
      const row = new Map(tape);
      for (let t = step; t >= 0 && (t + 1) * tall > top; t--) {
        const { state, head, read } = trace[t], y = t * tall - top, middle = y + tall / 2 + ratio / 2;
        if (t < step) row.set(head, read); // undo the step
        if (y >= canvas.height) continue;
        for (let i = left; i <= right; i++) {
          const symbol = row.get(i) ?? machine.blank, blank = symbol === machine.blank, here = i === head;
          const x = gutter + (i - left) * wide;
          pen.globalAlpha = here ? 1 : blank ? 0 : spelled ? 0.12 : shade(symbol);
          pen.fillStyle = here ? ink : sym;
          pen.fillRect(x, y, wide, tall);
          pen.globalAlpha = 1;
          const colour = here ? ground : blank ? scr : sym;
          if (spelled) write(shown(symbol), x + wide / 2, middle, tall * 0.68, here ? 600 : 400, colour, "center");
        }
        if (spelled) write([...state].slice(0, 6).join(""), 40 * ratio, middle, tall * 0.68, 600, st, "left");
        if (t % every === 0) write(t, 32 * ratio, middle, 11 * ratio, 400, scr, "right");
      }
      pen.fillStyle = line;
      const hair = Math.ceil(ratio);
      for (const x of [gutter - hair, gutter + (right + 1 - left) * wide]) pen.fillRect(x, 0, hair, canvas.height);
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
    const machine = model.get("machine"), id = `turing-${Math.random().toString(36).slice(2)}`;
    const tapeView = createTape(machine), rulesView = createRules(machine);
    const button = (text, action, attributes = {}) => {
      const node = h("button", { type: "button", ...attributes }, text);
      node.addEventListener("click", action);
      return node;
    };
    const apart = isSingle(machine) ? "" : " (put spaces between them)";
    const alphabet = `Symbols: ${machine.symbols.map(shown).join(" ")}${apart}`;
    const input = h("input", {
      type: "text", "aria-describedby": id,
      spellcheck: false, autocomplete: "off", autocapitalize: "off", autocorrect: "off",
    });
    const hint = h("span", { class: "hint", id, "aria-live": "polite" }, alphabet);
    const status = h("p", { class: "status" }), says = h("div", { class: "says", "aria-live": "polite" });
    const play = button("Play", () => (timer ? pause() : start()));
    const slider = h("input", { type: "range", min: 0, step: 1, "aria-label": "Step of the run" });
    const speed = h("select", {}, ...[1, 2, 5, 10, 30, 60].map((n) => h("option", { value: n }, `${n}/s`)));
    speed.value = 5;
    const diagram = scroller("diagram", "State diagram");
    diagram.innerHTML = model.get("diagram"); // our own picture, its names escaped where it is drawn
    const natural = diagram.firstElementChild.width.baseVal.value;
    diagram.classList.toggle("wide", natural > 520);
    diagram.firstElementChild.style.minWidth = `${0.6 * natural}px`; // smaller is not legible; then it scrolls
    const titled = (name, text, ...parts) => h("div", { class: name }, h("div", { class: "title", "aria-hidden": true }, text), ...parts);
    const root = h("div", {
      class: "turing-widget turing-stepper", tabindex: 0, role: "group",
      "aria-label": "Turing machine, step by step", "data-lm-suppress-shortcuts": true,
    });
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
          h("div", { class: "scrub" }, slider, h("label", {}, "Speed", speed)))),
      h("div", { class: "more" },
        titled("left", "Rules; the next one to fire is inverted", rulesView.frame), diagram,
        titled("right", "Space–time: a row a step", history.frame, history.legend)),
      h("p", { class: "keys" }, "Keys: ← → one step, Home and End, P plays and pauses."),
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
      tapeView.build(tape, result, (symbols.length - 1) / 2);
    }

    /** Walk to a step through the history, one written or restored cell at a time; tell the kernel. */
    function advance(target) {
      const { trace, steps } = result;
      const write = (cell, symbol) => (tape.set(cell, symbol), tapeView.write(cell, symbol));
      target = clamp(target, 0, steps);
      while (step < target) write(trace[step].head, machine.rules[trace[step++].rule][3]);
      while (step > target) write(trace[--step].head, trace[step].read);
      draw();
      model.set("step", step);
      model.save_changes();
    }
    function move(target) {
      pause();
      advance(target);
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
      const frame = diagram.getBoundingClientRect();
      for (const node of diagram.querySelectorAll(".node")) {
        if (!node.classList.toggle("on", machine.states[node.dataset.state] === state)) continue;
        const { left, right } = node.getBoundingClientRect();
        if (left < frame.left || right > frame.right) diagram.scrollLeft += (left + right - frame.left - frame.right) / 2;
      }
      history.paint(result, step, tape, true);
      // Speech would lag behind a running machine: it hears of single steps and of the end.
      if (!timer || at !== "running")
        says.textContent = `Step ${step}: state ${state}, head on cell ${head}, reading ${shown(read)}; ${text}`;
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

    input.addEventListener("input", () => {
      let symbols;
      try {
        symbols = parseWord(input.value, machine);
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
      const field = target.matches("input, select") && !(target === slider && key === " ");
      const press = target.matches("button") && key === " ";
      if (field || press || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const action = {
        ArrowLeft: () => move(step - 1), ArrowRight: () => move(step + 1),
        Home: () => move(0), End: () => move(result.steps), " ": () => play.click(), p: () => play.click(),
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
      input.value = typeof word === "string" ? word : word.join(" ");
      advance(model.get("step"));
    };
    const onStep = () => model.get("step") !== step && move(model.get("step"));
    model.on("change:word", onWord);
    model.on("change:step", onStep);
    onWord();

    let width = root.clientWidth;
    const resized = new ResizeObserver(() => {
      if (root.clientWidth === width) return;
      width = root.clientWidth;
      requestAnimationFrame(() => (tapeView.build(tape, result, result.trace[step].head), draw()));
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
