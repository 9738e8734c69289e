// Highlights the hunks of diffs, and other code. The highlighter and each language are loaded when they are first needed; until then,
// and for unknown languages, lines are plain. A hunk is highlighted when one of its lines is rendered, in blocks of
// limited size, so that a huge file does not delay scrolling.
import type { HLJSApi, LanguageFn } from "highlight.js";
import { SvelteSet } from "svelte/reactivity";
import type { DiffLine, Hunk } from "./diff";
import { tokenLines, type Token } from "./highlight";

const BLOCK_LINES = 400;
/** Longer lines, such as those of minified files, stay plain. */
const MAX_LINE_LENGTH = 1_000;

/** Longer texts stay plain. */
const MAX_TEXT_LENGTH = 20_000;

type Loader = () => Promise<{ default: LanguageFn }>;

const LOADERS: Record<string, Loader> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  go: () => import("highlight.js/lib/languages/go"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  php: () => import("highlight.js/lib/languages/php"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scss: () => import("highlight.js/lib/languages/scss"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

class Highlighter {
  #api: HLJSApi | null = null;
  readonly #loaded = new SvelteSet<string>();
  readonly #requested = new Set<string>();
  readonly #tokens = new WeakMap<DiffLine, Token[]>();

  /** The tokens of a line of a hunk, or null while its language is not loaded. */
  tokens(hunk: Hunk, line: DiffLine, language: string | null): Token[] | null {
    if (language === null) return null;
    if (!this.#loaded.has(language)) {
      void this.#load(language);
      return null;
    }
    if (!this.#tokens.has(line)) this.#highlightAround(hunk, line, language);
    return this.#tokens.get(line) ?? null;
  }

  /** The tokens of each line of a text, or null while its language is not loaded, and for a long text. */
  textTokens(text: string, language: string | null): Token[][] | null {
    if (language === null || text.length > MAX_TEXT_LENGTH) return null;
    if (!this.#loaded.has(language)) {
      void this.#load(language);
      return null;
    }
    return tokenLines(this.#api!.highlight(text, { language, ignoreIllegals: true }).value);
  }

  async #load(language: string): Promise<void> {
    const loader = LOADERS[language];
    if (this.#requested.has(language) || loader === undefined) return;
    this.#requested.add(language);
    try {
      const [core, definition] = await Promise.all([import("highlight.js/lib/core"), loader()]);
      this.#api = core.default;
      this.#api.registerLanguage(language, definition.default);
      this.#loaded.add(language);
    } catch {
      this.#requested.delete(language); // the daemon was not reachable: the next line tries again
    }
  }

  /** Highlight the block of the hunk that contains the line, the old and the new side separately. */
  #highlightAround(hunk: Hunk, line: DiffLine, language: string): void {
    const start = Math.floor(hunk.lines.indexOf(line) / BLOCK_LINES) * BLOCK_LINES;
    const block = hunk.lines.slice(start, start + BLOCK_LINES);
    for (const other of ["added", "removed"]) {
      const side = block.filter(({ kind, text }) => kind !== other && text.length <= MAX_LINE_LENGTH);
      const html = this.#api!.highlight(side.map(({ text }) => text).join("\n"), { language, ignoreIllegals: true }).value;
      const lines = tokenLines(html);
      side.forEach((each, index) => this.#tokens.set(each, lines[index] ?? []));
    }
  }
}

export const highlighter = new Highlighter();
