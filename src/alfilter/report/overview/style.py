"""The look of a page about many runs, on top of the page about one; and what selects the two sides of a slider."""

from __future__ import annotations

CSS_MANY = """
:root { --c0: #0072b2; --c1: #c04e00; --c2: #007f5f; --c3: #9a4f86; --c4: #8a6d00; --c5: #2b8cc4; --c6: #555b61;
  --c7: #a3324a; --best: #0072b2; --good: #00694d; --bad: #a3324a; --part: #7a5c00; }
@media (prefers-color-scheme: dark) { :root { --c0: #56b4e9; --c1: #f0903c; --c2: #2fc79a; --c3: #d79bc6; --c4: #e0c341;
  --c5: #8fd0ff; --c6: #a7afb6; --c7: #f08aa0; --best: #7cc7f2; --good: #4fd0a5; --bad: #f08aa0; --part: #e0c341; } }
body { max-width: 70rem; }
header p { color: var(--soft); }
nav { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 1.25rem 0 0; }
nav a { color: inherit; text-decoration: none; border: 1px solid var(--line); border-radius: 999px;
  padding: 0.2rem 0.8rem; font-size: 0.875rem; background: var(--card); }
nav a:hover { border-color: var(--seen); }
h2 small { font-weight: 400; margin-left: 0.4rem; }
section { scroll-margin-top: 1rem; }
table.wide { font-size: 0.9375rem; }
table.wide th { vertical-align: bottom; }
table.wide th, table.wide td { padding: 0.45rem 0.4rem; }
table.wide th button::after { margin-left: 0.15em; }
table.wide td:first-child, table.wide th:first-child { position: sticky; left: 0; background: var(--paper);
  padding-left: 0; min-width: 7.5rem; max-width: 20rem; }
table.wide td.number { white-space: nowrap; }
table.wide td small { display: inline; font-size: 0.8125rem; }
table.wide .printed { color: var(--soft); font-style: italic; }
table.wide b { color: var(--best); }
table.wide th.number button { text-align: right; }
table.wide tbody tr:hover td { background: var(--card); }
table.claims td:first-child { position: static; width: 36%; max-width: none; }
table.claims td.verdict { width: 11.5rem; font-weight: 600; }
.holds { color: var(--good); } .fails { color: var(--bad); } .partly { color: var(--part); }
.open { color: var(--soft); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 0 1.5rem; }
.pair figure { margin: 0.5rem 0; min-width: 0; }
svg.curve.many polyline { stroke-width: 2; }
.c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); } .c3 { stroke: var(--c3); }
.c4 { stroke: var(--c4); } .c5 { stroke: var(--c5); } .c6 { stroke: var(--c6); } .c7 { stroke: var(--c7); }
.c1, .c5 { stroke-dasharray: 7 3; } .c2, .c6 { stroke-dasharray: 2 3; } .c3, .c7 { stroke-dasharray: 9 3 2 3; }
ul.keys { list-style: none; margin: 0.2rem 0 1rem; padding: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem;
  font-size: 0.875rem; }
ul.keys svg { display: inline-block; width: 28px; height: 10px; margin-right: 0.45em; vertical-align: middle; }
ul.keys b { font-variant-numeric: tabular-nums; font-weight: 600; }
.scenes { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); gap: 1.5rem 1.75rem; }
.versus { margin: 0; min-width: 0; }
.versus h4 { margin: 0 0 0.5rem; font-size: 0.9375rem; font-weight: 600; overflow-wrap: anywhere; }
.versus .stack { position: relative; overflow: hidden; border-radius: 6px; touch-action: pan-y; cursor: ew-resize;
  --cut: 50%; background: var(--card); }
.versus .stack figure { margin: 0; display: none; }
.versus .stack figure.left { display: block; }
.versus .stack figure.right { display: block; position: absolute; inset: 0; clip-path: inset(0 0 0 var(--cut)); }
.versus .stack figcaption { display: none; }
.versus .stack img { display: block; width: 100%; height: auto; border-radius: 0; user-select: none;
  -webkit-user-select: none; pointer-events: none; }
.versus .stack::after { content: ""; position: absolute; top: 0; bottom: 0; left: calc(var(--cut) - 1px); width: 2px;
  background: #fff; box-shadow: 0 0 3px #000; pointer-events: none; }
.versus input { width: 100%; margin: 0.5rem 0 0.35rem; accent-color: var(--seen); }
.versus .sides { display: grid; grid-template-columns: 1fr 1fr; gap: 0.75rem; }
.versus select { font: inherit; font-size: 0.875rem; width: 100%; min-width: 0; padding: 0.3rem 0.4rem;
  color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1.1rem 1.5rem;
  margin: 0.75rem 0 1rem; }
.card { margin: 0; min-width: 0; }
.card div { display: grid; grid-template-columns: repeat(3, 1fr); gap: 4px; }
.card img { width: 100%; height: auto; border-radius: 3px; display: block; }
.card figcaption { margin: 0 0 0.3rem; color: var(--ink); }
.card figcaption span { color: var(--soft); }
.scale { display: flex; flex-wrap: wrap; gap: 0.3rem 1.5rem; font-size: 0.875rem; color: var(--soft); }
.scale i { display: inline-block; width: 6rem; height: 0.7rem; border-radius: 2px; vertical-align: -0.05rem;
  margin: 0 0.4rem; }
.magma { background: linear-gradient(90deg, #000004, #3b0f70, #8c2981, #de4968, #fe9f6d, #fcfdbf); }
.viridis { background: linear-gradient(90deg, #440154, #414487, #2a788e, #22a884, #7ad151, #fde725); }
figure.chart img { width: 100%; max-width: 60rem; }
details { margin: 0.75rem 0; } summary { cursor: pointer; color: var(--soft); font-size: 0.9375rem; }
@media (max-width: 30rem) {
  table.wide { font-size: 0.875rem; }
  table.wide td:first-child, table.wide th:first-child { min-width: 6rem; max-width: 9rem;
    box-shadow: 1px 0 0 var(--line); }
  table.claims, table.claims tbody, table.claims tr, table.claims td { display: block; width: auto; }
  table.claims td { border: 0; padding: 0.1rem 0; }
  table.claims td:first-child { box-shadow: none; width: auto; font-weight: 600; }
  table.claims td.verdict { width: auto; }
  table.claims tr { padding: 0.7rem 0; border-bottom: 1px solid var(--line); }
  table.claims thead { display: none; }
}
@media print {
  @page { margin: 14mm; }
  :root { --c0: #0072b2; --c1: #c04e00; --c2: #007f5f; --c3: #9a4f86; --c4: #8a6d00; --c5: #2b8cc4; --c6: #555b61;
    --c7: #a3324a; --best: #000; --good: #00694d; --bad: #a3324a; --part: #7a5c00; }
  nav, .versus input, .versus .sides { display: none; }
  .scroll { overflow: visible; }
  table.wide { font-size: 7.5pt; }
  table.wide th button, table.wide td small { font-size: 7pt; }
  table.wide th, table.wide td { padding: 0.25rem 0.2rem; }
  figure.chart img { max-height: 22cm; width: auto; max-width: 100%; }
  table.wide td:first-child, table.wide th:first-child { position: static; min-width: 0; }
  h2 { margin-top: 1.5rem; }
  .pair { grid-template-columns: 1fr 1fr; }
  .scenes { grid-template-columns: 1fr; }
  .versus { break-inside: avoid; }
  .versus .stack { display: grid; grid-template-columns: repeat(5, 1fr); gap: 2mm; background: none;
    overflow: visible; }
  .versus .stack::after { display: none; }
  .versus .stack figure, .versus .stack figure.right { display: block; position: static; clip-path: none; }
  .versus .stack figcaption { display: block; font-size: 7.5pt; margin-top: 0.5mm; }
  .sheet { grid-template-columns: repeat(3, 1fr); }
  .card { break-inside: avoid; }
  details > :not(summary) { display: block; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

SCRIPT_MANY = """
for (const versus of document.querySelectorAll(".versus")) {
  const stack = versus.querySelector(".stack"), range = versus.querySelector("input");
  const panes = [...stack.querySelectorAll("figure")], [left, right] = versus.querySelectorAll("select");
  const show = () => {
    panes.forEach((pane, k) => {
      pane.classList.toggle("left", String(k) === left.value);
      pane.classList.toggle("right", String(k) === right.value && left.value !== right.value);
    });
    stack.style.setProperty("--cut", range.value + "%");
  };
  const drag = (event) => {
    const box = stack.getBoundingClientRect();
    range.value = Math.round(100 * (event.clientX - box.left) / box.width);
    show();
  };
  for (const part of [left, right, range]) part.addEventListener("input", show);
  stack.addEventListener("pointerdown", (event) => { stack.setPointerCapture(event.pointerId); drag(event); });
  stack.addEventListener("pointermove", (event) => { if (stack.hasPointerCapture(event.pointerId)) drag(event); });
  show();
}
"""
