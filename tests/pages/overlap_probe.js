// Finds texts that lie over one another or leave their place, and tells the frame's holder.
document.querySelectorAll("details").forEach(d => { d.open = true });
const UNSEEN = ["SCRIPT", "STYLE", "TITLE", "DESC"];
const hides = style => style.visibility === "hidden" || style.clipPath === "inset(50%)";

function ancestors(e) {
  const list = [];
  for (let at = e; at && at !== document.documentElement; at = at.parentElement) list.push(at);
  return list;
}

// What can be seen of a box: regions that scroll or hide what overflows cut it off.
function visible(box, chain) {
  let {left, right, top, bottom} = box;
  for (const at of chain) {
    const style = getComputedStyle(at);
    if (hides(style) || at.matches(".skip")) return null;
    if (at.tagName.toLowerCase() === "svg" || style.overflowX === "visible") continue;
    const edge = at.getBoundingClientRect();
    [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
    [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
  }
  return right - left > 1 && bottom - top > 1 ? {left, right, top, bottom} : null;
}

// Letters fill about seven tenths of the height of their line.
function inked(box, text, of) {
  const air = (box.bottom - box.top) / 7;
  return {left: box.left + 0.5, right: box.right - 0.5, top: box.top + air, bottom: box.bottom - air, text, of};
}

function boxesOf(node) {
  const e = node.parentElement, chain = ancestors(e);
  if (UNSEEN.includes(e.tagName.toUpperCase()) || !e.getClientRects().length) return [];
  const range = document.createRange();
  range.selectNodeContents(node);
  const drawn = e.closest("svg") ? [e.getBoundingClientRect()] : [...range.getClientRects()];
  const text = node.data.trim().replace(/\s+/g, " ").slice(0, 50);
  return drawn.map(box => visible(box, chain)).filter(Boolean).map(box => inked(box, text, e));
}

const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const boxes = [];
while (walk.nextNode()) if (walk.currentNode.data.trim()) boxes.push(...boxesOf(walk.currentNode));
boxes.sort((a, b) => a.top - b.top);

const overlaps = [];
boxes.forEach((a, i) => {
  for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom; j++) {
    const b = boxes[j];
    if (a.left < b.right - 1 && b.left < a.right - 1) overlaps.push(`${a.text} / ${b.text}`);
  }
});

// Words stay inside the card, the cell of a table and the picture that they belong to.
const leaves = [];
for (const box of boxes) {
  for (const place of [box.of.closest("td, th"), box.of.closest(".card"), box.of.closest("svg.fig")]) {
    if (!place) continue;
    const edge = place.getBoundingClientRect();
    if (box.left < edge.left - 2 || box.right > edge.right + 2) {
      leaves.push(`${box.text} leaves ${place.tagName.toLowerCase()} ${place.getAttribute("class") || ""}`);
      break;
    }
  }
}
parent.postMessage({name: PAGE_NAME, overlaps, leaves, texts: boxes.length,
  scroll: document.documentElement.scrollWidth, inner: innerWidth}, "*");
