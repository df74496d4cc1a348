// Where the page looks. A sample is `scale` screen pixels wide; sample i covers the pixels [i·scale, (i+1)·scale).
// At rest the scale is 2^(zoom/octave) with a whole zoom, and the picture's corner sits on a whole screen pixel, so that
// a tile's pixels are the screen's pixels.

export class Camera {
  constructor(shape, octave, [widest, deepest]) {
    this.rows = shape[0];
    this.columns = shape[1];
    this.octave = octave;
    this.widest = widest;
    this.deepest = deepest;
    this.width = this.height = 1; // of a pane, in screen pixels
    this.x = (this.columns - 1) / 2; // the place in the pane's middle, in samples
    this.y = (this.rows - 1) / 2;
    this.zoom = 0; // where it is going
    this.scale = 1; // where it is
    this.anchor = null; // a place that keeps its spot on the screen while the scale changes
    this.held = false; // by two fingers
    this.stillFor = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  scaleAt(zoom) {
    return Math.pow(2, zoom / this.octave);
  }

  get target() {
    return this.scaleAt(this.zoom);
  }

  get moving() {
    return this.scale !== this.target;
  }

  // screen position of the picture's corner, whole at rest
  origin() {
    const left = this.width / 2 - (this.x + 0.5) * this.scale;
    const top = this.height / 2 - (this.y + 0.5) * this.scale;
    return this.moving ? [left, top] : [Math.round(left), Math.round(top)];
  }

  // the same at the scale it is going to: tiles are asked for there
  goal() {
    const scale = this.target;
    let { x, y } = this;
    if (this.anchor) {
      x = this.anchor.x - (this.anchor.px - this.width / 2) / scale;
      y = this.anchor.y - (this.anchor.py - this.height / 2) / scale;
    }
    [x, y] = this.inside(x, y);
    return {
      scale,
      zoom: this.zoom,
      left: Math.round(this.width / 2 - (x + 0.5) * scale),
      top: Math.round(this.height / 2 - (y + 0.5) * scale),
    };
  }

  place(px, py) {
    const [left, top] = this.origin();
    return [(px - left) / this.scale - 0.5, (py - top) / this.scale - 0.5];
  }

  spot(x, y) {
    const [left, top] = this.origin();
    return [left + (x + 0.5) * this.scale, top + (y + 0.5) * this.scale];
  }

  inside(x, y) {
    return [Math.min(Math.max(x, -0.5), this.columns - 0.5), Math.min(Math.max(y, -0.5), this.rows - 0.5)];
  }

  panBy(dx, dy) {
    this.anchor = null;
    [this.x, this.y] = this.inside(this.x - dx / this.scale, this.y - dy / this.scale);
  }

  lookAt(x, y, zoom) {
    this.anchor = null;
    [this.x, this.y] = this.inside(x, y);
    this.zoom = this.bounded(zoom);
    this.scale = this.target;
  }

  bounded(zoom) {
    return Math.min(Math.max(zoom, this.widest, Math.min(0, this.fitZoom() - 2 * this.octave)), this.deepest);
  }

  fitZoom() {
    const scale = Math.min(this.width / this.columns, this.height / this.rows);
    return Math.floor(this.octave * Math.log2(scale) + 1e-9);
  }

  fit() {
    this.lookAt((this.columns - 1) / 2, (this.rows - 1) / 2, this.fitZoom());
  }

  // go to another zoom; the place at the screen position (px, py) stays there
  zoomTo(zoom, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.place(px, py);
    this.anchor = { x, y, px, py };
    this.zoom = this.bounded(Math.round(zoom));
    this.held = false;
    if (this.stillFor || !this.moving) this.arrive();
  }

  // a scale under the fingers, settled by zoomTo when they leave
  pinch(scale, px, py, x, y) {
    const low = this.scaleAt(this.bounded(-1e9)), high = this.scaleAt(this.deepest);
    this.scale = Math.min(Math.max(scale, low), high);
    this.zoom = Math.round(this.octave * Math.log2(this.scale));
    this.anchor = { x, y, px, py };
    this.held = true;
    this.hold();
  }

  hold() {
    const { x, y, px, py } = this.anchor;
    [this.x, this.y] = this.inside(x - (px - this.width / 2) / this.scale, y - (py - this.height / 2) / this.scale);
  }

  arrive() {
    this.scale = this.target;
    if (this.anchor) this.hold();
    this.anchor = null;
  }

  // one frame of the way, `elapsed` milliseconds long; whether there is more to go
  step(elapsed) {
    if (!this.moving || this.held) return false;
    const left = Math.log(this.target / this.scale) * Math.exp(-elapsed / 55);
    if (Math.abs(left) < 0.004) {
      this.arrive();
      return false;
    }
    this.scale = this.target / Math.exp(left);
    if (this.anchor) this.hold();
    return true;
  }
}
