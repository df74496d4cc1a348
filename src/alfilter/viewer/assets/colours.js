// Colour maps that people with any kind of colour vision can read, from matplotlib (CC0), 33 stops each.

const STOPS = {
  viridis:
    "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e21918c1f988b1fa08822a78528ae80" +
    "32b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df23d8e219ece51bfde725",
  cividis:
    "00224e00285b002e6a0533711a386f273e6e32436d3b496c434e6c4b546c535a6d5a5f6e61656f686a716f70737676767d7c788482798c8878938e789b9476" +
    "a39a74aba072b4a76fbcae6cc4b468cdbb63d5c25edec958e7d150f0d846f9e03afee838",
  magma:
    "0000040303120a0822130d341d114729115a36106b440f7651127c5d177f6a1c81762181832681902a819c2e7faa337db73779c43c75d0416fdc4869e75263" +
    "ef5d5ef56b5cf9795dfc8961fd9869fea772feb67cfec488fed395fde2a3fcf0b2fcfdbf",
};
const tables = {};

// 256 colours as packed RGBA, little-endian
export function table(name) {
  if (!tables[name]) {
    const stops = STOPS[name].match(/../g).map((h) => parseInt(h, 16));
    const out = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
      const at = (i / 255) * 32, k = Math.min(31, Math.floor(at)), t = at - k;
      const [r, g, b] = [0, 1, 2].map((c) => Math.round(stops[3 * k + c] * (1 - t) + stops[3 * k + 3 + c] * t));
      out[i] = (255 << 24) | (b << 16) | (g << 8) | r;
    }
    tables[name] = out;
  }
  return tables[name];
}

export function css(name, t) {
  const c = table(name)[Math.round(255 * Math.min(1, Math.max(0, t)))];
  return `rgb(${c & 255} ${(c >> 8) & 255} ${(c >> 16) & 255})`;
}

function canvas(width, height, fill) {
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  fill(new Uint32Array(image.data.buffer));
  context.putImageData(image, 0, 0);
  return canvas;
}

// 16-bit shades of 1 to 4 channels: gray, gray and alpha, RGB, RGBA
export function picture({ width, height, channels, data }) {
  const gray = channels < 3, see = channels === 2 || channels === 4;
  return canvas(width, height, (out) => {
    for (let i = 0, at = 0; i < out.length; i++, at += channels) {
      const r = Math.round(data[at] / 257), g = gray ? r : Math.round(data[at + 1] / 257);
      const b = gray ? r : Math.round(data[at + 2] / 257), a = see ? Math.round(data[at + channels - 1] / 257) : 255;
      out[i] = ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }
  });
}

// even: from low to high, or from log low to log high
export function coloured({ width, height, data }, { map, low, high, log }) {
  const even = log ? Math.log : (v) => v, from = even(low), colours = table(map), by = 255 / Math.max(1e-9, even(high) - from);
  return canvas(width, height, (out) => {
    for (let i = 0; i < out.length; i++) out[i] = colours[Math.min(255, Math.max(0, Math.round((even(data[i]) - from) * by)))];
  });
}

// the absolute difference of two tiles, mean over the channels, times a gain
export function difference(one, other, gain) {
  const colours = table("magma"), n = one.channels, by = (gain * 255) / (65535 * n);
  return canvas(one.width, one.height, (out) => {
    for (let i = 0, at = 0; i < out.length; i++) {
      let sum = 0;
      for (let c = 0; c < n; c++, at++) sum += Math.abs(one.data[at] - other.data[at]);
      out[i] = colours[Math.min(255, Math.round(sum * by))];
    }
  });
}
