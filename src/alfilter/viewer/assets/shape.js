// The page of a shape: its surface at the detail that is seen, a slice of its distance field, the place under the cursor.

import { table } from "./colours.js";
import { drawResponse, short } from "./plots.js";
import { orbit, project, Scene } from "./scene.js";

const $ = (id) => document.getElementById(id), ANGLE = 0.6, FAR = 6;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

class ShapeView {
  constructor(about) {
    this.about = about;
    this.scene = new Scene($("canvas"));
    this.eye = { target: [0, 0, 0], turn: 0.6, tilt: 0.35, far: FAR, up: 1 };
    this.state = { surface: about.alpha ? "alpha" : "plain", axis: -1, at: 0, shows: "distance", open: true, detail: "auto" };
    this.range = [0, 1];
    this.level = null; // of the surface that is drawn
    this.asked = new Set();
    this.fingers = new Map();
    this.slow = false;
    this.scene.map("viridis", table("viridis"));
    this.scene.map("distance", diverging());
    this.write();
    this.listen();
    this.theme();
    new ResizeObserver(() => this.resize()).observe($("stage"));
    this.resize();
  }

  // ---- the surface, coarse first, then as fine as can be seen

  get unit() {
    return this.about.frame.scale;
  }

  // the coarsest surface whose cells are below three pixels on screen
  ideal() {
    const { levels } = this.about, { detail } = this.state;
    if (detail !== "auto") return Number(detail);
    const pixels = ($("canvas").height / 2) * this.look().scale; // of one unit at the target
    return levels.find((n) => (2 / (n - 1)) * pixels <= 3) ?? levels.at(-1);
  }

  async refine() {
    if (this.refining) return;
    this.refining = true;
    try {
      for (;;) {
        const next = this.about.levels.find((n) => n <= this.ideal() && !this.asked.has(n));
        if (next === undefined || this.state.surface === "none") break;
        this.asked.add(next);
        this.say(`Looking for the surface at ${next}³ …`);
        const mesh = this.scene.addMesh(next, await bytes(`/api/mesh?resolution=${next}`));
        if (mesh.range) this.setRange(mesh.range);
        $("about-surface").textContent = `${mesh.faces.toLocaleString("en")} triangles from a grid of ${next}³.`;
        this.changed();
      }
    } catch (error) {
      this.trouble(error.message);
    }
    this.say("");
    this.refining = false;
  }

  choose() {
    const ready = [...this.scene.meshes.keys()].sort((a, b) => a - b), ideal = this.ideal();
    const fine = ready.filter((n) => n <= ideal).at(-1) ?? ready[0] ?? null;
    const coarse = ready.filter((n) => n <= 96).at(-1) ?? fine;
    return this.slow && this.isMoving() ? Math.min(coarse, fine) : fine;
  }

  isMoving() {
    return this.fingers.size > 0 || performance.now() - (this.touched ?? -1e9) < 200;
  }

  // ---- the slice

  async cut() {
    const { axis, at } = this.state;
    $("slice-more").hidden = axis < 0;
    $("where-out").value = short((this.about.frame.offset[axis] ?? 0) + at * this.unit, 3);
    if (axis < 0) {
      this.scene.clearSlice();
      return this.changed();
    }
    if (this.cuttingNow) return (this.cutAgain = true);
    this.cuttingNow = true;
    try {
      for (const size of [64, 256]) { // a moving slice stays coarse
        const { axis, at } = this.state;
        if (axis < 0) break;
        const data = await bytes(`/api/slice?axis=${axis}&at=${at}&size=${size}`);
        const part = (k) => new Float32Array(data, 4 * k * size * size, size * size);
        if (this.state.axis === axis) this.scene.setSlice(axis, at, size, part(0), this.about.alpha ? part(1).map(Math.log2) : null);
        this.changed();
        if (this.cutAgain) break;
      }
    } catch (error) {
      this.trouble(error.message);
    }
    this.cuttingNow = false;
    if (this.cutAgain) {
      this.cutAgain = false;
      await this.cut();
    }
    this.probe();
  }

  setSlice(axis, at = this.state.at) {
    Object.assign(this.state, { axis, at: clamp(at, -1, 1) });
    document.querySelector(`input[name=axis][value="${axis < 0 ? "off" : axis}"]`).checked = true;
    $("where").value = this.state.at;
    return this.cut();
  }

  // ---- drawing

  look() {
    const { width, height } = $("canvas");
    return orbit({ ...this.eye, aspect: width / height, angle: ANGLE });
  }

  view() {
    const style = getComputedStyle(document.documentElement), ink = rgb(style.getPropertyValue("--soft"));
    return { ...this.look(), ...this.state, level: this.level, ground: rgb(style.getPropertyValue("--stage")), ink: [...ink, 1],
      alphaRange: this.range, distanceRange: [-0.5, 0.5], spacing: 0.1 };
  }

  resize() {
    const box = $("stage").getBoundingClientRect(), ratio = Math.min(devicePixelRatio || 1, 2), canvas = $("canvas");
    const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.changed();
  }

  changed() {
    if (this.frame) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = null;
      if (this.isMoving() && this.before && now - this.before < 1000) this.slow = now - this.before > 45;
      this.before = now;
      this.level = this.choose();
      this.scene.draw(this.view());
      this.label();
      clearTimeout(this.settle);
      this.settle = setTimeout(() => {
        this.before = null;
        if (this.choose() !== this.level) this.changed();
        this.refine();
      }, 250);
    });
  }

  label() {
    const { camera } = this.look(), box = $("stage").getBoundingClientRect();
    "xyz".split("").forEach((name, axis) => {
      const place = [-1, -1, -1], node = $(`axis-${name}`);
      place[axis] = 1.12;
      const [u, v] = project(camera, place);
      node.style.transform = `translate(${((u + 1) / 2) * box.width}px, ${((1 - v) / 2) * box.height}px)`;
    });
    const zoom = FAR / this.eye.far;
    $("scale").value = `${zoom < 10 ? zoom.toFixed(1) : Math.round(zoom)}×`;
  }

  // ---- the place under the cursor

  probe(delay = 80) {
    clearTimeout(this.later);
    this.later = setTimeout(() => this.ask(), delay);
  }

  async ask() {
    const canvas = $("canvas"), [x, y] = this.cursor ?? [canvas.width / 2, canvas.height / 2];
    if (this.level === null && !this.scene.cutting) return;
    const place = this.scene.pick(this.view(), x, y);
    if (!place) return this.tell(null);
    const words = place.map((v, k) => `${"xyz"[k]}=${clamp(v, -1, 1)}`).join("&");
    try {
      this.tell(await (await answer(`/api/at?${words}`)).json());
    } catch (error) {
      this.trouble(error.message);
    }
  }

  tell(spot) {
    this.spot = spot;
    $("spot-place").textContent = spot ? spot.user.map((v) => short(v, 4)).join(", ") : "beside the shape";
    $("spot-distance").textContent = spot ? `${short(spot.distance, 3)} (in the mesh's units)` : "–";
    const { alpha } = this.about;
    if (!alpha) return;
    $("spot-alpha").textContent = spot ? `${short(spot.frequency)} cycles across (α ${spot.alpha.toFixed(2)})` : "–";
    drawResponse($("response"), alpha, spot, "cycles across the domain");
  }

  // ---- words

  write() {
    const { about } = this, { alpha } = about;
    $("title").textContent = about.name;
    document.title = `${about.name} · alfilter`;
    $("facts").textContent = `a shape as a signed distance field · ${about.method} · ${about.params.toLocaleString("en")} parameters`;
    for (const id of ["f-alpha", "row-alpha", "f-response", "l-shows"]) $(id).hidden = !alpha;
    document.querySelector("input[name=colour][value=alpha]").closest("label").hidden = !alpha;
    document.querySelector(`input[name=colour][value=${this.state.surface}]`).checked = true;
    $("detail").append(...["auto", ...about.levels].map((n) => new Option(n === "auto" ? "as seen" : `${n}³`, n)));
    for (const name of "xyz") {
      const mark = Object.assign(document.createElement("span"), { id: `axis-${name}`, textContent: name, className: "axis-name" });
      mark.setAttribute("aria-hidden", "true");
      $("stage").append(mark);
    }
    if (alpha) {
      this.setRange(alpha.cut_off.map(Math.log2));
      $("alpha-unit").textContent = "cut-off in cycles across the domain";
      bar($("legend-alpha"), table("viridis"));
    }
    bar($("legend-distance"), diverging());
    [$("distance-low").textContent, $("distance-high").textContent] = [-0.5, 0.5].map((v) => short(v * this.unit, 2));
    $("stage").setAttribute("aria-label", `The surface of ${about.name}${alpha ? ", coloured by the filter's cut-off" : ""}; the middle of the view is the cursor`);
    this.tell(null);
  }

  // log2 of the cut-off at the two ends of the colours, at least a factor of 1.1 apart
  setRange([low, high]) {
    this.range = [low, Math.max(high, low + Math.log2(1.1))];
    [$("alpha-low").textContent, $("alpha-high").textContent] = this.range.map((v) => short(2 ** v, 3));
  }

  say(text) {
    $("busy").textContent = text;
    $("busy").hidden = !text;
  }

  trouble(text) {
    $("trouble").hidden = !text;
    $("trouble").textContent = text && `No answer: ${text}. Is alfilter view still running?`;
  }

  theme() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.changed());
    $("theme").addEventListener("click", () => {
      const { dataset } = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
      dataset.theme = (dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
      this.changed();
    });
  }

  // ---- hands

  turn(x, y) {
    this.eye.turn -= x;
    this.eye.tilt = clamp(this.eye.tilt + y, -1.55, 1.55);
    this.moved();
  }

  slide(x, y) { // in canvas pixels
    const { right, above, scale } = this.look(), unit = 2 / ($("canvas").height * scale);
    this.eye.target = this.eye.target.map((v, k) => clamp(v - (right[k] * x - above[k] * y) * unit, -1, 1));
    this.moved();
  }

  zoom(factor) {
    this.eye.far = clamp(this.eye.far / factor, 0.05, 12);
    this.moved();
  }

  fit() {
    Object.assign(this.eye, { target: [0, 0, 0], far: FAR });
    this.moved();
  }

  moved() {
    this.touched = performance.now();
    this.changed();
    this.probe(200);
  }

  listen() {
    const stage = $("stage"), at = (event) => {
      const box = stage.getBoundingClientRect(), ratio = $("canvas").width / box.width;
      return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    };
    stage.addEventListener("pointerdown", (event) => {
      stage.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, at(event));
    });
    stage.addEventListener("pointermove", (event) => {
      const now = (this.cursor = at(event)), last = this.fingers.get(event.pointerId);
      if (!last) return this.probe();
      const [x, y] = [now[0] - last[0], now[1] - last[1]], other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const spread = (p) => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
        this.zoom(spread(now) / spread(last));
        this.slide(x / 2, y / 2);
      } else if (event.shiftKey || event.buttons & 6) this.slide(x, y);
      else this.turn((4 * x) / $("canvas").height, (4 * y) / $("canvas").height);
      this.fingers.set(event.pointerId, now);
    });
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => {
      this.fingers.delete(event.pointerId);
      this.changed();
    });
    stage.addEventListener("contextmenu", (event) => event.preventDefault());
    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(2 ** (-clamp(event.deltaY * (event.deltaMode === 1 ? 16 : 1), -240, 240) / 300));
    }, { passive: false });
    const step = (x, y) => (event) => (event.shiftKey ? this.slide(-400 * x, -400 * y) : this.turn(-x, y));
    const slice = (axis) => () => this.setSlice(this.state.axis === axis ? -1 : axis);
    const keys = { ArrowLeft: step(-0.12, 0), ArrowRight: step(0.12, 0), ArrowUp: step(0, -0.12), ArrowDown: step(0, 0.12),
      "+": () => this.zoom(1.4), "=": () => this.zoom(1.4), "-": () => this.zoom(1 / 1.4), 0: () => this.fit(),
      x: slice(0), y: slice(1), z: slice(2), "[": () => this.setSlice(this.state.axis, this.state.at - 0.05),
      "]": () => this.setSlice(this.state.axis, this.state.at + 0.05),
      a: () => this.about.alpha && this.paint(this.state.surface === "alpha" ? "plain" : "alpha") };
    stage.addEventListener("keydown", (event) => {
      const work = keys[event.key] ?? keys[event.key.toLowerCase()];
      if (!work || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.cursor = null;
      work(event);
    });
    $("in").addEventListener("click", () => this.zoom(1.4));
    $("out").addEventListener("click", () => this.zoom(1 / 1.4));
    $("fit").addEventListener("click", () => this.fit());
    $("where").addEventListener("input", () => this.setSlice(this.state.axis, Number($("where").value)));
    $("open").addEventListener("change", () => { this.state.open = $("open").checked; this.changed(); });
    $("detail").addEventListener("change", () => { this.state.detail = $("detail").value; this.changed(); });
    $("up").addEventListener("change", () => { this.eye.up = Number($("up").value); this.moved(); });
    for (const input of document.querySelectorAll("input[type=radio]")) input.addEventListener("change", () => {
      if (input.name === "axis") this.setSlice(input.value === "off" ? -1 : Number(input.value));
      if (input.name === "shows") { this.state.shows = input.value; this.changed(); }
      if (input.name === "colour") this.paint(input.value);
    });
  }

  paint(kind) {
    this.state.surface = kind;
    document.querySelector(`input[name=colour][value=${kind}]`).checked = true;
    this.changed();
  }
}

function rgb(text) {
  const hex = text.trim().replace("#", "");
  return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
}

function bar(canvas, colours) {
  const context = canvas.getContext("2d"), image = context.createImageData(256, 1);
  new Uint32Array(image.data.buffer).set(colours);
  context.putImageData(image, 0, 0);
}

// from blue (inside) over white to orange (outside): told apart with every common kind of colour vision
function diverging() {
  const stops = [[8, 64, 129], [67, 147, 195], [209, 229, 240], [250, 246, 238], [253, 219, 169], [230, 140, 40], [140, 70, 0]];
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const t = (i / 255) * 6, k = Math.min(5, Math.floor(t)), f = t - k;
    const [r, g, b] = stops[k].map((v, c) => Math.round(v * (1 - f) + stops[k + 1][c] * f));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
}

async function answer(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw Error((await answer.json().catch(() => ({}))).error ?? `${answer.status}`);
  return answer;
}

const bytes = async (path) => (await answer(path)).arrayBuffer();

try {
  const about = await (await answer("/api/about")).json();
  window.view = new ShapeView(about);
} catch (error) {
  $("trouble").hidden = false;
  $("trouble").textContent = `${error.message}; alfilter mesh writes the surface to a file instead.`;
}
