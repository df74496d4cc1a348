"use strict";
// The exported page of a sound: the shared stage, its values from an engine in this page.

/* global unpackNumbers, readField, alphaAt, bandResponse, cutOff, evaluateField, openEngine, SoundStage, drawCurve, sayBand */

(async () => {
  const byId = (id) => document.getElementById(id), text = (id) => byId(id).textContent;
  const program = JSON.parse(text("program"));
  const bytes = unpackNumbers(program, Uint8Array.from(atob(text("numbers").trim()), (c) => c.charCodeAt(0)).buffer);
  byId("numbers").remove();
  const field = readField(program, bytes), [samples] = program.whole, channels = field.shift.length, { rate } = program;
  const plane = { axes: [1, 0], at: [0, 0] }; // one axis, to the right
  const domain = (place) => (samples > 1 ? (2 * Math.min(Math.max(place, 0), samples - 1) - (samples - 1)) / (samples - 1) : 0);
  const alpha = (x) => (field.alpha ? alphaAt(field, [x]) : 0), brief = (number) => Number(number.toPrecision(3)).toString();
  const code = text("code"), wanted = new URLSearchParams(location.hash.slice(1)).get("engine");
  let engine = await openEngine(field, program, bytes, code, wanted);
  byId("engine").textContent = `Evaluated in this page by ${engine.name}; nothing is loaded or sent.`;

  // amplitudes of the field, or the filter's cut-off in cycles per sample
  async function load(what, first, step, count) {
    const x = Float64Array.from({ length: count }, (_, k) => domain(first + k * step));
    if (what === "cut") return Float32Array.from(x, (at) => cutOff(field.filter, alpha(at)));
    const out = new Float32Array(count * channels), parts = [];
    for (let from = 0; from < count; from += engine.batch) parts.push(evaluate(x.subarray(from, from + engine.batch), out, from));
    await Promise.all(parts);
    return out;
  }

  async function evaluate(x, out, first) {
    const places = new Float32Array(3 * x.length);
    x.forEach((at, k) => places.set([0, at, alpha(at)], 3 * k));
    const values = await engine.evaluate(places.slice(), plane).catch(async () => { // a driver that gave up: go on without it
      engine = await openEngine(field, program, bytes, code, "script");
      return engine.evaluate(places, plane);
    });
    for (let k = 0; k < x.length; k++) for (let c = 0; c < channels; c++) out[(first + k) * channels + c] = 2 * values[4 * k + c] - 1;
  }

  const at = (sample) => {
    const x = domain(sample), a = alpha(x), values = evaluateField(field, Float64Array.of(0, x, a), 1, plane);
    return { alpha: a, values: Array.from({ length: channels }, (_, c) => 2 * values[c] - 1) };
  };
  const stage = new SoundStage({
    wave: byId("wave"), spectrogram: byId("spectrogram"), samples, channels, rate, load, hasCut: Boolean(field.alpha),
    colours: Uint8Array.from(atob(program.colours), (c) => c.charCodeAt(0)), changed: tell,
  });

  function tell() {
    const { view: { from, to }, cursor } = stage, here = cursor?.sample ?? (from + to) / 2, spot = at(here);
    byId("status").textContent = stage.progress < 1 ? `Evaluating the field: ${Math.floor(100 * stage.progress)} %` : "";
    byId("play").textContent = stage.player ? "❚❚ Stop" : "▶ Play";
    byId("play").disabled = stage.progress < 1;
    byId("zoom").value = `${brief((to - from) / rate)} s`;
    byId("sound").setAttribute("aria-label", `${program.title}: ${(from / rate).toFixed(3)} to ${(to / rate).toFixed(3)} s`);
    const lines = [["Time", `${(here / rate).toFixed(4)} s`], ["Value", spot.values.map((v) => v.toFixed(4)).join("  ")]];
    if (cursor && cursor.up !== null) lines.push(["Pitch", `${Math.round((cursor.up * rate) / 2)} Hz`]);
    if (field.alpha) lines.push(["Cut-off", `${Math.round(cutOff(field.filter, spot.alpha) * rate)} Hz`]);
    byId("facts").replaceChildren(...lines.flatMap((words) => words.map((word, k) => Object.assign(document.createElement(k ? "dd" : "dt"), { textContent: word }))));
    if (!field.alpha) return;
    const response = Array.from({ length: field.filter.channels }, (_, c) => bandResponse(field.filter, c, spot.alpha));
    drawCurve(byId("curve"), field.filter, spot.alpha, response);
    byId("curve-text").textContent = sayBand(field.filter, spot.alpha, response);
  }

  byId("play").addEventListener("click", () => (stage.player ? stage.stop() : stage.play()));
  byId("in").addEventListener("click", () => stage.zoom(2));
  byId("out").addEventListener("click", () => stage.zoom(0.5));
  byId("fit").addEventListener("click", () => stage.fit());
  byId("sound").addEventListener("keydown", (event) => event.target === byId("sound") && stage.key(event));
  byId("curve-part").hidden = byId("cut-said").hidden = !field.alpha;
  stage.show("field");
  // for tests and for the curious: the same numbers the page shows
  window.alfilter = {
    field, stage, at, load,
    get engine() { return engine.name; },
    get still() { return stage.progress === 1 && !stage.frame; },
  };
})();
