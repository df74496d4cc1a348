// The page: what is shown, the panes it is drawn in, and the pointer, wheel and keys that move it.

import { Camera } from "./camera.js";
import { Controls } from "./controls.js";
import { short } from "./plots.js";
import { Tiles } from "./tiles.js";
import { Tour } from "./tour.js";

/* global Sections */

const $ = (id) => document.getElementById(id);
const MARKS = 20; // screen pixels per sample from which the samples' places are marked

class View {
  constructor(about) {
    this.about = about;
    this.sections = new Sections({ // of the script that the exported page has, too
      layout: about.layout, whole: about.models[0].shape, rate: about.rate,
      moved: () => this.cutMoved(), turned: () => this.cutTurned(), settled: () => this.settled(),
    });
    this.state = {
      mode: "one", first: "m0", second: about.models.length > 1 ? "m1" : about.reference ? "nearest" : about.models[0].alpha ? "m0:learned" : "m0",
      beside: [], detail: null, overlay: "none", level: 0, opacity: 0.65, cut: 0.5, gain: 8, marks: true,
      moment: null, peek: false, brush: false, kind: "lower", radius: 20, amount: 2, cap: null,
    };
    this.camera = new Camera(this.shape, about.octave, about.zoom);
    this.tiles = new Tiles(about, this.shape, () => this.changed());
    this.panes = [];
    this.probe = null; // the place under the cursor, in samples
    this.pointers = new Map();
    this.fitted = true;
    this.versions = about.models.map((model) => model.version);
    this.controls = new Controls(this);
    this.tour = new Tour(this);
    this.arrange();
    new ResizeObserver(() => this.resize()).observe($("stage"));
    this.listen();
  }

  // another place of the plane, or another plane

  cutMoved() {
    this.refresh();
    if (this.probe) this.controls.look();
  }

  cutTurned() {
    const [rows, columns] = this.shape;
    for (const part of [this.camera, this.tiles]) Object.assign(part, { rows, columns });
    this.probe = null;
    for (const pane of this.panes) pane.before = [];
    this.fit();
  }

  // ---- what is shown

  get shape() {
    return this.sections.shape;
  }

  model(source) {
    const match = /^m(\d+)/.exec(source);
    return match ? this.about.models[Number(match[1])] : null;
  }

  // the words of a tile's request that name what a source shows
  words(source, layer = "field") {
    const model = this.model(source);
    if (!model) return `layer=${source}${this.sections.words}`;
    const learned = source.endsWith(":learned") || this.state.peek;
    const then = this.state.moment !== null && model === this.controls.taught ? `&t=${this.state.moment}` : "";
    return `m=${model.id}&layer=${layer}${then || (learned ? "&v=0" : "")}${layer === "field" ? this.levelWords(source) : ""}${this.sections.words}`;
  }

  // which of a model's levels of detail a source shows, from 1; null for the finest, which is the field's value
  levelOf(source) {
    const count = this.model(source)?.levels.length ?? 0, own = /:l(\d+)$/.exec(source);
    const level = own ? Number(own[1]) : this.state.detail;
    return level !== null && level < count ? level : null;
  }

  // the highest frequency that passes a source's filter, in cycles per pixel; null for as it was learned
  capOf(source) {
    return this.model(source)?.alpha && !source.endsWith(":learned") && !this.state.peek ? this.state.cap : null;
  }

  levelWords(source) {
    const level = this.levelOf(source), cap = this.capOf(source);
    return cap !== null ? `&c=${cap.toPrecision(4)}` : level === null ? "" : `&l=${level}`;
  }

  label(source) {
    const model = this.model(source);
    if (source === "nearest") return `the stored ${this.about.layout.sample}s`;
    if (source === "bicubic") return `the ${this.about.layout.noun}, bicubic`;
    const many = this.about.models.length > 1, level = this.levelOf(source);
    if (level !== null) return `${model.name}, level ${level} of ${model.levels.length}`;
    const moment = this.state.moment !== null && model === this.controls.taught;
    if (moment) return `${many ? model.name + ", " : ""}step ${this.state.moment.toLocaleString("en")}`;
    const cap = this.capOf(source);
    if (cap !== null) return `${model.name}${model.steered ? ", steered" : ""}, up to ${short(cap, 2)} cycles per ${this.about.layout.sample}`;
    const learned = source.endsWith(":learned") || (this.state.peek && model.steered);
    return learned ? `${model.name}, as learned` : model.steered ? `${model.name}, steered` : model.name;
  }

  get overlayLayer() {
    return { none: null, alpha: "alpha", scale: `scale${this.state.level}` }[this.state.overlay];
  }

  look(source) {
    if (this.state.overlay === "scale") return { key: "scale", map: "cividis", low: 0, high: 1 };
    const [least, high] = this.model(source).alpha.cut_off, low = Math.min(least, high / 1.25); // in cycles per pixel
    return { key: `alpha ${low} ${high}`, map: "viridis", low, high, log: true };
  }

  // what a pane's PSNR is measured against
  yardstick(source) {
    const { mode, first, second } = this.state;
    if (mode === "diff" || mode === "split") return source === first ? second : null;
    if (this.about.reference && this.sections.isOnSamples) return this.model(source) ? "bicubic" : null;
    return mode === "side" && source !== this.panes[0].sources[0] ? this.panes[0].sources[0] : null;
  }

  // make the panes that the mode needs
  arrange() {
    const { mode, first, second, beside } = this.state;
    const lists = mode === "side" ? beside.map((source) => [source]) : mode === "one" ? [[first]] : [[first, second]];
    const across = lists.length <= 1 ? 1 : innerWidth < 700 && lists.length < 4 ? 1 : lists.length <= 3 ? lists.length : Math.ceil(Math.sqrt(lists.length));
    $("panes").style.setProperty("--across", across);
    while (this.panes.length > lists.length) this.panes.pop().element.remove();
    while (this.panes.length < lists.length) this.panes.push(makePane($("panes")));
    this.panes.forEach((pane, i) => (pane.sources = lists[i]));
    $("cut").hidden = mode !== "split";
    this.resize();
  }

  resize() {
    const box = this.panes[0]?.element.getBoundingClientRect();
    if (!box || !box.width) return;
    const ratio = (this.ratio = devicePixelRatio || 1);
    const width = Math.max(1, Math.floor(box.width * ratio)), height = Math.max(1, Math.floor(box.height * ratio));
    for (const pane of this.panes) {
      if (pane.canvas.width !== width || pane.canvas.height !== height) {
        Object.assign(pane.canvas, { width, height });
        Object.assign(pane.canvas.style, { width: `${width / ratio}px`, height: `${height / ratio}px` });
      }
    }
    Object.assign(this.camera, { width, height });
    if (this.fitted) this.camera.fit();
    this.refresh();
  }

  // ---- drawing

  refresh() {
    this.ask();
    this.changed();
  }

  // tell the tiles what is needed, at most every few frames
  ask() {
    if (this.asking) return;
    this.asking = true;
    setTimeout(() => {
      this.asking = false;
      const { goal, width, height } = this.asked(), list = [];
      for (const pane of this.panes) {
        for (const source of pane.sources) {
          list.push(...this.tiles.visible(this.words(source), goal, width, height));
          if (this.overlayLayer && this.model(source)?.alpha) {
            list.push(...this.tiles.visible(this.words(source, this.overlayLayer), goal, width, height));
          }
          const against = this.yardstick(source);
          if (against && this.state.mode !== "diff") {
            const extra = this.tiles.visible(this.words(against), goal, width, height);
            list.push(...extra.map((tile) => ({ ...tile, away: tile.away + 1e6, extra: true })));
          }
        }
      }
      this.tiles.want(this.sections.playing ? list.map((tile) => ({ ...tile, extra: true })) : list);
      this.changed();
    }, 40);
  }

  // where tiles are asked for, and how large a pane is there: while frames are played, at most a pixel per sample
  asked() {
    const goal = this.camera.goal(), { width, height } = this.camera;
    if (!this.sections.playing || goal.zoom <= 0) return { goal, width, height };
    const by = 1 / goal.scale;
    return { goal: { zoom: 0, scale: 1, left: goal.left * by, top: goal.top * by }, width: width * by, height: height * by };
  }

  changed() {
    if (this.frame) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = null;
      const more = this.camera.step(Math.min(50, now - (this.last ?? now)) || 16);
      this.last = more ? now : undefined;
      this.draw();
      if (more) this.changed();
    });
  }

  draw() {
    let whole = true;
    for (const pane of this.panes) whole = this.drawPane(pane) && whole;
    this.drawCut();
    this.drawPointer();
    this.controls.moved(whole);
    const failed = this.tiles.failed;
    $("trouble").hidden = !failed;
    if (failed) $("trouble").textContent = `No answer: ${failed}. Is alfilter view still running?`;
  }

  drawPane(pane) {
    const { context } = pane, { width, height } = this.camera, { mode, cut } = this.state;
    context.clearRect(0, 0, width, height);
    if (mode === "diff") {
      const [one, other] = pane.sources.map((source) => this.words(source));
      const whole = this.tiles.paintDifference(context, one, other, this.camera, this.state.gain);
      pane.name.hidden = pane.second.hidden = true;
      return whole;
    }
    let whole = true;
    pane.sources.forEach((source, i) => {
      context.save();
      if (pane.sources.length === 2) {
        const at = Math.round(width * cut);
        context.beginPath();
        context.rect(i ? at : 0, 0, i ? width - at : at, height);
        context.clip();
      }
      whole = this.drawSource(pane, context, source, i) && whole;
      context.restore();
    });
    if (this.state.marks && this.camera.scale >= MARKS) this.drawMarks(context);
    this.namePane(pane);
    return whole;
  }

  drawSource(pane, context, source, i) {
    const words = this.words(source), before = pane.before[i];
    if (before && before !== words && !this.tiles.complete(words, this.camera)) {
      this.tiles.paint(context, before, this.camera, { key: "picture" });
    }
    let whole = this.tiles.paint(context, words, this.camera, { key: "picture" });
    if (whole) pane.before[i] = words;
    if (this.overlayLayer && this.model(source)?.alpha) {
      context.globalAlpha = this.state.opacity;
      whole = this.tiles.paint(context, this.words(source, this.overlayLayer), this.camera, this.look(source)) && whole;
      context.globalAlpha = 1;
    }
    return whole;
  }

  // small dots where the samples are
  drawMarks(context) {
    const { width, height } = this.camera, [x0, y0] = this.camera.place(0, 0), [x1, y1] = this.camera.place(width, height);
    const size = Math.max(2, Math.round(1.6 * this.ratio));
    for (const [colour, grow] of [["rgb(0 0 0 / 55%)", 1], ["rgb(255 255 255 / 90%)", 0]]) {
      context.fillStyle = colour;
      for (let y = Math.max(0, Math.ceil(y0)); y <= Math.min(this.shape[0] - 1, y1); y++) {
        for (let x = Math.max(0, Math.ceil(x0)); x <= Math.min(this.shape[1] - 1, x1); x++) {
          const [px, py] = this.camera.spot(x, y);
          context.fillRect(Math.round(px - size / 2) - grow, Math.round(py - size / 2) - grow, size + 2 * grow, size + 2 * grow);
        }
      }
    }
  }

  namePane(pane) {
    const say = (node, source) => {
      node.hidden = !source;
      if (!source) return;
      const against = this.state.mode === "side" ? this.yardstick(source) : null;
      const value = against && this.tiles.psnr(this.words(source), this.words(against), this.camera);
      const text = this.label(source) + (Number.isFinite(value) && against ? `  ${value.toFixed(2)} dB` : "");
      if (node.textContent !== text) node.textContent = text;
    };
    const alone = this.state.mode === "one" && !this.state.peek && this.state.moment === null && this.levelOf(this.state.first) === null && this.capOf(this.state.first) === null;
    say(pane.name, alone ? null : pane.sources[0]);
    say(pane.second, pane.sources[1]);
  }

  drawCut() {
    $("cut").style.left = `${(100 * Math.round(this.camera.width * this.state.cut)) / this.camera.width}%`;
  }

  drawPointer() {
    for (const pane of this.panes) {
      pane.cross.hidden = !this.probe || (this.state.brush && this.hovered === pane) || (this.panes.length === 1 && !this.byKeys);
      pane.ring.hidden = !this.probe || !this.state.brush;
      if (!this.probe) continue;
      const [px, py] = this.camera.spot(...this.probe).map((v) => v / this.ratio);
      pane.cross.style.transform = `translate(${px}px, ${py}px)`;
      const r = (this.state.radius * this.camera.scale) / this.ratio;
      Object.assign(pane.ring.style, { width: `${2 * r}px`, height: `${2 * r}px`, transform: `translate(${px - r}px, ${py - r}px)` });
    }
    $("stage").classList.toggle("painting", this.state.brush && this.hovered !== undefined);
  }

  // ---- moving

  zoomBy(steps, px, py) {
    this.fitted = false;
    this.camera.zoomTo(this.camera.zoom + steps, px, py);
    this.refresh();
  }

  panBy(dx, dy) {
    this.fitted = false;
    this.camera.panBy(dx, dy);
    this.follow();
    this.refresh();
  }

  fit() {
    this.fitted = true;
    this.camera.fit();
    this.follow();
    this.refresh();
  }

  lookAt(x, y, zoom) {
    this.fitted = false;
    this.camera.lookAt(x, y, zoom);
    this.follow();
    this.refresh();
  }

  // with the keys the cursor is the middle of the view
  follow() {
    if (!this.byKeys) return;
    this.probe = this.camera.inside(this.camera.x, this.camera.y);
    this.controls.look();
  }

  place(event, pane) {
    const box = pane.element.getBoundingClientRect();
    return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
  }

  paneAt(event) {
    return this.panes.find((pane) => {
      const box = pane.element.getBoundingClientRect();
      return event.clientX >= box.left && event.clientX < box.right && event.clientY >= box.top && event.clientY < box.bottom;
    });
  }

  // the source under a pointer: in a split pane it depends on the side
  sourceAt(pane, px) {
    if (pane.sources.length < 2 || this.state.mode === "diff") return pane.sources[0];
    return pane.sources[px < this.camera.width * this.state.cut ? 0 : 1];
  }

  listen() {
    const stage = $("stage");
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) stage.addEventListener(name, (event) => this.up(event));
    stage.addEventListener("pointerleave", () => {
      if (this.pointers.size) return;
      this.hovered = undefined;
      if (!this.byKeys) this.probe = null;
      this.drawPointer();
    });
    stage.addEventListener("contextmenu", (event) => event.preventDefault());
    stage.addEventListener("dblclick", (event) => {
      const pane = this.paneAt(event);
      if (pane && !this.state.brush) this.zoomBy(this.camera.octave, ...this.place(event, pane));
    });
    stage.addEventListener("keydown", (event) => this.key(event));
    stage.addEventListener("focus", () => {
      if (!stage.matches(":focus-visible")) return;
      this.byKeys = true;
      this.follow();
      this.changed();
    });
    addEventListener("keyup", (event) => event.key.toLowerCase() === "b" && this.controls.peek(false));
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => this.resize());
  }

  wheel(event) {
    event.preventDefault();
    const pane = this.paneAt(event);
    if (!pane) return;
    const lines = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
    this.wound = (this.wound ?? 0) - (event.deltaY * lines * (event.ctrlKey ? 6 : 1)) / 28;
    const steps = Math.trunc(this.wound);
    if (!steps) return;
    this.wound -= steps;
    this.zoomBy(Math.max(-16, Math.min(16, steps)), ...this.place(event, pane));
  }

  down(event) {
    const pane = this.paneAt(event);
    if (!pane || event.target.closest("#trouble")) return;
    this.byKeys = false;
    $("stage").setPointerCapture(event.pointerId);
    const [px, py] = this.place(event, pane);
    const cutting = this.state.mode === "split" && Math.abs(px - this.camera.width * this.state.cut) < 16 * this.ratio && this.pointers.size === 0;
    this.pointers.set(event.pointerId, { pane, px, py });
    if (this.pointers.size > 1) {
      this.controls.stroke.end();
      this.doing = "pinch";
      this.startPinch();
    } else if (cutting) this.doing = "cut";
    else if (this.state.brush && event.button === 0 && !event.shiftKey) {
      this.doing = "paint";
      this.controls.stroke.begin(this.sourceAt(pane, px), this.camera.place(px, py));
    } else {
      this.doing = "pan";
      $("stage").classList.add("grabbing");
    }
    this.point(pane, px, py);
  }

  move(event) {
    const held = this.pointers.get(event.pointerId), pane = held?.pane ?? this.paneAt(event);
    if (!pane) return;
    const [px, py] = this.place(event, pane);
    if (held) {
      const [dx, dy] = [px - held.px, py - held.py];
      Object.assign(held, { px, py });
      if (this.doing === "pan") this.panBy(dx, dy);
      else if (this.doing === "cut") this.controls.setCut(px / this.camera.width);
      else if (this.doing === "paint") this.controls.stroke.to(this.camera.place(px, py));
      else if (this.doing === "pinch") this.pinch();
    }
    this.byKeys = false;
    this.point(pane, px, py);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.doing === "pinch" && this.pointers.size < 2) {
      this.camera.zoomTo(this.camera.zoom, this.fingers.px, this.fingers.py);
      this.refresh();
      this.doing = this.pointers.size ? "pan" : null;
    }
    if (!this.pointers.size) {
      this.controls.stroke.end();
      this.doing = null;
      $("stage").classList.remove("grabbing");
    }
  }

  point(pane, px, py) {
    this.hovered = pane;
    const [x, y] = this.camera.place(px, py);
    const there = x >= -0.5 && y >= -0.5 && x <= this.shape[1] - 0.5 && y <= this.shape[0] - 0.5;
    this.probe = there ? [x, y] : null;
    this.pointed = this.sourceAt(pane, px);
    if (there) this.controls.look();
    this.drawPointer();
  }

  middle() {
    const [a, b] = [...this.pointers.values()];
    return { px: (a.px + b.px) / 2, py: (a.py + b.py) / 2, apart: Math.max(10, Math.hypot(a.px - b.px, a.py - b.py)) };
  }

  startPinch() {
    const { px, py, apart } = this.middle(), [x, y] = this.camera.place(px, py);
    this.fingers = { px, py, apart, x, y, scale: this.camera.scale };
  }

  pinch() {
    const { px, py, apart } = this.middle(), start = this.fingers;
    this.fitted = false;
    this.camera.pinch((start.scale * apart) / start.apart, px, py, start.x, start.y);
    Object.assign(start, { px, py });
    this.refresh();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 256 : 48, octave = this.camera.octave, name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const pick = (group, value) => this.controls.pick(group, value);
    const actions = {
      ArrowLeft: () => this.panBy(far * this.ratio, 0), ArrowRight: () => this.panBy(-far * this.ratio, 0),
      ArrowUp: () => this.panBy(0, far * this.ratio), ArrowDown: () => this.panBy(0, -far * this.ratio),
      "+": () => this.zoomBy(octave / 2), "=": () => this.zoomBy(octave / 2), "-": () => this.zoomBy(-octave / 2),
      0: () => this.fit(), 1: () => this.lookAt(this.camera.x, this.camera.y, 0),
      a: () => pick("overlay", this.state.overlay === "none" ? "alpha" : "none"),
      s: () => pick("mode", this.state.mode === "split" ? "one" : "split"),
      d: () => pick("mode", this.state.mode === "diff" ? "one" : "diff"),
      p: () => this.controls.toggleBrush(), b: () => this.controls.peek(true), u: () => $("undo").click(),
      "?": () => this.tour.open(), "[": () => this.sections.step(-1), "]": () => this.sections.step(1),
      " ": () => this.state.brush && this.controls.stroke.dab(this.state.first, this.camera.inside(this.camera.x, this.camera.y)),
    };
    if (!actions[name] || (event.repeat && name === "b")) return;
    event.preventDefault();
    this.byKeys = true;
    actions[name]();
    this.follow();
    this.changed();
  }

  // for tests and consoles: resolves when everything that is on the screen has arrived
  async settled() {
    const busy = () => this.asking || this.camera.moving || !this.tiles.idle || this.frame || this.controls.busy;
    while (busy()) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function makePane(parent) {
  const element = document.createElement("div");
  element.className = "pane";
  element.innerHTML = '<canvas></canvas><div class="cross" hidden></div><div class="ring" hidden></div><p class="name" hidden></p><p class="name right" hidden></p>';
  parent.append(element);
  const [canvas, cross, ring, name, second] = element.children;
  for (const label of [name, second]) label.style.margin = 0;
  return { element, canvas, cross, ring, name, second, context: canvas.getContext("2d"), sources: [], before: [] };
}

try {
  const answer = await fetch("/api/about");
  if (!answer.ok) throw new Error((await answer.json()).error);
  window.view = new View(await answer.json());
} catch (error) {
  $("facts").textContent = `The page could not start: ${error.message}`;
}
