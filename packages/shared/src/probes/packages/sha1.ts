/** SHA-1 of bytes given one a character: an OpenPGP key's fingerprint is made of it. */
export function sha1Hex(bytes: string): string {
  const words = toWords(bytes);
  const state: [number, number, number, number, number] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  const schedule = new Int32Array(80);
  for (let block = 0; block < words.length; block += 16) {
    for (let t = 0; t < 80; t += 1) {
      const mixed = (schedule[t - 3] ?? 0) ^ (schedule[t - 8] ?? 0) ^ (schedule[t - 14] ?? 0) ^ (schedule[t - 16] ?? 0);
      schedule[t] = t < 16 ? (words[block + t] ?? 0) : rotated(mixed, 1);
    }
    let [a, b, c, d, e] = state;
    for (let t = 0; t < 80; t += 1) {
      const next =
        (rotated(a, 5) + choose(t, b, c, d) + e + (constants[Math.floor(t / 20)] ?? 0) + (schedule[t] ?? 0)) | 0;
      [a, b, c, d, e] = [next, a, rotated(b, 30), c, d];
    }
    for (const [at, word] of [a, b, c, d, e].entries()) state[at] = ((state[at] ?? 0) + word) | 0;
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

const constants = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6];

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function choose(t: number, b: number, c: number, d: number): number {
  if (t < 20) return (b & c) | (~b & d);
  return t < 40 || t >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
}

/** Big-endian words, padded to whole blocks with a one bit and the length in bits. */
function toWords(bytes: string): Int32Array {
  const words = new Int32Array((Math.floor((bytes.length + 8) / 64) + 1) * 16);
  const put = (at: number, byte: number) => {
    words[at >> 2] = (words[at >> 2] ?? 0) | (byte << (24 - (at % 4) * 8));
  };
  for (let at = 0; at < bytes.length; at += 1) put(at, bytes.charCodeAt(at) & 0xff);
  put(bytes.length, 0x80);
  words[words.length - 2] = Math.floor(bytes.length / 0x20000000);
  words[words.length - 1] = bytes.length << 3;
  return words;
}
