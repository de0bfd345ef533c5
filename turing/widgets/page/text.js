// Words and numbers as the widgets write them.

export const range = (n) => [...Array(n).keys()];
export const clamp = (x, low, high) => ((x = x < high ? x : high) > low ? x : low);
export const length = (text) => [...text].length;
/** A symbol of a machine, as it can be seen. */
export const shown = (symbol) => (symbol.trim() ? symbol : "␣");
/** A text with its end cut off if it is long. */
export const short = (text, max = 40) => (length(text) > max ? `${[...text].slice(0, max - 1).join("")}…` : text);
/** With the minus sign of a formula. */
export const signed = (number) => `${number}`.replaceAll("-", "−");
/** So many digits at most; eight are enough to distinguish any two numbers of float32. */
export const digits = (x, max = 8) => signed(Number(x.toPrecision(max)));
export const big = (n) => n.toLocaleString("en");
export const count = (n, noun) => `${big(n)} ${noun}${n === 1 ? "" : "s"}`;
/** Things with commas and an "and" between them; a thing may be several nodes. */
export const listed = (things) =>
  things.flatMap((thing, n) => [...(n ? [n < things.length - 1 ? ", " : " and "] : []), ...[thing].flat()]);
/** A sum of [sign, text]. */
export const sum = (terms) =>
  terms.map(([sign, text], n) => (sign < 0 ? (n ? " − " : "−") : n ? " + " : "") + text).join("");
/** The order of two texts by code points, as Python sorts. */
export function byCodePoint(one, other) {
  let i = 0;
  while (i < one.length && one[i] === other[i]) i++;
  return (one.codePointAt(i) ?? -1) - (other.codePointAt(i) ?? -1);
}
