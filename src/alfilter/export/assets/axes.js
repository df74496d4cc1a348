"use strict";
// The axes of a map in the user's own units: names, and as many round numbers as there is room for.

/* exported drawAxes */

// Round numbers from low to high, at most `most` of them; with the digits they need.
function ticks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((k) => k * power >= rough * (1 - 1e-9)) ?? 10);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && ticks.length < 50; k++) ticks.push(k * step);
  const large = Math.max(Math.abs(low), Math.abs(high)) >= 1e7 || digits > 7;
  return ticks.map((value) => ({ value, text: large ? String(Number(value.toPrecision(8))) : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1") }));
}

// view: { width, height } of the stage in pixels of the page, and along each axis where the domain's ends are on it.
function drawAxes(across, up, axes, { width, height, right, down }) {
  const escape = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  const put = (svg, axis, [from, to], length, draw) => { // from, to: where axis.low and axis.high are
    const value = (p) => axis.low + ((p - from) / (to - from)) * (axis.high - axis.low);
    const ends = [Math.max(Math.min(from, to), 0), Math.min(Math.max(from, to), length)];
    const [low, high] = ends.map(value).sort((a, b) => a - b), shown = ends[1] > ends[0] && high > low;
    const marks = shown ? ticks(low, high, length / draw.room) : [];
    const at = (v) => from + ((v - axis.low) / (axis.high - axis.low)) * (to - from);
    svg.innerHTML = draw.name(escape(axis.name), (ends[0] + ends[1]) / 2) + marks.map(({ value: v, text }) => draw.mark(at(v).toFixed(1), text)).join("");
  };
  put(across, axes[0], right, width, {
    room: 80,
    mark: (x, text) => `<line class="tick" x1="${x}" x2="${x}" y1="0" y2="5"></line><text x="${x}" y="18" text-anchor="middle">${text}</text>`,
    name: (name, x) => `<text class="name" x="${x}" y="36" text-anchor="middle">${name}</text>`,
  });
  put(up, axes[1], down, height, {
    room: 50,
    mark: (y, text) => `<line class="tick" x1="59" x2="64" y1="${y}" y2="${y}"></line><text x="55" y="${Number(y) + 4}" text-anchor="end">${text}</text>`,
    name: (name, y) => `<text class="name" transform="translate(13 ${y}) rotate(-90)" text-anchor="middle">${name}</text>`,
  });
}
