// Builds the page into the Python package. Nothing is inlined (the content security policy is `self`), every asset has a
// hash in its name, and each file also has compressed copies, so that the daemon does not compress anything. Views are
// separate files that are loaded on demand; the styles of all views are one small file, so that none comes late.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { svelte, vitePreprocess } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

const out = fileURLToPath(new URL("../src/claude_headspace/surfaces/page/built", import.meta.url));
const COMPRESSED = /\.(html|js|css|svg)$/;

function compressFiles(): Plugin {
  return {
    name: "compress-files",
    apply: "build",
    async closeBundle() {
      const files = await readdir(out, { recursive: true });
      await Promise.all(files.filter((file) => COMPRESSED.test(file)).map((file) => compress(join(out, file))));
    },
  };
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  await writeFile(`${path}.br`, brotliCompressSync(content, quality));
  await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
}

export default defineConfig({
  plugins: [svelte({ preprocess: vitePreprocess() }), compressFiles()],
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
