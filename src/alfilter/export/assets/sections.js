"use strict";
// The plane of a volume or a video that a page shows: which axes, where the others are held, and playing along time.
// The live page and the exported one share it.

/* exported Sections */

const PLACE_STEP = 0.25; // samples between two places of a slider: planes between the samples are the field's own

class Sections {
  // layout: names and planes. whole: samples along every axis. rate: frames a second. moved, turned: called when a place
  // or the plane has changed. settled: promises that what is asked for is on the screen.
  constructor({ layout, whole, rate, moved, turned, settled }) {
    Object.assign(this, { layout, whole, rate, moved, turned, settled });
    this.places = whole.map((n) => Math.floor((n - 1) / 2)); // of every axis, in samples
    this.plane = 0;
    this.playing = null;
    for (const node of document.querySelectorAll("[data-noun]")) node.textContent = layout.noun;
    this.by("s-plane").hidden = whole.length < 3;
    if (whole.length > 2) this.controls();
  }

  by(id) {
    return document.getElementById(id);
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
    return [`${down} ${y.toFixed(digits)}`, `${right} ${x.toFixed(digits)}`, ...this.held.map((axis) => `${this.layout.axes[axis]} ${this.places[axis]}`)].join(", ");
  }

  controls() {
    this.by("h-plane").textContent = `Plane of the ${this.layout.noun}`;
    const { axes, planes } = this.layout;
    this.by("planes").replaceChildren(...planes.map(([down, right], k) => {
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
    this.by("held").replaceChildren(...this.held.map((axis) => {
      const row = document.createElement("div"), label = document.createElement("label"), top = document.createElement("span");
      const range = Object.assign(document.createElement("input"), { type: "range", min: 0, max: this.whole[axis] - 1, step: PLACE_STEP, id: `held-${axis}` });
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
    const at = this.places[axis], { rate } = this;
    const time = axis === this.layout.time && rate ? `, ${(at / rate).toFixed(2)} s` : "";
    const between = Number.isInteger(at) ? "" : ", between";
    this.by(`held-out-${axis}`).textContent = `${at} of 0 to ${this.whole[axis] - 1}${time}${between}`;
    this.by(`held-${axis}`).setAttribute("aria-valuetext", this.by(`held-out-${axis}`).textContent);
  }

  // show another pair of axes
  turn(plane) {
    this.plane = plane;
    this.sliders();
    this.turned();
  }

  hold(axis, place) {
    this.places[axis] = Math.min(Math.max(place, 0), this.whole[axis] - 1);
    this.by(`held-${axis}`).value = this.places[axis];
    this.say(axis);
    this.moved();
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
    this.by("play-time").textContent = "❚❚";
    this.by("play-time").setAttribute("aria-label", "Stop");
    const from = this.places[axis] >= last ? -1 : Math.floor(this.places[axis]);
    for (let frame = from + 1; frame <= last && this.playing === turn; frame++) {
      const began = performance.now();
      this.hold(axis, frame);
      await Promise.race([this.settled(), new Promise((resolve) => setTimeout(resolve, 3000))]);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 / (this.rate || 12) - (performance.now() - began))));
    }
    if (this.playing === turn) this.stop();
  }

  stop() {
    if (!this.playing) return;
    this.playing = null;
    this.by("play-time").textContent = "▶";
    this.by("play-time").setAttribute("aria-label", "Play");
    this.moved(); // as fine as the screen now
  }
}
