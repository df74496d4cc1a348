"use strict";
// Two ways to evaluate many points: a graphics processor through WebGL2, or workers that run field.js. Both take
// places (x0, x1, α of each point) and the plane they are on, and promise four values per point.

/* exported openEngine */
/* global readField */

const ROW = 1024; // texels in a row of a texture that holds a list
const VERTEX = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;

// sin(2πt) and cos(2πt) by our own series: a driver's sine may be off by 5e-4, and drifts for large arguments.
// Whole turns are taken off first, which is exact; then the angle is folded to a quarter turn.
const WAVES = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
float wave(float t) {
  t -= round(t);
  if (abs(t) > 0.25) t = sign(t) * 0.5 - t;
  float y = 6.28318530718 * t, s = y * y;
  return y * (1.0 + s * (-0.16666667 + s * (8.3333333e-3 + s * (-1.9841270e-4 + s * (2.7557319e-6
    - s * 2.5052108e-8)))));
}
float crest(float t) { return wave(t - round(t) + 0.25); }
vec4 wave(vec4 t) { return vec4(wave(t.x), wave(t.y), wave(t.z), wave(t.w)); }
vec4 crest(vec4 t) { return vec4(crest(t.x), crest(t.y), crest(t.z), crest(t.w)); }
uniform float omega, scale; // omega in turns
uniform ivec2 shown; uniform vec4 held; // the plane: which coordinates the places are, and all the others
vec4 whole(vec2 place) { vec4 x = held; x[shown.x] = place.x; x[shown.y] = place.y; return x; }
vec4 texel(sampler2D list, int i) { return texelFetch(list, ivec2(i & ${ROW - 1}, i / ${ROW}), 0); }
float number(sampler2D list, int i) { return texelFetch(list, ivec2((i >> 2) & ${ROW - 1}, i / ${4 * ROW}), 0)[i & 3]; }
`;

// Features from tables: of every level the cells along the axes, its first row, and the hash's mask (0: no hash).
const TABLES = ({ levels, nodes }) => `
uniform ivec4 cells[${levels.length}]; uniform ivec2 starts[${levels.length}]; uniform sampler2D grid, nodes;
uniform int wide; uniform float snap;
float corner(int row, int which, float weight) {
  ${nodes ? "row = int(number(nodes, row)); if (row < 0) return 0.0;" : ""}
  return weight * number(grid, row * wide + which);
}
int node(int k, ivec4 at) {
  ivec4 count = cells[k];
  at = min(at, count);
  uvec4 mixed = uvec4(at) * uvec4(1u, 2654435761u, 805459861u, 3674653429u);
  int row = at.x;${levels[0].cells.slice(1).map((_, axis) => ` row = row * (count[${axis + 1}] + 1) + at[${axis + 1}];`).join("")}
  return starts[k].x + (starts[k].y == 0 ? row : int((mixed.x ^ mixed.y ^ mixed.z ^ mixed.w) & uint(starts[k].y)));
}
float looked(int k, int which, vec4 x) {
  vec4 at = (clamp(x, -1.0, 1.0) + 1.0) * (0.5 * vec4(cells[k])), near = round(at);
  at = mix(at, near, lessThanEqual(abs(at - near), vec4(snap)));
  ivec4 low = min(ivec4(floor(at)), max(cells[k] - 1, 0));
  vec4 part = at - vec4(low);
  float sum = 0.0;
  for (int c = 0; c < ${1 << levels[0].cells.length}; c++) {
    ivec4 far = (ivec4(c) >> ivec4(0, 1, 2, 3)) & 1;
    vec4 share = mix(1.0 - part, part, vec4(far));
    sum += corner(node(k, low + far), which, share.x * share.y * share.z * share.w);
  }
  return sum;
}`;

const ENCODE = (tables) => WAVES + (tables ? TABLES(tables) : "") + `
uniform sampler2D places, table; uniform int out4; uniform float band, kappa, middle;
out vec4 feature;
float sigmoid(float t) { return t >= 0.0 ? 1.0 / (1.0 + exp(-t)) : exp(t) / (1.0 + exp(t)); }
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 place = texelFetch(places, ivec2(at.x, at.y / out4), 0), x = whole(place.xy), values = vec4(0.0);
  for (int k = 0; k < 4; k++) {
    int c = 4 * (at.y % out4) + k;
    vec4 row = texel(table, 2 * c), kind = texel(table, 2 * c + 1);
    float t = dot(row, x), value = kind.x < 0.5 ? t : kind.x < 1.5 ? wave(t) : crest(t);
    ${tables ? "if (kind.x > 2.5) value = looked(int(row.x), int(row.y), x);" : ""}
    if (kind.y >= 0.0) {
      float offset = kind.y - place.z - middle;
      value *= sigmoid(kappa * (offset + 0.5 * band)) * sigmoid(kappa * (0.5 * band - offset))
        * (1.0 - exp(-kappa * band));
    }
    values[k] = value;
  }
  feature = values;
}`;

const ACTIVATE = {
  linear: "z * range + shift",
  plain: "z",
  leaky: "max(z, scale * z)",
  relu: "max(z, 0.0)",
  sine: "wave(omega * z)",
  gauss: "exp(-scale * scale * z * z)",
  wavelet: "crest(omega * z) * exp(-scale * scale * z * z)",
  sinc: "mix(wave(omega * z) / (6.28318530718 * omega * z), vec4(1.0), lessThan(abs(omega * z), vec4(2e-5)))",
  hosc: "tanh(clamp(scale * wave(omega * z), -15.0, 15.0))",
  finer: "wave(omega * (abs(z) + 1.0) * z)",
  "complex-wavelet": "paired(z)",
};

// What an output is multiplied with: a function of the coordinates, three texels of numbers each.
const GATES = {
  sine: "wave(t)",
  gabor: "wave(t) * exp(-0.5 * more.y * dot(x - centre, x - centre))",
  leaky: "max(t, scale * t)",
};
const GATE = (kind) => `
uniform sampler2D places, gate;
float gated(vec4 x, int o) {
  vec4 row = texel(gate, 3 * o), more = texel(gate, 3 * o + 1), centre = texel(gate, 3 * o + 2);
  float t = dot(row, x) + more.x;
  return ${GATES[kind]};
}`;

// Four outputs of a layer in every fragment: the weights come as columns, one per input.
const LAYER = (shape, kind) => WAVES + (kind ? GATE(kind) : "") + `
uniform sampler2D inputs, weight, bias; uniform int in4, out4; uniform vec4 range, shift;
out vec4 value;
vec4 paired(vec4 z) {
  vec2 a = z.xz, b = z.yw, size = exp(-6.28318530718 * omega * b - scale * scale * (a * a + b * b));
  vec2 c = size * vec2(crest(omega * a.x), crest(omega * a.y)), s = size * vec2(wave(omega * a.x), wave(omega * a.y));
  return vec4(c.x, s.x, c.y, s.y);
}
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  int o = at.y % out4, first = at.y / out4 * in4;
  vec4 z = texelFetch(bias, ivec2(o & ${ROW - 1}, o / ${ROW}), 0);
  for (int i = 0; i < in4; i++) {
    vec4 x = texelFetch(inputs, ivec2(at.x, first + i), 0);
    int k = 4 * (o * in4 + i);
    ivec2 c = ivec2(k & ${ROW - 1}, k / ${ROW});
    z += texelFetch(weight, c, 0) * x.x + texelFetch(weight, c + ivec2(1, 0), 0) * x.y
      + texelFetch(weight, c + ivec2(2, 0), 0) * x.z + texelFetch(weight, c + ivec2(3, 0), 0) * x.w;
  }
  value = ${ACTIVATE[shape]};
  ${kind ? `vec4 x = whole(texelFetch(places, ivec2(at.x, at.y / out4), 0).xy);
  value *= vec4(gated(x, 4 * o), gated(x, 4 * o + 1), gated(x, 4 * o + 2), gated(x, 4 * o + 3));` : ""}
}`;

async function openEngine(field, program, bytes, code, wanted) {
  if (wanted !== "script") {
    try {
      return openGraphics(field, wanted === "webgl");
    } catch (error) {
      if (wanted === "webgl") throw error;
    }
  }
  return openWorkers(program, bytes, code);
}

function openWorkers(program, bytes, code) {
  const count = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 2)), waiting = new Map();
  const address = URL.createObjectURL(new Blob([code, "\nserveField();"], { type: "text/javascript" }));
  const workers = Array.from({ length: count }, () => {
    const worker = new Worker(address);
    worker.postMessage({ program, bytes });
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)(data.values);
      waiting.delete(data.id);
    };
    return worker;
  });
  let id = 0;
  return {
    name: `plain script in ${count} worker${count > 1 ? "s" : ""}`, lanes: count, batch: 1024,
    evaluate: (places, plane) => new Promise((done) => {
      waiting.set(++id, done);
      workers[id % count].postMessage({ id, places, plane }, [places.buffer]);
    }),
  };
}

function openGraphics(field, anyDriver) {
  const canvas = document.createElement("canvas");
  // a driver that is software only would be slower than the workers; not every browser owns up to one
  const gl = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: !anyDriver, antialias: false, depth: false });
  if (!gl || !gl.getExtension("EXT_color_buffer_float")) throw Error("WebGL2 with float targets is not there");
  if (!anyDriver && SOFTWARE.test(driverName(gl))) throw Error("the graphics driver is software only");
  if (gl.getShaderPrecisionFormat(gl.FRAGMENT_SHADER, gl.HIGH_FLOAT).precision < 23) throw Error("no 32-bit floats");
  const largest = gl.getParameter(gl.MAX_TEXTURE_SIZE), quarter = (n) => Math.ceil(n / 4);
  const tallest = Math.max(quarter(field.features), ...field.layers.map((layer) => quarter(layer.outputs)));
  const blocks = Math.min(16, Math.floor(Math.min(largest, 4096) / tallest));
  if (blocks < 1 || largest < ROW) throw Error("the field is too wide for this graphics driver");

  const four = (values, rest) => [0, 1, 2, 3].map((i) => (i < values.length ? values[i] : rest));
  const texture = (width, height, data) => {
    const image = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, image);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, height, 0, gl.RGBA, gl.FLOAT, data);
    if (height > largest) throw Error("the field is too large for this graphics driver");
    return image;
  };
  const list = (numbers) => {
    const rows = Math.ceil(numbers.length / 4 / ROW), data = new Float32Array(rows * ROW * 4);
    data.set(numbers);
    return texture(ROW, rows, data);
  };
  const programs = new Map();
  const compiled = (source) => {
    if (!programs.has(source)) programs.set(source, link(gl, source));
    return programs.get(source);
  };
  const { grid } = field, tables = grid && { grid: list(grid.table), ...(grid.nodes && { nodes: list(grid.nodes) }) };
  const passes = [{ shader: compiled(ENCODE(grid)), textures: { table: list(padded(field.table, field.features)), ...tables },
    ints: { out4: quarter(field.features), wide: grid ? grid.features : 0 }, height: quarter(field.features),
    levels: grid && { cells: Int32Array.from(grid.levels.flatMap(({ cells }) => four(cells, 0))),
      starts: Int32Array.from(grid.levels.flatMap(({ first, mask }) => [first, mask])) },
    floats: { snap: grid ? grid.snap : 0, band: field.filter ? field.filter.bandwidth : 0, kappa: field.filter ? field.filter.kappa : 0,
      middle: field.filter ? field.filter.middle : 0 } }];
  for (const layer of field.layers) {
    const in4 = quarter(layer.inputs), out4 = quarter(layer.outputs);
    passes.push({ shader: compiled(LAYER(layer.shape, layer.gate?.kind)), height: out4, ints: { in4, out4 },
      textures: { weight: list(columns(layer, in4, out4)), bias: list(layer.bias), ...(layer.gate && { gate: list(layer.gate.rows) }) },
      floats: { omega: layer.omega / (2 * Math.PI), scale: layer.scale } });
  }
  const targets = [0, 1].map(() => {
    const image = texture(ROW, blocks * tallest, null), frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, image, 0);
    return { image, frame };
  });
  if (gl.checkFramebufferStatus(gl.FRAMEBUFFER) !== gl.FRAMEBUFFER_COMPLETE) throw Error("float targets do not work");
  const points = texture(ROW, blocks, null), held = new Float32Array(ROW * blocks * 4);

  const draw = (pass, source, target, rows, plane) => {
    gl.useProgram(pass.shader.program);
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
    gl.viewport(0, 0, ROW, rows * pass.height);
    let unit = 0;
    for (const [name, bound] of Object.entries({ ...pass.textures, places: points, inputs: source })) {
      const at = pass.shader.at(name);
      if (at === null) continue;
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, bound);
      gl.uniform1i(at, unit++);
    }
    if (pass.levels) {
      gl.uniform4iv(pass.shader.at("cells"), pass.levels.cells);
      gl.uniform2iv(pass.shader.at("starts"), pass.levels.starts);
    }
    gl.uniform2iv(pass.shader.at("shown"), plane.axes);
    gl.uniform4fv(pass.shader.at("held"), four(plane.at, 0));
    for (const [name, value] of Object.entries(pass.ints)) gl.uniform1i(pass.shader.at(name), value);
    for (const [name, value] of Object.entries(pass.floats)) gl.uniform1f(pass.shader.at(name), value);
    gl.uniform4fv(pass.shader.at("range"), four(field.range, 0));
    gl.uniform4fv(pass.shader.at("shift"), four(field.shift, 0));
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  };

  const run = async (places, plane) => {
    const count = places.length / 3, rows = Math.ceil(count / ROW);
    for (let p = 0; p < count; p++) held.set(places.subarray(3 * p, 3 * p + 3), 4 * p);
    gl.bindTexture(gl.TEXTURE_2D, points);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, ROW, rows, gl.RGBA, gl.FLOAT, held);
    passes.forEach((pass, i) => draw(pass, i ? targets[(i + 1) % 2].image : points, targets[i % 2], rows, plane));
    const buffer = gl.createBuffer(), values = new Float32Array(rows * ROW * 4);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
    gl.bufferData(gl.PIXEL_PACK_BUFFER, values.byteLength, gl.STREAM_READ);
    gl.readPixels(0, 0, ROW, rows, gl.RGBA, gl.FLOAT, 0);
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    while (gl.clientWaitSync(fence, 0, 0) === gl.TIMEOUT_EXPIRED) await new Promise((done) => setTimeout(done, 2));
    gl.deleteSync(fence);
    gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, values);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    gl.deleteBuffer(buffer);
    if (gl.isContextLost()) throw Error("the graphics driver gave up");
    return values.subarray(0, 4 * count);
  };
  let last = Promise.resolve(); // one after the other: they share the textures
  const evaluate = (places, plane) => (last = last.catch(() => {}).then(() => run(places, plane)));
  return { name: "WebGL2", lanes: 1, batch: ROW * blocks, evaluate };
}

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function driverName(gl) {
  const renderer = gl.getParameter(gl.RENDERER), more = /webkit webgl/i.test(renderer) && gl.getExtension("WEBGL_debug_renderer_info");
  return String(more ? gl.getParameter(more.UNMASKED_RENDERER_WEBGL) : renderer);
}

function link(gl, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw Error(gl.getShaderInfoLog(shader));
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw Error(gl.getProgramInfoLog(program));
  const known = new Map();
  const at = (name) => {
    if (!known.has(name)) known.set(name, gl.getUniformLocation(program, name));
    return known.get(name);
  };
  return { program, at };
}

// Features beyond the last are the constant 0: frequency 0, no filter.
function padded(table, features) {
  const full = Math.ceil(features / 4) * 4, out = new Float32Array(full * 8);
  out.set(table);
  for (let c = features; c < full; c++) out[8 * c + 5] = -1;
  return out;
}

// The weights as columns of 4×4 blocks, filled up with zeros.
function columns({ weight, inputs, outputs }, in4, out4) {
  const out = new Float32Array(out4 * in4 * 16);
  for (let o = 0; o < outputs; o++)
    for (let i = 0; i < inputs; i++)
      out[((o >> 2) * in4 + (i >> 2)) * 16 + (i & 3) * 4 + (o & 3)] = weight[o * inputs + i];
  return out;
}
