// Whether rendered Markdown shows everything that its source says. Pure. Markdown drops link definitions, targets of links
// and images, words after the language of a code block, and extra cells of a table: a person who approves a plan must see
// them. Only letters and digits are compared; numbers of list items, ticks of tasks and known languages may be missing.
import { languageOf } from "./highlight";

const LIST_MARKER = /^([\s>*+-]*)\d{1,9}[.)](?=\s)/gm;
const TICK = /^([\s>*+\-\d.)]*)\[[xX]\](?=\s)/gm;
const LANGUAGE = /^([\s>]*(?:`{3,}|~{3,}))[ \t]*([a-z]+)[ \t]*$/gm;
const NAMES = new Set(["bash", "console", "diff", "javascript", "json", "markdown", "python", "ruby", "rust", "shell", "text", "txt", "typescript"]);

/** Whether the text content of the rendered Markdown has all letters and digits of the source, in order. */
export function showsEverything(source: string, rendered: string): boolean {
  return lettersOf(withoutMarkers(source)) === lettersOf(rendered);
}

function withoutMarkers(source: string): string {
  return source
    .replace(TICK, "$1")
    .replace(LIST_MARKER, "$1")
    .replace(LANGUAGE, (line, fence: string, name: string) => (NAMES.has(name) || languageOf(name) ? fence : line));
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}]/gu, "");
}
