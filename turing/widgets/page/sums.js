// A row of a layer as a sum with names, and the gate that it is, as turing.show prints them.

import { digits, sum } from "./text.js";

export const formatNumber = (value) => digits(value, 6);

/**
 * What a row computes of bits, if that is an AND of literals. The sum is greatest where all of them hold; where
 * one does not, it is less by that weight at least, and that must be enough for the ReLU to give 0.
 */
export function gateName({ terms, bias, activation }, names) {
  const sizes = terms.map(([, weight]) => Math.abs(weight));
  const max = terms.reduce((total, [, weight]) => total + Math.max(weight, 0), bias);
  const nothing = 1e-6 * Math.max(Math.abs(bias), ...sizes); // what rounding leaves
  if (activation === "none" && (terms.length > 1 || max - Math.max(0, ...sizes) < -nothing)) return "";
  if (max <= nothing) return "0";
  if (max - Math.min(...sizes) > nothing) return "";
  const factor = formatNumber(max), negated = terms.filter(([, weight]) => weight < 0).length;
  if (!terms.length) return factor;
  const all = negated === terms.length, alone = terms.length === 1;
  const gate = all ? (alone ? "NOT" : "NOR") : alone ? "COPY" : "AND";
  const literals = terms.map(([j, weight]) => (weight < 0 && !all ? "¬" : "") + names[j]);
  return `${factor === "1" ? "" : `${factor}·`}${gate}(${literals.join(", ")})`;
}

/**
 * A sum as written by hand, of names or of values: what is added before what is taken away, and 1 − a rather
 * than −a + 1. Between a weight and its place stands what is given.
 */
export function sumText({ terms, bias }, places, times = " ", format = formatNumber) {
  const factor = (size) => (size === 1 ? "" : format(size) + times);
  const parts = terms.map(([j, weight]) => [weight, factor(Math.abs(weight)) + places[j]]);
  parts.sort(([one], [other]) => (one < 0) - (other < 0));
  const first = bias > 0 && terms.every(([, weight]) => weight < 0);
  if (bias || !terms.length) parts.splice(first ? 0 : parts.length, 0, [bias, format(Math.abs(bias))]);
  return sum(parts);
}

/** A row with what is applied to the sum. */
export function rowText(row, places, times, format) {
  const text = sumText(row, places, times, format), apply = { none: "", relu: "ReLU", clamp: "σ" }[row.activation];
  return apply && (row.terms.length || row.bias) ? `${apply}(${text})` : text;
}
