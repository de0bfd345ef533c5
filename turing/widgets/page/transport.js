// Buttons, a slider and keys to walk through the steps of a run.

import { button, h } from "./dom.js";
import { clamp } from "./text.js";

/**
 * `walk` has `first`, `last` and `now`, and `go(step)` shows a step. With `rate()`, in steps a second, there is a Play
 * button too, and it is the main one. `end` is what the button that goes to the last step says.
 */
export function createTransport(label, walk, rate, end = "End") {
  let timer = 0;
  const slider = h("input", { type: "range", step: 1, "aria-label": label });
  const play = button("Play", () => (timer ? pause() : start()), { class: "main" });
  const move = (step) => {
    pause();
    walk.go(clamp(step, walk.first, walk.last));
  };
  const moves = {
    Home: () => move(walk.first), ArrowLeft: () => move(walk.now - 1),
    ArrowRight: () => move(walk.now + 1), End: () => move(walk.last),
  };
  slider.addEventListener("input", () => move(Number(slider.value)));

  function start() {
    if (walk.now === walk.last) walk.go(walk.first);
    play.textContent = "Pause";
    timer = setInterval(() => {
      walk.go(Math.min(walk.now + 1, walk.last));
      if (walk.now === walk.last) pause();
    }, 1000 / rate());
  }
  function pause() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }
  return {
    slider,
    buttons: h("div", { class: "buttons" }, button("Start", moves.Home), button("Back", moves.ArrowLeft),
      ...(rate ? [play] : []), button("Step", moves.ArrowRight, rate ? {} : { class: "main" }), button(end, moves.End)),
    keys: { ...moves, ...(rate ? { p: () => play.click(), " ": () => play.click() } : {}) },
    get playing() {
      return timer !== 0;
    },
    move,
    pause,
    /** The rate is another one now. */
    hurry: () => timer && (pause(), start()),
    show() {
      Object.assign(slider, { min: walk.first, max: walk.last, value: walk.now });
      slider.setAttribute("aria-valuetext", `${walk.now} of ${walk.last}`);
    },
  };
}
