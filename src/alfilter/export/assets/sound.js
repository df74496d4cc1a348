"use strict";
// A sound on the screen: its wave, its spectrogram with the filter's cut-off, and playing it. The live page and the
// exported one share it; where values come from is theirs.

/* exported SoundStage */

const BLOCK = 16384; // values asked for at once
const FLOOR = 80; // decibels below the loudest that are drawn

class SoundStage {
  // wave, spectrogram: canvases one above the other. load(what, first, step, count) promises numbers at the places first,
  // first + step, …, in samples: of a source (count × channels, amplitudes) or of "cut" (cycles per sample).
  // colours: 256 × RGB. changed: called after every drawing.
  constructor({ wave, spectrogram, samples, channels, rate, load, colours, hasCut, changed }) {
    Object.assign(this, { wave, spectrogram, samples, channels, rate, load, colours, hasCut, changed });
    this.sources = new Map(); // name → { values, count }: amplitudes, as far as they have come
    this.shown = "field";
    this.against = null; // a source that the shown one is drawn and played as the difference from
    this.view = { from: 0, to: Math.max(samples - 1, 1) };
    this.cursor = null; // a place in samples, and a share of the spectrogram's height
    this.drawCut = hasCut;
    this.player = null;
    this.fine = null;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(wave.parentElement);
    this.resize();
  }

  // ---- values

  async bring(name) {
    if (this.sources.has(name)) return;
    const source = { values: new Float32Array(this.samples * this.channels), count: 0 };
    this.sources.set(name, source);
    for (let first = 0; first < this.samples; first += BLOCK) {
      const count = Math.min(BLOCK, this.samples - first);
      source.values.set(await this.load(name, first, 1, count), first * this.channels);
      source.count = first + count;
      this.draw();
    }
  }

  async show(name, against = null) {
    Object.assign(this, { shown: name, against, fine: null });
    this.draw();
    for (const each of [name, against]) if (each) await this.bring(each);
    this.draw();
  }

  // the share of what is shown that has come
  get progress() {
    return Math.min(...[this.shown, this.against].filter(Boolean).map((name) => (this.sources.get(name)?.count ?? 0) / this.samples));
  }

  amplitude(sample, channel) {
    const at = sample * this.channels + channel, one = this.sources.get(this.shown), other = this.against && this.sources.get(this.against);
    return one.values[at] - (other ? other.values[at] : 0);
  }

  // decibels of one source's power over that of its difference from another, on what is on the screen
  ratio(name, truth) {
    const [one, other] = [this.sources.get(name), this.sources.get(truth)];
    if (!one || !other || one.count < this.samples || other.count < this.samples) return null;
    let power = 0, error = 0;
    for (let i = this.channels * Math.ceil(Math.max(this.view.from, 0)); i < this.channels * (Math.floor(this.view.to) + 1); i++) {
      power += other.values[i] ** 2;
      error += (one.values[i] - other.values[i]) ** 2;
    }
    return 10 * Math.log10(power / error);
  }

  // ---- drawing

  resize() {
    const ratio = devicePixelRatio || 1;
    for (const canvas of [this.wave, this.spectrogram]) {
      const box = canvas.getBoundingClientRect();
      Object.assign(canvas, { width: Math.max(1, Math.round(box.width * ratio)), height: Math.max(1, Math.round(box.height * ratio)) });
    }
    this.draw();
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      if (this.sources.has(this.shown)) {
        this.paintWave();
        this.paintSpectrogram();
      }
      this.changed();
    });
  }

  x(sample, width) {
    return ((sample - this.view.from) / (this.view.to - this.view.from)) * width;
  }

  paintWave() {
    const { width, height } = this.wave, context = this.wave.getContext("2d"), style = getComputedStyle(this.wave);
    const perPixel = (this.view.to - this.view.from) / width, row = height / this.channels;
    context.clearRect(0, 0, width, height);
    for (let c = 0; c < this.channels; c++) {
      const y = (a) => row * (c + 0.5 - 0.48 * a);
      context.strokeStyle = style.getPropertyValue("--line");
      context.strokeRect(0, Math.round(y(0)) + 0.5, width, 0);
      context.fillStyle = context.strokeStyle = style.getPropertyValue("--seen");
      if (perPixel >= 1) this.paintEnvelope(context, c, y, perPixel);
      else this.paintCurve(context, c, y, perPixel);
    }
    this.paintMarks(context, height);
  }

  // the least and the largest sample under every pixel
  paintEnvelope(context, c, y, perPixel) {
    const last = Math.min(this.sources.get(this.shown).count, this.against ? this.sources.get(this.against)?.count ?? 0 : Infinity);
    for (let px = 0; px < this.wave.width; px++) {
      const first = Math.max(0, Math.floor(this.view.from + px * perPixel)), end = Math.min(last, Math.ceil(this.view.from + (px + 1) * perPixel) + 1);
      let low = Infinity, high = -Infinity;
      for (let i = first; i < end; i++) {
        const a = this.amplitude(i, c);
        if (a < low) low = a;
        if (a > high) high = a;
      }
      if (high >= low) context.fillRect(px, y(high), 1, Math.max(1, y(low) - y(high)));
    }
  }

  // closer than that the field itself, between its samples, and dots on them
  paintCurve(context, c, y, perPixel) {
    const key = `${this.shown} ${this.view.from} ${this.view.to} ${this.wave.width}`, { width } = this.wave;
    if (this.shown === "field" && !this.against && this.fine?.key !== key) {
      const fine = (this.fine = { key, values: null });
      this.load("field", this.view.from, perPixel, width).then((values) => {
        fine.values = values;
        if (this.fine === fine) this.draw();
      });
    }
    context.beginPath();
    context.lineWidth = 1.5 * (devicePixelRatio || 1);
    if (this.fine?.key === key && this.fine.values) for (let px = 0; px < width; px++) context.lineTo(px, y(this.fine.values[px * this.channels + c]));
    else for (let i = Math.max(0, Math.floor(this.view.from)); i <= Math.min(this.samples - 1, Math.ceil(this.view.to)); i++) context.lineTo(this.x(i, width), y(this.amplitude(i, c)));
    context.stroke();
    if (perPixel > 0.1) return;
    const size = 2.5 * (devicePixelRatio || 1);
    for (let i = Math.max(0, Math.ceil(this.view.from)); i <= Math.min(this.samples - 1, this.view.to); i++) context.fillRect(this.x(i, width) - size, y(this.amplitude(i, c)) - size, 2 * size, 2 * size);
  }

  paintMarks(context, height) {
    const { width } = context.canvas, marks = [[this.cursor?.sample, "--soft"], [this.playedTo(), "--held"]];
    for (const [sample, colour] of marks) {
      if (sample === undefined || sample === null) continue;
      context.fillStyle = getComputedStyle(this.wave).getPropertyValue(colour);
      context.fillRect(Math.round(this.x(sample, width)), 0, Math.max(1, Math.round(devicePixelRatio || 1)), height);
    }
  }

  // short-time spectra under a Hann window, the mean of the channels; upwards to half the rate
  paintSpectrogram() {
    const { width, height } = this.spectrogram, context = this.spectrogram.getContext("2d");
    const key = `${this.shown} ${this.against} ${this.progress} ${this.view.from} ${this.view.to} ${width} ${height}`;
    if (this.spectra?.key !== key) this.spectra = { key, picture: this.spectrum(Math.min(width, 600), Math.min(height, 400)) };
    context.imageSmoothingEnabled = true;
    context.clearRect(0, 0, width, height);
    context.drawImage(this.spectra.picture, 0, 0, width, height);
    if (this.drawCut) this.paintCut(context);
    this.paintMarks(context, height);
  }

  spectrum(columns, rows) {
    const n = 2 ** Math.max(5, Math.min(Math.round(Math.log2(this.rate / 40)), 11)), power = new Float32Array(columns * rows);
    const re = new Float64Array(n), im = new Float64Array(n);
    let most = 1e-12;
    for (let c = 0; c < columns; c++) {
      const middle = Math.round(this.view.from + ((c + 0.5) / columns) * (this.view.to - this.view.from));
      for (let k = 0; k < n; k++) {
        const at = middle - n / 2 + k, inside = at >= 0 && at < this.samples;
        let sum = 0;
        for (let channel = 0; inside && channel < this.channels; channel++) sum += this.amplitude(at, channel);
        re[k] = (sum / this.channels) * (0.5 - 0.5 * Math.cos((2 * Math.PI * k) / n));
        im[k] = 0;
      }
      transform(re, im);
      for (let r = 0; r < rows; r++) {
        const bin = Math.min(n / 2 - 1, Math.floor(((rows - 1 - r) / rows) * (n / 2))), value = re[bin] ** 2 + im[bin] ** 2;
        power[r * columns + c] = value;
        if (value > most) most = value;
      }
    }
    this.loudest = Math.max(this.against ? 0 : most, this.loudest ?? most); // one scale for every view
    const picture = new OffscreenCanvas(columns, rows), image = new ImageData(columns, rows);
    for (let i = 0; i < power.length; i++) {
      const share = 1 + (10 * Math.log10(power[i] / this.loudest + 1e-12)) / FLOOR, k = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
      for (let c = 0; c < 4; c++) image.data[4 * i + c] = c < 3 ? this.colours[k + c] : 255;
    }
    picture.getContext("2d").putImageData(image, 0, 0);
    return picture;
  }

  // the filter's cut-off as a line over the spectrogram, where it lies below half the rate
  paintCut(context) {
    const { width, height } = context.canvas, count = Math.min(width, 400), key = `${this.view.from} ${this.view.to} ${count}`;
    if (this.cut?.key !== key) {
      const cut = (this.cut = { key, values: this.cut?.values, from: this.cut?.from, to: this.cut?.to });
      const { from, to } = this.view;
      this.load("cut", from, (to - from) / (count - 1), count).then((values) => {
        Object.assign(cut, { values, from, to });
        if (this.cut === cut) this.draw();
      });
    }
    const { values, from, to } = this.cut;
    if (!values) return;
    context.beginPath();
    values.forEach((v, k) => context.lineTo(this.x(from + (k / (values.length - 1)) * (to - from), width), height * (1 - Math.min(1, 2 * v))));
    for (const [colour, thick] of [["#000", 3], ["#fff", 1.25]]) {
      context.strokeStyle = colour;
      context.lineWidth = thick * (devicePixelRatio || 1);
      context.stroke();
    }
  }

  // ---- moving

  setView(from, to) {
    const shortest = 16, length = Math.min(Math.max(to - from, shortest), Math.max(this.samples - 1, shortest));
    const middle = (from + to) / 2, start = Math.min(Math.max(middle - length / 2, 0), Math.max(this.samples - 1 - length, 0));
    this.view = { from: start, to: start + length };
    this.draw();
  }

  zoom(factor, sample = (this.view.from + this.view.to) / 2) {
    this.setView(sample - (sample - this.view.from) / factor, sample + (this.view.to - sample) / factor);
  }

  fit() {
    this.setView(0, this.samples - 1);
  }

  pan(samples) {
    const { from, to } = this.view, by = Math.min(Math.max(samples, -from), this.samples - 1 - to);
    this.setView(from + by, to + by);
  }

  point(event, canvas) {
    const box = canvas.getBoundingClientRect();
    const sample = this.view.from + ((event.clientX - box.left) / box.width) * (this.view.to - this.view.from);
    this.cursor = { sample: Math.min(Math.max(sample, 0), this.samples - 1), up: canvas === this.spectrogram ? 1 - (event.clientY - box.top) / box.height : null };
    this.draw();
  }

  listen() {
    for (const canvas of [this.wave, this.spectrogram]) {
      let held = null, went = 0;
      canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); held = event.clientX; went = 0; });
      canvas.addEventListener("pointermove", (event) => {
        if (held !== null) {
          this.pan(((held - event.clientX) / canvas.getBoundingClientRect().width) * (this.view.to - this.view.from));
          went += Math.abs(event.clientX - held);
          held = event.clientX;
        }
        this.point(event, canvas);
      });
      canvas.addEventListener("pointerup", (event) => {
        held = null;
        if (went < 4) { this.point(event, canvas); this.play(this.cursor.sample); } // a click plays from there
      });
      canvas.addEventListener("pointercancel", () => (held = null));
      canvas.addEventListener("pointerleave", () => { this.cursor = null; this.draw(); });
      canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        this.point(event, canvas);
        this.zoom(2 ** (-Math.min(240, Math.max(-240, event.deltaY * (event.deltaMode === 1 ? 16 : 1))) / 240), this.cursor.sample);
      }, { passive: false });
    }
  }

  key(event) {
    const step = (this.view.to - this.view.from) / 10, actions = {
      ArrowLeft: () => this.pan(-step), ArrowRight: () => this.pan(step), "+": () => this.zoom(2), "=": () => this.zoom(2),
      "-": () => this.zoom(0.5), 0: () => this.fit(), " ": () => (this.player ? this.stop() : this.play()),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // ---- playing what is shown, from a place to the view's end

  play(from = this.view.from) {
    this.stop();
    if (this.progress < 1) return;
    const first = Math.max(0, Math.floor(from)), count = Math.max(1, Math.min(this.samples, Math.ceil(this.view.to) + 1) - first);
    const context = (this.audio ??= new AudioContext()), rate = Math.min(Math.max(this.rate, 8000), 96000);
    const buffer = context.createBuffer(Math.min(this.channels, 2), count, rate), source = context.createBufferSource();
    for (let c = 0; c < buffer.numberOfChannels; c++) {
      const data = buffer.getChannelData(c);
      for (let i = 0; i < count; i++) data[i] = Math.min(1, Math.max(-1, 0.9 * this.amplitude(first + i, c)));
    }
    Object.assign(source, { buffer });
    source.playbackRate.value = this.rate / rate;
    source.connect(context.destination);
    const player = (this.player = { source, first, began: context.currentTime });
    source.onended = () => { if (this.player === player) { this.player = null; this.draw(); } };
    context.resume();
    source.start();
    const follow = () => { if (this.player === player) { this.draw(); requestAnimationFrame(follow); } };
    follow();
  }

  stop() {
    const { player } = this;
    this.player = null;
    player?.source.stop();
    this.draw();
  }

  playedTo() {
    return this.player ? this.player.first + (this.audio.currentTime - this.player.began) * this.rate : null;
  }
}

// The discrete Fourier transform in place, radix 2.
function transform(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
  }
  for (let size = 2; size <= n; size *= 2) {
    for (let k = 0; k < size / 2; k++) {
      const c = Math.cos((-2 * Math.PI * k) / size), s = Math.sin((-2 * Math.PI * k) / size);
      for (let a = k; a < n; a += size) {
        const b = a + size / 2, x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
      }
    }
  }
}
