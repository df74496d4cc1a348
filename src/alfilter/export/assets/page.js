"use strict";
// The page: what is looked at, and what is said about the place under the cursor.

/* global unpackNumbers, readField, alphaAt, bandResponse, cutOff, evaluateField, locate, openEngine, Sections, Steering, Tiles, SIDE, drawCurve, sayBand, drawAxes */

(async () => {
  const byId = (id) => document.getElementById(id), text = (id) => byId(id).textContent;
  const program = JSON.parse(text("program"));
  const bytes = unpackNumbers(program, Uint8Array.from(atob(text("numbers").trim()), (c) => c.charCodeAt(0)).buffer);
  byId("numbers").remove();
  const field = readField(program, bytes), width = field.shift.length;
  let [rows, columns] = field.shape;
  const canvas = byId("stage"), pen = canvas.getContext("2d");
  const scene = document.createElement("canvas"), behind = document.createElement("canvas");
  const view = { column: (columns - 1) / 2, row: (rows - 1) / 2, zoom: 1 }; // the middle, in samples; pixels per sample
  let before = null, painted = null, opacity = 0, cursor = null, waiting = false, moved = false, touched = false;

  // ── colours ──────────────────────────────────────────────────────────────────────────────────────────────────────
  const map = Uint8Array.from(atob(program.colours), (c) => c.charCodeAt(0)); // 256 × RGB
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const mapped = (share, pixels, at) => {
    const k = 3 * Math.round(255 * clamp(share, 0, 1));
    for (let c = 0; c < 4; c++) pixels[at + c] = c < 3 ? map[k + c] : 255;
  };
  const colour = (values, from, count, pixels) => {
    for (let p = 0; p < count; p++) {
      const v = from + 4 * p, to = 4 * p;
      if (program.scale) mapped((values[v] - program.scale[0]) / (program.scale[1] - program.scale[0]), pixels, to);
      else for (let c = 0; c < 4; c++) {
        const opaque = c === 3 && width % 2 === 1, source = width > 2 ? c : c < 3 ? 0 : 1;
        pixels[to + c] = opaque ? 255 : Math.round(255 * clamp(values[v + source], 0, 1));
      }
    }
  };
  const [least, most] = field.filter?.range ?? [0, 1];
  const shade = (alpha, pixels, at) => mapped((alpha - least) / (most - least), pixels, at);
  const tiles = new Tiles(field, colour, shade, () => refresh());

  // ── the view ─────────────────────────────────────────────────────────────────────────────────────────────────────
  const domain = (position, count) => (count > 1 ? (2 * position - (count - 1)) / (count - 1) : 0);
  const settled = async () => { while (tiles.progress < 1 || waiting || touched) await new Promise((done) => setTimeout(done, 10)); };
  const sections = program.layout && new Sections({
    layout: program.layout, whole: program.whole, rate: program.rate, settled,
    moved: () => { follow(); look(); }, turned: () => { follow(); fit(); },
  });
  function follow() { // the plane that the controls say
    [rows, columns] = field.shape = sections.shape;
    tiles.isPlaying = Boolean(sections.playing);
    tiles.move({ axes: sections.axes, at: sections.whole.map((n, axis) => domain(sections.places[axis], n)) });
  }
  if (sections) {
    follow();
    byId("plane-key").hidden = sections.whole.length < 3;
  }
  const steering = !field.alpha || field.dims !== 2 ? null : new Steering(field, field.shape, {
    changed: (box) => { // several dabs a frame
      tiles.touch(box);
      if (!touched) requestAnimationFrame(() => { touched = false; look(); });
      touched = true;
    },
    turned: () => { canvas.classList.toggle("painting", steering.isOn); refresh(); },
  });
  const fitting = () => Math.min(canvas.width / columns, canvas.height / rows);
  const corner = () => ({ // the first pixel on screen, counted from the picture's corner
    left: Math.round((view.column + 0.5) * view.zoom - canvas.width / 2),
    top: Math.round((view.row + 0.5) * view.zoom - canvas.height / 2),
  });
  const sampleAt = (x, y) => { // a place on the canvas, in samples
    const { left, top } = corner();
    return { column: (x + left) / view.zoom - 0.5, row: (y + top) / view.zoom - 0.5 };
  };

  function setView(next) {
    const zoom = clamp(next.zoom ?? view.zoom, Math.min(fitting(), 1) / 2, 8192);
    if (zoom !== view.zoom && painted) { // what is seen lies below the new tiles
      behind.width = scene.width;
      behind.height = scene.height;
      behind.getContext("2d").drawImage(scene, 0, 0);
      before = painted;
    }
    view.zoom = zoom;
    view.column = clamp(next.column ?? view.column, -0.5, columns - 0.5);
    view.row = clamp(next.row ?? view.row, -0.5, rows - 0.5);
    look();
  }

  function zoomBy(factor, x = canvas.width / 2, y = canvas.height / 2) { // the place at (x, y) stays where it is
    const at = sampleAt(x, y), zoom = clamp(view.zoom * factor, Math.min(fitting(), 1) / 2, 8192), k = view.zoom / zoom;
    setView({ zoom, column: at.column + (view.column - at.column) * k, row: at.row + (view.row - at.row) * k });
  }

  function look() {
    tiles.look({ ...corner(), width: canvas.width, height: canvas.height, zoom: view.zoom });
    byId("zoom").value = `${view.zoom >= 10 ? Math.round(view.zoom) : view.zoom.toFixed(view.zoom < 0.995 ? 2 : 1)}×`;
    const what = program.axes ? `${program.values[0]} over ${program.axes.map((axis) => `${axis.name} from ${brief(axis.low)} to ${brief(axis.high)}`).join(" and ")}` : `${columns} by ${rows} samples${sections && sections.held.length ? `, ${sections.held.map((axis) => `${sections.layout.axes[axis]} ${sections.places[axis]}`).join(", ")}` : ""}`;
    canvas.setAttribute("aria-label", `${program.title}: ${what}, shown ${byId("zoom").value}`);
    refresh();
  }

  function refresh() {
    if (!waiting) requestAnimationFrame(paint);
    waiting = true;
  }

  function paint() {
    waiting = false;
    const { left, top } = corner(), to = scene.getContext("2d");
    scene.width = canvas.width; // clears
    scene.height = canvas.height;
    to.beginPath(); // nothing beyond the picture's edge
    to.rect(-left, -top, Math.round(columns * view.zoom), Math.round(rows * view.zoom));
    to.clip();
    if (before) {
      const k = view.zoom / before.zoom;
      to.drawImage(behind, before.left * k - left, before.top * k - top, behind.width * k, behind.height * k);
    }
    const put = (on, tile, picture) => on.drawImage(picture, tile.tx * SIDE - left, tile.ty * SIDE - top, SIDE, SIDE);
    for (const tile of tiles.shown) if (tile.picture) put(to, tile, tile.picture);
    painted = { left, top, zoom: view.zoom };
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(scene, 0, 0);
    if (opacity > 0) {
      pen.save();
      pen.beginPath();
      pen.rect(-left, -top, Math.round(columns * view.zoom), Math.round(rows * view.zoom));
      pen.clip();
      pen.globalAlpha = opacity;
      for (const tile of tiles.shown) put(pen, tile, tiles.overlay(tile));
      pen.restore();
    }
    if (program.axes) {
      const k = canvas.getBoundingClientRect().width / canvas.width, ends = (first, n) => [0.5, n - 0.5].map((p) => (p * view.zoom - first) * k);
      drawAxes(byId("axis-x"), byId("axis-y"), program.axes, { width: canvas.width * k, height: canvas.height * k, right: ends(left, columns), down: ends(top, rows).reverse() });
    }
    if (moved) mark();
    if (steering?.isOn) ring();
    if (tiles.progress === 1) before = null;
    const share = Math.floor(100 * tiles.progress);
    byId("status").textContent = share < 100 ? `Evaluating the field: ${share} %` : "";
    tell();
  }

  function mark() { // the keyboard's cursor
    const x = Math.round(canvas.width / 2) + 0.5, y = Math.round(canvas.height / 2) + 0.5, r = 9 * ratio();
    for (const [line, thick] of [["#000", 3], ["#fff", 1]]) {
      pen.strokeStyle = line;
      pen.lineWidth = thick * ratio();
      pen.beginPath();
      for (const [dx, dy] of [[1, 0], [0, 1]]) {
        pen.moveTo(x - r * dx, y - r * dy);
        pen.lineTo(x + r * dx, y + r * dy);
      }
      pen.stroke();
    }
  }

  function ring() { // what the brush reaches
    const { x, y } = cursor ?? { x: canvas.width / 2, y: canvas.height / 2 };
    if (!cursor && !moved) return;
    for (const [line, thick] of [["rgb(0 0 0 / 65%)", 4], ["#fff", 2]]) {
      pen.strokeStyle = line;
      pen.lineWidth = thick * ratio();
      pen.beginPath();
      pen.arc(x, y, steering.radius * view.zoom, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  // ── the place under the cursor ───────────────────────────────────────────────────────────────────────────────────
  function at(row, column) {
    const down = domain(row, rows), right = domain(column, columns);
    const [x0, x1] = program.axes ? [right, -down] : [down, right];
    const alpha = field.alpha ? Math.min(alphaAt(field, locate(tiles.plane, x0, x1, [])), tiles.cap) : null;
    const values = [...evaluateField(field, Float64Array.of(x0, x1, alpha ?? 0), 1, tiles.plane).subarray(0, width)];
    const response = field.filter ? Array.from({ length: field.filter.channels }, (_, c) => bandResponse(field.filter, c, alpha)) : null;
    return { x: [x0, x1], values, alpha, response };
  }

  function tell() {
    const here = cursor ? sampleAt(cursor.x, cursor.y) : { row: view.row, column: view.column };
    const inside = here.row >= -0.5 && here.row <= rows - 0.5 && here.column >= -0.5 && here.column <= columns - 0.5;
    const spot = inside ? at(here.row, here.column) : null, digits = clamp(Math.ceil(Math.log10(view.zoom)), 0, 4);
    const dot = spot && new Uint8ClampedArray(4);
    if (spot) colour([...spot.values, 0, 0, 0], 0, 1, dot);
    const lines = !spot ? [["Place", "outside the field"]] : [
      ["Place", program.axes ? program.axes.map((axis, k) => `${axis.name} ${place(axis, spot.x[k])}`).join(", ")
        : sections ? sections.place(here.column, here.row, digits) : `row ${here.row.toFixed(digits)}, column ${here.column.toFixed(digits)}`],
      [program.values ? program.values.join(", ") : "Value", spot.values.map((v) => (program.values ? brief(v) : fixed(v, 3))).join("  "), `rgb(${dot[0]} ${dot[1]} ${dot[2]})`],
      ...(field.alpha ? [["Cut-off", `${rounded(cutOff(field.filter, spot.alpha))} cycles per ${field.filter.unit}`]] : []),
    ];
    byId("facts").replaceChildren(...lines.flatMap(([name, value, swatch]) => {
      const term = document.createElement("dt"), entry = document.createElement("dd");
      term.textContent = name;
      entry.textContent = value;
      if (swatch) {
        const patch = document.createElement("span");
        patch.className = "swatch";
        patch.style.background = swatch;
        entry.prepend(patch);
      }
      return [term, entry];
    }));
    if (spot?.response) {
      drawCurve(byId("curve"), field.filter, spot.alpha, spot.response);
      byId("curve-text").textContent = sayBand(field.filter, spot.alpha, spot.response);
    }
    return lines.map(([name, value]) => `${name}: ${value}`).join(". ");
  }
  const fixed = (number, digits) => number.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"); // no minus before zero
  const rounded = (number) => Number(number.toPrecision(3)).toString();
  const brief = (number) => Number(number.toPrecision(5)).toString();
  const place = (axis, x) => brief(((x + 1) / 2) * (axis.high - axis.low) + axis.low);

  // ── hands ────────────────────────────────────────────────────────────────────────────────────────────────────────
  const ratio = () => Math.min(window.devicePixelRatio || 1, 2);
  const onCanvas = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left) * canvas.width / box.width, y: (event.clientY - box.top) * canvas.height / box.height };
  };
  const onPicture = ({ x, y }) => { const { row, column } = sampleAt(x, y); return [column, row]; };
  const fingers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const now = onCanvas(event);
    fingers.set(event.pointerId, now);
    if (fingers.size > 1) steering?.interrupt();
    else if (steering?.isOn && event.button === 0 && !event.shiftKey) {
      [cursor, moved] = [now, false];
      steering.gesture.begin(onPicture(now));
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = onCanvas(event), last = fingers.get(event.pointerId);
    cursor = now;
    moved = false;
    if (last && steering?.gesture.active) {
      steering.gesture.to(onPicture(now));
      fingers.set(event.pointerId, now);
    }
    if (!last || steering?.gesture.active) return refresh();
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    setView({ column: view.column - (now.x - last.x) / view.zoom / (other ? 2 : 1), row: view.row - (now.y - last.y) / view.zoom / (other ? 2 : 1) });
    if (other) {
      const spread = (a) => Math.max(Math.hypot(a.x - other.x, a.y - other.y), 1);
      zoomBy(spread(now) / spread(last), (now.x + other.x) / 2, (now.y + other.y) / 2);
    }
    fingers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(name, (event) => {
    fingers.delete(event.pointerId);
    if (!fingers.size) steering?.gesture.end();
  });
  canvas.addEventListener("pointerleave", () => { cursor = null; refresh(); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { x, y } = onCanvas(event), lines = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    zoomBy(2 ** (-clamp(lines, -240, 240) / 240), x, y);
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => { const { x, y } = onCanvas(event); if (!steering?.isOn) zoomBy(2, x, y); });

  const fit = () => setView({ zoom: fitting() * 0.98, column: (columns - 1) / 2, row: (rows - 1) / 2 });
  const show = (percent) => {
    opacity = percent / 100;
    byId("opacity").value = percent;
    byId("opacity-shown").value = `${percent} %`;
    refresh();
  };
  const detail = (place) => { // the cap on α: from the slowest scale to what was learned, even in log frequency
    const { cut_off: { step: by, top, first }, frequencies, across } = field.filter;
    const bottom = by ? (Math.log2(frequencies[0] * across) - first) / by : -1;
    const cap = place >= 200 ? Infinity : bottom + ((top - bottom) * place) / 200, cycles = cutOff(field.filter, cap);
    const said = place >= 200 ? "as learned" : `up to ${rounded(cycles)} cycles per ${field.filter.unit}`;
    byId("detail").value = place;
    byId("detail").setAttribute("aria-valuetext", said);
    byId("detail-shown").value = said;
    tiles.limit(cap);
    look();
  };
  const step = () => Math.max(canvas.width, canvas.height) / 10 / view.zoom;
  const keys = {
    ArrowLeft: () => setView({ column: view.column - step() }), ArrowRight: () => setView({ column: view.column + step() }),
    ArrowUp: () => setView({ row: view.row - step() }), ArrowDown: () => setView({ row: view.row + step() }),
    "+": () => zoomBy(2), "=": () => zoomBy(2), "-": () => zoomBy(0.5), 0: fit, 1: () => setView({ zoom: 1 }),
    a: () => field.alpha && show(opacity > 0 ? 0 : 60), "[": () => sections?.step(-1), "]": () => sections?.step(1),
    ...(steering && {
      p: () => steering.take(!steering.isOn), u: () => steering.undo(), b: () => steering.peek(true),
      " ": () => steering.isOn && steering.gesture.once([clamp(view.column, 0, columns - 1), clamp(view.row, 0, rows - 1)]),
    }),
  };
  canvas.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[key] || (event.repeat && key === "b")) return;
    event.preventDefault();
    cursor = null;
    moved = true;
    keys[key]();
    byId("live").textContent = tell();
  });
  addEventListener("keyup", (event) => event.key.toLowerCase() === "b" && steering?.peek(false));
  byId("in").addEventListener("click", () => zoomBy(2));
  byId("out").addEventListener("click", () => zoomBy(0.5));
  byId("fit").addEventListener("click", fit);
  byId("one").addEventListener("click", () => setView({ zoom: 1 }));
  byId("opacity").addEventListener("input", (event) => show(Number(event.target.value)));

  const legend = (id) => {
    const bar = new ImageData(256, 1);
    for (let i = 0; i < 256; i++) mapped(i / 255, bar.data, 4 * i);
    byId(id).getContext("2d").putImageData(bar, 0, 0);
  };
  if (program.axes) { // a map: axes in the user's units, and what the colours mean
    canvas.parentElement.classList.add("map");
    for (const id of ["axis-x", "axis-y", "value-part"]) byId(id).removeAttribute("hidden");
    byId("one").hidden = true;
    legend("value-legend");
    byId("value-name").textContent = program.values[0];
    [byId("value-low").textContent, byId("value-high").textContent] = program.scale.map(brief);
    byId("value-legend").setAttribute("aria-label", `Colours from ${brief(program.scale[0])} (dark) to ${brief(program.scale[1])} (bright)`);
  }
  if (field.alpha) {
    for (const id of ["alpha-part", "curve-part", "alpha-key"]) byId(id).hidden = false;
    legend("legend");
    byId("low").textContent = rounded(cutOff(field.filter, least));
    byId("high").textContent = rounded(cutOff(field.filter, most));
    byId("low-high").textContent = `cycles per ${field.filter.unit}`;
    byId("steer-key").hidden = !steering;
    byId("detail").addEventListener("input", (event) => detail(Number(event.target.value)));
  }
  const measure = () => {
    const box = canvas.getBoundingClientRect(), first = painted === null;
    canvas.width = Math.max(1, Math.round(box.width * ratio()));
    canvas.height = Math.max(1, Math.round(box.height * ratio()));
    if (first) fit();
    else look();
  };
  measure();
  new ResizeObserver(measure).observe(canvas);

  // ── the engine ───────────────────────────────────────────────────────────────────────────────────────────────────
  const wanted = new URLSearchParams(location.hash.slice(1)).get("engine");
  const code = text("code");
  const start = (engine) => {
    tiles.use(engine);
    byId("engine").textContent = `Evaluated in this page by ${engine.name}; nothing is loaded or sent.`;
  };
  tiles.failed = async () => { // a driver that gave up: go on without it
    start(await openEngine(field, program, bytes, code, "script"));
    look();
  };
  start(await openEngine(field, program, bytes, code, wanted));
  // for tests and for the curious: the same numbers the page shows
  window.alfilter = {
    field, view, at, setView, show, corner, detail, sections, steering, settled,
    get engine() { return tiles.engine.name; },
    get progress() { return tiles.progress; },
    get still() { return tiles.progress === 1 && !waiting && !touched; }, // everything is evaluated and painted
    get shown() { return (tiles.shown ?? []).map((tile) => tile.step); }, // pixels between two values, tile by tile
    get tiles() { return tiles.kept.size; },
    evaluate: async (points) => {
      const places = Float32Array.from(points.flatMap(([a, b]) => [a, b, field.alpha ? Math.min(alphaAt(field, locate(tiles.plane, a, b, [])), tiles.cap) : 0]));
      return Array.from(await tiles.engine.evaluate(places, tiles.plane));
    },
  };
})();
