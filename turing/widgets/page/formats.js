// Machines as text, read in the page as turing.formats reads them: the same machine, or the same error. JFLAP's
// XML alone is left to the library.

import { big, byCodePoint } from "./text.js";

/** Text that is not a machine, or a machine that a format cannot hold; line is where the error is, or 0. */
export class FormatProblem extends Error {
  constructor(message, line = 0) {
    super(line ? `line ${line}: ${message}` : message);
    Object.assign(this, { name: "FormatProblem", line });
  }
}
const reject = (message, line) => {
  throw new FormatProblem(message, line);
};

/** The text in quotes, as Python writes it, short enough for a message. */
function inQuotes(text) {
  const characters = [...text.slice(0, 122)], some = characters.slice(0, 60).join("");
  const quote = some.includes("'") && !some.includes('"') ? '"' : "'";
  const escaped = some.replace(/[\\'\p{C}\p{Z}]/gu, (c) => {
    if (c === " " || (c === "'" && c !== quote)) return c;
    if (c === "'" || c === "\\") return `\\${c}`;
    if ("\n\r\t".includes(c)) return JSON.stringify(c).slice(1, -1);
    const hex = c.codePointAt(0).toString(16), size = hex.length < 3 ? 2 : hex.length < 5 ? 4 : 8;
    return `\\${{ 2: "x", 4: "u", 8: "U" }[size]}${hex.padStart(size, "0")}`;
  });
  return quote + escaped + quote + (characters.length > 60 ? "…" : "");
}

const isOneCharacter = (name) => name.length === 1 || (name.length === 2 && name.codePointAt(0) > 0xffff);

/** A map by two names, which may be any text. */
class PairMap {
  rows = new Map();
  get(state, symbol) {
    return this.rows.get(state)?.get(symbol);
  }
  set(state, symbol, value) {
    if (!this.rows.has(state)) this.rows.set(state, new Map());
    this.rows.get(state).set(symbol, value);
  }
}

/** {machine} of rows [line, state, symbol, next state, symbol to write, move], in TuringMachine's order. */
function buildMachine(rows, initial, halting, blank, alphabet) {
  const halts = new Set(halting), seen = new PairMap(), named = new Set(), known = new Set();
  for (const [line, state, symbol, target, written] of rows) {
    named.add(state).add(target);
    known.add(symbol).add(written);
    checkFirst(seen, line, state, symbol);
    if (halts.has(state))
      reject(`State ${inQuotes(state)} halts, and a rule was given for it, reading ${inQuotes(symbol)}. ` +
        `Remove the rule, or do not let ${inQuotes(state)} halt.`, line);
  }
  if (!rows.length) reject("This machine has no rules. Give at least one.");
  const last = [...halts].sort(byCodePoint);
  for (const state of last) named.add(state);
  for (const symbol of alphabet) known.add(symbol);
  const states = [...new Set([initial, ...named])], symbols = [...new Set([blank, ...known])];
  for (const name of [...states, ...symbols]) {
    if (!name) reject("Names are non-empty strings, and '' was given.");
    if (/[\ud800-\udfff]/u.test(name))
      reject(`Names are text, and ${inQuotes(name)} has half a character in it (a lone surrogate).`);
  }
  const short = (name) => (name.length > 60 ? inQuotes(name) : name);
  const listed = (names) => [...names].slice(0, 30).map(short).join(" ") + (names.size > 30 ? " …" : "");
  if (!named.has(initial))
    reject(`The initial state ${inQuotes(initial)} appears in no rule. ` +
      `The states of the rules are: ${listed(named)}.`);
  if (!known.has(blank))
    reject(`The blank ${inQuotes(blank)} is not in the alphabet of the rules: ${listed(known)}. ` +
      "Choose one of these as the blank, or name it in alphabet if no rule mentions it.");
  return { machine: { states, symbols, rules: rows.map((row) => row.slice(1)), initial, halting: last, blank } };
}

/** Refuse a second rule for the same state and symbol. */
function checkFirst(seen, line, state, symbol) {
  const first = seen.get(state, symbol);
  if (first)
    reject(`Two rules were given for state ${inQuotes(state)} reading ${inQuotes(symbol)}, ` +
      `the first on line ${first}. Keep one.`, line);
  seen.set(state, symbol, line);
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

/** bbchallenge's standard text, 1RB1LB_1LA1RZ: a row a state, a column a symbol. */
function parseTable(text) {
  const line = text.slice(0, text.length - text.trimStart().length).split("\n").length;
  const rows = text.trim().split("_"), width = Math.ceil(rows[0].length / 3), rules = [], halting = new Set();
  if (rows.length > 26)
    reject(`${big(rows.length)} rows were given, and there are letters for 26 states.`, line);
  if (width > 10) reject(`${big(width)} columns were given, and there are digits for 10 symbols.`, line);
  const letters = LETTERS.slice(0, rows.length);
  const table = rows.map((row) => row.match(/[^]{1,3}/g) ?? []);
  table.forEach(({ length }, i) => {
    if (length !== width)
      reject(`row ${letters[i]} has ${big(3 * length)} characters, and row A has ${3 * width}. ` +
        "Rows are equally long: write --- where there is no rule.", line);
  });
  table.forEach((cells, i) => cells.forEach((cell, column) => {
    if (cell === "---") return;
    const where = `row ${letters[i]}, column ${column}`, [written, move, target] = cell;
    if (!/^[0-9][LR][A-Z]$/.test(cell))
      reject(`${where}: ${inQuotes(cell)} is not a rule. Write the symbol, L or R, and the next state, ` +
        "as in 1RB, or --- where there is none.", line);
    if (written >= width)
      reject(`${where}: ${cell} writes ${written}, and the last column is that of symbol ${width - 1}. ` +
        `Give every row a column for ${written}.`, line);
    if (!letters.includes(target)) halting.add(target);
    rules.push([line, letters[i], `${column}`, target, written, move === "R" ? 1 : -1]);
  }));
  return buildMachine(rules, "A", halting, "0", [...Array(width).keys()].map(String));
}

const COLUMN = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g; // Python's spaces
const MOVES = new Map([["l", -1], ["r", 1], ["*", 0]]);
const MAX_RULES = 200_000; // that wildcards may stand for

/** Line number and columns of each line that is not empty, without its comment. */
function* columnsOf(text) {
  let number = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const columns = line.split(";", 1)[0].match(COLUMN);
    number++;
    if (columns) yield [number, columns];
  }
}

/** Are there two symbols or a direction in place on some line, whatever the rest? */
function hasColumns(text) {
  for (const [, [, symbol, write, direction, ...rest]] of columnsOf(text))
    if ((rest.length === 1 || rest.length === 2) &&
      ((isOneCharacter(symbol) && isOneCharacter(write)) || MOVES.has(direction.toLowerCase()))) return true;
  return false;
}

/** Morphett's five columns: state, symbol, new symbol, direction, new state. */
function parseColumns(text) {
  const written = [], first = new PairMap();
  for (const [line, columns] of columnsOf(text)) {
    if (columns.length === 6 && columns[5] === "!") columns.pop(); // a breakpoint
    if (columns.length !== 5)
      reject(`${columns.length} columns were given, and a rule has five: ` +
        "state, symbol, new symbol, direction, new state.", line);
    const [state, symbol, write, direction, target] = columns, move = MOVES.get(direction.toLowerCase());
    for (const name of [symbol, write])
      if (!isOneCharacter(name))
        reject(`${inQuotes(name)} is not a symbol: a symbol is one character, and _ is the blank.`, line);
    if (move === undefined) reject(`${inQuotes(direction)} is not a direction. Write l, r, or * to stay.`, line);
    checkFirst(first, line, state, symbol);
    written.push([line, state, symbol, target, write, move]);
  }
  return expandWildcards(written);
}

/** Replace the wildcards by every state and symbol; a more specific rule beats a less specific one. */
function expandWildcards(written) {
  const halts = (state) => state.slice(0, 4).toLowerCase() === "halt";
  const vague = ([, state, symbol]) => 2 * (state === "*") + (symbol === "*");
  const named = new Set(["0"]), known = new Set(["_"]);
  for (const [, state, symbol, target, write] of written) {
    named.add(state).add(target);
    known.add(symbol).add(write);
  }
  const states = [...named].filter((state) => state !== "*" && !halts(state));
  const symbols = [...known].filter((symbol) => symbol !== "*"), rows = [], taken = new PairMap();
  let count = 0;
  for (const [line, state, symbol, target, write, move] of written.sort((one, other) => vague(one) - vague(other))) {
    const someStates = state === "*" ? states : [state], someSymbols = symbol === "*" ? symbols : [symbol];
    count += someStates.length * someSymbols.length;
    if (count > MAX_RULES)
      reject(`Up to this line the wildcards stand for ${big(count)} rules, and at most ` +
        `${big(MAX_RULES)} are read. Name the states and symbols that are meant.`, line);
    for (const q of someStates)
      for (const a of someSymbols) {
        if (taken.get(q, a)) continue;
        taken.set(q, a, true);
        rows.push([line, q, a, target === "*" ? q : target, write === "*" ? a : write, move]);
      }
  }
  return buildMachine(rows, "0", [...named].filter(halts), "_", ["_"]);
}

const MAX_DEPTH = 10; // a table of rows of actions needs five levels

/** Text without quotes, on one line: what it may not begin with, and what ends it, alone or after a colon. */
const plainText = (barred, ends, follows) => new RegExp(String.raw`(?![#&*!|>%@\x60'",[\]{}]|${barred})` +
  String.raw`(?:[^ \t\n:${ends}]|:(?=[^ \t\n${follows}])| +(?=[^ \t\n:#${ends}]|:[^ \t\n${follows}]))+`, "y");
const PLAIN = plainText("[-?:](?![^ \\t\\n])", "", "");
const INNER = plainText("[?:]|-(?![^ \\t\\n])", ",?[\\]{}", ",[\\]{}"); // in brackets and braces
const VALUE = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;

/**
 * JSON, or as much of YAML as tables need: mappings by indentation or in braces, lists in brackets, text that is
 * plain or in quotes on one line, or in a block after |. A node is {kind, line, text, style, items}; the items of a
 * mapping are keys and values in turn. Text stays what was written: no is a name, so is 0x1. Nothing is expanded.
 */
function readTree(text, language, lineIn = (line) => line) {
  const json = language === "JSON";
  let at = 0, line = 1, newline = text.indexOf("\n");
  const refuse = (message, place = at) => reject(message, lineIn(text.slice(0, place).split("\n").length));
  const fail = (cause, place) => refuse(`This is not ${language}: ${cause}.`, place);
  const ended = () => at === text.length;
  const column = () => at - text.lastIndexOf("\n", at - 1) - 1;
  const node = (kind) => {
    for (; newline >= 0 && newline < at; newline = text.indexOf("\n", newline + 1)) line++;
    return { kind, line: lineIn(line), text: "", style: "", items: [] };
  };
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  const skip = () => take(json ? /[ \t\n\r]*/y : /(?:[ \n]+|#.*)*/y);
  const checkDepth = (depth) => {
    if (depth > MAX_DEPTH) refuse(`This is nested more than ${MAX_DEPTH} levels deep, and no machine is.`);
  };

  const unescape = (all, escape) => {
    const known = '0abt\tnvfre "\\/N_LP'.indexOf(escape), code = parseInt(escape.slice(1), 16);
    if (known >= 0) return '\0\x07\b\t\t\n\v\f\r\x1b "\\/\x85\xa0\u2028\u2029'[known];
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code < 0xe000)) fail(`'${all}' is not a character`);
    return String.fromCodePoint(code);
  };
  const unquote = (quoted) => {
    const inner = quoted.slice(1, -1), escapes = /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)/g;
    if (!json) return quoted[0] === "'" ? inner.replaceAll("''", "'") : inner.replace(escapes, unescape);
    try {
      return JSON.parse(quoted);
    } catch {
      return fail("Invalid control character or escape in a string");
    }
  };
  const literal = (indent) => {
    const found = node("text"), header = take(/\|[-+]?(?: +#.*| *)(?:\n|$)/y);
    if (!header) fail("after | comes a block of text, on the next line");
    let width = 0, body = "";
    for (let start = at; !ended(); start = at) {
      const row = take(/.*\n?/y), spaces = row.search(/[^ ]|$/), empty = spaces === row.replace("\n", "").length;
      if (!empty) width ||= Math.max(spaces, indent + 1, 1);
      if (!empty && spaces < width) {
        at = start;
        break;
      }
      body += row.slice(Math.min(width || spaces, spaces));
    }
    let end = body.length;
    while (body[end - 1] === "\n") end--;
    if (header[1] !== "+") body = body.slice(0, end + (end > 0 && header[1] !== "-"));
    return Object.assign(found, { style: "|", text: body });
  };

  /** A piece of text, a list in brackets or a mapping in braces. */
  const single = (flow, depth) => {
    if (text[at] === "[" || text[at] === "{") return collection(depth);
    const found = node("text"), start = at;
    const quoted = take(/"[^"\\\n]*(?:\\.[^"\\\n]*)*"/y) || (json ? "" : take(/'[^'\n]*(?:''[^'\n]*)*'(?!')/y));
    if (quoted) {
      found.style = quoted[0];
      found.text = unquote(quoted);
      return found;
    }
    const mark = json ? "" : take(/[*&][\w-]+|![^ \n]*/y), kind = mark[0] === "&" ? "anchor" : "tag";
    if (mark[0] === "*") refuse(`The alias ${inQuotes(mark)} is not followed. Write its value out.`, start);
    if (mark) refuse(`The ${kind} ${inQuotes(mark)} means nothing in a machine. Remove it.`, start);
    found.text = take(json ? VALUE : flow ? INNER : PLAIN);
    if (/^(?:~|null|Null|NULL)$/.test(found.text)) found.kind = "null";
    if (found.text) return found;
    if (ended()) fail("the text ends too early");
    if (text[at] === '"' || (text[at] === "'" && !json)) fail("this quote is not closed on its line");
    return fail(json ? "Expecting value" : `found character ${inQuotes(text[at])} that cannot start any token. ` +
      "Quote a symbol, and indent with spaces");
  };
  const collection = (depth) => {
    const isList = text[at] === "[", close = isList ? "]" : "}", found = node(isList ? "list" : "map");
    checkDepth(depth);
    do {
      const again = text[at++] === ",";
      skip();
      if (text[at] === close && !(json && again)) break;
      if (json && !isList && text[at] !== '"') fail("Expecting property name enclosed in double quotes");
      const start = at;
      found.items.push(single(true, depth + 1));
      skip();
      if (!isList) found.items.push(flowValue(start, depth));
      skip();
    } while (text[at] === ",");
    if (text[at] !== close) fail(json ? "Expecting ',' delimiter" : `expected ',' or '${close}'`);
    at++;
    return found;
  };
  const flowValue = (start, depth) => {
    const nothing = node("null");
    if (!take(/:/y)) return json ? fail("Expecting ':' delimiter") : nothing;
    checkKey(start);
    skip();
    return !json && (text[at] === "," || text[at] === "}") ? nothing : single(true, depth + 1);
  };
  const checkKey = (start) => {
    if (!json && (at - start > 1024 || text.slice(start, at).includes("\n")))
      fail("a key is on one line and has at most 1,023 characters", start);
  };

  /** What stands to the right of a column: a mapping, a line a key, or a single node. */
  const block = (indent, depth, inline) => {
    if (text[at] === "|") return literal(indent);
    const left = column(), map = node("map"), takeColon = () => take(/ *:(?![^ \t\n])/y);
    let start = at, key = single(false, depth);
    if (!takeColon()) return key;
    if (inline) fail("mapping values are not allowed here. Put a mapping in braces, or on lines of its own");
    checkDepth(depth);
    for (;;) {
      const nothing = node("null");
      checkKey(start);
      const here = !skip().includes("\n");
      map.items.push(key, ended() || column() <= left ? nothing : block(left, depth + 1, here));
      skip();
      if (ended() || column() < left) return map;
      if (column() > left) stray();
      start = at;
      key = single(false, depth + 1);
      if (!takeColon()) fail("could not find expected ':'", start);
    }
  };
  const stray = () =>
    fail(`${inQuotes(take(/.{1,20}/y))} belongs to nothing before it. Begin a key where the keys before it begin`);

  skip();
  const root = json ? single(true, 1) : block(-1, 1, false);
  skip();
  if (!ended()) json ? fail("Extra data") : stray();
  return root;
}

/** The one YAML document of a text. */
function readYaml(given, lineIn = (line) => line) {
  const text = given.replace(/\r\n?|[\x85\u2028\u2029]/g, "\n"), content = /^ *[^ #\n]/m;
  const lineOf = (before) => lineIn(before.split("\n").length);
  const odd = text.search(/[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
  if (odd >= 0)
    reject(`This is not YAML: the character ${inQuotes(text[odd])} is not allowed.`, lineOf(text.slice(0, odd)));
  const parts = text.split(/^(---|\.\.\.)(?=[ \n]|$)/m); // a text, a mark, a text, …
  const full = [...parts.keys()].filter((i) => i % 2 === 0 && (parts[i - 1] === "---" || content.test(parts[i])));
  const last = full[1] ?? full[0] ?? 0, before = parts.slice(0, last).join("").replace(/[^\n]+/g, "");
  if (full.length !== 1)
    reject(`${full.length} YAML documents were given, and a machine is one.`,
      lineOf(before + parts[last].slice(0, Math.max(0, parts[last].search(content)))));
  return readTree(before + parts[last], "YAML", lineIn); // the lines before it are empty, and count
}

const describe = ({ kind, text }) =>
  ({ text: inQuotes(text), null: "nothing", list: "a list", map: "a mapping" })[kind];
const hasKey = ({ kind, items }, name) =>
  kind === "map" && items.some(({ text }, i) => i % 2 === 0 && text === name);

/** The keys and values of a mapping, in pairs. */
function pairsOf(node, what) {
  if (node.kind !== "map")
    reject(`${what} is a mapping, key: value, and ${describe(node)} was given.`, node.line);
  return node.items.flatMap((key, i) => (i % 2 ? [] : [[key, node.items[i + 1]]]));
}

/** The mapping by key. Keys are text, given only once and, if there is a list, known ones. */
function mappingOf(node, what, known) {
  const found = new Map();
  for (const [key, value] of pairsOf(node, what)) {
    const name = nameOf(key, `A key of ${what}`);
    if (found.has(name)) reject(`${what} has the key ${inQuotes(name)} twice. Keep one.`, key.line);
    if (known && !known.includes(name))
      reject(`${what} has the unknown key ${inQuotes(name)}. ` +
        `The known ones are: ${known.join(", ")}.`, key.line);
    found.set(name, value);
  }
  return found;
}

function nameOf(node, what) {
  return node.text || reject(`${what} is a piece of text, and ${describe(node)} was given.`, node.line);
}

function symbolOf(node) {
  if (isOneCharacter(node.text)) return node.text;
  return reject(`A symbol is one character, quoted if need be, and ${describe(node)} was given.`, node.line);
}

/** JSON of our own. */
function parseJson(text) {
  const root = readTree(text, "JSON"), keys = ["turing_machine", "initial", "halting", "blank", "delta"];
  const isText = ({ style }) => style === '"', isTexts = ({ kind, items }) => kind === "list" && items.every(isText);
  const rule = "[state, symbol, next state, symbol to write, move]", checks = {
    turing_machine: ["the version of the format, 1", (part) => part.text === "1" && !isText(part)],
    initial: ["a string", isText], blank: ["a string", isText], halting: ["a list of strings", isTexts],
    alphabet: ["a list of strings", isTexts], delta: [`a list of rules, ${rule}`, ({ kind }) => kind === "list"],
  };
  if (!hasKey(root, "turing_machine"))
    reject('A machine in JSON is an object with "turing_machine": 1 in it; this has none.', root.line);
  const top = mappingOf(root, "The machine", Object.keys(checks));
  for (const key of keys)
    if (!top.has(key)) reject(`The machine has no ${key}. It needs ${keys.join(", ")}.`, root.line);
  for (const [key, part] of top)
    if (!checks[key][1](part))
      reject(`${key} is ${checks[key][0]}, and ${describe(part)} was given.`, part.line);
  const rows = top.get("delta").items.map(({ kind, line, items: [...names] }) => {
    const move = names.pop(), texts = names.map((name) => name.text);
    if (kind !== "list" || names.length !== 4 || !names.every(isText) || isText(move) || !/^-?\d+$/.test(move.text))
      reject(`A rule reads ${rule}: four strings and a number, and this one does not.`, line);
    if (texts.includes("")) reject("States and symbols are not empty, and this rule has one that is.", line);
    if (!/^-?[01]$/.test(move.text))
      reject(`A move is -1 (left), 0 (stay) or 1 (right), and ${describe(move)} was given.`, line);
    return [line, ...texts, Number(move.text) + 0];
  });
  const [initial, halting, blank, alphabet] = ["initial", "halting", "blank", "alphabet"].map((key) => top.get(key));
  const texts = (node) => node?.items.map((name) => name.text) ?? [];
  return buildMachine(rows, initial.text, texts(halting), blank.text, texts(alphabet));
}

/** turingmachine.io's YAML: a table of states, each a mapping from symbols to actions; and a word, if it has one. */
function parseYaml(text) {
  let root = readYaml(text);
  if (hasKey(root, "source code")) {
    const wrapper = mappingOf(root, "The document", ["editor contents", "name", "positions", "source code"]);
    const code = wrapper.get("source code");
    if (code.kind !== "text")
      reject(`source code is a block of text, and ${describe(code)} was given.`, code.line);
    root = readYaml(code.text, (line) => code.line + (code.style === "|" ? line : 0));
  }
  const top = mappingOf(root, "The machine", ["blank", "input", "positions", "start state", "synonyms", "table"]);
  for (const [key, { kind }] of top) if (kind === "null") top.delete(key);
  for (const key of ["blank", "start state", "table"])
    if (!top.has(key)) reject(`The machine has no ${key}. It needs blank, start state and table.`, root.line);
  const blank = symbolOf(top.get("blank")), start = nameOf(top.get("start state"), "The start state");
  const synonyms = new Map(), word = top.get("input"), rows = [], running = new Set();
  for (const [name, node] of top.has("synonyms") ? mappingOf(top.get("synonyms"), "synonyms") : [])
    synonyms.set(name, readAction(node, new Map()));
  const table = mappingOf(top.get("table"), "table");
  if (!table.has(start))
    reject(`The start state ${inQuotes(start)} has no row in the table.`, top.get("start state").line);
  for (const [state, row] of table) {
    if (row.kind === "null" || (row.kind === "map" && !row.items.length)) continue;
    running.add(state);
    for (const [key, value] of pairsOf(row, `The row of ${inQuotes(state)}`)) {
      const [target, written, move] = readAction(value, synonyms);
      const symbols = key.kind === "list" ? key.items : [key];
      if (!symbols.length) reject("This list of symbols is empty. Name those that the rule reads.", key.line);
      for (const symbol of symbols.map(symbolOf))
        rows.push([key.line, state, symbol, target || state, written || symbol, move]);
    }
  }
  if (word && word.kind !== "text") reject(`input is a piece of text, and ${describe(word)} was given.`, word.line);
  const states = new Set([...table.keys(), ...rows.map((row) => row[3])]), letters = word ? [...word.text] : [];
  const halting = [...states].filter((state) => !running.has(state));
  return { ...buildMachine(rows, start, halting, blank, [blank, ...letters]), ...(word && { word: letters }),
    rowless: halting.filter((state) => !table.has(state)) };
}

/** Next state and symbol to write, "" for the same as before, and the move. */
function readAction(node, synonyms) {
  const forms = "R, {R: state} or {write: x, L: state}", moves = new Map([["L", -1], ["R", 1]]);
  if (node.kind === "text") {
    if (moves.has(node.text)) return ["", "", moves.get(node.text)];
    return synonyms.get(node.text) ??
      reject(`${inQuotes(node.text)} is neither L nor R nor a synonym. Write ${forms}.`, node.line);
  }
  if (node.kind !== "map") reject(`An action reads ${forms}, and ${describe(node)} was given.`, node.line);
  const parts = mappingOf(node, "The action", ["L", "R", "write"]), both = parts.has("L") && parts.has("R");
  const side = parts.has("L") ? "L" : "R", target = parts.get(side), written = parts.get("write");
  if (both || !target)
    reject(`The action has ${both ? "both L and R" : "neither L nor R"}. It needs one of them.`, node.line);
  if (target.kind !== "null" && !target.text)
    reject(`After ${side} comes a state, and ${describe(target)} was given.`, target.line);
  if (written?.kind === "null")
    reject("write needs a symbol. Quote a symbol that YAML takes for null.", written.line);
  return [target.kind === "null" ? "" : target.text, written ? symbolOf(written) : "", moves.get(side)];
}

// In the order in which a text is tried: how many characters are read, what shows the format, and who reads it.
const READERS = {
  json: [10_000_000, (text) => /^\s*\{\s*["}]/.test(text) &&
    (text.includes('"turing_machine"') || !text.includes("table")), parseJson],
  jflap: [10_000_000, (text) => /^\s*<[?!A-Za-z]/.test(text),
    () => reject("This is XML, as JFLAP writes it, and this page does not read it. " +
      "In Python, turing.TuringMachine.parse(text).dumps() gives JSON, which it reads.", 1)],
  bbchallenge: [1_000_000, (text) => /^(?:\p{Nd}[A-Z][A-Z]|---)[\p{L}\p{N}_-]*$/iu.test(text.trim()),
    parseTable],
  "turingmachine.io": [100_000, (text) => !text.trimStart().startsWith(";") &&
    /(?:^|\n)[ \t{]*["']?(?:blank|start state|table|source code)["']?[ \t]*:/.test(text), parseYaml],
  morphett: [1_000_000, (text) => text.trimStart().startsWith(";") || hasColumns(text.slice(0, 1_000_000)),
    parseColumns],
};

/**
 * Read {machine, format}; the text itself shows in which format it is. turingmachine.io may have the `word` to begin
 * with, and names states that halt because they have no row: `rowless`.
 */
export function parseMachine(text) {
  const bound = (limit, hint = "") => {
    if (text.length > limit)
      reject(`The text has ${big(text.length)} characters, and at most ${big(limit)} are read. ` +
        `Give the machine alone${hint}.`);
  };
  bound(READERS.json[0]);
  text = text.replace(/^\ufeff/, "");
  const known = Object.keys(READERS), format = known.find((name) => READERS[name][1](text));
  if (!format)
    reject(`The text is in none of the known formats: ${known.join(", ")}. ` +
      (text.trim() ? `It begins ${inQuotes(text.trim())}.` : "It is empty."));
  const [limit, , parse] = READERS[format];
  bound(limit, ", and a large one in the json format");
  return { format, ...parse(text) };
}

/** Write a machine as "json", which holds every one, or as "bbchallenge", or say why that cannot be. */
export function dumpMachine(machine, format) {
  if (format === "json") return writeJson(machine);
  if (format === "bbchallenge") return writeTable(machine);
  return reject(`There is no format ${inQuotes(format)} to write. The known ones are: json, bbchallenge.`);
}

function writeJson({ symbols, rules, initial, halting, blank }) {
  const text = (value) => (Array.isArray(value) ? `[${value.map(text).join(", ")}]` : JSON.stringify(value));
  const named = new Set(rules.flatMap((rule) => [rule[1], rule[3]])), alphabet = symbols.filter((a) => !named.has(a));
  const head = Object.entries({ turing_machine: 1, initial, halting, blank, ...(alphabet.length && { alphabet }) });
  const lines = head.map(([key, value]) => `  "${key}": ${text(value)},\n`);
  return `{\n${lines.join("")}  "delta": [\n    ${rules.map(text).join(",\n    ")}\n  ]\n}\n`;
}

function writeTable({ states, symbols, rules, initial, halting, blank }) {
  const last = states.filter((state) => !halting.includes(state)).sort().at(-1), cell = new PairMap();
  const fits = initial === "A" && blank === "0" && states.every((state) => /^[A-Z]$/.test(state)) &&
    halting.every((state) => state > last && rules.some((rule) => rule[2] === state)) &&
    symbols.every((symbol) => /^[0-9]$/.test(symbol) && symbol < symbols.length) && rules.every((rule) => rule[4]);
  if (!fits)
    reject("bbchallenge cannot hold this machine: there, states are letters, A the first, and those that halt " +
      "come last, each after some rule; symbols are the digits from 0 up, the blank first; and every rule moves. " +
      "The json format holds it.");
  for (const [state, read, next, write, move] of rules) cell.set(state, read, write + (move > 0 ? "R" : "L") + next);
  const letters = LETTERS.filter((letter) => letter <= last);
  return letters.map((state) => symbols.map((_, symbol) => cell.get(state, `${symbol}`) ?? "---").join("")).join("_");
}
