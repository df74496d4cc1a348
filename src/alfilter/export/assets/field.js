"use strict";
// The field in plain script: what Python wrote, read back and evaluated. The page runs it on one point under the
// cursor; the workers run the same text on whole tiles; webgl.js does the same on the graphics processor.

/* exported readField, alphaAt, bandResponse, cutOff, evaluateField, serveField */

const LANES = 4; // values a point has on its way out: RGBA

function readField(program, bytes) {
  const all = new Float32Array(bytes);
  const take = ([first, count]) => all.subarray(first, first + count);
  const wide = (part) => Float64Array.from(take(part)); // double precision costs nothing here
  return {
    ...program,
    table: take(program.table), // per feature: two frequencies in turns (or level and which), kind, filter's channel
    grid: program.grid && { ...program.grid, table: take(program.grid.table), nodes: program.grid.nodes && take(program.grid.nodes) },
    alpha: program.alpha && { ...program.alpha, values: take(program.alpha.values) },
    layers: program.layers.map((layer) => ({ ...layer, weight: wide(layer.weight), bias: wide(layer.bias),
      gate: layer.gate && { ...layer.gate, rows: take(layer.gate.rows) } })),
  };
}

// α(x): bilinear between the grid's nodes, whose ends sit on -1 and 1.
function alphaAt(field, x0, x1) {
  const { rows, columns, values } = field.alpha;
  const y = Math.min(Math.max((x0 + 1) / 2, 0), 1) * (rows - 1), x = Math.min(Math.max((x1 + 1) / 2, 0), 1) * (columns - 1);
  const i = Math.min(Math.floor(y), Math.max(rows - 2, 0)), j = Math.min(Math.floor(x), Math.max(columns - 2, 0));
  const below = Math.min(i + 1, rows - 1) * columns, here = i * columns, next = Math.min(j + 1, columns - 1);
  const v = y - i, u = x - j;
  return (1 - v) * ((1 - u) * values[here + j] + u * values[here + next])
    + v * ((1 - u) * values[below + j] + u * values[below + next]);
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

const SHAPES = {
  linear: (z) => z,
  plain: (z) => z,
  leaky: (z, omega, scale) => Math.max(z, scale * z),
  relu: (z) => Math.max(z, 0),
  sine: (z, omega) => Math.sin(omega * z),
  gauss: (z, omega, scale) => Math.exp(-scale * scale * z * z),
  wavelet: (z, omega, scale) => Math.cos(omega * z) * Math.exp(-scale * scale * z * z),
  sinc: (z, omega) => (Math.abs(omega * z) < 1e-4 ? 1 : Math.sin(omega * z) / (omega * z)),
  hosc: (z, omega, scale) => Math.tanh(scale * Math.sin(omega * z)),
  finer: (z, omega) => Math.sin(omega * (Math.abs(z) + 1) * z),
};

// The values at `count` places, three numbers each: x0, x1 and α there. Returns four numbers each.
function evaluateField(field, places, count) {
  let z = encode(field, places, count);
  for (const layer of field.layers) z = gated(layer, activate(layer, affine(layer, z, count)), places, count);
  const out = new Float32Array(count * LANES), width = field.shift.length;
  for (let p = 0; p < count; p++)
    for (let c = 0; c < width; c++) out[p * LANES + c] = z[p * width + c] * field.range[c] + field.shift[c];
  return out;
}

function encode(field, places, count) {
  const { table, filter, features } = field, turn = 2 * Math.PI, out = new Float64Array(count * features);
  const corners = field.grid && { rows: new Int32Array(4), weights: new Float64Array(4) };
  let passed = 1; // of the level at hand
  for (let p = 0, k = 0; p < count; p++) {
    const x0 = places[3 * p], x1 = places[3 * p + 1], alpha = places[3 * p + 2];
    for (let c = 0; c < features; c++, k++) {
      if (table[4 * c + 2] === 3) {
        if (table[4 * c + 1] === 0) {
          findCorners(field.grid, table[4 * c], x0, x1, corners);
          passed = table[4 * c + 3] < 0 ? 1 : bandResponse(filter, table[4 * c + 3], alpha);
        }
        out[k] = passed * blend(field.grid, corners, table[4 * c + 1]);
        continue;
      }
      const angle = table[4 * c] * x0 + table[4 * c + 1] * x1, kind = table[4 * c + 2], channel = table[4 * c + 3];
      const value = kind === 0 ? angle : kind === 1 ? Math.sin(turn * angle) : Math.cos(turn * angle);
      out[k] = channel < 0 ? value : value * bandResponse(filter, channel, alpha);
    }
  }
  return out;
}

// Rows and bilinear weights of the four nodes around a place on one level; a node without a row weighs nothing.
function findCorners(grid, level, x0, x1, { rows, weights }) {
  const { cells, first, mask } = grid.levels[level], lower = [0, 0], part = [0, 0];
  [x0, x1].forEach((x, k) => {
    let at = (Math.min(Math.max(x, -1), 1) + 1) * (cells[k] / 2);
    if (Math.abs(at - Math.round(at)) <= grid.snap) at = Math.round(at);
    lower[k] = Math.min(Math.floor(at), Math.max(cells[k] - 1, 0));
    part[k] = at - lower[k];
  });
  for (let corner = 0; corner < 4; corner++) {
    const a = corner & 1, b = corner >> 1, i = Math.min(lower[0] + a, cells[0]), j = Math.min(lower[1] + b, cells[1]);
    const node = first + (mask ? (i ^ Math.imul(j, 2654435761)) & mask : i * (cells[1] + 1) + j); // the spatial hash
    const row = grid.nodes ? grid.nodes[node] : node;
    rows[corner] = Math.max(row, 0);
    weights[corner] = row < 0 ? 0 : (a ? part[0] : 1 - part[0]) * (b ? part[1] : 1 - part[1]);
  }
}

function blend({ table, features }, { rows, weights }, which) {
  let sum = 0;
  for (let corner = 0; corner < 4; corner++) sum += weights[corner] * table[rows[corner] * features + which];
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
  } else if (shape !== "linear") {
    const apply = SHAPES[shape];
    for (let i = 0; i < z.length; i++) z[i] = apply(z[i], omega, scale);
  }
  return z;
}

// z ⊙ g(x): a wave in turns, a wave under a bell, or a leaky ReLU of the coordinates, one for every output.
function gated({ gate, outputs, scale }, z, places, count) {
  if (!gate) return z;
  const { kind, rows } = gate;
  for (let p = 0, k = 0; p < count; p++) {
    const x0 = places[3 * p], x1 = places[3 * p + 1];
    for (let o = 0; o < outputs; o++, k++) {
      const r = 8 * o, t = rows[r] * x0 + rows[r + 1] * x1 + rows[r + 2];
      if (kind === "leaky") z[k] *= Math.max(t, scale * t);
      else z[k] *= Math.sin(2 * Math.PI * t);
      if (kind === "gabor") z[k] *= Math.exp(-0.5 * rows[r + 3] * ((x0 - rows[r + 4]) ** 2 + (x1 - rows[r + 5]) ** 2));
    }
  }
  return z;
}

// In a worker: one field, then tile after tile.
function serveField() {
  let field = null;
  self.onmessage = ({ data }) => {
    if (data.program) {
      field = readField(data.program, data.bytes);
      return;
    }
    const values = evaluateField(field, data.places, data.places.length / 3);
    self.postMessage({ id: data.id, values }, [values.buffer]);
  };
}
