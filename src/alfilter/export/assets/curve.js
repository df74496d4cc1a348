"use strict";
// H^c(α) over the channels or levels as a small chart, and in words.

/* exported drawCurve, sayBand */

const BOX = { left: 30, right: 312, top: 10, bottom: 132 };

function drawCurve(svg, filter, alpha, response) {
  const last = Math.max(filter.channels - 1, 1), tag = (name, attributes, inner = "") => {
    const words = Object.entries(attributes).map(([key, value]) => `${key}="${value}"`).join(" ");
    return `<${name} ${words}>${inner}</${name}>`;
  };
  const x = (c) => BOX.left + ((BOX.right - BOX.left) * c) / last, y = (h) => BOX.bottom - (BOX.bottom - BOX.top) * h;
  const points = response.map((h, c) => `${x(c).toFixed(1)},${y(h).toFixed(1)}`).join(" ");
  const parts = [0, 0.5, 1].flatMap((h) => [
    tag("line", { class: "axis", x1: BOX.left, x2: BOX.right, y1: y(h), y2: y(h) }),
    tag("text", { x: BOX.left - 6, y: y(h) + 4, "text-anchor": "end" }, String(h)),
  ]);
  parts.push(tag("polygon", { class: "area", points: `${x(0)},${y(0)} ${points} ${x(last)},${y(0)}` }));
  parts.push(tag("polyline", { class: "line", points }));
  const centre = Math.min(Math.max(alpha, 0), last);
  parts.push(tag("line", { class: "centre", x1: x(centre), x2: x(centre), y1: y(0), y2: y(1) }));
  const labels = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * last));
  for (const c of new Set(labels)) parts.push(tag("text", { x: x(c), y: BOX.bottom + 15, "text-anchor": "middle" }, String(c)));
  const every = Math.ceil(filter.levels / 5);
  for (let j = 0; j < filter.levels; j += every) { // one mark per dyadic scale, in the middle of its channels
    const at = x(((j + 0.5) * filter.channels) / filter.levels - 0.5);
    parts.push(tag("line", { class: "axis", x1: at, x2: at, y1: BOX.bottom + 34, y2: BOX.bottom + 38 }));
    parts.push(tag("text", { x: at, y: BOX.bottom + 50, "text-anchor": "middle" }, short(filter.frequencies[j])));
  }
  parts.push(tag("text", { x: BOX.right, y: BOX.bottom + 29, "text-anchor": "end" }, `${filter.axis} ↑ &#160; cycles per ${filter.unit} ↓`));
  svg.innerHTML = parts.join("");
}

function short(frequency) {
  return Number(frequency.toPrecision(2)).toString().replace(/^0\./, ".");
}

// Which channels pass by half or more, and the frequencies they carry.
function sayBand(filter, alpha, response) {
  const open = response.flatMap((h, c) => (h >= 0.5 ? [c] : []));
  if (!open.length) return `No ${filter.axis} passes by half or more at α = ${alpha.toFixed(2)}.`;
  const scale = (c) => filter.frequencies[Math.floor((c * filter.levels) / filter.channels)];
  const [low, high] = [open[0], open[open.length - 1]], kind = (low === 0) === (high === filter.channels - 1)
    ? (low === 0 ? "everything passes" : "a band passes") : low === 0 ? "low frequencies pass" : "high frequencies pass";
  const which = low === high ? `${filter.axis} ${low} alone` : `${filter.axis}s ${low} to ${high}`;
  const [slow, fast] = [short(scale(low)), short(scale(high))];
  return `Here ${kind}: ${which}, ${slow === fast ? slow : `${slow} to ${fast}`} cycles per ${filter.unit}.`;
}
