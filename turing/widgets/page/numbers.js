// Floats as their type rounds them, and fractions without end.

export const ROUND = { float32: Math.fround, float64: (x) => x };

/** How many digits name a float of its type and no other. */
export function digitsOf(x, type) {
  let n = 1;
  while (n < 17 && ROUND[type](Number(x.toPrecision(n))) !== x) n++;
  return n;
}

/** A fraction in lowest terms. */
export function lowest(numerator, denominator) {
  let [a, b] = [numerator, denominator];
  while (b) [a, b] = [b, a % b];
  return [numerator / a, denominator / a];
}

/** The fraction that a float is. */
export function fractionOf(x) {
  let denominator = 1n;
  for (; !Number.isInteger(x); x *= 2) denominator *= 2n;
  return lowest(BigInt(x), denominator);
}
