// Small drawings: the filter's response and the convergence of a run, as SVG with words for those who do not see them.

const NS = "http://www.w3.org/2000/svg";

function add(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

export function short(value, digits = 3) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-3 ? value.toExponential(1).replace("e", "e") : String(Number(value.toPrecision(digits)));
}

// one bar per channel or level; below, the scales with their frequency in cycles per pixel
export function drawResponse(svg, alpha, spot, unit = "cycles per pixel") {
  svg.replaceChildren();
  const left = 4, right = 316, top = 8, floor = 104, n = alpha.channels, step = (right - left) / n;
  for (const [share, y] of [["1", top], ["0", floor]]) add(svg, "line", { class: "axis", x1: left, x2: right, y1: y, y2: y }, share);
  const response = spot ? spot.response : new Array(n).fill(0);
  response.forEach((h, c) => {
    const x = left + c * step + 0.8, width = Math.max(0.8, step - 1.6);
    add(svg, "rect", { class: "rest", x, y: top, width, height: floor - top, rx: 1.5 });
    add(svg, "rect", { class: "bar", x, y: floor - h * (floor - top), width, height: h * (floor - top), rx: 1.5 });
  });
  const group = n / alpha.levels, every = alpha.levels > 9 ? 2 : 1;
  for (let j = 0; j < alpha.levels; j++) {
    const x = left + (j + 0.5) * group * step;
    if (j) add(svg, "line", { class: "axis", x1: left + j * group * step, x2: left + j * group * step, y1: floor, y2: floor + 5 });
    if (j % every === 0) {
      add(svg, "text", { x, y: floor + 15, "text-anchor": "middle" }, `${j}`);
      add(svg, "text", { x, y: floor + 29, "text-anchor": "middle" }, short(alpha.cycles[j], 2).replace(/^0\./, "."));
    }
  }
  add(svg, "text", { x: (left + right) / 2, y: floor + 43, "text-anchor": "middle" }, `${alpha.unit === "levels" ? "level" : "scale"} j, and its ${unit}`);
  if (!spot) return;
  const x = left + (Math.min(Math.max(spot.alpha, -0.5), n - 0.5) + 0.5) * step;
  add(svg, "line", { class: "mark", x1: x, x2: x, y1: top - 6, y2: floor });
  const passing = response.map((h, c) => [h, c]).filter(([h]) => h > 0.5).map(([, c]) => c);
  const which = passing.length === 1 ? `${alpha.unit.slice(0, -1)} ${passing[0]} of ${n} passes` : `${alpha.unit} ${passing[0]} to ${passing.at(-1)} of ${n} pass`;
  const words = passing.length
    ? `${which}, up to ${short(alpha.cycles[Math.floor(passing.at(-1) / group)])} ${unit}`
    : "nothing passes";
  svg.setAttribute("aria-label", `Response of the filter at α ${spot.alpha.toFixed(2)}: ${words}`);
}

export function responseTable(box, alpha, spot, { axes, sample }) {
  const table = document.createElement("table");
  const group = alpha.channels / alpha.levels;
  const row = (cells, tag) => {
    const line = table.insertRow();
    for (const cell of cells) line.append(Object.assign(document.createElement(tag), { textContent: cell }));
  };
  const waves = alpha.unit === "channels";
  const names = axes.length === 2 ? ["y", "x"] : axes, unit = sample === "pixel" ? "cycles/px" : `cycles/${sample}`;
  row(waves ? ["channel", "scale", unit, "wave", "H"] : ["level", unit, "H"], "th");
  spot.response.forEach((h, c) => {
    const j = Math.floor(c / group), inside = c % group, wave = `${inside % 2 ? "cos" : "sin"} ${names[Math.floor(inside / 2)]}`;
    row(waves ? [c, j, short(alpha.cycles[j]), wave, h.toFixed(4)] : [c, short(alpha.cycles[j]), h.toFixed(4)], "td");
  });
  box.replaceChildren(table);
}

// PSNR over steps (logarithmic), with the kept moments; returns where a step is
export function drawCurve(svg, points, snapshots, step) {
  svg.replaceChildren();
  const left = 30, right = 314, top = 8, floor = 104;
  const last = Math.max(...points.map((p) => p[0]), ...snapshots, 2), first = 1;
  const values = points.map((p) => p[1]), low = Math.min(...values), high = Math.max(...values);
  const at = (s) => left + ((right - left) * Math.log(Math.max(s, first))) / Math.log(last);
  const up = (v) => floor - ((floor - top) * (v - low)) / Math.max(1e-9, high - low);
  const near = (s) => points.reduce((best, p) => (Math.abs(p[0] - s) < Math.abs(best[0] - s) ? p : best), points[0]);
  for (const v of [low, high]) {
    add(svg, "line", { class: "axis", x1: left, x2: right, y1: up(v), y2: up(v) });
    add(svg, "text", { x: left - 4, y: up(v) + 3.5, "text-anchor": "end" }, v.toFixed(0));
  }
  const clear = right - 34; // the word at the end has its room
  for (let s = 1; s <= last; s *= 10) {
    const end = at(s) + 3.2 * s.toLocaleString("en").length;
    if (end <= clear) add(svg, "text", { x: at(s), y: floor + 15, "text-anchor": s === 1 ? "start" : "middle" }, s.toLocaleString("en"));
  }
  add(svg, "text", { x: right, y: floor + 15, "text-anchor": "end" }, "steps");
  add(svg, "text", { x: left + 4, y: top + 9 }, "PSNR in dB");
  add(svg, "polyline", { class: "line", points: points.map((p) => `${at(p[0]).toFixed(1)},${up(p[1]).toFixed(1)}`).join(" ") });
  for (const s of snapshots) add(svg, "circle", { class: "kept", cx: at(s), cy: floor, r: 1.8 });
  if (step !== null) {
    const [, v] = near(step);
    add(svg, "line", { class: "mark", x1: at(step), x2: at(step), y1: top, y2: floor });
    add(svg, "circle", { class: "dot", cx: at(step), cy: up(v), r: 4.5 });
  }
  svg.setAttribute("aria-label", `Convergence: from ${low.toFixed(1)} to ${high.toFixed(1)} dB in ${last.toLocaleString("en")} steps`);
  return { stepAt: (x) => Math.exp(((x - left) / (right - left)) * Math.log(last)), psnr: (s) => near(s)[1], seconds: (s) => near(s)[2] };
}
