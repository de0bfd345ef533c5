// Motion that explains: the head slides, a written cell flips, an edge pulses, a line is drawn to where it leads.
// Nothing moves above ten steps a second, nor for a reader who asked for that. A time of 0 is no motion at all.

const FASTEST = 10, LONGEST = 400; // steps a second, milliseconds

/** Whether the reader's system asks for stillness. */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** How long a motion may last at so many steps a second, in milliseconds. */
export const motionTime = (rate) => (isStill() || rate > FASTEST ? 0 : Math.min(LONGEST, 600 / rate));

function animate(node, frames, time, options) {
  if (time && node) node.animate(frames, { duration: time, easing: "ease-in-out", ...options });
}

/** The head goes from a cell of a tape to its neighbour: the ink leaves one on the side on which it enters the other. */
export function slide(from, to, time) {
  const step = to.offsetLeft - from.offsetLeft, style = getComputedStyle(to);
  const [ink, ground] = ["--ink", "--ground"].map((name) => style.getPropertyValue(name));
  const tint = (cell) => (cell.matches(".blank") ? "transparent" : "color-mix(in srgb, var(--sym) 12%, transparent)");
  const fill = (cell, side, ...sizes) => ({
    backgroundColor: sizes.map(() => tint(cell)), backgroundImage: sizes.map(() => `linear-gradient(${ink}, ${ink})`),
    backgroundRepeat: sizes.map(() => "no-repeat"), backgroundPosition: sizes.map(() => side), backgroundSize: sizes,
  });
  const [full, none] = ["100% 100%", "0% 100%"], colour = getComputedStyle(from.firstChild).color;
  animate(from.firstChild, { ...fill(from, step > 0 ? "100% 0" : "0 0", full, none), color: [ground, colour] }, time);
  animate(to.firstChild, { ...fill(to, step > 0 ? "0 0" : "100% 0", none, full), color: [colour, ground] }, time);
  animate(to, { transform: [`translateX(calc(-50% - ${step}px))`, "translateX(-50%)"] }, time, { pseudoElement: "::before" });
}

/** A cell of a tape has another symbol. */
export const flip = (cell, time) => animate(cell.firstChild, { transform: ["rotateX(90deg)", "none"] }, time);

/** An edge of a state diagram is taken. */
export function pulse(edge, time) {
  const line = edge.querySelector(".line"), { stroke, strokeWidth } = getComputedStyle(line);
  animate(line, { stroke: [getComputedStyle(edge).getPropertyValue("--st"), stroke], strokeWidth: ["7px", strokeWidth] }, time);
}

/** A line is drawn from its first point to its last. */
export function draw(path, time) {
  const length = time && path.getTotalLength();
  animate(path, { strokeDasharray: [`0 ${length}`, `${length} 0`] }, time);
}

export const appear = (node, time) => animate(node, { opacity: [0, 1] }, time);
