// The page of a sound: the shared stage, and what the panel says about it.

import { table } from "./colours.js";
import { drawResponse, short } from "./plots.js";

/* global SoundStage */

const $ = (id) => document.getElementById(id);

async function bytes(path) {
  for (;;) {
    const answer = await fetch(path);
    if (answer.status === 503 || answer.status === 429) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      continue;
    }
    if (!answer.ok) throw new Error((await answer.json()).error);
    return new Float32Array(await answer.arrayBuffer());
  }
}

class SoundView {
  constructor(about) {
    this.about = about;
    const colours = Uint8Array.from([...table("viridis")].flatMap((c) => [c & 255, (c >> 8) & 255, (c >> 16) & 255]));
    this.stage = new SoundStage({
      wave: $("wave"), spectrogram: $("spectrogram"), samples: about.samples, channels: about.channels, rate: about.rate,
      colours, hasCut: Boolean(about.alpha), changed: () => this.changed(),
      load: (layer, first, step, count) => bytes(`/api/samples?layer=${layer}&first=${first}&step=${step}&count=${count}`),
    });
    $("title").textContent = about.name;
    document.title = `${about.name}: alfilter`;
    $("facts").textContent = `${about.method}, ${about.params.toLocaleString("en")} parameters · ${about.samples.toLocaleString("en")} samples at ${about.rate.toLocaleString("en")} Hz, ${(about.samples / about.rate).toFixed(2)} s${about.channels > 1 ? `, ${about.channels} channels` : ""}`;
    $("l-shown").hidden = !about.reference;
    $("l-cut").hidden = $("row-alpha").hidden = $("f-response").hidden = !about.alpha;
    if (about.alpha) drawResponse($("response"), about.alpha, null, "cycles per sample");
    this.wire();
    this.show("field");
  }

  wire() {
    const { stage } = this;
    for (const input of document.querySelectorAll("input[name=shown]")) input.addEventListener("change", () => this.show(input.value));
    $("cut-line").onchange = () => { stage.drawCut = $("cut-line").checked; stage.draw(); };
    $("play").onclick = () => (stage.player ? stage.stop() : stage.play());
    $("in").onclick = () => stage.zoom(2);
    $("out").onclick = () => stage.zoom(0.5);
    $("fit").onclick = () => stage.fit();
    $("stage").addEventListener("keydown", (event) => stage.key(event));
    $("theme").onclick = () => {
      const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      this.theme(dark ? "light" : "dark");
    };
    this.theme(localStorage.getItem("alfilter-theme"));
  }

  theme(name) {
    if (!name) return;
    document.documentElement.dataset.theme = name;
    localStorage.setItem("alfilter-theme", name);
    this.stage.draw();
  }

  async show(what) {
    try {
      await this.stage.show(what === "difference" ? "field" : what, what === "difference" ? "reference" : null);
      if (this.about.reference) for (const name of ["field", "reference"]) await this.stage.bring(name);
      this.stage.draw();
    } catch (error) {
      $("trouble").hidden = false;
      $("trouble").textContent = `No answer: ${error.message}. Is alfilter view still running?`;
    }
  }

  changed() {
    const { stage, about } = this, { from, to } = stage.view, seconds = (n) => (n / about.rate).toFixed(3);
    $("busy").hidden = stage.progress >= 1;
    $("busy").textContent = `Evaluating the field: ${Math.floor(100 * stage.progress)} %`;
    $("scale").textContent = `${short((to - from) / about.rate, 3)} s`;
    $("play").textContent = stage.player ? "❚❚ Stop" : "▶ Play";
    $("play").disabled = stage.progress < 1;
    $("played").textContent = `${seconds(from)} to ${seconds(to)} s`;
    const ratio = about.reference ? stage.ratio("field", "reference") : null;
    $("screen").textContent = ratio === null ? "" : `What is on the screen: ${Number.isFinite(ratio) ? `a signal-to-noise ratio of ${ratio.toFixed(2)} dB` : "no error"}.`;
    if (stage.cursor) this.look(stage.cursor);
  }

  look({ sample, up }) {
    $("spot-place").textContent = `${(sample / this.about.rate).toFixed(4)} s, sample ${sample.toFixed(1)}`;
    $("spot-pitch").textContent = up === null ? "–" : `${Math.round((up * this.about.rate) / 2).toLocaleString("en")} Hz`;
    this.again = sample;
    if (this.looking || this.looked === sample) return;
    this.looking = true;
    this.looked = sample;
    fetch(`/api/at?x=${sample}`).then((answer) => answer.json()).then((spot) => this.showSpot(spot), () => {}).finally(() => {
      this.looking = false;
      if (this.stage.cursor && this.again !== this.looked) this.look(this.stage.cursor);
    });
  }

  showSpot(spot) {
    if (spot.error) return;
    $("spot-value").textContent = spot.value.map((v) => v.toFixed(4)).join(", ");
    if (!this.about.alpha) return;
    $("spot-alpha").textContent = `${Math.round(spot.frequency * this.about.rate).toLocaleString("en")} Hz (α ${spot.alpha.toFixed(2)} ${this.about.alpha.unit})`;
    drawResponse($("response"), this.about.alpha, spot, "cycles per sample");
  }

  // for tests and consoles: resolves when everything that is on the screen has arrived
  async settled() {
    const names = this.about.reference ? ["field", "reference"] : ["field"];
    const ready = () => names.every((name) => this.stage.sources.get(name)?.count === this.about.samples) && !this.stage.frame && !this.looking;
    while (!ready()) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

try {
  const answer = await fetch("/api/about");
  if (!answer.ok) throw new Error((await answer.json()).error);
  window.view = new SoundView(await answer.json());
} catch (error) {
  $("facts").textContent = `The page could not start: ${error.message}`;
}
