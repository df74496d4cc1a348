// The panel: what every control does, the numbers under the cursor, the brush, the history.

import { css, table } from "./colours.js";
import { drawCurve, drawResponse, responseTable, short } from "./plots.js";

/* global Gesture, brushRadius, brushAmount */

const $ = (id) => document.getElementById(id);
const ON_SCREEN = "What is on the screen:";
const all = (name) => [...document.querySelectorAll(`input[name=${name}]`)];

async function ask(path, body) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

export class Controls {
  constructor(view) {
    this.view = view;
    this.models = view.about.models;
    this.taught = this.models.find((model) => model.snapshots.length > 1) ?? this.models[0]; // whose history is shown
    this.stroke = new Stroke(this);
    this.curve = null;
    this.title();
    this.sources();
    this.wire();
    this.alphaControls();
    this.levelControls();
    this.capControl();
    this.loadHistory();
    this.theme(localStorage.getItem("alfilter-theme"));
  }

  get state() {
    return this.view.state;
  }

  get sample() {
    return this.view.about.layout.sample;
  }

  get busy() {
    return this.stroke.sending || this.changing || this.looking;
  }

  title() {
    const model = this.view.model(this.state.first) ?? this.models[0];
    const names = this.models.map((m) => m.name).join(" · ");
    const sizes = [...model.shape].reverse().join(" × "), psnr = model.metrics.psnr;
    $("title").textContent = names;
    document.title = `${names}: alfilter`;
    $("facts").textContent = [`${model.method}, ${model.params.toLocaleString("en")} parameters`, `${sizes} ${this.sample}s`,
      ...(psnr ? [`${psnr.toFixed(1)} dB`] : []), ...(model.steered ? [this.savedAs(model)] : [])].join(" · ");
  }

  savedAs(model) {
    return model.saved?.version === model.version ? `steered, saved as ${model.saved.name}` : "steered, not saved";
  }

  // what can be shown, as choices
  sources() {
    const list = this.models.map((model) => [`m${model.id}`, model.name]);
    for (const model of this.models) if (model.alpha) list.push([`m${model.id}:learned`, `${model.name}, as learned`]);
    for (const model of this.models) model.levels.slice(0, -1).forEach((name, k) => list.push([`m${model.id}:l${k + 1}`, `${model.name}, level ${k + 1}`]));
    if (this.view.about.reference) list.push(["nearest", `stored ${this.sample}s`], ["bicubic", "bicubic"]);
    for (const [id, shown] of [["first", list], ["second", list]]) {
      $(id).replaceChildren(...shown.map(([value, text]) => new Option(text, value)));
      $(id).value = this.state[id];
    }
    this.state.beside = this.models.length > 1 ? this.models.map((m) => `m${m.id}`) : ["m0", this.view.about.reference ? "bicubic" : "m0:learned"].filter((s) => list.some(([v]) => v === s));
    $("beside").replaceChildren(...list.map(([value, text]) => {
      const label = document.createElement("label"), box = Object.assign(document.createElement("input"), { type: "checkbox", value });
      box.checked = this.state.beside.includes(value);
      box.addEventListener("change", () => {
        const chosen = [...$("beside").querySelectorAll("input:checked")].map((input) => input.value);
        if (!chosen.length || chosen.length > 6) box.checked = !box.checked;
        else this.set({ beside: chosen });
      });
      label.append(box, text);
      return label;
    }));
  }

  set(change) {
    Object.assign(this.state, change);
    const { mode } = this.state;
    $("l-second").hidden = mode !== "split" && mode !== "diff";
    $("l-first").hidden = mode === "side";
    $("l-beside").hidden = mode !== "side";
    $("l-cut").hidden = mode !== "split";
    $("l-gain").hidden = mode !== "diff";
    $("overlay-more").hidden = this.state.overlay === "none";
    $("l-scale").hidden = this.state.overlay !== "scale";
    $("brush-more").hidden = !this.state.brush;
    this.legend();
    this.title();
    this.view.arrange();
    this.view.refresh();
  }

  against(source) {
    if ([...$("second").options].some((option) => option.value === source)) this.state.second = $("second").value = source;
  }

  pick(group, value) {
    const input = all(group).find((one) => one.value === value);
    if (!input || input.disabled) return;
    input.checked = true;
    this.set({ [group]: value });
  }

  wire() {
    const view = this.view, octave = view.camera.octave;
    for (const group of ["mode", "overlay", "kind"]) for (const input of all(group)) input.addEventListener("change", () => this.set({ [group]: input.value }));
    for (const id of ["first", "second"]) $(id).addEventListener("change", () => this.set({ [id]: $(id).value }));
    const range = (id, apply) => {
      const run = () => apply(Number($(id).value));
      $(id).addEventListener("input", () => { run(); view.refresh(); });
      run();
    };
    range("boundary", (v) => (this.state.cut = v / 100));
    range("gain", (v) => { this.state.gain = 2 ** v; $("gain-out").textContent = `${2 ** v}×`; });
    range("opacity", (v) => { this.state.opacity = v / 100; $("opacity-out").textContent = `${v} %`; });
    const longest = Math.max(...view.shape);
    range("size", (v) => {
      this.state.radius = brushRadius(v / 100, longest);
      $("size-out").textContent = `${Math.round(2 * this.state.radius)} pixels`;
    });
    const { channels = 32, unit = "channels" } = this.models.find((model) => model.alpha)?.alpha ?? {};
    range("strength", (v) => {
      this.state.amount = brushAmount(v / 100, channels);
      $("strength-out").textContent = `${short(this.state.amount, 2)} ${unit} per dab`;
    });
    $("in").onclick = () => view.zoomBy(octave);
    $("out").onclick = () => view.zoomBy(-octave);
    $("fit").onclick = () => view.fit();
    $("one").onclick = () => view.lookAt(view.camera.x, view.camera.y, 0);
    $("help").onclick = () => view.tour.open();
    $("theme").onclick = () => {
      const dark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
        (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
      this.theme(dark ? "light" : "dark");
    };
    $("marks").onchange = () => this.set({ marks: $("marks").checked });
    $("brush").onchange = () => this.set({ brush: $("brush").checked });
    $("undo").onclick = () => this.change("undo");
    $("reset").onclick = () => this.change("reset");
    $("peek").onpointerdown = () => this.peek(true);
    for (const name of ["pointerup", "pointerleave", "pointercancel"]) $("peek").addEventListener(name, () => this.peek(false));
    $("peek").onclick = (event) => event.detail === 0 && this.peek(!this.state.peek); // by the keyboard: on, off
    $("save").onsubmit = (event) => { event.preventDefault(); this.save(); };
  }

  theme(name) {
    if (!name) return;
    document.documentElement.dataset.theme = name;
    localStorage.setItem("alfilter-theme", name);
  }

  setCut(share) {
    this.state.cut = Math.min(1, Math.max(0, share));
    $("boundary").value = Math.round(100 * this.state.cut);
    this.view.changed();
  }

  toggleBrush() {
    if ($("brush").disabled) return;
    $("brush").checked = !$("brush").checked;
    this.set({ brush: $("brush").checked });
  }

  // ---- levels of detail, where a model has several outputs

  levelControls() {
    const most = Math.max(...this.models.map((model) => model.levels.length));
    $("l-detail").hidden = most < 2;
    if (most < 2) return;
    Object.assign($("detail"), { max: most, value: most });
    const say = () => {
      const level = Number($("detail").value), model = this.models.find((m) => m.levels.length >= level);
      $("detail-out").textContent = `${level} of ${model.levels.length}: ${model.levels[level - 1]}`;
      $("detail").setAttribute("aria-valuetext", $("detail-out").textContent);
    };
    $("detail").addEventListener("input", () => {
      say();
      this.set({ detail: Number($("detail").value) < most ? Number($("detail").value) : null });
      if (this.view.probe) this.look();
    });
    say();
  }

  // ---- detail, where a model has a filter: the highest frequency that passes, slow to fast on a logarithmic slider

  capControl() {
    const model = this.models.find((m) => m.alpha), most = Number($("cap").max);
    $("l-cap").hidden = !model;
    if (!model) return;
    const low = model.alpha.cycles[0], high = model.alpha.cycles.at(-1), own = model.alpha.cut_off[1];
    const value = () => (Number($("cap").value) >= most ? null : low * Math.pow(high / low, Number($("cap").value) / most));
    const say = () => {
      const cap = value(), waves = cap === null ? "as learned" : `up to ${short(cap, 2)} cycles per ${this.sample}: waves of ${short(1 / cap, 2)} ${this.sample}s and longer`;
      $("cap-out").textContent = waves;
      $("cap").setAttribute("aria-valuetext", waves);
    };
    $("cap").title = `The highest frequency that passes the filter anywhere. Above ${short(own, 2)} cycles per ${this.sample} hardly anything changes here.`;
    $("cap").addEventListener("input", () => {
      say();
      this.set({ cap: value() });
      if (this.view.probe) this.look();
    });
    say();
  }

  // ---- local frequency

  alphaControls() {
    const with_alpha = this.models.filter((model) => model.alpha), without = this.models.filter((model) => !model.alpha);
    const scales = Math.max(1, ...with_alpha.map((model) => model.alpha.levels));
    $("which-scale").max = scales - 1;
    $("which-scale").addEventListener("input", () => this.set({ level: Number($("which-scale").value) }));
    for (const input of all("overlay")) input.disabled = !with_alpha.length;
    $("brush").disabled = !this.models.some((model) => model.steerable);
    $("f-response").hidden = $("row-alpha").hidden = $("numbers").hidden = !with_alpha.length;
    $("s-steer").hidden = $("brush").disabled;
    $("no-alpha").hidden = !without.length;
    $("no-alpha").textContent = `${without.map((m) => m.method).join(", ")} ${without.length > 1 ? "have" : "has"} no filter, so there is no local frequency to show.`;
    if (with_alpha.length) drawResponse($("response"), with_alpha[0].alpha, null, `cycles per ${this.sample}`);
    $("row-truth").hidden = $("row-error").hidden = !this.view.about.reference;
    this.legend();
    this.steered();
  }

  legend() {
    const model = this.models.find((m) => m.alpha);
    if (!model || this.state.overlay === "none") return;
    const scale = this.state.overlay === "scale", map = scale ? "cividis" : "viridis";
    const context = $("legend").getContext("2d"), image = context.createImageData(256, 1);
    new Uint32Array(image.data.buffer).set(table(map));
    context.putImageData(image, 0, 0);
    const { low, high } = this.view.look(`m${model.id}`);
    const scales = model.alpha.unit === "levels" ? "level" : "scale";
    $("legend-low").textContent = scale ? "0" : short(low, 2);
    $("legend-high").textContent = scale ? "1" : short(high, 2);
    $("legend-name").textContent = scale ? `share of ${scales} ${this.state.level} that passes` : `cut-off in cycles per ${this.sample}`;
    $("legend").setAttribute("aria-label", `Colours from ${$("legend-low").textContent} (${css(map, 0)}, dark) to ${$("legend-high").textContent} (bright): ${$("legend-name").textContent}`);
    const cycles = model.alpha.cycles[Math.min(this.state.level, model.alpha.levels - 1)];
    $("scale-out").textContent = `${this.state.level}: a wave is ${short(1 / cycles)} ${this.sample}s long`;
  }

  // ---- under the cursor

  look() {
    this.again = true;
    if (this.looking) return;
    this.looking = true;
    this.again = false;
    const view = this.view, [x, y] = view.probe, model = view.model(view.pointed ?? this.state.first) ?? view.model(this.state.first) ?? this.models[0];
    const then = this.state.moment !== null && model === this.taught ? `&t=${this.state.moment}` : (view.pointed ?? "").endsWith(":learned") || this.state.peek ? "&v=0" : "";
    const level = view.levelWords(view.model(view.pointed ?? "") ? view.pointed : `m${model.id}`);
    ask(`/api/at?m=${model.id}&x=${x}&y=${y}${then}${level}${view.sections.words}`).then((spot) => this.showSpot(model, spot), () => {}).finally(() => {
      setTimeout(() => {
        this.looking = false;
        if (this.again && view.probe) this.look();
      }, 30);
    });
  }

  showSpot(model, spot) {
    this.spot = { model: model.id, ...spot };
    const native = (values) => values.map((v) => {
      const stored = model.low + v * (model.high - model.low);
      return model.bits <= 16 && model.high > 1 ? Math.round(Math.min(Math.max(stored, model.low), model.high)) : stored.toFixed(4);
    }).join(", ");
    const colour = (values) => {
      const shown = values.length < 3 ? [values[0], values[0], values[0]] : values.slice(0, 3);
      return `rgb(${shown.map((v) => Math.round(255 * Math.min(1, Math.max(0, v)))).join(" ")})`;
    };
    const digits = Math.max(1, Math.ceil(Math.log10(this.view.camera.scale)));
    $("spot-place").textContent = this.view.sections.place(spot.x, spot.y, digits);
    $("spot-value").textContent = native(spot.value);
    $("swatch-field").style.background = colour(spot.value);
    $("row-truth").hidden = $("row-error").hidden = !spot.reference;
    if (spot.reference) {
      $("spot-truth").textContent = native(spot.reference);
      $("swatch-truth").style.background = colour(spot.reference);
      const error = spot.error.reduce((sum, e) => sum + Math.abs(e), 0) / spot.error.length;
      $("spot-error").textContent = `${(255 * error).toFixed(1)} of 255 at this ${this.sample}`;
    }
    $("f-response").hidden = $("row-alpha").hidden = $("numbers").hidden = !model.alpha;
    if (model.alpha) {
      $("spot-alpha").textContent = `${short(spot.frequency)} cycles per ${this.sample} (α ${spot.alpha.toFixed(2)} ${model.alpha.unit})`;
      drawResponse($("response"), model.alpha, spot, `cycles per ${this.sample}`);
      if ($("numbers").open) responseTable($("response-table"), model.alpha, spot, this.view.about.layout);
    }
  }

  // after every drawing: the scale, what the screen says
  moved(whole) {
    const { camera, tiles } = this.view, scale = camera.target;
    const shown = scale >= 100 ? Math.round(scale).toLocaleString("en") : scale >= 10 ? scale.toFixed(0) : String(Number(scale.toFixed(2)));
    if ($("scale").textContent !== `${shown}×`) $("scale").textContent = `${shown}×`;
    const isMeasured = whole && !camera.moving && tiles.idle;
    $("screen").setAttribute("aria-busy", !isMeasured);
    if (!isMeasured) { // a number of what was on the screen before would be wrong
      if ($("screen").textContent.startsWith(ON_SCREEN)) $("screen").textContent = `${ON_SCREEN} measuring …`;
      return;
    }
    const { mode, first } = this.state, against = mode === "side" ? null : this.view.yardstick(first);
    const value = against && this.view.words(first) !== this.view.words(against) ? tiles.psnr(this.view.words(first), this.view.words(against), camera) : null;
    const beside = mode === "side" && this.view.panes.map(({ sources }) => this.view.yardstick(sources[0])).find(Boolean);
    const between = ["nearest", "bicubic"].includes(beside || against) && scale > 1 ? ` Between the ${this.sample}s that is no truth: 1:1 shows the error.` : "";
    const text = beside ? `In the panes: dB of what is on the screen, against ${this.view.label(beside)}.${between}` : value === null ? "" : `${ON_SCREEN} ${Number.isFinite(value) ? value.toFixed(2) + " dB" : "no difference"} against ${this.view.label(against)}.${between}`;
    if ($("screen").textContent !== text) $("screen").textContent = text;
    const where = `${mode === "diff" ? "difference of " : ""}${this.view.panes.flatMap((pane) => pane.sources).map((s) => this.view.label(s)).join(", ")}`;
    $("stage").setAttribute("aria-label", `${where}, at ${shown} times, around ${this.view.sections.place(camera.x, camera.y, 0)}`);
  }

  // ---- steering

  steerable(source) {
    const model = this.view.model(source ?? this.state.first) ?? this.models[0];
    return model.steerable ? model : this.models.find((m) => m.steerable);
  }

  apply(model, answer) {
    model.steered = answer.steered;
    model.version = answer.version;
    model.undo = answer.undo;
    this.view.tiles.stale((words) => new RegExp(`^m=${model.id}&layer=[a-z0-9]+(&[lc]=[-+.e\\d]+)?$`).test(words), answer.box);
    this.lastSteered = model;
    this.steered();
    this.title();
    this.view.refresh();
    if (this.view.probe) this.look();
  }

  steered() {
    const model = this.lastSteered ?? this.models.find((m) => m.steered), on = Boolean(model?.steered);
    $("undo").disabled = !(model?.undo > 0);
    $("reset").disabled = $("peek").disabled = !on;
    $("save").hidden = !on || !this.view.about.save;
  }

  async change(what) {
    const model = this.lastSteered ?? this.models.find((m) => m.steered);
    if (!model) return;
    this.changing = true;
    try {
      this.apply(model, await ask(`/api/${what}`, { m: model.id }));
      $("steer-said").textContent = what === "reset" ? "Back to what was learned." : "The last stroke was undone.";
    } catch (error) {
      $("steer-said").textContent = error.message;
    }
    this.changing = false;
  }

  async save() {
    const model = this.lastSteered ?? this.models.find((m) => m.steered);
    try {
      const { version } = model, answer = await ask("/api/save", { m: model.id, name: $("save-name").value.trim() });
      model.saved = { version, name: answer.file.split(/[\\/]/).at(-1) };
      $("save-name").removeAttribute("aria-invalid");
      $("steer-said").textContent = `Saved: ${answer.file}`;
      this.title();
    } catch (error) {
      $("save-name").setAttribute("aria-invalid", "true");
      $("save-name").focus();
      $("steer-said").textContent = `Not saved: ${error.message}.`;
    }
  }

  peek(on) {
    if (this.state.peek === on || (on && $("peek").disabled)) return;
    this.state.peek = on;
    this.view.refresh();
  }

  // ---- history

  async loadHistory() {
    const history = await ask(`/api/history?m=${this.taught.id}`).catch(() => ({ points: [], snapshots: [] }));
    if (history.points.length < 2 && history.snapshots.length < 2) return;
    this.history = history;
    $("s-history").hidden = false;
    $("curve").parentElement.hidden = history.points.length < 2;
    $("l-moment").hidden = history.snapshots.length < 2;
    $("moment").max = Math.max(1, history.snapshots.length - 1); // first: a value beyond the maximum is cut to it
    $("moment").value = $("moment").max;
    $("moment").addEventListener("input", () => { this.stopPlaying(); this.atMoment(Number($("moment").value)); });
    $("play").onclick = () => (this.playing ? this.stopPlaying() : this.play());
    $("curve").addEventListener("click", (event) => {
      if (history.snapshots.length < 2 || !this.curve) return;
      const box = $("curve").getBoundingClientRect(), step = this.curve.stepAt(((event.clientX - box.left) / box.width) * 320);
      const apart = history.snapshots.map((s) => Math.abs(Math.log((s + 1) / (step + 1))));
      $("moment").value = apart.indexOf(Math.min(...apart));
      this.stopPlaying();
      this.atMoment(Number($("moment").value));
    });
    this.sayMoment();
  }

  atMoment(index) {
    const { snapshots } = this.history;
    this.set({ moment: index >= snapshots.length - 1 ? null : snapshots[index] });
    this.sayMoment();
    if (this.view.probe) this.look();
  }

  sayMoment() {
    const { points, snapshots } = this.history, { moment } = this.state, name = this.models.length > 1 ? `${this.taught.name}: ` : "";
    const step = moment ?? points.at(-1)?.[0] ?? snapshots.at(-1);
    if (points.length > 1) this.curve = drawCurve($("curve"), points, snapshots, step);
    const psnr = this.curve && step > 0 ? `, ${this.curve.psnr(step).toFixed(1)} dB after ${this.curve.seconds(step).toFixed(1)} s` : "";
    $("moment-said").textContent = `${name}${moment === null ? "the end, " : ""}step ${step.toLocaleString("en")}${psnr}.`;
    if (snapshots.length < 2) {
      const option = Object.assign(document.createElement("code"), { textContent: "--snapshots 24" });
      $("moment-said").append(" Fit with ", option, " to see how detail arrives.");
    }
    $("moment").setAttribute("aria-valuetext", `step ${step}`);
  }

  async play() {
    const { snapshots } = this.history, turn = (this.playing = {});
    $("play").textContent = "❚❚";
    $("play").setAttribute("aria-label", "Stop");
    let index = Number($("moment").value) >= snapshots.length - 1 ? 0 : Number($("moment").value) + 1;
    for (; index < snapshots.length && this.playing === turn; index++) {
      $("moment").value = index;
      this.atMoment(index);
      const began = performance.now();
      await Promise.race([this.view.settled(), new Promise((resolve) => setTimeout(resolve, 1500))]);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 220 - (performance.now() - began))));
    }
    if (this.playing === turn) this.stopPlaying();
  }

  stopPlaying() {
    this.playing = null;
    $("play").textContent = "▶";
    $("play").setAttribute("aria-label", "Play the training");
  }
}

// The brush's gestures, whose dabs are sent one after another.
class Stroke {
  constructor(controls) {
    this.controls = controls;
    this.queue = [];
    this.sending = false;
    this.hand = new Gesture({ radius: () => controls.state.radius, put: (place, gesture) => this.put(place, gesture) });
  }

  begin(source, place) {
    this.model = this.controls.steerable(source);
    if (this.model) this.hand.begin(place);
  }

  to(place) {
    this.hand.to(place);
  }

  end() {
    this.hand.end();
  }

  dab(source, place) {
    this.begin(source, place);
    this.end();
  }

  put(place, gesture) {
    this.queue.push({ place, gesture, model: this.model });
    this.send();
  }

  async send() {
    if (this.sending || !this.queue.length) return;
    this.sending = true;
    const { kind, radius, amount } = this.controls.state, { gesture, model } = this.queue[0];
    let many = 1;
    while (many < Math.min(200, this.queue.length) && this.queue[many].gesture === gesture) many++;
    const dabs = this.queue.splice(0, many).map((dab) => dab.place);
    const order = { m: model.id, gesture, dabs, radius, amount: kind === "lower" ? -amount : amount };
    try {
      this.controls.apply(model, await ask("/api/steer", order));
      $("steer-said").textContent = kind === "raise" ? "The cut-off comes back, up to what was learned." : "The cut-off is lowered here. Hold “As learned” to see the difference.";
    } catch (error) {
      $("steer-said").textContent = error.message;
    }
    this.sending = false;
    this.send();
  }
}
