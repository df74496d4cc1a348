// Tiles of every source: asked for in order of need, coarse first; what has left the screen is not asked for any more.

import { coloured, difference, picture } from "./colours.js";

const AT_ONCE = 3; // requests under way
const COARSE = 3; // octaves between a first impression and the tile itself

export class Tiles {
  constructor(about, [rows, columns], changed) {
    this.size = about.tile;
    this.octave = about.octave;
    this.widest = about.zoom[0];
    this.rows = rows;
    this.columns = columns;
    this.changed = changed;
    this.held = new Map(); // key → tile, the least recently used first
    this.flying = new Map(); // key → AbortController
    this.wanted = [];
    this.pause = 0;
    this.room = 256;
    this.asked = this.aborted = this.stamp = 0; // stamp: counts every change of what is held
    this.measured = new Map();
    this.failed = null;
  }

  key(source, zoom, x, y) {
    return `${source} ${zoom} ${x} ${y}`;
  }

  count(zoom) {
    const scale = Math.pow(2, zoom / this.octave);
    return [this.columns, this.rows].map((n) => Math.ceil(Math.max(1, Math.ceil(n * scale - 1e-6)) / this.size));
  }

  // the tiles of a source under a pane, nearest to (px, py) first
  visible(source, goal, width, height, px = width / 2, py = height / 2) {
    const [across, down] = this.count(goal.zoom), size = this.size, tiles = [];
    const x0 = Math.max(0, Math.floor(-goal.left / size)), x1 = Math.min(across - 1, Math.floor((width - 1 - goal.left) / size));
    const y0 = Math.max(0, Math.floor(-goal.top / size)), y1 = Math.min(down - 1, Math.floor((height - 1 - goal.top) / size));
    for (let y = y0; y <= y1; y++) {
      for (let x = x0; x <= x1; x++) {
        const away = Math.hypot(goal.left + (x + 0.5) * size - px, goal.top + (y + 0.5) * size - py);
        tiles.push({ source, zoom: goal.zoom, x, y, away, key: this.key(source, goal.zoom, x, y) });
      }
    }
    return tiles.sort((a, b) => a.away - b.away);
  }

  // a fourth of the resolution, for places where there is nothing to see yet; in the overview one place per pixel, which
  // is replaced by the mean over the pixel when the screen comes to that zoom
  coarse(tile) {
    const zoom = Math.max(this.widest, tile.zoom - COARSE * this.octave);
    const by = Math.pow(2, (tile.zoom - zoom) / this.octave);
    const [x, y] = [tile.x, tile.y].map((k) => Math.floor((k + 0.5) / by));
    return { ...tile, zoom, x, y, key: this.key(tile.source, zoom, x, y), away: -1, rough: zoom < 0 };
  }

  // what the screen needs now; everything else that is under way is given up
  want(list) {
    const keys = new Set(), ordered = [];
    for (const tile of list) {
      const held = this.held.get(tile.key);
      if (held && !held.stale) continue;
      if (!held && !tile.extra && !this.covered(tile)) {
        const first = this.coarse(tile);
        if (first.key !== tile.key && !keys.has(first.key) && !this.held.has(first.key)) {
          keys.add(first.key);
          ordered.push(first);
        }
      }
      if (!keys.has(tile.key)) {
        keys.add(tile.key);
        ordered.push(tile);
      }
    }
    for (const [key, controller] of this.flying) {
      if (!keys.has(key)) {
        controller.abort();
        this.flying.delete(key);
        this.aborted++;
      }
    }
    this.wanted = ordered.sort((a, b) => a.away - b.away);
    this.room = Math.max(256, 2 * list.length);
    this.forget();
    this.pump();
  }

  covered(tile) {
    for (let zoom = tile.zoom - COARSE * this.octave; zoom < tile.zoom; zoom++) {
      const by = Math.pow(2, (tile.zoom - zoom) / this.octave);
      const [x, y] = [tile.x, tile.y].map((k) => Math.floor((k + 0.5) / by));
      if (this.held.has(this.key(tile.source, zoom, x, y))) return true;
    }
    return false;
  }

  get idle() {
    return this.wanted.length === 0 && this.flying.size === 0;
  }

  pump() {
    if (performance.now() < this.pause) return;
    for (const tile of [...this.wanted]) {
      if (this.flying.size >= AT_ONCE) return;
      if (!this.flying.has(tile.key)) this.fetch(tile);
    }
  }

  async fetch(tile) {
    const controller = new AbortController();
    this.flying.set(tile.key, controller);
    this.asked++;
    try {
      const answer = await fetch(`/api/tile?${tile.source}&z=${tile.zoom}&x=${tile.x}&y=${tile.y}${tile.rough ? "&rough=1" : ""}`, {
        signal: controller.signal,
      });
      if (answer.status === 503 || answer.status === 429) {
        this.pause = performance.now() + 250;
        setTimeout(() => this.pump(), 260);
        return;
      }
      if (!answer.ok) throw new Error((await answer.json()).error);
      const [size, kind] = answer.headers.get("X-Tile").split(" ");
      const [width, height, channels] = size.split("x").map(Number);
      const bytes = await answer.arrayBuffer();
      const data = kind === "u2" ? new Uint16Array(bytes) : new Float32Array(bytes);
      if (controller.signal.aborted) return;
      this.keep({ ...tile, width, height, channels, data, kind, stale: Boolean(tile.rough) });
      this.failed = null;
    } catch (error) {
      if (error.name === "AbortError") return;
      this.failed = error.message;
      this.pause = performance.now() + 1500;
      setTimeout(() => this.pump(), 1600);
    } finally {
      if (this.flying.get(tile.key) === controller) this.flying.delete(tile.key);
      this.changed();
      this.pump();
    }
  }

  keep(tile) {
    this.stamp++;
    this.wanted = this.wanted.filter((other) => other.key !== tile.key || (tile.rough && !other.rough));
    this.held.delete(tile.key);
    this.held.set(tile.key, tile);
    this.forget();
  }

  // the tiles that were looked at longest ago make room
  forget() {
    for (const key of this.held.keys()) {
      if (this.held.size <= this.room) break;
      this.held.delete(key);
    }
  }

  touch(tile) {
    this.held.delete(tile.key);
    this.held.set(tile.key, tile);
  }

  // tiles of a source that show anything of a box are to be asked for again; until then they are shown as they are
  stale(matches, box) {
    this.stamp++;
    for (const tile of this.held.values()) {
      if (!matches(tile.source)) continue;
      const size = this.size / Math.pow(2, tile.zoom / this.octave);
      const [left, top] = [tile.x * size - 0.5, tile.y * size - 0.5];
      if (!box || (top <= box[2] && left <= box[3] && box[0] <= top + size && box[1] <= left + size)) tile.stale = true;
    }
    for (const [key, controller] of this.flying) {
      if (!matches(key.split(" ")[0])) continue;
      controller.abort();
      this.flying.delete(key);
    }
  }

  // ready-made pictures of a tile, by how it is to look
  drawn(tile, look) {
    if (tile.look !== look.key) {
      tile.image = look.map ? coloured(tile, look) : picture(tile);
      tile.look = look.key;
    }
    return tile.image;
  }

  // whether every tile of a source under a pane is there
  complete(source, camera) {
    if (camera.moving) return false;
    const [left, top] = camera.origin();
    return this.visible(source, { left, top, zoom: camera.zoom }, camera.width, camera.height).every((tile) => this.held.has(tile.key));
  }

  // what is at hand of other zooms, the nearest zoom on top
  paintOthers(context, source, camera, image) {
    const [left, top] = camera.origin(), { scale, width, height } = camera, size = this.size, others = [];
    for (const tile of this.held.values()) {
      if (tile.source !== source || (!camera.moving && tile.zoom === camera.zoom)) continue;
      const by = scale / Math.pow(2, tile.zoom / this.octave);
      const x0 = left + tile.x * size * by, y0 = top + tile.y * size * by;
      const [l, t, r, b] = [x0, y0, x0 + tile.width * by, y0 + tile.height * by].map(Math.round);
      if (r > Math.max(0, l) && b > Math.max(0, t) && l < width && t < height) others.push({ tile, box: [l, t, r - l, b - t] });
    }
    const apart = ({ tile }) => Math.abs(tile.zoom - camera.zoom);
    others.sort((a, b) => apart(b) - apart(a) || a.tile.zoom - b.tile.zoom);
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "high";
    for (const { tile, box } of others.slice(-48)) {
      const drawn = image(tile);
      if (drawn) context.drawImage(drawn, ...box);
    }
  }

  // draw a source into a pane: what is at hand of other zooms first, then the tiles themselves
  paint(context, source, camera, look) {
    const [left, top] = camera.origin(), { scale, width, height } = camera, size = this.size;
    const exact = this.visible(source, { left, top, zoom: camera.zoom, scale }, width, height);
    const ready = camera.moving ? [] : exact.map((tile) => this.held.get(tile.key));
    const whole = ready.length > 0 && ready.every(Boolean);
    if (!whole) this.paintOthers(context, source, camera, (tile) => this.drawn(tile, look));
    for (const tile of ready) {
      if (!tile) continue;
      this.touch(tile);
      context.drawImage(this.drawn(tile, look), left + tile.x * size, top + tile.y * size);
    }
    return whole && !ready.some((tile) => tile.stale);
  }

  // pairs of tiles of two sources, both there
  pairs(one, other, camera) {
    const [left, top] = camera.origin();
    const goal = { left, top, zoom: camera.zoom, scale: camera.scale };
    return this.visible(one, goal, camera.width, camera.height).map((tile) => {
      const a = this.held.get(tile.key), b = this.held.get(this.key(other, tile.zoom, tile.x, tile.y));
      return { a, b, x: left + tile.x * this.size, y: top + tile.y * this.size };
    });
  }

  paintDifference(context, one, other, camera, gain) {
    let whole = !camera.moving;
    const fits = (tile) => tile.against?.source === other && tile.gain === gain && tile.apart;
    if (!this.complete(one, camera) || !this.complete(other, camera)) this.paintOthers(context, one, camera, fits);
    for (const { a, b, x, y } of camera.moving ? [] : this.pairs(one, other, camera)) {
      if (!a || !b || a.channels !== b.channels) {
        whole = false;
        continue;
      }
      if (a.stale || b.stale) whole = false;
      this.touch(a);
      this.touch(b);
      if (a.against !== b || a.gain !== gain) {
        a.apart = difference(a, b, gain);
        a.against = b;
        a.gain = gain;
      }
      context.drawImage(a.apart, x, y);
    }
    return whole;
  }

  // peak signal-to-noise ratio of what two panes show, on the part of the picture that is on the screen; null until all
  // of it is there
  psnr(one, other, camera) {
    if (camera.moving) return null;
    const pair = `${one} ${other}`, when = `${this.stamp} ${camera.origin()} ${camera.zoom} ${camera.width} ${camera.height}`;
    if (this.measured.get(pair)?.when !== when) {
      if (this.measured.size > 16) this.measured.clear();
      this.measured.set(pair, { when, value: this.measure(one, other, camera) });
    }
    return this.measured.get(pair).value;
  }

  measure(one, other, camera) {
    let sum = 0, many = 0;
    for (const { a, b, x, y } of this.pairs(one, other, camera)) {
      if (!a || !b || a.stale || b.stale || a.channels !== b.channels) return null;
      const x0 = Math.max(0, -x), x1 = Math.min(a.width, camera.width - x);
      const y0 = Math.max(0, -y), y1 = Math.min(a.height, camera.height - y);
      for (let row = y0; row < y1; row++) {
        const end = (row * a.width + x1) * a.channels;
        for (let i = (row * a.width + x0) * a.channels; i < end; i++) {
          const d = a.data[i] - b.data[i];
          sum += d * d;
        }
      }
      many += Math.max(0, x1 - x0) * Math.max(0, y1 - y0) * a.channels;
    }
    return many ? -10 * Math.log10(sum / many / 65535 ** 2) : null;
  }
}
