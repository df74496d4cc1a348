"""The page's look and its one script, both inline."""

from __future__ import annotations

CSS = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5c636b; --line: #dcdfe3; --paper: #ffffff;
  --card: #f6f7f8; --seen: #0072b2; --held: #c04e00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e8; --soft: #9aa2aa; --line: #33383d; --paper: #15171a;
  --card: #1e2125; --seen: #56b4e9; --held: #f0903c; } }
* { box-sizing: border-box; }
html { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: var(--ink);
  background: var(--paper); -webkit-text-size-adjust: 100%; }
body { max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; margin: 0 0 1.25rem;
  overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; font-weight: 650; margin: 3rem 0 0.75rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; font-weight: 600; margin: 1.75rem 0 0.4rem; }
p { margin: 0.4rem 0 0.9rem; max-width: 42rem; }
small, figcaption, .soft { color: var(--soft); font-size: 0.875rem; line-height: 1.45; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 0.9rem 1.25rem;
  margin: 0; }
dl.facts dt { color: var(--soft); font-size: 0.8125rem; }
dl.facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0 1.5rem; }
figure img { display: block; max-width: 100%; height: auto; border-radius: 6px; }
figure.chart img { background: #fff; border: 1px solid var(--line); width: 46rem; }
img.pixels { image-rendering: pixelated; }
figcaption { margin-top: 0.5rem; max-width: 42rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: 0.5rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 0.9rem 0.5rem 0; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
td.number, th.number { text-align: right; white-space: nowrap; }
td + td code { overflow-wrap: anywhere; }
td small { display: block; max-width: 26rem; }
th button { font: inherit; font-size: 0.8125rem; font-weight: 600; color: var(--soft); background: none; border: 0;
  padding: 0; cursor: pointer; }
th button::after { content: "\\2195"; opacity: 0.45; margin-left: 0.3em; }
th[aria-sort=ascending] button::after { content: "\\2191"; opacity: 1; }
th[aria-sort=descending] button::after { content: "\\2193"; opacity: 1; }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.8rem 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre span { display: inline-block; max-width: 100%; }
.compare .stack { position: relative; overflow: hidden; border-radius: 6px; touch-action: pan-y; cursor: ew-resize;
  max-width: var(--wide, 46rem); --cut: 50%; }
.compare .stack img { width: 100%; border-radius: 0; user-select: none; -webkit-user-select: none; }
.compare .stack img + img { position: absolute; inset: 0; height: 100%; clip-path: inset(0 0 0 var(--cut)); }
.compare .stack::after { content: ""; position: absolute; top: 0; bottom: 0; left: calc(var(--cut) - 1px); width: 2px;
  background: #fff; box-shadow: 0 0 3px #000; pointer-events: none; }
.compare label { display: flex; justify-content: space-between; align-items: center; gap: 0.75rem; margin-top: 0.5rem;
  max-width: var(--wide, 46rem); font-size: 0.875rem; color: var(--soft); }
.compare input { flex: 1; min-width: 4rem; margin: 0; accent-color: var(--seen); }
:focus-visible { outline: 2px solid var(--seen); outline-offset: 3px; }
svg.curve { display: block; width: 100%; max-width: 40rem; height: auto; }
svg.curve text { font-size: 13px; fill: var(--soft); }
svg.curve line { stroke: var(--line); stroke-width: 1; }
svg.curve polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg.curve .seen { stroke: var(--seen); }
svg.curve .held { stroke: var(--held); stroke-dasharray: 6 4; }
.key { color: var(--seen); font-weight: 600; }
.key.held { color: var(--held); }
@media (max-width: 30rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.45rem; }
  dl.facts { grid-template-columns: 1fr 1fr; }
  svg.curve text { font-size: 18px; }
  th, td { padding-right: 0.6rem; }
  td small { font-size: 0.8125rem; }
}
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --card: #f6f7f8; --seen: #0072b2; --held: #c04e00; }
  html { font-size: 10.5pt; }
  body { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  th button::after, .compare input { display: none; }
  .compare .stack { display: grid; grid-template-columns: 1fr 1fr; gap: 0.6rem; max-width: none; overflow: visible; }
  .compare .stack::after { display: none; }
  .compare .stack img + img { position: static; height: auto; clip-path: none; }
  .compare label { max-width: none; }
  figure.chart img { max-height: 12cm; width: auto; border: 0; }
}
"""

SCRIPT = """
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a, column), key(b, column)];
      return x !== "" && y !== "" && !isNaN(x) && !isNaN(y) ? x - y : x.localeCompare(y, undefined, {numeric: true});
    });
    body.append(...(down ? rows.reverse() : rows));
  }));
}
for (const figure of document.querySelectorAll(".compare")) {
  const stack = figure.querySelector(".stack"), range = figure.querySelector("input");
  const show = () => stack.style.setProperty("--cut", range.value + "%");
  range.addEventListener("input", show);
  const drag = (event) => {
    const box = stack.getBoundingClientRect();
    range.value = Math.round(100 * (event.clientX - box.left) / box.width);
    show();
  };
  stack.addEventListener("pointerdown", (event) => { stack.setPointerCapture(event.pointerId); drag(event); });
  stack.addEventListener("pointermove", (event) => { if (stack.hasPointerCapture(event.pointerId)) drag(event); });
  stack.addEventListener("dragstart", (event) => event.preventDefault());
  show();
}
"""
