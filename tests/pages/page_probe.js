// Measures the page it is put into, and tells the frame's holder.
document.querySelectorAll("details").forEach(d => { d.open = true });
const all = selector => [...document.querySelectorAll(selector)];
const shown = e => e.getClientRects().length > 0;
const textual = all("body *").filter(e => shown(e) && !e.closest(".skip") &&
  [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) &&
  !["SCRIPT", "STYLE", "TITLE", "DESC"].includes(e.tagName.toUpperCase()));

function drawnSize(e) {
  const matrix = e.getScreenCTM ? e.getScreenCTM() : {a: 1, b: 0};
  return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(matrix.a, matrix.b) + 0.01;
}

function parts(colour) { return (colour.match(/[\d.]+/g) || []).map(Number) }
function luminance([r, g, b]) {
  const linear = [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}
function ground(e) {
  for (let at = e; at; at = at.parentElement) {
    const colour = parts(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] > 0.99) return colour;
  }
  return [255, 255, 255];
}
function contrast(e) {  // of words in HTML; those of pictures are held to the palette by its own test
  const [one, two] = [luminance(parts(getComputedStyle(e).color)), luminance(ground(e))];
  return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
}
const pale = textual.filter(e => !e.closest("svg") &&
  contrast(e) < (drawnSize(e) >= 24 || (drawnSize(e) >= 18.6 && getComputedStyle(e).fontWeight >= 700) ? 3 : 4.5));

const faults = [];
const heads = all("h1, h2, h3, h4").map(e => Number(e.tagName[1]));
if (heads.filter(level => level === 1).length !== 1) faults.push("not one h1");
heads.forEach((level, i) => { if (level > (heads[i - 1] || 0) + 1) faults.push(`heading ${i} skips a level`) });
if (!document.documentElement.lang) faults.push("no language");
if (!document.title) faults.push("no title");
if (all("main").length !== 1) faults.push("not one main");
for (const child of document.body.children) {
  const fine = ["SCRIPT", "ASIDE"].includes(child.tagName) || child.matches(".skip, .wrap");
  if (!fine) faults.push(`outside landmarks: ${child.tagName} ${child.className}`);
}
for (const svg of all("svg")) {
  const named = svg.getAttribute("role") === "img" && svg.querySelector("title") && svg.querySelector("desc");
  if (!named && svg.getAttribute("aria-hidden") !== "true") faults.push("a picture without words");
}
for (const head of all("th")) if (!head.hasAttribute("scope")) faults.push(`a head without scope: ${head.textContent}`);
for (const region of all(".scroll")) {
  if (region.tabIndex !== 0 || !region.getAttribute("aria-label")) faults.push("a scroll region without name or focus");
}
for (const link of all("a[href^='#']")) if (!document.querySelector(link.hash)) faults.push(`a link to nowhere: ${link.hash}`);
const ids = all("[id]").map(e => e.id);
for (const id of ids.filter((each, i) => ids.indexOf(each) < i)) faults.push(`two of one id: ${id}`);
for (const e of all("[aria-labelledby]")) {
  for (const id of e.getAttribute("aria-labelledby").split(" ")) if (!ids.includes(id)) faults.push(`no label ${id}`);
}

function inked(e) {  // a line is a fifth higher than its letters, above and below
  const box = e.getBoundingClientRect(), air = Math.min(box.width, box.height) / 5;
  return {of: e.parentNode, text: e.textContent, wide: box.width, left: box.left + air,
          right: box.right - air, top: box.top + air, bottom: box.bottom - air};
}
const words = all("svg > text").map(inked).filter(e => e.wide);
const meet = (a, b) => a.of === b.of && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const clash = words.filter((a, i) => words.slice(0, i).some(b => meet(a, b))).map(e => e.text);

// A table wider than its place must lie in a region that scrolls.
const stuck = all("table").filter(shown).filter(e => {
  const region = e.closest(".scroll");
  return e.getBoundingClientRect().right > innerWidth + 1 && !(region && getComputedStyle(region).overflowX === "auto");
}).length;

const place = selector => {
  const e = document.querySelector(selector);
  if (!e) return null;
  const box = e.getBoundingClientRect();
  return {top: box.top + scrollY, bottom: box.bottom + scrollY, text: e.textContent};
};
parent.postMessage({
  name: PAGE_NAME, scroll: document.documentElement.scrollWidth, inner: innerWidth,
  requests: performance.getEntriesByType("resource").length,
  small: textual.filter(e => drawnSize(e) < 11).map(e => e.textContent.slice(0, 40)),
  pale: pale.map(e => `${contrast(e).toFixed(2)} ${e.textContent.slice(0, 40)}`),
  faults, clash, stuck, strip: place(".strip"), index: place(".index"),
  cards: all(".cards > *").map(e => e.getBoundingClientRect().bottom + scrollY),
}, "*");
