// Take part in a campaign from a browser tab or Node: the twin of client.py, draw for draw.
//
// No dependency: WebCrypto for randomness, hashes and Ed25519, BigInt for whole words. The record
// is read by `draw`, `split` and `label` only, and none of these sends anything. vectors.json holds
// what both twins must reproduce byte for byte.

const MOST_CODES = 2 ** 24;
const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 97, 127];
const SETTINGS = ["local", "shuffled", "two_aggregators", "central"]; // from strong to weak
export const LABEL_ROUND = 255;
const MOST_SHARED_CELLS = 1024; // of a question to two aggregators
const WORD = 2n ** 64n;
const WORD_BITS = 64n, NORM_BITS = 20n, RATE_BITS = 44n; // of noise on a lattice, as in client.py
const FARTHEST = 2n ** 53n - 1n; // in steps
const DECIMAL = /^(0|[1-9][0-9]?)(\.[0-9]{1,12})?$/;
const LENGTH = /^[0-9]{1,9}(\.[0-9]{1,12})?$/;
const NUMBER = /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/;
const MOMENT = /^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$/;
const KEY = /^[a-z][a-z0-9_]*$/;
const TLS = new RegExp("^(https://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])|" +
  "http://(127\\.0\\.0\\.1|localhost|\\[::1\\]))(:[0-9]{1,5})?(/[!-~]*)?$");
// The names of every document, so that an unknown one is refused.
const FIELDS = ["format", "type", "name", "purpose", "operator", "contact", "epsilon", "n_expected",
  "n_clusters", "rounds", "opens", "closes", "epoch_seconds", "setting", "enrolment", "addresses"];
const OPTIONAL = ["columns", "categories", "labels"];
const OF_SETTING = { shuffled: ["delta", "n_least"], two_aggregators: ["aggregators", "n_least"] };
const MODEL = ["format", "type", "campaign", "centers", "units", "n_reports", "guarantee",
  "control"];
const QUESTIONS = {
  category: ["mechanism", "epsilon", "oracle"],
  local_grid: ["mechanism", "epsilon", "oracle", "columns", "cells"],
  residual_sign: ["mechanism", "epsilon", "oracle", "columns", "centers", "reach"],
  cell_shares: ["mechanism", "epsilon", "columns", "cells"],
  nd_laplace: ["mechanism", "epsilon", "columns", "radius", "unit", "units", "step_bits"],
};
const encoder = new TextEncoder();

/** The client does not take part; the text is for the person, and nothing was sent. */
export class Refused extends Error {}

function need(condition, text) {
  if (!condition) throw new Refused(text);
}

// ---- bytes

export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (b) => parseInt(b, 16));
export const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const fromBase64 = (text) => {
  try {
    const strict = typeof text === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
    return strict && text.length % 4 === 0
      ? Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) : new Uint8Array();
  } catch {
    return new Uint8Array();
  }
};
const join = (...parts) => {
  const whole = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};
const bigEndian = (value, length) => {
  const bytes = new Uint8Array(length);
  for (let i = length - 1, rest = BigInt(value); i >= 0; i--, rest >>= 8n) {
    bytes[i] = Number(rest & 255n);
  }
  return bytes;
};
const asBigInt = (bytes) => BigInt("0x" + (toHex(bytes) || "0"));
const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

// ---- documents

/** The one way to write a document as text, which is what is signed. */
export function canonical(value, depth = 0) {
  need(depth <= 8, "The document is nested too deeply.");
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    need(Number.isSafeInteger(value) && !Object.is(value, -0),
      "The document holds a value of a kind that is not allowed.");
    return String(value);
  }
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return "[" + value.map((v) => canonical(v, depth + 1)).join(",") + "]";
  need(value !== null && typeof value === "object",
    "The document holds a value of a kind that is not allowed.");
  const keys = Object.keys(value).sort((a, b) => (codePoints(a) < codePoints(b) ? -1 : 1));
  const parts = keys.map((key) => quoted(key) + ":" + canonical(value[key], depth + 1));
  return "{" + parts.join(",") + "}";
}

// Sorting as Python does, by code point: names are ASCII, so this only matters for the vectors.
const codePoints = (text) => Array.from(text, (c) =>
  c.codePointAt(0).toString(16).padStart(6, "0")).join("");

function quoted(text) {
  need(text.isWellFormed ? text.isWellFormed() : !/\p{Surrogate}/u.test(text),
    "The document holds half a character.");
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f",
    '"': '\\"', "\\": "\\\\" };
  const escape = (c) => short[c] ?? "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
  return '"' + text.replace(/[^ -~]|["\\]/g, (c) => Array.from({ length: c.length },
    (_, i) => escape(c[i])).join("")) + '"';
}

/** The 16 bytes that name a document, for a campaign its id. */
export async function identity(kind, payload) {
  return (await sha256(join(encoder.encode(`shoal.${kind}.1\n`), payload))).slice(0, 16);
}

const little = (bytes) => asBigInt(Uint8Array.from(bytes).reverse());
const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Whether an Ed25519 signature is valid; without WebCrypto's Ed25519 it is not. */
export async function verify(key, message, signature) {
  if (key.length !== 32 || signature.length !== 64) return false;
  const y = (bytes) => little(bytes) & (2n ** 255n - 1n);
  if (little(signature.slice(32)) >= L || y(key) >= P || y(signature.slice(0, 32)) >= P) {
    return false;
  }
  try {
    const own = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", own, signature, message);
  } catch {
    return false;
  }
}

/** The parts of an envelope, each of which has a name once; none needs a backslash. */
function parseEnvelope(text) {
  const count = text.match(/"[^"]*"\s*:/g)?.length ?? 0, envelope = JSON.parse(text);
  need(!text.includes("\\") && isObject(envelope) && Object.keys(envelope).length === count,
    "What came has a name twice.");
  return envelope;
}

/** The document in a signed envelope, and its identity; refused unless this key signed it. */
export async function openEnvelope(envelope, kind, key) {
  checkNames(envelope, ["payload", "signature", "key"], `signed ${kind}`);
  const payload = fromBase64(envelope.payload);
  const message = join(encoder.encode(`shoal.${kind}.1\n`), payload);
  need(await verify(key, message, fromBase64(envelope.signature)),
    `The ${kind} is not signed by the operator you trust.`);
  let document;
  try {
    document = JSON.parse(new TextDecoder("ascii", { fatal: true }).decode(payload));
  } catch {
    throw new Refused(`The ${kind} cannot be read.`);
  }
  need(isObject(document), `The ${kind} cannot be read.`);
  need(canonical(document) === new TextDecoder().decode(payload),
    `The ${kind} is not written in the one allowed way.`);
  need(names(document).every((name) => KEY.test(name)),
    `The ${kind} has a name that is not allowed.`);
  need(document.type === kind, `The ${kind} says it is something else.`);
  need(document.format === 1, `The ${kind} is of a version this client does not know.`);
  return [document, await identity(kind, payload)];
}

const isHex = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isObject = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const checkNames = (value, required, what, optional = []) => {
  const given = isObject(value) ? Object.keys(value) : [];
  need(isObject(value) && required.every((name) => given.includes(name)) &&
    given.every((name) => required.includes(name) || optional.includes(name)),
  `The ${what} has an unknown field, or lacks one.`);
};
const names = (value) => value === null || typeof value !== "object" ? [] : [
  ...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(names)];

// ---- draws

/** Random words of 64 bits: from WebCrypto, or given for a test. */
export class Words {
  constructor(source = null) {
    this.source = source;
    this.consumed = 0;
  }

  word() {
    if (this.source === null) return asBigInt(crypto.getRandomValues(new Uint8Array(8)));
    const part = this.source.slice(this.consumed, this.consumed + 8);
    if (part.length < 8) throw new RangeError("the given random bytes are used up");
    this.consumed += 8;
    return asBigInt(part);
  }

  /** A whole number from 0 to m - 1, all equally likely. */
  below(m) {
    const size = BigInt(m), limit = WORD - (WORD % size);
    for (;;) {
      const word = this.word();
      if (word < limit) return Number(word % size);
    }
  }
}

const thresholds = new Map();

/** Below which word randomised response over k values keeps the truth. */
export function keepThreshold(epsilon, k) {
  const name = `${epsilon} ${k}`;
  if (!thresholds.has(name)) {
    const [a, b] = fraction(epsilon), one = 2n ** 256n;
    let term = one, total = one;
    for (let i = 1n; term; i++) { // each term rounded down: a lower bound of e^epsilon
      term = (term * a) / (b * i);
      total += term;
    }
    thresholds.set(name, (WORD * total) / (total + (BigInt(k) - 1n) * one));
  }
  return thresholds.get(name);
}

function fraction(text) {
  const [whole, part = ""] = text.split(".");
  return [BigInt(whole + part), 10n ** BigInt(part.length)];
}

/** How many different codes the oracle of a question has. */
export function codesOf({ oracle }) {
  if (oracle.name === "randomized_response") return oracle.size;
  return oracle.buckets ** (oracle.digits + 1);
}

/** The report of one record: a whole number, or one for each column of a lattice. */
export function draw(question, record, words) {
  if (question.mechanism === "category") {
    const size = question.oracle.size;
    if (!Number.isInteger(record) || record < 0 || record >= size) {
      throw new RangeError(`the record must be a code from 0 to ${size - 1}`);
    }
    return throughOracle(question, record, words);
  }
  const [row, bounds] = rowOf(question, record);
  if (question.mechanism === "local_grid") {
    return throughOracle(question, cellOf(row, bounds, question.cells), words);
  }
  if (question.mechanism === "nd_laplace") {
    const places = placesOf(question, row, bounds);
    const noise = latticeNoise(row.length, latticeRate(question), words);
    return noise.map((n, i) => {
      const place = BigInt(places[i]) + n;
      return Number(place > FARTHEST ? FARTHEST : place < -FARTHEST ? -FARTHEST : place);
    });
  }
  return residual(question, row, bounds, words);
}

function rowOf(question, record) {
  const bounds = question.columns.map(([low, high]) => [Number(low), Number(high)]);
  if (record.length !== bounds.length) {
    throw new RangeError(`the record must have ${bounds.length} numbers`);
  }
  return [record.map((x, i) => numberOf(x, ...bounds[i])), bounds];
}

/** The two shares of one record's cell, for two aggregators; each alone tells nothing. */
export async function split(question, record) {
  const [row, bounds] = rowOf(question, record);
  const cell = cellOf(row, bounds, question.cells), seed = crypto.getRandomValues(new Uint8Array(32));
  return [seed, await shareOf(cell, question.cells.reduce((n, m) => n * m, 1), seed)];
}

/** The number of the cell that a clipped row lies in, last column fastest. */
export function cellOf(row, bounds, cells) {
  return row.reduce((key, x, i) => {
    const [low, high] = bounds[i], m = cells[i];
    const steps = Math.min(Math.max((x - low) * (m / (high - low)), 0), m);
    return key * m + Math.min(Math.trunc(steps), m - 1);
  }, 0);
}

function numberOf(x, low, high) {
  if (typeof x !== "number" || Number.isNaN(x)) return low / 2 + high / 2;
  return Math.min(Math.max(x, low), high);
}

function throughOracle({ oracle, epsilon }, code, words) {
  if (oracle.name === "randomized_response") return respond(epsilon, oracle.size, code, words);
  const g = oracle.buckets, hash = words.below(g ** oracle.digits);
  let place = 0;
  for (let i = 0, a = hash, v = code; i < oracle.digits; i++) {
    place += (a % g) * (v % g);
    a = Math.trunc(a / g);
    v = Math.trunc(v / g);
  }
  return hash * g + respond(epsilon, g, place % g, words);
}

function respond(epsilon, k, code, words) {
  const keep = words.word() < keepThreshold(epsilon, k);
  const other = words.below(k - 1); // always read, so that the number of words tells nothing
  return keep ? code : other + (other >= code ? 1 : 0);
}

function residual(question, row, bounds, words) {
  const scale = (line) => line.map((x, i) =>
    ((Number(x) - bounds[i][0]) / (bounds[i][1] - bounds[i][0])) * 2 - 1);
  const places = question.centers.map(scale), y = scale(row);
  const column = words.below(y.length);
  const nearest = nearestOf(places.map((place) => place.map((c, i) => y[i] - c)));
  const way = (y[column] - places[nearest][column]) / Number(question.reach);
  const steps = halfToEven((Math.min(Math.max(way, -1), 1) + 1) * 2 ** 19);
  const side = words.below(2 ** 20) < steps ? 1 : 0;
  return column * codesOf(question) + throughOracle(question, 2 * nearest + side, words);
}

/** Where a row lies on the lattice, in whole steps from the low bounds. */
function placesOf(question, row, bounds) {
  const step = 2 ** -question.step_bits;
  return row.map((x, i) => halfToEven((x - bounds[i][0]) / Number(question.units[i]) / step));
}

/** How fast noise on a lattice falls, in 2^-44 a step: within the radius by the level. */
export function latticeRate(question) {
  const [level, levelUnit] = fraction(question.epsilon), [radius, unit] = fraction(question.radius);
  const bits = BigInt(question.step_bits), more = BigInt(question.columns.length + 1);
  const fine = bits < 0n ? 2n ** -bits : 1n, coarse = bits > 0n ? 2n ** bits : 1n;
  // Steps that two records within the radius are apart: (radius coarse + more unit fine) / (unit fine)
  const apart = levelUnit * (radius * coarse + more * unit * fine);
  return (level * 2n ** RATE_BITS * unit * fine) / apart;
}

function isqrt(n) {
  if (n < 2n) return n;
  let root = 1n << BigInt((n.toString(2).length + 1) >> 1); // at or above it
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** Whole numbers k with chance proportional to e^(-rate / 2^44 |k|), exactly. */
export function latticeNoise(d, rate, words) {
  const norm = isqrt(4n ** NORM_BITS / BigInt(d));
  for (;;) {
    const noise = Array.from({ length: d }, () => discreteLaplace(rate * norm, words));
    if (accepts(noise, rate, norm, words)) return noise;
  }
}

function discreteLaplace(rate, words) {
  for (;;) {
    const part = words.word();
    if (!coinOfPart(part, words)) continue;
    let whole = 0n;
    while (coinOfE(words)) whole++;
    const size = (part + (whole << WORD_BITS)) / rate;
    if (words.below(2) === 0) return size;
    if (size) return -size; // else zero would come twice as often as it should
  }
}

function accepts(noise, rate, norm, words) {
  const length = noise.reduce((sum, k) => sum + k * k, 0n);
  const square = (rate << NORM_BITS) ** 2n * length;
  const proposed = rate * norm * noise.reduce((sum, k) => sum + (k < 0n ? -k : k), 0n);
  const whole = (isqrt(square) - proposed) >> WORD_BITS;
  for (let i = 0n; i < whole; i++) if (!coinOfE(words)) return false;
  const rest = proposed + (whole << WORD_BITS);
  return exponentialCoin((j) => isBelowRoot(BigInt(j), square, rest, words));
}

/** True with chance e^-f, given coins of chance f / j for j = 1, 2, ... */
function exponentialCoin(coin) {
  let j = 1;
  while (coin(j)) j++;
  return j % 2 === 1;
}

const isFirst = (j, words) => j === 1 || words.below(j) === 0; // with chance 1 / j
const coinOfPart = (part, words) =>
  exponentialCoin((j) => isFirst(j, words) && words.word() < part);
const coinOfE = (words) => exponentialCoin((j) => isFirst(j, words));

/** True with chance (sqrt(square) - rest) / (2^64 j), by as many bits as that takes. */
function isBelowRoot(j, square, rest, words) {
  let bits = words.word(), shift = 0n;
  for (;;) {
    const edge = rest << shift, target = square << (2n * shift);
    if ((j * bits + edge) ** 2n >= target) return false;
    if ((j * (bits + 1n) + edge) ** 2n <= target) return true;
    bits = (bits << WORD_BITS) | words.word();
    shift += WORD_BITS;
  }
}

function halfToEven(x) {
  const floor = Math.floor(x);
  if (x - floor !== 0.5) return Math.round(x);
  return floor % 2 ? floor + 1 : floor;
}

function nearestOf(differences) {
  const distances = differences.map((line) => line.reduce((sum, v) => sum + v * v, 0));
  return distances.indexOf(distances.reduce((least, v) => (v < least ? v : least)));
}

/** The group of one's own record; nothing is sent. */
export function label(model, record, question) {
  const [row] = rowOf(question, record), units = model.units.map(Number);
  return nearestOf(model.centers.map((center) =>
    center.map((c, i) => (row[i] - Number(c)) / units[i])));
}

// ---- what a client refuses

export const atMost = (left, right) => {
  const [a, b] = fraction(left), [c, d] = fraction(right);
  return a * d <= c * b;
};

function checkEpsilon(text) {
  const plain = typeof text === "string" && DECIMAL.test(text);
  need(plain && atMost(text, "20") && fraction(text)[0] * 2n ** 30n >= fraction(text)[1],
    "The epsilon is not allowed.");
}

function finite(text) {
  const plain = typeof text === "string" && text.length <= 32 && NUMBER.test(text);
  need(plain && Number.isFinite(Number(text)), "A number of the question is not written plainly.");
  return Number(text);
}

function whole(value, most = Number.MAX_SAFE_INTEGER) {
  need(Number.isInteger(value) && value >= 1 && value <= most,
    "A whole number of the campaign is not allowed.");
  return value;
}

function lists(value, width) {
  need(Array.isArray(value) && value.length >= 1 && value.length <= MOST_CODES &&
    value.every((line) => Array.isArray(line) && line.length === width),
    "A list of the question has the wrong shape.");
  return value;
}

/** Refuse a question this client cannot answer, or that costs other than it should. */
export function checkQuestion(question, epsilon) {
  need(isObject(question) && Object.hasOwn(QUESTIONS, question.mechanism),
    "The mechanism is not known.");
  checkNames(question, QUESTIONS[question.mechanism], "question");
  checkEpsilon(question.epsilon);
  need(atMost(question.epsilon, epsilon) && atMost(epsilon, question.epsilon),
    "The question costs other than the campaign says.");
  const size = "oracle" in question ? checkOracle(question.oracle) : 0;
  const columns = "columns" in question ? lists(question.columns, 2) : [];
  const most = question.mechanism === "nd_laplace" ? 8 : 4;
  need(columns.length <= most, `The question must have one to ${most} columns.`);
  for (const [low, high] of columns) {
    const width = finite(high) - finite(low);
    need(width > 0 && width < Infinity, "A column's bounds are not in order.");
  }
  if ("cells" in question) {
    const [cells] = lists([question.cells], columns.length);
    const total = cells.reduce((n, m) => n * BigInt(whole(m, MOST_CODES)), 1n);
    need(total === BigInt(size) || (!("oracle" in question) && total >= 2n &&
      total <= BigInt(MOST_SHARED_CELLS)), "The cells do not fit.");
    cells.forEach((m, i) => need(Number.isFinite(m / (Number(columns[i][1]) - Number(columns[i][0]))),
      "A column is too narrow."));
  }
  if (question.mechanism === "nd_laplace") checkLattice(question, columns);
  if (question.mechanism === "residual_sign") {
    const centers = lists(question.centers, columns.length);
    need(2 * centers.length === size, "The centres do not fit the answers.");
    centers.forEach((center) => center.forEach((value, i) => {
      const [low, high] = columns[i].map(Number);
      need(low <= finite(value) && finite(value) <= high, "A centre is out of bounds.");
    }));
    need(finite(question.reach) > 0, "The reach is not positive.");
    need(codesOf(question) * columns.length <= 2 ** 32, "There are too many different answers.");
  }
}

function checkLattice(question, columns) {
  const [units] = lists([question.units], columns.length);
  need(units.every((unit) => finite(unit) > 0), "A column's unit is not positive.");
  const { radius, unit, step_bits: bits } = question;
  need(typeof radius === "string" && LENGTH.test(radius) && fraction(radius)[0] > 0n, "The radius is not clear.");
  need(typeof unit === "string" && Array.from(unit).length <= 20,
    "The unit of distance is not clear.");
  need(Number.isInteger(bits) && bits >= -64 && bits <= 64, "The step of the lattice is not clear.");
  columns.forEach(([low, high], i) => {
    const across = ((Number(high) - Number(low)) / Number(units[i])) * 2 ** bits;
    need(across <= 2 ** 40, "A column is too wide for its lattice.");
  });
  const rate = latticeRate(question);
  need(rate >= 2n ** 14n && rate <= 2n ** RATE_BITS, "The lattice is too fine or too coarse.");
}

function checkOracle(oracle) {
  const hashing = isObject(oracle) && oracle.name === "local_hash";
  checkNames(oracle, ["name", "size", ...(hashing ? ["buckets", "digits"] : [])], "oracle");
  need(hashing || oracle.name === "randomized_response", "The oracle is not known.");
  const size = whole(oracle.size, MOST_CODES);
  need(size >= 2, "There is only one possible answer.");
  if (hashing) {
    const g = whole(oracle.buckets, 127), t = whole(oracle.digits, 24);
    need(PRIMES.includes(g) && size <= g ** t && g ** (t + 1) <= MOST_CODES,
      "The hash does not fit.");
  }
  return size;
}

/** Refuse a campaign that is malformed, closed (unless `now` is null), or weaker than allowed. */
export function checkCampaign(campaign, limits, now) {
  const { setting, epsilon } = campaign;
  checkEpsilon(epsilon);
  need(SETTINGS.includes(setting), "The campaign's setting is not known.");
  const isAllowed = SETTINGS.indexOf(setting) <= SETTINGS.indexOf(limits.setting);
  need(isAllowed && setting !== "central", "The campaign's setting is weaker than you allow.");
  checkNames(campaign, [...FIELDS, ...(OF_SETTING[setting] ?? [])], "campaign", OPTIONAL);
  need("columns" in campaign !== "categories" in campaign, "The campaign asks nothing clear.");
  need(atMost(epsilon, limits.epsilon), "The campaign asks for more than you allow it.");
  if ("labels" in campaign) {
    checkNames(campaign.labels, ["epsilon"], "price of labels");
    checkEpsilon(campaign.labels.epsilon);
  }
  const times = [campaign.opens, campaign.closes];
  need(times.every((at) => typeof at === "string" && MOMENT.test(at)), "The dates are wrong.");
  need(now === null || (times[0] <= now && now <= times[1]), "The campaign is not open now.");
  const isShared = setting === "two_aggregators";
  checkRounds(campaign.rounds, epsilon, isShared);
  if (campaign.rounds[0].question.mechanism === "nd_laplace") {
    need(limits.nearby, "The campaign hides only near values from each other: you allow none.");
    need(setting === "local", "The question does not fit the campaign's setting.");
  }
  if (isShared) {
    checkAggregators(campaign.aggregators);
    need(!("labels" in campaign), "Two aggregators take no labels.");
  }
}

function checkRounds(rounds, epsilon, isShared) {
  need(Array.isArray(rounds) && rounds.length >= 1 && rounds.length <= 16,
    "The rounds are not clear.");
  rounds.forEach((one, i) => {
    checkNames(one, ["share", "question"], "round");
    if (one.question === "later" && i > 0) return;
    checkQuestion(one.question, epsilon);
    need((one.question.mechanism === "cell_shares") === isShared,
      "The question does not fit the campaign's setting.");
  });
  need(rounds.reduce((n, one) => n + whole(one.share, 2 ** 32), 0) === 2 ** 32,
    "The rounds do not add up.");
  need(rounds.length === 1 || !isShared, "Two aggregators are asked in one round.");
  need(rounds.length === 1 || rounds[0].question.mechanism !== "nd_laplace",
    "Reports on a lattice are asked for in one round.");
}

function checkAggregators(both) {
  need(Array.isArray(both) && both.length === 2, "There must be two aggregators.");
  for (const one of both) {
    checkNames(one, ["address", "key"], "aggregator");
    need(typeof one.address === "string" && TLS.test(one.address),
      "An aggregator's address is not protected by TLS.");
    need(isHex(one.key), "An aggregator's key is not clear.");
  }
  const places = new Set(both.map((one) => new URL(one.address).host)); // however it is written
  need(places.size === 2 && both[0].key !== both[1].key,
    "The two aggregators are one.");
}

// ---- keys, rounds, batches, shares

/** The idempotency key of one person in one campaign. */
export async function keyOf(token, campaign, purpose = "key") {
  const own = await crypto.subtle.importKey("raw", token, { name: "HMAC", hash: "SHA-256" },
    false, ["sign"]);
  const message = join(encoder.encode(`shoal.${purpose}.1\n`), campaign);
  return new Uint8Array(await crypto.subtle.sign("HMAC", own, message)).slice(0, 16);
}

/** In which round a key reports: public, and blind to the record. */
export async function roundOf(campaign, key, shares) {
  const digest = await sha256(join(encoder.encode("shoal.round.1\n"), campaign, key));
  let place = Number(asBigInt(digest.slice(0, 4))), number = 0;
  while (place >= shares[number]) place -= shares[number++];
  return number;
}

/** The body that carries reports of one round, all of them codes or all on a lattice. */
export function batchOf(campaign, number, reports) {
  const magic = Array.isArray(reports[0][1]) ? "SHP1" : "SHR1";
  return batch(magic, campaign, number, reports.map(([key, one]) => join(key, reportBytes(one))));
}

function reportBytes(report) {
  if (!Array.isArray(report)) return bigEndian(report, 4);
  return join(...report.map((place) => bigEndian(BigInt.asUintN(64, BigInt(place)), 8)));
}

/** The body that carries shares to one of two aggregators, 0 or 1. */
export function shareBatchOf(campaign, place, shares) {
  return batch("SHS1", campaign, place, shares.map(([key, content]) => join(key, content)));
}

const batch = (magic, campaign, number, lines) => join(encoder.encode(magic), campaign,
  Uint8Array.of(number), bigEndian(lines.length, 3), ...lines);

/** What tells that two shares belong together, and nothing else: a hash of the seed. */
export async function tagOf(seed) {
  return (await sha256(join(encoder.encode("shoal.tag.1\n"), seed))).slice(0, 16);
}

/** The second aggregator's share of a cell; the first one's is the seed. */
export async function shareOf(cell, cells, seed) {
  const share = [];
  for (let block = 0; 4 * block < cells; block++) {
    const pad = await sha256(join(encoder.encode("shoal.share.1\n"), seed, bigEndian(block, 4)));
    for (let i = 0; i < 4 && 4 * block + i < cells; i++) {
      const own = 4 * block + i === cell ? 1n : 0n;
      share.push(bigEndian((own - asBigInt(pad.slice(8 * i, 8 * i + 8)) + WORD) % WORD, 8));
    }
  }
  return join(...share);
}

// ---- the notebook, and taking part

/** Keeps the token, every permanent report and what was spent, in the browser's own database. */
export class Notebook {
  constructor(name = "shoal-notebook") {
    this.name = name;
  }

  /** Run `work` on the content under a lock held over all tabs, and write the content back. */
  async change(work) {
    need(globalThis.navigator?.locks && globalThis.indexedDB,
      "This browser cannot keep a notebook.");
    return navigator.locks.request(this.name, async () => {
      const database = await this.open();
      const pages = await currentPages(
        await this.request(database, "readonly", (store) => store.get("pages")));
      const result = await work(pages);
      await this.request(database, "readwrite", (store) => store.put(pages, "pages"));
      database.close();
      return result;
    });
  }

  open() {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore("pages");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Refused("The notebook cannot be read or written."));
    });
  }

  request(database, mode, ask) {
    return new Promise((resolve, reject) => {
      const transaction = database.transaction("pages", mode, { durability: "strict" });
      const request = ask(transaction.objectStore("pages"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = transaction.onerror = () =>
        reject(new Refused("The notebook cannot be read or written."));
    });
  }
}

/** The same in a file, for Node; one program at a time. The file is that of client.py. */
export class FileNotebook {
  constructor(path) {
    this.path = path;
  }

  async change(work) {
    const files = await import("node:fs/promises"), lock = `${this.path}.node-lock`;
    await this.lock(files, lock);
    try {
      const before = await this.read(files), pages = await currentPages(before && JSON.parse(before));
      const result = await work(pages);
      if (JSON.stringify(pages) !== before) await this.write(files, JSON.stringify(pages));
      return result;
    } catch (error) {
      if (error instanceof SyntaxError) throw new Refused("The notebook is damaged; it is not begun anew.");
      throw error.code ? new Refused("The notebook cannot be read or written.") : error;
    } finally {
      await files.rmdir(lock);
    }
  }

  async lock(files, lock) {
    for (let tries = 0; ; tries++) {
      try {
        return await files.mkdir(lock, { mode: 0o700 });
      } catch (error) {
        need(error.code === "EEXIST" && tries < 600,
          `Another program has the notebook open; if none has, delete ${lock}.`);
        await new Promise((done) => setTimeout(done, 50));
      }
    }
  }

  async read(files) {
    try {
      return await files.readFile(this.path, "ascii");
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    }
  }

  async write(files, text) {
    const part = `${this.path}.part`, handle = await files.open(part, "w", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await files.rename(part, this.path);
  }
}

const newToken = () => toHex(crypto.getRandomValues(new Uint8Array(32)));

/** What a notebook holds, begun where there is none, and upgraded from the first version. */
async function currentPages(found) {
  const pages = found ?? { version: 2, token: newToken(), entries: {} };
  const current = pages.version === 1 ? await upgraded(pages) : pages;
  need(current.version === 2 && /^[0-9a-f]{64}$/.test(current.token) && isObject(current.entries),
    "The notebook is damaged; it is not begun anew.");
  return current;
}

async function upgraded({ token, asked }) {
  const entries = {};
  for (const [place, entry] of Object.entries(asked)) {
    if (!("report" in entry)) continue; // it waited for a question, and had drawn nothing
    const [campaign, label] = place.split("/");
    const own = placeOf(campaign, await keyOf(fromHex(entry.token), fromHex(campaign)));
    entries[label ? `${own}/${label}` : own] = entry;
  }
  return { version: 2, token, entries };
}

/** Under which name the notebook keeps one person's report to a campaign. */
const placeOf = (campaign, key) => `${campaign}/${toHex(key)}`;

/** The epsilons that the person of a place has spent at most; see `_spent` of client.py. */
function spentBy(entries, place) {
  const own = place.split("/").slice(0, 2).join("/"), people = new Map(), spent = [];
  for (const [at, entry] of Object.entries(entries)) {
    const person = at.split("/").slice(0, 2).join("/");
    if (entry.refused && person !== own) spent.push(entry.epsilon);
    else people.set(person, [...(people.get(person) ?? []), entry.epsilon]);
  }
  const dearest = new Map();
  for (const [person, epsilons] of people) {
    const campaign = person.slice(0, 32);
    if (campaign === own.slice(0, 32) && person !== own) continue;
    if (!dearest.has(campaign) || unitsOf(dearest.get(campaign)) < unitsOf(epsilons)) {
      dearest.set(campaign, epsilons);
    }
  }
  return [...spent, ...[...dearest.values()].flat()];
}

const now = () => new Date().toISOString().replace(/\.[0-9]+Z$/, "Z");
const unitsOf = (epsilons) => epsilons.reduce((sum, text) => // of 10^-12: at most 12 digits
  sum + (fraction(text)[0] * 10n ** 12n) / fraction(text)[1], 0n);
const spentAtMost = (epsilons, ceiling) => unitsOf(epsilons) <= unitsOf([ceiling]);
const AGAIN = [0, 408, 429, 500, 502, 503, 504]; // after these the same bytes are sent again
const RESULTS = { 401: "refused", 409: "wait", 410: "closed" }; // what these say to a person

/** How long a server asks to wait: a number or a date, at most five minutes. */
function secondsOf(after) {
  const seconds = /^[0-9]+$/.test(after ?? "") ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
  return Math.min(Math.max(seconds || 0, 0), 300);
}

const UNKNOWN_INVITATION =
  "The server does not know this invitation: check that the link is whole.";

/** Write down a report that was just drawn, and what it costs. */
function keep(pages, place, name, epsilon, token, report) {
  pages.entries[place] = { name, epsilon, token, sent: false, report };
}

/** What a person allows unless they say otherwise, as in client.py. */
export const USUAL_LIMITS = { epsilon: "2", ceiling: "8", setting: "local", nearby: false };

/** Take part in one campaign for one person. */
export class Client {
  constructor(address, key, { notebook = new Notebook(), token = null, limits = {},
    send = (url, options) => fetch(url, options),
    pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds)) } = {}) {
    need(TLS.test(address), "The address is not protected by TLS.");
    this.address = address.replace(/\/+$/, "");
    Object.assign(this, { key, notebook, token, send, pause });
    this.limits = { ...USUAL_LIMITS, ...limits };
  }

  /** The checked campaign and its id. */
  async campaign({ mustBeOpen = true } = {}) {
    await this.checkVersion();
    const [campaign, name] = await this.document("/v1/campaign", "campaign");
    checkCampaign(campaign, this.limits, mustBeOpen ? now() : null);
    return [campaign, name];
  }

  async checkVersion() {
    let versions = [1];
    try {
      const answer = await this.send(this.address + "/.well-known/shoal");
      if (answer.status === 200) versions = (await answer.json()).versions;
    } catch {
      versions = [];
    }
    need(Array.isArray(versions) && versions.includes(1), "The server speaks another version.");
  }

  /** Draw the permanent report once, write it down, send it until the server has it. */
  async takePart(record) {
    const [campaign, name] = await this.campaign();
    const state = await this.notebook.change(async (pages) => {
      const token = this.ownToken(pages, campaign, name);
      const key = await keyOf(fromHex(token), name), place = placeOf(toHex(name), key);
      const number = await roundOf(name, key, campaign.rounds.map((one) => one.share));
      if (!(place in pages.entries)) {
        this.checkPrice(pages.entries, place, campaign.name, campaign.epsilon);
        const question = await this.question(campaign, name, number);
        if (question === null) return "wait";
        const hindrance = await this.checkInvitation(campaign, name, key);
        if (hindrance !== null) return hindrance;
        const report = question.mechanism === "cell_shares"
          ? (await split(question, record)).map(toHex) : draw(question, record, new Words());
        keep(pages, place, campaign.name, campaign.epsilon, token, report);
      }
      return { entry: { ...pages.entries[place] }, key, number, place };
    });
    if (typeof state === "string") return state;
    if (state.entry.sent) return "sent";
    const bodies = campaign.setting === "two_aggregators"
      ? await this.shareBodies(campaign, name, state.key, state.entry.report)
      : this.reportBody(batchOf(name, state.number, [[state.key, state.entry.report]]));
    return this.deliver(bodies, campaign.closes, state.place);
  }

  reportBody(body) {
    return [["reports", this.address + "/v1/reports", body]];
  }

  async shareBodies(campaign, name, key, report) {
    const [seed, share] = report.map(fromHex), contents = [seed, join(await tagOf(seed), share)];
    return contents.map((content, i) => ["shares",
      campaign.aggregators[i].address.replace(/\/+$/, "") + "/v1/shares",
      shareBatchOf(name, i, [[key, content]])]);
  }

  /** The group of one's own record by the published model, after the close too; nothing is sent. */
  async label(record) {
    const [campaign, name] = await this.campaign({ mustBeOpen: false });
    const [model] = await this.document("/v1/model", "model");
    checkNames(model, MODEL, "model", ["errors"]);
    need(model.campaign === toHex(name), "The model is another's.");
    const question = campaign.rounds[0].question, d = question.columns?.length ?? 0;
    for (const line of [...lists(model.centers, d), ...lists([model.units], d)]) {
      line.forEach(finite);
    }
    need(model.units.every((unit) => Number(unit) > 0), "The model's units are wrong.");
    return label(model, record, question);
  }

  /** Send the randomised group of one's own record, where the campaign pays for it. */
  async sendLabel(record) {
    const [campaign, name] = await this.campaign();
    need("labels" in campaign, "The campaign does not ask for labels.");
    const epsilon = campaign.labels.epsilon;
    const oracle = { name: "randomized_response", size: campaign.n_clusters };
    const question = { mechanism: "category", epsilon, oracle };
    checkQuestion(question, epsilon);
    need(spentAtMost([campaign.epsilon, epsilon], this.limits.epsilon),
      "Its label costs more than you allow it.");
    const group = await this.label(record);
    const [bodies, place] = await this.notebook.change(async (pages) => {
      const token = this.ownToken(pages, campaign, name);
      const at = `${placeOf(toHex(name), await keyOf(fromHex(token), name))}/label`;
      if (!(at in pages.entries)) {
        this.checkPrice(pages.entries, at, campaign.name, epsilon);
        keep(pages, at, campaign.name, epsilon, token, draw(question, group, new Words()));
      }
      const key = await keyOf(fromHex(token), name, "label");
      const reports = [[key, pages.entries[at].report]];
      return [this.reportBody(batchOf(name, LABEL_ROUND, reports)), at];
    });
    return this.deliver(bodies, campaign.closes, place);
  }

  async document(path, kind) {
    let envelope;
    try {
      const answer = await this.send(this.address + path);
      need(answer.status === 200, `The server gave no ${kind}.`);
      envelope = parseEnvelope(await answer.text());
    } catch (error) {
      throw error instanceof Refused ? error : new Refused(`What came is no signed ${kind}.`);
    }
    return openEnvelope(envelope, kind, this.key);
  }

  async question(campaign, name, number) {
    const question = campaign.rounds[number].question;
    if (question !== "later") return question;
    const path = `/v1/round/${number}`;
    if ((await this.send(this.address + path)).status === 404) return null;
    const [later] = await this.document(path, "round");
    checkNames(later, ["format", "type", "campaign", "round", "question", "before"], "round");
    need(later.campaign === toHex(name) && later.round === number, "The round is another's.");
    need(isHex(later.before), "The round does not say what it was learnt from.");
    checkQuestion(later.question, campaign.epsilon);
    need(!["cell_shares", "nd_laplace"].includes(later.question.mechanism),
      "The question does not fit the campaign's setting.");
    return later.question;
  }

  /** Whether the person of now has reported from this device, and whether others have. */
  async history() {
    const [campaign, name] = await this.campaign({ mustBeOpen: false });
    return this.notebook.change(async (pages) => {
      const places = Object.keys(pages.entries).filter((at) =>
        at.startsWith(toHex(name)) && pages.entries[at].sent);
      if (!this.token && campaign.enrolment !== "open") return { own: false, others: places.length > 0 };
      const token = this.ownToken(pages, campaign, name);
      const own = placeOf(toHex(name), await keyOf(fromHex(token), name));
      return { own: places.includes(own), others: places.some((at) => !at.startsWith(own)) };
    });
  }

  /** Give an open campaign a new person: somebody else uses this device from now on. */
  startAsAnotherPerson() {
    return this.notebook.change((pages) => {
      pages.token = newToken();
    });
  }

  ownToken(pages, campaign, name) {
    if (this.token) return toHex(this.token);
    if (campaign.enrolment === "open") return pages.token;
    const used = new Set(Object.entries(pages.entries).filter(([at, one]) =>
      at.startsWith(toHex(name)) && !one.refused).map(([, one]) => one.token));
    need(used.size === 1, "This campaign takes invited people only: use your own invitation.");
    return [...used][0];
  }

  checkPrice(entries, place, name, epsilon) {
    const twin = Object.entries(entries).some(([at, one]) =>
      one.name === name && at.slice(0, 32) !== place.slice(0, 32));
    need(!twin, "Another campaign of this name was answered before.");
    // Keys of this campaign that its server did not know may be this very person's.
    const here = Object.fromEntries(Object.entries(entries).filter(([at]) =>
      at.slice(0, 32) === place.slice(0, 32)));
    need(spentAtMost([...spentBy(here, place), epsilon], this.limits.epsilon),
      "It costs more than you allow one campaign, with refused invitations.");
    need(spentAtMost([...spentBy(entries, place), epsilon], this.limits.ceiling),
      "It would cost more than you allow in all.");
  }

  /** What keeps a key from reporting, before a report is drawn and paid for; null if nothing. */
  async checkInvitation(campaign, name, key) {
    if (campaign.enrolment === "open") return null;
    let status = 0, isUsed = null;
    try {
      const answer = await this.send(this.address + "/v1/invitations", { method: "POST",
        body: join(encoder.encode("SHI1"), name, key),
        headers: { "Content-Type": "application/vnd.shoal.invitations" } });
      status = answer.status;
      if (status === 200) isUsed = (await answer.json()).used;
    } catch {
      isUsed = null; // nobody answered, or not in JSON
    }
    need(status !== 401, UNKNOWN_INVITATION);
    need(isUsed !== true, "This invitation was used before, on another device.");
    return isUsed === false ? null : RESULTS[status] ?? "unreachable";
  }

  async deliver(bodies, closes, place) {
    let result = "sent";
    for (const [kind, url, body] of bodies) {
      result = await this.sendUntil(kind, url, body, closes);
      if (result !== "sent") break;
    }
    await this.notebook.change((pages) => {
      const entry = pages.entries[place];
      if (result === "sent") {
        entry.sent = true;
        delete entry.refused;
      }
      if (result === "refused") entry.refused = true;
      if (result === "sent" && bodies.length > 1) entry.report = []; // two shares are the cell itself
    });
    need(result !== "refused", UNKNOWN_INVITATION);
    return result;
  }

  async sendUntil(kind, url, body, closes) {
    const headers = { "Content-Type": `application/vnd.shoal.${kind}` };
    let status = 0;
    for (let wait = 1; now() <= closes && wait < 600; wait = wait < 300 ? Math.min(2 * wait, 300) : 600) {
      let after = null;
      try {
        const answer = await this.send(url, { method: "POST", body, headers });
        status = answer.status;
        after = answer.headers?.get("Retry-After");
      } catch {
        status = 0;
      }
      if (status === 200) return "sent";
      if (!AGAIN.includes(status)) break;
      const jitter = 1 + new Words().below(1000) / 2000;
      await this.pause(Math.max(wait, secondsOf(after)) * jitter);
    }
    need([401, 409, 410, ...AGAIN].includes(status), "The server refused the report.");
    return RESULTS[status] ?? "unreachable";
  }
}
