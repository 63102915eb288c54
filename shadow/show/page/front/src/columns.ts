// Columns of numbers, as shadow/show/page/column.go writes them. A column is decoded when it is
// first read, so that the first screen does not wait for figures that are further down.
import type { Data, Encoded, NoName } from "./data";

/** noName is the index of what has no name. */
export const noName: NoName = 65535;

type Numbers = Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** readData reads the JSON of a session. */
export function readData(json: string): Data {
  const d: unknown = JSON.parse(json);
  openColumns(d);
  return d as Data;
}

// openColumns puts in the place of each column a property that decodes it.
function openColumns(v: unknown): void {
  if (typeof v !== "object" || v === null) return;
  if (Array.isArray(v)) {
    if (typeof v[0] === "object") v.forEach(openColumns);
    return;
  }
  const o = v as Record<string, unknown>;
  for (const key of Object.keys(o)) {
    const child = o[key];
    if (isEncoded(child)) openColumn(o, key, child);
    else openColumns(child);
  }
}

function isEncoded(v: unknown): v is Encoded {
  return typeof v === "object" && v !== null && "form" in v && "data" in v && "n" in v;
}

function openColumn(o: Record<string, unknown>, key: string, c: Encoded): void {
  Object.defineProperty(o, key, {
    configurable: true,
    enumerable: true,
    get: () => {
      const value = decode(c);
      Object.defineProperty(o, key, { value, enumerable: true });
      return value;
    },
  });
}

function make(type: Encoded["type"], n: number): Numbers {
  switch (type) {
    case "f64":
      return new Float64Array(n);
    case "f32":
      return new Float32Array(n);
    case "u32":
      return new Uint32Array(n);
    case "u16":
      return new Uint16Array(n);
    default:
      return new Uint8Array(n);
  }
}

/** decode is the values of a column. */
export function decode(c: Encoded): Numbers {
  const b = bytesOf(c.data);
  const out = make(c.type, c.n);
  if (c.form === "raw") {
    new Uint8Array(out.buffer).set(b.subarray(0, out.byteLength));
    return out;
  }
  let at = 0;
  // Numbers have up to 53 bits, more than bit operators take.
  const next = (): number => {
    let z = 0;
    let scale = 1;
    for (;;) {
      const byte = b[at++] ?? 0;
      z += (byte & 127) * scale;
      if (byte < 128) break;
      scale *= 128;
    }
    return z % 2 ? -(z + 1) / 2 : z / 2;
  };
  let last = 0;
  for (let i = 0; i < c.n && at < b.length; ) {
    if (c.form === "runs") {
      const v = next();
      const until = Math.min(c.n, i + next());
      out.fill(v, i, until);
      i = Math.max(until, i + 1);
    } else {
      last = c.form === "delta" ? last + next() : next();
      out[i++] = last;
    }
  }
  return out;
}

// Browsers have fromBase64 since 2024 or 2025; atob is in all of them.
type WithBase64 = { fromBase64?: (s: string) => Uint8Array };

function bytesOf(base64: string): Uint8Array {
  const native = (Uint8Array as unknown as WithBase64).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const s = atob(base64);
  const b = new Uint8Array(s.length);
  for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
  return b;
}

const perOctave = 16;

/** buckets is how many buckets there are for values below 2^63. */
export const buckets = 2 * perOctave + 58 * perOctave;

/** lowestOf is the lowest value of a bucket. */
export function lowestOf(bucket: number): number {
  if (bucket < 2 * perOctave) return bucket;
  const i = bucket - 2 * perOctave;
  return (perOctave + (i % perOctave)) * 2 ** (Math.floor(i / perOctave) + 1);
}

/** middleOf is the value that stands for a bucket, at most 1/32 from each of its values. */
export function middleOf(bucket: number): number {
  if (bucket < 2 * perOctave) return bucket;
  return lowestOf(bucket) + (2 ** (Math.floor(bucket / perOctave) - 1) - 1) / 2;
}
