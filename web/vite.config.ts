// Builds the page into the Python package. Nothing is inlined (the content security policy is `self`), every asset has a
// hash in its name, and each file also has compressed copies, so that the daemon does not compress anything. Views are
// separate files that are loaded on demand; the styles of all views are one small file, so that none comes late. The service
// worker is built last, because it contains the names of the files that it keeps.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { svelte, vitePreprocess } from "@sveltejs/vite-plugin-svelte";
import { build, defineConfig, type Plugin, type Rollup } from "vite";

const out = fileURLToPath(new URL("../src/claude_headspace/surfaces/page/built", import.meta.url));
const COMPRESSED = /\.(html|js|css|svg|webmanifest)$/;

/** What the page needs without the network, besides the scripts of its first load. */
const SHELL = ["/", "/theme.js", "/manifest.webmanifest", "/icons/0.svg", "/icons/app-192.png", "/icons/badge.png"];

function finishFiles(): Plugin {
  let shell: string[] = [];
  return {
    name: "finish-files",
    apply: "build",
    writeBundle(_, bundle) {
      shell = [...SHELL, ...firstLoad(bundle)];
    },
    async closeBundle() {
      await buildServiceWorker(shell);
      const files = await readdir(out, { recursive: true });
      await Promise.all(files.filter((file) => COMPRESSED.test(file)).map((file) => compress(join(out, file))));
    },
  };
}

/** Views that open without the network and say that the daemon cannot be reached. */
const KEPT_VIEWS = /\/views\/(Board|Waits)\.svelte$/;

/** The scripts that the page imports at once or for these views, and the styles. */
function firstLoad(bundle: Rollup.OutputBundle): string[] {
  const isFirst = (file: Rollup.OutputAsset | Rollup.OutputChunk): boolean =>
    file.type === "chunk" ? file.isEntry || KEPT_VIEWS.test(file.facadeModuleId ?? "") : file.fileName.endsWith(".css");
  const found = new Set(Object.values(bundle).filter(isFirst).map(({ fileName }) => fileName));
  for (const name of found) {
    const file = bundle[name];
    if (file?.type === "chunk") for (const imported of file.imports) found.add(imported);
  }
  return [...found].filter((name) => /\.(js|css)$/.test(name)).map((name) => `/${name}`);
}

async function buildServiceWorker(shell: string[]): Promise<void> {
  const contents = await Promise.all(shell.map((path) => readFile(join(out, path === "/" ? "index.html" : path))));
  const id = contents.reduce((hash, content) => hash.update(content), createHash("sha256")).digest("hex").slice(0, 16);
  await build({
    configFile: false,
    publicDir: false,
    logLevel: "warn",
    define: { BUILD: JSON.stringify(id), SHELL: JSON.stringify(shell) },
    build: {
      outDir: out,
      emptyOutDir: false,
      target: "es2022",
      rollupOptions: { input: fileURLToPath(new URL("worker/service-worker.ts", import.meta.url)), output: { format: "iife", entryFileNames: "service-worker.js" } },
    },
  });
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  await writeFile(`${path}.br`, brotliCompressSync(content, quality));
  await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
}

export default defineConfig({
  plugins: [svelte({ preprocess: vitePreprocess() }), finishFiles()],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
