"use strict";
// Tiles of the picture at exactly the resolution shown. A tile is a square of screen pixels anchored in the picture, so
// moving keeps what is there; zooming starts again over a stretched copy of what was seen. Coarse first, centre first;
// whatever is no longer on screen is dropped before it is evaluated. Below one pixel per sample, a pixel ends as the mean
// over up to 4 × 4 places in it: one alone would alias.

/* exported Tiles, SIDE */
/* global alphaAt, locate */

const SIDE = 64; // screen pixels of a tile
const STEPS = [16, 4, 1]; // pixels between two samples, pass after pass
const KEPT = 1200; // tiles in memory: 20 MB
const FEW = 32; // tiles under a brush that go without the coarse passes
const MOST = 4; // places along each axis that a pixel is the mean of

const STALE = { step: Infinity, parts: undefined, sum: null, alpha: null }; // of a tile

class Tiles {
  // place: sample position (column, row) → (x0, x1). colour: (values, at) → writes RGBA into pixels.
  constructor(field, colour, shade, changed) {
    Object.assign(this, { field, colour, shade, changed, kept: new Map(), queue: [], zoom: 0, busy: 0, todo: 0, done: 0 });
    this.version = 0;
    this.plane = { axes: [0, 1], at: [0, 0] };
    this.here = new Float64Array(4);
    this.cap = Infinity; // of α
  }

  // Evaluate again with α capped, or on another plane: what is there stays until something better has come.
  limit(cap) {
    if (cap === this.cap) return;
    this.cap = cap;
    this.again();
  }

  move(plane) {
    if (plane.axes.some((axis, k) => axis !== this.plane.axes[k])) this.kept.clear();
    this.plane = plane;
    this.again();
  }

  again() {
    this.round = (this.round ?? 0) + 1; // what is on its way is of another cap or plane
    for (const tile of this.kept.values()) Object.assign(tile, { ...STALE, isSmooth: false });
  }

  // Evaluate again what lies in a box of samples. What is there stays until something better has come, and a few tiles
  // do without anything coarse.
  touch({ top, left, bottom, right }) {
    const at = (place) => Math.floor(((place + 0.5) * this.zoom) / SIDE);
    const inside = ({ tx, ty }) => at(left) <= tx && tx <= at(right) && at(top) <= ty && ty <= at(bottom);
    const touched = [...this.kept.values()].filter(inside), isSmooth = touched.length <= FEW;
    for (const tile of touched) Object.assign(tile, { ...STALE, isSmooth, turn: (tile.turn ?? 0) + 1 });
  }

  use(engine) {
    this.engine = engine;
    this.busy = 0;
    this.version++;
    this.pump();
  }

  // The tiles of a view: `left`, `top` are the picture's first screen pixels shown, `zoom` screen pixels per sample.
  look({ left, top, width, height, zoom }) {
    if (zoom !== this.zoom) {
      this.kept.clear();
      this.zoom = zoom;
    }
    const limit = (n) => Math.ceil((n * zoom) / SIDE), [rows, columns] = this.field.shape;
    const wanted = [];
    for (let ty = Math.max(0, Math.floor(top / SIDE)); ty < Math.min(limit(rows), Math.ceil((top + height) / SIDE)); ty++)
      for (let tx = Math.max(0, Math.floor(left / SIDE)); tx < Math.min(limit(columns), Math.ceil((left + width) / SIDE)); tx++)
        wanted.push(this.tile(tx, ty));
    const away = (t) => Math.hypot((t.tx + 0.5) * SIDE - left - width / 2, (t.ty + 0.5) * SIDE - top - height / 2);
    wanted.sort((a, b) => away(a) - away(b));
    this.shown = wanted;
    const steps = this.isPlaying ? [this.finest] : STEPS;
    const isDue = (t, step) => t.step > step && (step === 1 || !t.isSmooth);
    this.queue = steps.flatMap((step) => wanted.filter((t) => isDue(t, step)).map((tile) => ({ tile, step })));
    for (let part = 0; part < this.each ** 2 && this.each > 1 && !this.isPlaying; part++)
      for (const tile of wanted) if (tile.step > 0 && !tile.parts?.has(part)) this.queue.push({ tile, step: 1, part });
    this.todo = wanted.length * SIDE * SIDE;
    for (const key of this.kept.keys()) {
      if (this.kept.size <= Math.max(KEPT, wanted.length)) break;
      this.kept.delete(key);
    }
    this.pump();
    return wanted;
  }

  // places along each axis of a pixel, and the step of a tile that is as good as it gets
  get each() {
    return Math.min(MOST, Math.max(1, Math.ceil(1 / this.zoom - 1e-6)));
  }

  get finest() { // while frames are played, a sample is enough for what is between it and the next
    if (this.isPlaying) return STEPS.find((step) => step <= Math.max(1, this.zoom));
    return this.each > 1 ? 0 : 1;
  }

  tile(tx, ty) {
    const key = `${tx},${ty}`, tile = this.kept.get(key) || { tx, ty, step: Infinity, picture: null, alpha: null };
    this.kept.delete(key); // the last one asked for is the last one to go
    this.kept.set(key, tile);
    return tile;
  }

  // Places of a tile's samples at a step: the middle of every block of step × step pixels, or one part of each pixel.
  places(tile, step, out, first, part, cap = this.cap) {
    const [rows, columns] = this.field.shape, count = SIDE / step, { each } = this;
    const inside = part === undefined ? [0.5, 0.5] : [Math.floor(part / each), part % each].map((k) => (k + 0.5) / each);
    const sample = (t, k, n, shift) => {
      const place = (t * SIDE + (k + shift) * step) / this.zoom - 0.5;
      return part === undefined ? place : Math.min(place, n - 0.5);
    };
    const at = (t, k, n, shift) => (n > 1 ? (2 * sample(t, k, n, shift) - (n - 1)) / (n - 1) : 0);
    const map = Boolean(this.field.axes); // a map's first coordinate goes to the right, its second upwards
    for (let i = 0, p = 3 * first; i < count; i++) {
      const down = at(tile.ty, i, rows, inside[0]);
      for (let j = 0; j < count; j++, p += 3) {
        const right = at(tile.tx, j, columns, inside[1]), x0 = map ? right : down, x1 = map ? -down : right;
        out[p] = x0;
        out[p + 1] = x1;
        out[p + 2] = this.field.alpha ? Math.min(alphaAt(this.field, locate(this.plane, x0, x1, this.here)), cap) : 0;
      }
    }
  }

  pump() {
    while (this.engine && this.busy < this.engine.lanes && this.queue.length) this.run(this.version);
  }

  async run(version) {
    const jobs = [];
    let total = 0;
    while (this.queue.length) {
      const job = this.queue[0], count = (SIDE / job.step) ** 2;
      if (jobs.length && total + count > this.engine.batch) break;
      jobs.push({ ...this.queue.shift(), first: total, count, turn: job.tile.turn });
      total += count;
    }
    const places = new Float32Array(3 * total), zoom = this.zoom, round = this.round;
    for (const { tile, step, first, part } of jobs) this.places(tile, step, places, first, part);
    this.busy++;
    let values = null;
    try {
      values = await this.engine.evaluate(places, this.plane);
    } catch (error) {
      if (version === this.version) this.failed?.(error);
      return;
    }
    if (version !== this.version) return;
    this.busy--;
    if (zoom === this.zoom && round === this.round)
      for (const { tile, step, first, count, part, turn } of jobs) {
        const isLatest = turn === tile.turn; // while a brush is at work, what it has overtaken is seen, and done again
        if (part !== undefined) isLatest && this.add(tile, part, values.subarray(4 * first, 4 * (first + count)));
        else if (step < tile.step) {
          tile.picture = this.draw(SIDE / step, (pixels) => this.colour(values, 4 * first, count, pixels));
          if (isLatest) tile.step = step;
        }
      }
    this.changed();
    this.pump();
  }

  // One more part of every pixel of a tile; with the last one the tile is their mean. A picture's values are seen clipped.
  add(tile, part, values) {
    const clip = !this.field.axes, all = this.each ** 2;
    tile.parts ??= new Set();
    tile.sum ??= new Float32Array(values.length);
    if (tile.parts.has(part)) return;
    tile.parts.add(part);
    for (let k = 0; k < values.length; k++) tile.sum[k] += (clip ? Math.min(Math.max(values[k], 0), 1) : values[k]) / all;
    if (tile.parts.size < all) return;
    tile.picture = this.draw(SIDE, (pixels) => this.colour(tile.sum, 0, SIDE * SIDE, pixels));
    tile.step = 0;
    tile.sum = null;
  }

  draw(side, fill) {
    const canvas = document.createElement("canvas"), image = new ImageData(side, side);
    canvas.width = canvas.height = side;
    fill(image.data);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  // α over a tile, made when it is first asked for.
  overlay(tile) {
    if (!tile.alpha) {
      const places = new Float32Array(3 * SIDE * SIDE);
      this.places(tile, 1, places, 0, undefined, Infinity);
      tile.alpha = this.draw(SIDE, (pixels) => {
        for (let p = 0; p < SIDE * SIDE; p++) this.shade(places[3 * p + 2], pixels, 4 * p);
      });
    }
    return tile.alpha;
  }

  // The share of the pixels on screen that have their own value.
  get progress() {
    const finished = (this.shown || []).filter((tile) => tile.step <= this.finest).length;
    return this.shown && this.shown.length ? finished / this.shown.length : 1;
  }
}
