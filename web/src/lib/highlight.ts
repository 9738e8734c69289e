// Syntax highlighting: the language of a file, and highlighted HTML as tokens. Pure. The highlighter escapes the text
// and adds only `span` elements, so its HTML can be read with a regular expression and is never inserted into the page.

export type TokenKind = "keyword" | "string" | "comment" | "name";

export interface Token {
  text: string;
  kind: TokenKind | null;
}

/** The kinds of the highlighter that get a colour. All others stay plain: a diff has enough colours. */
const KINDS: Record<string, TokenKind> = {
  keyword: "keyword",
  built_in: "keyword",
  literal: "keyword",
  type: "keyword",
  "selector-tag": "keyword",
  section: "keyword",
  string: "string",
  number: "string",
  regexp: "string",
  symbol: "string",
  code: "string",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  meta: "comment",
  title: "name",
  name: "name",
  attr: "name",
  attribute: "name",
  property: "name",
};

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

/** Highlighted HTML as lines of tokens. A token that spans lines is split. */
export function tokenLines(html: string): Token[][] {
  const lines: Token[][] = [[]];
  const open: (TokenKind | null)[] = [];
  for (const [part, kindName] of html.matchAll(/<span class="(?:hljs-)?([\w-]+)[^>]*>|<\/span>|[^<]+/g)) {
    if (kindName !== undefined) open.push(KINDS[kindName] ?? open.at(-1) ?? null);
    else if (part === "</span>") open.pop();
    else addText(lines, part.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity]!), open.at(-1) ?? null);
  }
  return lines;
}

function addText(lines: Token[][], text: string, kind: TokenKind | null): void {
  text.split("\n").forEach((part, index) => {
    if (index > 0) lines.push([]);
    if (part !== "") lines.at(-1)!.push({ text: part, kind });
  });
}

const LANGUAGES: Record<string, string> = {
  bash: "bash",
  c: "c",
  cc: "cpp",
  cpp: "cpp",
  cs: "csharp",
  css: "css",
  go: "go",
  h: "cpp",
  hpp: "cpp",
  html: "xml",
  ini: "ini",
  ipynb: "json",
  java: "java",
  js: "javascript",
  json: "json",
  jsx: "javascript",
  kt: "kotlin",
  lua: "lua",
  makefile: "makefile",
  md: "markdown",
  mjs: "javascript",
  php: "php",
  py: "python",
  pyi: "python",
  rb: "ruby",
  rs: "rust",
  scss: "scss",
  sh: "bash",
  sql: "sql",
  svelte: "xml",
  svg: "xml",
  swift: "swift",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  vue: "xml",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
  zsh: "bash",
};

const KNOWN = new Set(Object.values(LANGUAGES));
const OTHER_NAMES: Record<string, string> = { "c#": "csharp", "c++": "cpp", console: "bash", golang: "go", python3: "python", shell: "bash", "sh-session": "bash", svg: "xml" };

/** The language of a block of code, by its name or the usual end of its files; null if it is not known. */
export function languageNamed(name: string): string | null {
  const wanted = name.trim().split(/[\s{,]/)[0]!.toLowerCase();
  return LANGUAGES[wanted] ?? OTHER_NAMES[wanted] ?? (KNOWN.has(wanted) ? wanted : null);
}

/** The language of a file, by the end of its name; null if it is not known. */
export function languageOf(path: string): string | null {
  const name = path.split("/").at(-1)!.toLowerCase();
  return LANGUAGES[name.split(".").at(-1)!] ?? null;
}
