// Bundles src/main.ts with all it imports into ../dist, which the Go program embeds:
//
//	node build.mjs            writes page.js and page.css
//	node build.mjs --check    fails unless they are what would be written
//	node build.mjs --watch    writes them after every change, not minified
import * as esbuild from "esbuild";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const dist = new URL("../dist/", import.meta.url);
const watch = process.argv.includes("--watch");

const options = {
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  entryPoints: { page: "src/main.ts" },
  outdir: fileURLToPath(dist),
  bundle: true,
  format: "iife",
  target: "es2020",
  minify: !watch,
  legalComments: "none", // the licences follow in full
  metafile: true,
  logLevel: "warning",
};

if (watch) {
  await (await esbuild.context({ ...options, logLevel: "info" })).watch();
} else {
  const built = await esbuild.build({ ...options, write: false });
  const licences = await texts(libraries(built.metafile));
  const fresh = new Map(built.outputFiles.map((f) => [f.path.split("/").pop(), f.text]));
  // A copy of the bundle has the licences of its libraries with it, wherever it goes.
  fresh.set("page.js", fresh.get("page.js") + `/*\n${licences}*/\n`);
  process.exitCode = process.argv.includes("--check") ? await check(fresh) : await write(fresh);
}

/** The packages of which something is bundled, by name. */
function libraries(meta) {
  const names = Object.keys(meta.inputs).map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

/** The licences of packages, each text once below the packages that have it. */
async function texts(names) {
  const of = new Map();
  for (const name of names) {
    const { version } = JSON.parse(await readFile(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8"));
    const text = (await readFile(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8")).trim();
    if (text.includes("*/")) throw new Error(`${name}: its licence would end the comment that it stands in`);
    of.set(text, [...(of.get(text) ?? []), `${name} ${version}`]);
  }
  return [...of].map(([text, packages]) => `${packages.join(", ")}\n\n${text}\n`).join("\n");
}

async function write(fresh) {
  for (const [name, text] of fresh) await writeFile(new URL(name, dist), text);
  return 0;
}

async function check(fresh) {
  const stale = [];
  for (const [name, text] of fresh) {
    if ((await readFile(new URL(name, dist), "utf8").catch(() => "")) !== text) stale.push(name);
  }
  stale.push(...(await readdir(dist)).filter((name) => !fresh.has(name)));
  if (stale.length === 0) return 0;
  console.error(`shadow/show/page/dist: ${stale.join(", ")} is not what shadow/show/page/front makes: run make page`);
  return 1;
}
