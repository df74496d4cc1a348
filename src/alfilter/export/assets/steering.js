"use strict";
// The brush on α: it lowers the cut-off where it paints, or brings back what was learned, as on the live page (there
// alfilter.viewer.steering does it). What is painted is an offset D ≤ 0, with nodes at most one sample apart where a
// picture has up to MOST_NODES along an axis; alphaAt adds it. A dab at distance δ adds amount (1-(δ/ρ)²)² for
// δ < ρ = radius less a cell's diagonal, up to 0 at most: outside the circle α and the field are the same to the last bit.

/* exported Steering */
/* global Gesture, brushRadius, brushAmount */

const MOST_NODES = 4096;
const MOST_UNDO = 24, UNDO_BYTES = 256 * 2 ** 20; // gestures that can be taken back, and what is kept of them

class Steering {
  // shape: samples down and to the right. changed: takes the box of samples that is to be drawn again. turned: called
  // when the brush is another.
  constructor(field, shape, { changed, turned }) {
    const [rows, columns] = shape, isMap = Boolean(field.axes); // a map's first coordinate goes to the right, its second upwards
    const samples = isMap ? [columns, rows] : [rows, columns], sizes = samples.map((n) => Math.min(n, MOST_NODES));
    const cells = samples.map((n, axis) => (n - 1) / Math.max(sizes[axis] - 1, 1)), diagonal = Math.hypot(...cells);
    Object.assign(this, { field, rows, isMap, sizes, cells, diagonal, changed, turned });
    Object.assign(this, { isOn: false, offset: null, undos: [], box: null, longest: Math.max(rows, columns) });
    this.gesture = new Gesture({ radius: () => this.radius, put: (place, name) => this.put(place, name) });
    this.wire();
  }

  by(id) {
    return document.getElementById(id);
  }

  wire() {
    const range = (id, apply) => {
      this.by(id).addEventListener("input", () => { apply(Number(this.by(id).value) / 100); this.turned(); });
      apply(Number(this.by(id).value) / 100);
    };
    const say = (id, words) => {
      this.by(`${id}-out`).textContent = words;
      this.by(id).setAttribute("aria-valuetext", words);
    };
    range("size", (share) => {
      this.radius = brushRadius(share, this.longest, Math.max(3, 2 * this.diagonal));
      const part = Math.round((200 * this.radius) / this.longest), unit = this.field.layout?.sample ?? "sample";
      say("size", this.isMap ? `${part} % of the longer side` : `${Math.round(2 * this.radius)} ${unit}s`);
    });
    range("strength", (share) => {
      this.amount = brushAmount(share, this.field.filter.channels);
      say("strength", `${Number(this.amount.toPrecision(2))} ${this.field.filter.axis}s per dab`);
    });
    this.by("brush").addEventListener("change", () => this.take(this.by("brush").checked));
    this.by("undo").addEventListener("click", () => this.undo());
    this.by("reset").addEventListener("click", () => this.reset());
    this.by("peek").addEventListener("pointerdown", () => this.peek(true));
    for (const name of ["pointerup", "pointerleave", "pointercancel"]) this.by("peek").addEventListener(name, () => this.peek(false));
    this.by("peek").addEventListener("click", (event) => event.detail === 0 && this.peek(!this.isPeeking)); // by the keyboard: on, off
    this.by("s-steer").hidden = false;
  }

  take(isOn) {
    this.isOn = this.by("brush").checked = isOn;
    this.by("brush-more").hidden = !isOn;
    this.turned();
  }

  // a second finger zooms: what the first one painted on its way, however long it was down, is taken back
  interrupt() {
    const { active, name } = this.gesture;
    this.gesture.end();
    if (active && this.undos.at(-1)?.name === name) this.undo();
  }

  get isLowering() {
    return this.by("lower").checked;
  }

  put([column, row], name) {
    const { radius } = this, box = { top: row - radius, left: column - radius, bottom: row + radius, right: column + radius };
    this.peek(false);
    if (!this.isLowering && !this.box) return this.say("There is nothing to bring back: all of it is as learned.");
    this.offset ??= { shape: this.sizes, values: new Float32Array(this.sizes[0] * this.sizes[1]) };
    this.remember(name, box);
    this.dab(this.isMap ? [column, this.rows - 1 - row] : [row, column], radius - this.diagonal, this.isLowering ? -this.amount : this.amount);
    this.box = united(this.box, box);
    this.show(box, this.isLowering ? "The cut-off is lowered here. Hold “As learned” to see the difference." : "The cut-off comes back, up to what was learned.");
  }

  // the offset before a gesture, and the box that the gesture grows
  remember(name, box) {
    const last = this.undos.at(-1), { values } = this.offset;
    if (last?.name === name) last.box = united(last.box, box);
    else this.undos.push({ name, box, before: values.slice(), boxBefore: this.box });
    while (this.undos.length > Math.max(1, Math.min(MOST_UNDO, Math.floor(UNDO_BYTES / values.byteLength)))) this.undos.shift();
  }

  // place: along the nodes' axes, in samples
  dab(place, reach, amount) {
    const { values } = this.offset, { sizes, cells } = this;
    const spans = place.map((at, axis) => (cells[axis] ? [Math.max(0, Math.ceil((at - reach) / cells[axis])), Math.min(sizes[axis] - 1, Math.floor((at + reach) / cells[axis]))] : [0, sizes[axis] - 1]));
    for (let i = spans[0][0]; i <= spans[0][1]; i++) {
      const down = (i * cells[0] - place[0]) ** 2;
      for (let j = spans[1][0]; j <= spans[1][1]; j++) {
        const inside = 1 - (down + (j * cells[1] - place[1]) ** 2) / reach ** 2, at = i * sizes[1] + j;
        if (inside > 0) values[at] = Math.min(values[at] + amount * inside ** 2, 0);
      }
    }
  }

  undo() {
    const last = this.undos.pop();
    if (!last) return;
    this.gesture.end();
    this.peek(false);
    this.offset.values.set(last.before);
    this.box = last.boxBefore;
    this.show(last.box, "The last stroke was undone.");
  }

  reset() {
    const { box } = this;
    if (!box) return;
    this.gesture.end();
    this.peek(false);
    Object.assign(this, { offset: null, undos: [], box: null });
    this.show(box, "Back to what was learned.");
  }

  // as it was learned, for a while
  peek(isPeeking) {
    if (Boolean(this.isPeeking) === isPeeking || (isPeeking && !this.box)) return;
    this.isPeeking = isPeeking;
    this.show(this.box, null);
  }

  show(box, words) {
    this.field.alpha.painted = this.isPeeking || !this.box ? null : this.offset;
    this.by("undo").disabled = !this.undos.length;
    this.by("reset").disabled = this.by("peek").disabled = !this.box;
    if (words) this.say(words);
    this.changed(box);
  }

  say(words) {
    if (this.by("steer-said").textContent !== words) this.by("steer-said").textContent = words; // said once
  }
}

function united(one, other) {
  if (!one) return other;
  const { min, max } = Math;
  return { top: min(one.top, other.top), left: min(one.left, other.left), bottom: max(one.bottom, other.bottom), right: max(one.right, other.right) };
}
