// The drawing of a shape with WebGL2 and nothing else: a mesh coloured by the cut-off, a slice of the distance, a box around them.

const HEAD = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
`;
// the corners of the two triangles of the slice, and the twelve edges of the domain
const QUAD = [0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1];
const EDGES = [0, 1, 2].flatMap((axis) => [0, 1, 2, 3].flatMap((k) => [-1, 1].flatMap((end) => {
  const corner = [0, 0, 0];
  corner[axis] = end;
  corner[(axis + 1) % 3] = k & 1 ? 1 : -1;
  corner[(axis + 2) % 3] = k & 2 ? 1 : -1;
  return corner;
})));

const SURFACE = [HEAD + `
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; layout(location = 2) in float alpha;
uniform mat4 camera; out vec3 world; out vec3 across; out float band;
void main() { world = position; across = normal; band = alpha; gl_Position = camera * vec4(position, 1.0); }`, HEAD + `
in vec3 world; in vec3 across; in float band; out vec4 colour;
uniform vec3 eye; uniform sampler2D map; uniform vec2 range; uniform bool pick, coloured; uniform vec3 plain;
uniform int axis; uniform float at; uniform bool cut;
void main() {
  if (cut && axis >= 0 && (world[axis] - at) * (eye[axis] - at) > 0.0) discard;
  if (pick) { colour = vec4(world, 1.0); return; }
  vec3 look = normalize(eye - world), n = normalize(across);
  vec3 base = coloured ? texture(map, vec2(clamp((band - range.x) / (range.y - range.x), 0.0, 1.0), 0.5)).rgb : plain;
  float facing = dot(n, look);
  if (!gl_FrontFacing) { colour = vec4(base * (0.22 + 0.18 * abs(facing)), 1.0); return; } // seen from the inside
  vec3 lamp = normalize(look + vec3(0.25, 0.45, 0.1));
  float light = 0.34 + 0.66 * max(dot(n, lamp), 0.0), shine = pow(max(dot(n, normalize(lamp + look)), 0.0), 40.0);
  colour = vec4(base * light + 0.14 * shine, 1.0);
}`];

const SLICE = [HEAD + `
layout(location = 0) in vec2 corner; uniform mat4 camera; uniform int axis; uniform float at; out vec2 place; out vec3 world;
void main() {
  place = corner;
  vec2 p = corner * 2.0 - 1.0; // rows along the first of the other two axes, columns along the second
  world = axis == 0 ? vec3(at, p) : axis == 1 ? vec3(p.x, at, p.y) : vec3(p, at);
  gl_Position = camera * vec4(world, 1.0);
}`, HEAD + `
in vec2 place; in vec3 world; out vec4 colour;
uniform sampler2D values, map; uniform vec2 range; uniform float spacing; uniform bool distances, pick;
float value(vec2 p) { // linear between the samples; float textures need not filter by themselves
  ivec2 last = textureSize(values, 0) - 1;
  vec2 t = p.yx * vec2(last);
  ivec2 low = min(ivec2(t), max(last - 1, 0)), high = min(low + 1, last);
  vec2 f = t - vec2(low);
  return mix(mix(texelFetch(values, low, 0).r, texelFetch(values, ivec2(high.x, low.y), 0).r, f.x),
    mix(texelFetch(values, ivec2(low.x, high.y), 0).r, texelFetch(values, high, 0).r, f.x), f.y);
}
void main() {
  if (pick) { colour = vec4(world, 1.0); return; }
  float d = value(place);
  vec3 base = texture(map, vec2(clamp((d - range.x) / (range.y - range.x), 0.0, 1.0), 0.5)).rgb;
  if (distances) {
    float slope = max(fwidth(d), 1e-6), ring = abs(fract(d / spacing - 0.5) - 0.5) * spacing / slope;
    base = mix(base * 0.72, base, smoothstep(0.3, 1.1, ring));
    base = mix(vec3(0.05), base, smoothstep(0.8, 1.9, abs(d) / slope));
  }
  colour = vec4(base, 1.0);
}`];

const FRAME = [HEAD + `
layout(location = 0) in vec3 position; uniform mat4 camera; void main() { gl_Position = camera * vec4(position, 1.0); }`,
HEAD + `out vec4 colour; uniform vec4 ink; void main() { colour = ink; }`];

export class Scene {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
    if (!gl) throw Error("this browser has no WebGL2");
    this.gl = gl;
    this.canPick = gl.getExtension("EXT_color_buffer_float") !== null;
    this.surface = link(gl, SURFACE);
    this.slice = link(gl, SLICE);
    this.frame = link(gl, FRAME);
    this.meshes = new Map();
    this.cutting = null;
    this.quad = this.array([[0, new Float32Array(QUAD), 2, gl.FLOAT]]);
    this.edges = this.array([[0, new Float32Array(EDGES), 3, gl.FLOAT]]);
    this.maps = new Map();
    if (this.canPick) this.makePick();
  }

  array(entries, index) {
    const { gl } = this, vertices = gl.createVertexArray();
    gl.bindVertexArray(vertices);
    for (const [place, data, size, kind] of entries) {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, kind, kind === gl.BYTE, kind === gl.BYTE ? 4 : 0, 0);
    }
    if (index) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
    return vertices;
  }

  // the bytes of viewer/shape.py's mesh_bytes
  addMesh(level, bytes) {
    const [, vertices, faces, withAlpha] = new Uint32Array(bytes, 0, 4), { gl } = this;
    let at = 16;
    const take = (Kind, count) => {
      const part = new Kind(bytes, at, count);
      at += part.byteLength;
      return part;
    };
    const entries = [[0, take(Float32Array, 3 * vertices), 3, gl.FLOAT], [1, take(Int8Array, 4 * vertices), 3, gl.BYTE]];
    let range = null; // of log2 of the cut-off on the surface, without the outermost hundredth at each end
    if (withAlpha) {
      const alpha = take(Float32Array, vertices).map(Math.log2), sorted = alpha.slice().sort();
      range = [0.01, 0.99].map((share) => sorted[Math.round(share * (vertices - 1))]);
      entries.push([2, alpha, 1, gl.FLOAT]);
    }
    this.meshes.set(level, { array: this.array(entries, take(Uint32Array, 3 * faces)), vertices, faces, range });
    return this.meshes.get(level);
  }

  setSlice(axis, at, size, distance, alpha) {
    const { gl } = this, old = this.cutting;
    const texture = (data) => {
      const texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      plain(gl);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, size, size, 0, gl.RED, gl.FLOAT, data);
      return texture;
    };
    this.cutting = { axis, at, distance: texture(distance), alpha: alpha && texture(alpha) };
    for (const texture of [old?.distance, old?.alpha]) if (texture) gl.deleteTexture(texture);
  }

  clearSlice() {
    this.cutting = null;
  }

  // a colour map: 256 colours as packed RGBA
  map(name, table) {
    const { gl } = this, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    plain(gl, gl.LINEAR);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(table.buffer));
    this.maps.set(name, texture);
  }

  draw(view, pick = false) {
    const { gl } = this, { canvas } = gl;
    if (!pick) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(...view.ground, 1);
    } else gl.clearColor(0, 0, 0, 0);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const mesh = view.surface !== "none" && this.meshes.get(view.level);
    if (mesh) {
      const set = this.use(this.surface, view, pick);
      gl.uniform1i(set("coloured"), view.surface === "alpha");
      gl.uniform3fv(set("plain"), [0.72, 0.74, 0.77]);
      gl.uniform2fv(set("range"), view.alphaRange);
      gl.uniform1i(set("axis"), this.cutting ? this.cutting.axis : -1);
      gl.uniform1f(set("at"), this.cutting ? this.cutting.at : 0);
      gl.uniform1i(set("cut"), view.open);
      this.bind(0, this.maps.get("viridis"), set("map"));
      gl.bindVertexArray(mesh.array);
      gl.drawElements(gl.TRIANGLES, 3 * mesh.faces, gl.UNSIGNED_INT, 0);
    }
    if (this.cutting) {
      const set = this.use(this.slice, view, pick), shows = view.shows === "alpha" && this.cutting.alpha ? "alpha" : "distance";
      gl.uniform1i(set("axis"), this.cutting.axis);
      gl.uniform1f(set("at"), this.cutting.at);
      gl.uniform1i(set("distances"), shows === "distance");
      gl.uniform2fv(set("range"), shows === "alpha" ? view.alphaRange : view.distanceRange);
      gl.uniform1f(set("spacing"), view.spacing);
      this.bind(0, this.maps.get(shows === "alpha" ? "viridis" : "distance"), set("map"));
      this.bind(1, this.cutting[shows], set("values"));
      gl.bindVertexArray(this.quad);
      gl.drawArrays(gl.TRIANGLES, 0, 6);
    }
    if (!pick) {
      const set = this.use(this.frame, view, false);
      gl.uniform4fv(set("ink"), view.ink);
      gl.bindVertexArray(this.edges);
      gl.drawArrays(gl.LINES, 0, EDGES.length / 3);
    }
    gl.bindVertexArray(null);
  }

  use(program, view, pick) {
    const { gl } = this, set = (name) => program.at(name);
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(set("camera"), false, pick || view.camera);
    gl.uniform3fv(set("eye"), view.eye);
    gl.uniform1i(set("pick"), pick !== false);
    return set;
  }

  bind(unit, texture, at) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.uniform1i(at, unit);
  }

  makePick() {
    const { gl } = this, colour = gl.createTexture(), depth = gl.createRenderbuffer();
    this.target = gl.createFramebuffer();
    gl.bindTexture(gl.TEXTURE_2D, colour);
    plain(gl);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 1, 1, 0, gl.RGBA, gl.FLOAT, null);
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, 1, 1);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, colour, 0);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // the place seen at a pixel of the canvas: what is drawn there is drawn once more on a single pixel, as coordinates
  pick(view, x, y) {
    if (!this.canPick) return null;
    const { gl } = this, { width, height } = gl.canvas, centre = [(2 * (x + 0.5)) / width - 1, 1 - (2 * (y + 0.5)) / height];
    const shift = [width, 0, 0, 0, 0, height, 0, 0, 0, 0, 1, 0, -width * centre[0], -height * centre[1], 0, 1];
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.viewport(0, 0, 1, 1);
    this.draw(view, multiply(shift, view.camera));
    const pixel = new Float32Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.FLOAT, pixel);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return pixel[3] > 0 ? [...pixel.subarray(0, 3)] : null;
  }
}

function plain(gl, filter = gl.NEAREST) {
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, filter);
  for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
}

function link(gl, [vertex, fragment]) {
  const program = gl.createProgram(), known = new Map();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw Error(gl.getProgramInfoLog(program));
  return { program, at: (name) => {
    if (!known.has(name)) known.set(name, gl.getUniformLocation(program, name));
    return known.get(name);
  } };
}

// ---- 4 × 4 matrices, column by column

export function multiply(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++) out[4 * c + r] = [0, 1, 2, 3].reduce((sum, k) => sum + a[4 * k + r] * b[4 * c + k], 0);
  return out;
}

const minus = (a, b) => a.map((v, k) => v - b[k]);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a.reduce((sum, v, k) => sum + v * b[k], 0);
const unit = (a) => a.map((v) => v / Math.hypot(...a));

// an eye that turns around a target: angles in radians, `up` the axis that points up
export function orbit({ target, turn, tilt, far, up, aspect, angle }) {
  const way = [0, 0, 0], a = (up + 2) % 3, b = (up + 1) % 3;
  way[a] = Math.cos(tilt) * Math.sin(turn);
  way[b] = Math.cos(tilt) * Math.cos(turn);
  way[up] = Math.sin(tilt);
  const eye = target.map((v, k) => v + far * way[k]), z = unit(minus(eye, target));
  const x = unit(cross([0, 1, 2].map((k) => (k === up ? 1 : 0)), z)), y = cross(z, x);
  const look = [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
  const f = 1 / Math.tan(angle / 2) * Math.min(1, aspect), near = Math.max(far / 100, 0.002), last = far + 6;
  const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (last + near) / (near - last), -1, 0, 0, (2 * last * near) / (near - last), 0];
  return { camera: multiply(lens, look), eye, right: x, above: y, scale: f / far };
}

export function project(camera, place) {
  const at = [0, 1, 2, 3].map((r) => camera[r] * place[0] + camera[4 + r] * place[1] + camera[8 + r] * place[2] + camera[12 + r]);
  return [at[0] / at[3], at[1] / at[3]];
}
