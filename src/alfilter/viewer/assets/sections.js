// The plane of a volume or a video that the page shows: which axes, where the others are held, and playing along time.

const $ = (id) => document.getElementById(id);
const STEP = 0.25; // samples between two places of a slider: planes between the samples are the field's own

export class Sections {
  constructor(view) {
    this.view = view;
    this.layout = view.about.layout;
    this.whole = view.about.models[0].shape;
    this.places = this.whole.map((n) => Math.floor((n - 1) / 2)); // of every axis, in samples
    this.plane = 0;
    this.playing = null;
    for (const node of document.querySelectorAll("[data-thing]")) node.textContent = this.layout.thing;
    $("stage").setAttribute("aria-label", `The ${this.layout.thing}`);
    $("s-plane").hidden = this.whole.length < 3;
    if (this.whole.length > 2) this.controls();
  }

  get axes() {
    return this.layout.planes[this.plane];
  }

  get held() {
    return this.whole.map((_, axis) => axis).filter((axis) => !this.axes.includes(axis));
  }

  get shape() {
    return this.axes.map((axis) => this.whole[axis]);
  }

  // the words of a request that name the plane
  get words() {
    return this.whole.length < 3 ? "" : `&plane=${this.plane}&at=${this.held.map((axis) => this.places[axis]).join()}`;
  }

  // whether the plane goes through samples: elsewhere there is nothing to compare with
  get isOnSamples() {
    return this.held.every((axis) => Number.isInteger(this.places[axis]));
  }

  // a place of the plane by the names of its axes
  place(x, y, digits) {
    const [down, right] = this.axes.map((axis) => this.layout.axes[axis]);
    return [`${right} ${x.toFixed(digits)}`, `${down} ${y.toFixed(digits)}`, ...this.held.map((axis) => `${this.layout.axes[axis]} ${this.places[axis]}`)].join(", ");
  }

  controls() {
    $("h-plane").textContent = `Plane of the ${this.layout.thing}`;
    const { axes, planes } = this.layout;
    $("planes").replaceChildren(...planes.map(([down, right], k) => {
      const label = document.createElement("label"), words = document.createElement("span");
      const box = Object.assign(document.createElement("input"), { type: "radio", name: "plane", value: k, checked: k === 0 });
      box.addEventListener("change", () => this.turn(k));
      words.textContent = `${axes[down]} × ${axes[right]}`;
      label.append(box, words);
      return label;
    }));
    this.sliders();
  }

  sliders() {
    this.stop();
    $("held").replaceChildren(...this.held.map((axis) => {
      const row = document.createElement("div"), label = document.createElement("label"), top = document.createElement("span");
      const range = Object.assign(document.createElement("input"), { type: "range", min: 0, max: this.whole[axis] - 1, step: STEP, id: `held-${axis}` });
      row.className = "row";
      label.className = "range grow";
      range.value = this.places[axis];
      top.append(this.layout.axes[axis], Object.assign(document.createElement("output"), { id: `held-out-${axis}` }));
      label.append(top, range);
      range.addEventListener("input", () => { this.stop(); this.hold(axis, Number(range.value)); });
      if (axis === this.layout.time) {
        const play = Object.assign(document.createElement("button"), { type: "button", id: "play-time", textContent: "▶" });
        play.setAttribute("aria-label", "Play");
        play.onclick = () => (this.playing ? this.stop() : this.play());
        row.append(play);
      }
      row.append(label);
      return row;
    }));
    for (const axis of this.held) this.say(axis);
  }

  say(axis) {
    const at = this.places[axis], { rate } = this.view.about;
    const time = axis === this.layout.time && rate ? `, ${(at / rate).toFixed(2)} s` : "";
    const between = Number.isInteger(at) ? "" : ", between";
    $(`held-out-${axis}`).textContent = `${at} of 0 to ${this.whole[axis] - 1}${time}${between}`;
    $(`held-${axis}`).setAttribute("aria-valuetext", $(`held-out-${axis}`).textContent);
  }

  // show another pair of axes
  turn(plane) {
    this.plane = plane;
    this.sliders();
    const [rows, columns] = this.shape, { view } = this;
    for (const part of [view.camera, view.tiles]) Object.assign(part, { rows, columns });
    view.probe = null;
    for (const pane of view.panes) pane.before = [];
    view.fit();
  }

  hold(axis, place) {
    this.places[axis] = Math.min(Math.max(place, 0), this.whole[axis] - 1);
    $(`held-${axis}`).value = this.places[axis];
    this.say(axis);
    this.view.refresh();
    if (this.view.probe) this.view.controls.look();
  }

  // the first axis that is not shown, by keys
  step(by) {
    if (this.whole.length < 3) return;
    this.stop();
    this.hold(this.held[0], Math.round(this.places[this.held[0]]) + by);
  }

  // frame after frame at the video's rate, or as fast as they come; while it plays, a pixel per sample is enough
  async play() {
    const turn = (this.playing = {}), axis = this.layout.time, last = this.whole[axis] - 1;
    $("play-time").textContent = "❚❚";
    $("play-time").setAttribute("aria-label", "Stop");
    const from = this.places[axis] >= last ? -1 : Math.floor(this.places[axis]);
    for (let frame = from + 1; frame <= last && this.playing === turn; frame++) {
      const began = performance.now();
      this.hold(axis, frame);
      await Promise.race([this.view.settled(), new Promise((resolve) => setTimeout(resolve, 3000))]);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 / (this.view.about.rate || 12) - (performance.now() - began))));
    }
    if (this.playing === turn) this.stop();
  }

  stop() {
    if (!this.playing) return;
    this.playing = null;
    $("play-time").textContent = "▶";
    $("play-time").setAttribute("aria-label", "Play");
    this.view.refresh(); // as fine as the screen now
  }
}
