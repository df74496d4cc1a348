"use strict";
// The field in script: what Python wrote, read back and evaluated. The page runs it on one point under the cursor; the
// workers run the same text on whole tiles; engines.js does the same on the graphics processor.
//
// A point is three numbers: its places on the two axes that are shown, and α there. A plane says which axes these are,
// and where the others are held: { axes: [down, right], at: coordinates }.

/* exported unpackNumbers, readField, alphaAt, bandResponse, cutOff, evaluateField, serveField, locate */
/* global openProducts */

const LANES = 4; // values a point has on its way out: RGBA
const AXES = 4; // coordinates that a row of numbers has room for
const PRIMES = [1, 2654435761, 805459861, 3674653429]; // of the spatial hash

// The numbers as float32: a table that Python rounded comes last, as whole numbers of `bits`, each level with its step.
function unpackNumbers({ rounded }, packed) {
  if (!rounded) return packed;
  const { first, count, bits, levels } = rounded, exact = (packed.byteLength - (count * bits) / 8) / 4;
  const floats = new Float32Array(packed, 0, exact), whole = new (bits === 8 ? Int8Array : Int16Array)(packed, 4 * exact, count);
  const all = new Float32Array(exact + count);
  all.set(floats.subarray(0, first));
  all.set(floats.subarray(first), first + count);
  let at = 0;
  for (const { end, step } of levels) for (; at < end; at++) all[first + at] = step * whole[at];
  return all.buffer;
}

function readField(program, bytes) {
  const all = new Float32Array(bytes);
  const take = ([first, count]) => all.subarray(first, first + count);
  const wide = (part) => Float64Array.from(take(part)); // double precision costs nothing here
  return {
    ...program,
    table: take(program.table), // per feature: four frequencies in turns (or level and which), kind, filter's channel
    grid: program.grid && { ...program.grid, table: take(program.grid.table), nodes: program.grid.nodes && take(program.grid.nodes) },
    alpha: program.alpha && { ...program.alpha, values: take(program.alpha.values) },
    layers: program.layers.map((layer) => ({ ...layer, weight: wide(layer.weight), bias: wide(layer.bias),
      gate: layer.gate && { ...layer.gate, rows: take(layer.gate.rows) } })),
  };
}

// The coordinates of a point of a plane.
function locate({ axes, at }, x0, x1, out) {
  for (let k = 0; k < AXES; k++) out[k] = at[k] ?? 0;
  out[axes[0]] = x0;
  out[axes[1]] = x1;
  return out;
}

// α(x), with what was painted on it: lowered, but not below the filter's axis. Where nothing was painted it is what was
// learned, to the last bit.
function alphaAt({ alpha }, x) {
  const learned = between(alpha, x);
  return alpha.painted ? Math.max(learned + between(alpha.painted, x), Math.min(learned, alpha.low ?? -Infinity)) : learned;
}

// d-linear between a grid's nodes, whose ends sit on -1 and 1.
function between({ shape, values }, x) {
  let low = 0, sum = 0; // flat index of the lower corner
  const steps = [], parts = [];
  for (let k = 0, size = shape.length; k < size; k++) {
    const place = Math.min(Math.max((x[k] + 1) / 2, 0), 1) * (shape[k] - 1);
    const lower = Math.min(Math.floor(place), Math.max(shape[k] - 2, 0));
    low = low * shape[k] + lower;
    for (let j = 0; j < steps.length; j++) steps[j] *= shape[k];
    steps.push(shape[k] > 1 ? 1 : 0);
    parts.push(place - lower);
  }
  for (let corner = 0; corner < 1 << shape.length; corner++) {
    let at = low, weight = 1;
    for (let k = 0; k < shape.length; k++) {
      const far = (corner >> k) & 1;
      at += far * steps[k];
      weight *= far ? parts[k] : 1 - parts[k];
    }
    if (weight) sum += weight * values[at];
  }
  return sum;
}

// H_B^c = σ(κ(c-a+B/2)) σ(κ(B/2-c+a)) (1-e^(-κB)) with a = α + middle: what the filter lets pass of channel or level c.
function bandResponse(filter, c, alpha) {
  const { bandwidth, kappa, middle } = filter, half = bandwidth / 2, offset = c - alpha - middle;
  const sigmoid = (t) => 1 / (1 + Math.exp(-t));
  return sigmoid(kappa * (offset + half)) * sigmoid(kappa * (half - offset)) * -Math.expm1(-kappa * bandwidth);
}

// The filter's cut-off at α, in cycles per sample, pixel or what the page has.
function cutOff({ cut_off: { first, step, top }, across }, alpha) {
  return 2 ** (first + step * Math.min(alpha, top)) / across;
}

// sin(2πt) by a series, several times faster than the browser's own: whole turns are taken off, which is exact, then the
// angle is folded to a quarter turn; within 1e-9.
const WHOLE = 1.5 * 2 ** 52; // adding and subtracting it rounds to a whole number

function wave(t) {
  t -= t + WHOLE - WHOLE;
  if (t > 0.25) t = 0.5 - t;
  else if (t < -0.25) t = -0.5 - t;
  const y = 2 * Math.PI * t, s = y * y;
  return y * (1 + s * (-1 / 6 + s * (1 / 120 + s * (-1 / 5040 + s * (1 / 362880 + s * (-1 / 39916800 + s / 6227020800))))));
}

const TURN = 1 / (2 * Math.PI);
const SHAPES = {
  linear: (z) => z,
  plain: (z) => z,
  leaky: (z, omega, scale) => Math.max(z, scale * z),
  relu: (z) => Math.max(z, 0),
  sine: (z, omega) => wave(TURN * omega * z),
  gauss: (z, omega, scale) => Math.exp(-scale * scale * z * z),
  wavelet: (z, omega, scale) => wave(TURN * omega * z + 0.25) * Math.exp(-scale * scale * z * z),
  sinc: (z, omega) => (Math.abs(omega * z) < 1e-4 ? 1 : Math.sin(omega * z) / (omega * z)),
  hosc: (z, omega, scale) => Math.tanh(scale * wave(TURN * omega * z)),
  finer: (z, omega) => wave(TURN * omega * (Math.abs(z) + 1) * z),
};

// The values at `count` points of a plane. Returns four numbers each. products: of `openProducts`, where there are.
function evaluateField(field, places, count, plane, products = null) {
  const x = new Float64Array(AXES * count), here = new Float64Array(AXES);
  for (let p = 0; p < count; p++) x.set(locate(plane, places[3 * p], places[3 * p + 1], here), AXES * p);
  let z = encode(field, x, places, count);
  field.layers.forEach((layer, k) => {
    z = gated(layer, activate(layer, products ? products.affine(k, z, count) : affine(layer, z, count)), x, count);
  });
  const out = new Float32Array(count * LANES), width = field.shift.length;
  for (let p = 0; p < count; p++)
    for (let c = 0; c < width; c++) out[p * LANES + c] = z[p * width + c] * field.range[c] + field.shift[c];
  return out;
}

function encode(field, x, places, count) {
  const { table, filter, features, grid } = field, out = new Float64Array(count * features);
  const corners = grid && { rows: new Int32Array(16), weights: new Float64Array(16), count: 1 << field.dims };
  let passed = 1; // of the level at hand
  for (let p = 0, k = 0; p < count; p++) {
    const at = AXES * p, alpha = places[3 * p + 2];
    for (let c = 0, r = 0; c < features; c++, k++, r += 8) {
      const kind = table[r + 4], channel = table[r + 5];
      if (kind === 3) {
        if (table[r + 1] === 0) {
          findCorners(grid, grid.levels[table[r]], x, at, corners);
          passed = channel < 0 ? 1 : bandResponse(filter, channel, alpha);
        }
        out[k] = passed * blend(grid, corners, table[r + 1]);
        continue;
      }
      const angle = table[r] * x[at] + table[r + 1] * x[at + 1] + table[r + 2] * x[at + 2] + table[r + 3] * x[at + 3];
      const value = kind === 0 ? angle : wave(kind === 1 ? angle : angle + 0.25);
      out[k] = channel < 0 ? value : value * bandResponse(filter, channel, alpha);
    }
  }
  return out;
}

const LOWER = new Int32Array(AXES), PART = new Float64Array(AXES);

// Rows and d-linear weights of the nodes around a place on one level; a node without a row weighs nothing.
function findCorners(grid, { cells, first, mask }, x, at, { rows, weights, count }) {
  const dims = cells.length;
  for (let k = 0; k < dims; k++) {
    let place = (Math.min(Math.max(x[at + k], -1), 1) + 1) * (cells[k] / 2);
    if (Math.abs(place - Math.round(place)) <= grid.snap) place = Math.round(place);
    LOWER[k] = Math.min(Math.floor(place), Math.max(cells[k] - 1, 0));
    PART[k] = place - LOWER[k];
  }
  for (let corner = 0; corner < count; corner++) {
    let dense = 0, mixed = 0, weight = 1;
    for (let k = 0; k < dims; k++) {
      const far = (corner >> k) & 1, node = Math.min(LOWER[k] + far, cells[k]);
      if (mask) mixed ^= Math.imul(node, PRIMES[k]); // the spatial hash
      else dense = dense * (cells[k] + 1) + node;
      weight *= far ? PART[k] : 1 - PART[k];
    }
    const node = first + (mask ? mixed & mask : dense), row = grid.nodes ? grid.nodes[node] : node;
    rows[corner] = Math.max(row, 0);
    weights[corner] = row < 0 ? 0 : weight;
  }
}

function blend({ table, features }, { rows, weights, count }, which) {
  let sum = 0;
  for (let corner = 0; corner < count; corner++) sum += weights[corner] * table[rows[corner] * features + which];
  return sum;
}

// W z + b, four points by four outputs at a time: each number that is read is used four times.
function affine({ weight, bias, inputs, outputs }, z, count) {
  const out = new Float64Array(count * outputs);
  for (let o = 0; o < outputs; o += 4) {
    const w0 = o * inputs, w1 = Math.min(o + 1, outputs - 1) * inputs, w2 = Math.min(o + 2, outputs - 1) * inputs;
    const w3 = Math.min(o + 3, outputs - 1) * inputs, high = Math.min(4, outputs - o);
    for (let p = 0; p < count; p += 2) {
      const z0 = p * inputs, z1 = Math.min(p + 1, count - 1) * inputs;
      let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
      for (let i = 0; i < inputs; i++) {
        const a = z[z0 + i], b = z[z1 + i], u0 = weight[w0 + i], u1 = weight[w1 + i];
        const u2 = weight[w2 + i], u3 = weight[w3 + i];
        a0 += u0 * a; a1 += u1 * a; a2 += u2 * a; a3 += u3 * a;
        b0 += u0 * b; b1 += u1 * b; b2 += u2 * b; b3 += u3 * b;
      }
      const first = [a0, a1, a2, a3], second = [b0, b1, b2, b3];
      for (let c = 0; c < high; c++) {
        out[p * outputs + o + c] = first[c] + bias[o + c];
        if (p + 1 < count) out[(p + 1) * outputs + o + c] = second[c] + bias[o + c];
      }
    }
  }
  return out;
}

function activate({ shape, omega, scale }, z) {
  if (shape === "complex-wavelet") { // pairs of real and imaginary parts
    for (let i = 0; i < z.length; i += 2) {
      const a = z[i], b = z[i + 1], size = Math.exp(-omega * b - scale * scale * (a * a + b * b));
      z[i] = size * Math.cos(omega * a);
      z[i + 1] = size * Math.sin(omega * a);
    }
  } else if (shape === "sine") {
    for (let i = 0, turns = TURN * omega; i < z.length; i++) z[i] = wave(turns * z[i]);
  } else if (shape !== "linear" && shape !== "plain") {
    const apply = SHAPES[shape];
    for (let i = 0; i < z.length; i++) z[i] = apply(z[i], omega, scale);
  }
  return z;
}

// z ⊙ g(x): a wave in turns, a wave under a bell, or a leaky ReLU of the coordinates, one for every output.
function gated({ gate, outputs, scale }, z, x, count) {
  if (!gate) return z;
  const { kind, rows } = gate;
  for (let p = 0, k = 0; p < count; p++) {
    const at = AXES * p;
    for (let o = 0; o < outputs; o++, k++) {
      const r = 3 * AXES * o;
      let t = rows[r + AXES], away = 0;
      for (let a = 0; a < AXES; a++) {
        t += rows[r + a] * x[at + a];
        away += (x[at + a] - rows[r + 2 * AXES + a]) ** 2;
      }
      if (kind === "leaky") z[k] *= Math.max(t, scale * t);
      else z[k] *= wave(t);
      if (kind === "gabor") z[k] *= Math.exp(-0.5 * rows[r + AXES + 1] * away);
    }
  }
  return z;
}

// In a worker: one field, then tile after tile.
function serveField() {
  let field = null, products = null;
  self.onmessage = ({ data }) => {
    if (data.program) {
      field = readField(data.program, data.bytes);
      products = openProducts(field.layers);
      return;
    }
    const values = evaluateField(field, data.places, data.places.length / 3, data.plane, products);
    self.postMessage({ id: data.id, values }, [values.buffer]);
  };
}
