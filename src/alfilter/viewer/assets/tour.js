// One minute with a field: a few short steps, each of which shows on the picture what it says.

import { short } from "./plots.js";

const $ = (id) => document.getElementById(id);

export class Tour {
  constructor(view) {
    this.view = view;
    this.at = 0;
    $("tour-next").onclick = () => this.go(this.at + 1);
    $("tour-back").onclick = () => this.go(this.at - 1);
    $("tour-close").onclick = () => this.close();
    $("tour").addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    if (!localStorage.getItem("alfilter-tour")) this.go(0);
  }

  open() {
    this.go(0);
    $("tour-next").focus();
  }

  close() {
    $("tour").hidden = true;
    localStorage.setItem("alfilter-tour", "seen");
    $("stage").focus({ preventScroll: true });
  }

  steps() {
    const { view } = this, model = view.about.models[0], { controls } = view, { noun, sample } = view.about.layout;
    const sizes = [...model.shape].reverse().join(" × "), flat = model.shape.length === 2;
    const pick = (group, value) => controls.pick(group, value);
    const list = [
      {
        title: `A ${noun} that is a function`,
        text: `These ${sizes} ${sample}s are not stored. A network of ${model.params.toLocaleString("en")} parameters answers one question: which ${flat ? "colour is at (x, y)" : "value is at this place"}? The page has just asked it once for every point of your screen.`,
        show: () => { pick("mode", "one"); pick("overlay", "none"); view.fit(); },
      },
      {
        title: `Between the ${sample}s`,
        text: view.about.reference
          ? `32 times larger. Dots mark the ${sample}s it was trained on; everything between them is the field's own answer. Drag the boundary: on the right the stored ${sample}s are just squares.`
          : `32 times larger. Dots mark the ${sample}s it was trained on; everything between them is the field's own answer.`,
        show: () => { pick("overlay", "none"); controls.against("nearest"); pick("mode", view.about.reference ? "split" : "one"); view.lookAt(...this.lively(), 5 * view.about.octave); },
      },
    ];
    if (!flat) {
      list.push({
        title: "Through the whole",
        text: `What you see is one plane of ${model.shape.length} axes. Move a slider: a quarter of the way to the next sample is a place like any other. ${view.about.layout.time === null ? "Turn the plane with the buttons above it." : "▶ plays it."}`,
        show: () => { pick("mode", "one"); pick("overlay", "none"); view.fit(); $("h-plane").scrollIntoView({ block: "nearest" }); },
      });
    }
    if (model.alpha) {
      list.push(
        {
          title: "Local frequency",
          text: `Places enter the network as features of ${model.alpha.channels} ${model.alpha.unit}, slow to fast. A filter that was learned with them holds back those above a cut-off, which differs from place to place: here from ${short(model.alpha.cut_off[0], 2)} cycles per ${sample} (dark) to ${short(model.alpha.cut_off[1], 2)} (bright).`,
          show: () => { pick("mode", "one"); view.fit(); pick("overlay", "alpha"); },
        },
        {
          title: "Ask any place",
          text: `Move over the ${noun}, or touch it. The bars show which features pass there, with their cycles per ${sample}; above them the field's value${view.about.reference ? `, the ${noun}'s, and the error` : ""}.`,
          show: () => { pick("mode", "one"); pick("overlay", "alpha"); view.fit(); $("h-cursor").scrollIntoView({ block: "nearest" }); },
        },
        model.steerable ? {
          title: "Steer it",
          text: "Move Detail to lower the cut-off everywhere. Or switch the brush on and paint: the cut-off is lowered under it and nowhere else, and “Bring back” returns it to what was learned. Save it as a new model if you like it.",
          show: () => { pick("overlay", "none"); view.fit(); $("h-steer").scrollIntoView({ block: "nearest" }); },
        } : {
          title: "Less detail",
          text: "Move Detail to lower the cut-off everywhere: what is faster is held back, and what is left is smooth.",
          show: () => { pick("overlay", "none"); view.fit(); $("h-show").scrollIntoView({ block: "nearest" }); },
        },
      );
    }
    return list;
  }

  go(index) {
    const steps = this.steps();
    if (index >= steps.length) return this.close();
    this.at = Math.max(0, index);
    const step = steps[this.at];
    $("tour").hidden = false;
    $("tour-count").textContent = `${this.at + 1} of ${steps.length}`;
    $("tour-title").textContent = step.title;
    $("tour-text").textContent = step.text;
    $("tour-back").disabled = this.at === 0;
    $("tour-next").textContent = this.at === steps.length - 1 ? "Done" : "Next";
    step.show();
  }

  // a place with much going on: the block of the picture with the strongest edges among the tiles at hand
  lively() {
    const { tiles, shape, camera } = this.view, sums = new Map(), block = Math.max(4, Math.min(...shape) / 20);
    for (const tile of tiles.held.values()) {
      if (tile.kind !== "u2") continue;
      const scale = Math.pow(2, tile.zoom / camera.octave), { width, height, channels, data } = tile, step = Math.max(1, Math.round(scale));
      for (let y = step; y < height - step; y += step) {
        for (let x = step; x < width - step; x += step) {
          const at = (dx, dy) => data[((y + dy) * width + x + dx) * channels];
          const edge = Math.abs(at(step, 0) - at(-step, 0)) + Math.abs(at(0, step) - at(0, -step));
          const key = [(tile.x * tiles.size + x) / scale, (tile.y * tiles.size + y) / scale].map((v) => Math.floor(v / block)).join();
          const entry = sums.get(key) ?? { sum: 0, many: 0 };
          entry.sum += edge;
          entry.many++;
          sums.set(key, entry);
        }
      }
    }
    let best = [0, (shape[1] - 1) / 2, (shape[0] - 1) / 2];
    for (const [key, { sum, many }] of sums) {
      const [x, y] = key.split(",").map((k) => (Number(k) + 0.5) * block);
      const inner = Math.min(x, y, shape[1] - x, shape[0] - y) > Math.min(...shape) / 6;
      if (inner && sum / many > best[0]) best = [sum / many, x, y];
    }
    return best.slice(1);
  }
}
