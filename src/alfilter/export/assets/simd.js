"use strict";
// W z + b by WebAssembly with vectors of four floats: a module of one function, put together here byte by byte, since a
// page loads nothing. Where a browser has no such vectors, `affine` of field.js does the same.

/* exported openProducts */

const POINTS = 4, WIDE = 8; // of a block whose sums stay in registers: eight vectors
const BATCH = 128; // points at a time: what a layer reads and writes stays in the cache

// The layers' weights in the module's memory, and products with them; null where the browser cannot.
function openProducts(layers) {
  try {
    const up = (n) => Math.ceil(n / WIDE) * WIDE, widest = Math.max(...layers.map((layer) => Math.max(up(layer.inputs), up(layer.outputs))));
    const starts = [];
    let size = 2 * BATCH * widest; // floats: points in, points out, then every layer's bias and panels
    for (const { inputs, outputs } of layers) {
      starts.push(size);
      size += up(outputs) * (inputs + 1);
    }
    const memory = new WebAssembly.Memory({ initial: Math.ceil((4 * size) / 65536) }), floats = new Float32Array(memory.buffer);
    const { product } = new WebAssembly.Instance(new WebAssembly.Module(productModule()), { page: { memory } }).exports;
    layers.forEach(({ weight, bias, inputs, outputs }, k) => {
      floats.set(bias, starts[k]);
      for (let o = 0; o < outputs; o++) { // panels of WIDE outputs: input after input
        const panel = starts[k] + up(outputs) + (o - (o % WIDE)) * inputs + (o % WIDE);
        for (let i = 0; i < inputs; i++) floats[panel + i * WIDE] = weight[o * inputs + i];
      }
    });
    const affine = (k, z, count) => {
      const { inputs, outputs } = layers[k], wide = up(outputs), to = BATCH * widest, out = new Float32Array(count * outputs);
      for (let first = 0; first < count; first += BATCH) {
        const some = Math.min(BATCH, count - first);
        floats.set(z.subarray(first * inputs, (first + some) * inputs), 0);
        product(0, 4 * (starts[k] + wide), 4 * starts[k], 4 * to, Math.ceil(some / POINTS), 4 * inputs, 4 * wide);
        for (let p = 0; p < some; p++) out.set(floats.subarray(to + p * wide, to + p * wide + outputs), (first + p) * outputs);
      }
      return out;
    };
    return { affine };
  } catch {
    return null;
  }
}

// product(z, w, b, out, blocks, inputs, outputs): addresses and lengths in bytes; blocks of POINTS points.
function productModule() {
  const number = (value) => { // LEB128 of a whole number from 0
    const bytes = [];
    for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
    return [...bytes, value];
  };
  const sized = (bytes) => [...number(bytes.length), ...bytes], section = (id, bytes) => [id, ...sized(bytes)];
  const name = (text) => sized([...text].map((c) => c.charCodeAt(0)));
  const I32 = 0x7f, V128 = 0x7b;
  const [Z, W, B, OUT, BLOCKS, IN, STRIDE, O, AT, END] = Array.from({ length: 10 }, (_, k) => k); // AT: of the weights
  const ROW = 10, SUM = ROW + POINTS, W0 = SUM + 2 * POINTS, W1 = W0 + 1, VALUE = W0 + 2; // one address per point; the sums
  const get = (k) => [0x20, k], set = (k) => [0x21, k], constant = (n) => [0x41, ...signed(n)], add = [0x6a];
  const vector = (code, ...rest) => [0xfd, ...number(code), ...rest], load = (offset) => vector(0, 4, ...number(offset));
  const splat = vector(9, 2, 0), store = (offset) => vector(11, 4, ...number(offset)), plus = vector(0xe4), times = vector(0xe6);
  const step = (k, by) => [...get(k), ...by, ...add, ...set(k)], points = Array.from({ length: POINTS }, (_, k) => k);
  const loop = (body, again) => [0x03, 0x40, ...body, ...again, 0x0d, 0, 0x0b]; // once, then while `again`
  const from = (base) => [...get(base), ...get(O), ...add];

  const starts = points.flatMap((p) => [...(p ? [...get(ROW + p - 1), ...get(IN), ...add] : get(Z)), ...set(ROW + p),
    ...from(B), ...load(0), ...set(SUM + 2 * p), ...from(B), ...load(16), ...set(SUM + 2 * p + 1)]);
  const products = points.flatMap((p) => [...get(ROW + p), ...splat, ...set(VALUE), ...[0, 1].flatMap((half) => [
    ...get(SUM + 2 * p + half), ...get(VALUE), ...get(half ? W1 : W0), ...times, ...plus, ...set(SUM + 2 * p + half)]),
    ...step(ROW + p, constant(4))]);
  const sums = loop([...get(AT), ...load(0), ...set(W0), ...get(AT), ...load(16), ...set(W1), ...step(AT, constant(4 * WIDE)), ...products],
    [...get(ROW), ...get(END), 0x49]);
  const stores = [...from(OUT), ...set(ROW), ...points.flatMap((p) => [...get(ROW), ...get(SUM + 2 * p), ...store(0),
    ...get(ROW), ...get(SUM + 2 * p + 1), ...store(16), ...step(ROW, get(STRIDE))])];
  const panels = loop([...starts, ...sums, ...stores, ...step(O, constant(4 * WIDE))], [...get(O), ...get(STRIDE), 0x49]);
  const blocks = loop([...constant(0), ...set(O), ...get(W), ...set(AT), ...get(Z), ...get(IN), ...add, ...set(END), ...panels,
    ...points.flatMap(() => [...step(Z, get(IN)), ...step(OUT, get(STRIDE))]), ...step(BLOCKS, constant(-1))], get(BLOCKS));

  const locals = [2, ...number(3 + POINTS), I32, ...number(2 * POINTS + 3), V128];
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [1, 0x60, 7, ...Array(7).fill(I32), 0]),
    ...section(2, [1, ...name("page"), ...name("memory"), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name("product"), 0, 0]),
    ...section(10, [1, ...sized([...locals, ...blocks, 0x0b])]),
  ]);
}

function signed(value) { // signed LEB128
  const bytes = [];
  for (;;) {
    const low = value & 127;
    value >>= 7;
    if ((value === 0 && !(low & 64)) || (value === -1 && low & 64)) return [...bytes, low];
    bytes.push(low | 128);
  }
}
