// Hidden characters in text of agents: found, and shown as marks such as ⟦U+202E⟧. Pure. The same characters as in
// `kernel/hidden_characters.py`; a test compares both. Replies of the API and messages of the stream get their marks
// when they are parsed (`parseVisible`), so no view can forget them; `MarkedText` only gives marks their colour.

/** First and last code point. */
export const RANGES: [number, number][] = [
  [0x0000, 0x0008],
  [0x000b, 0x001f],
  [0x007f, 0x009f],
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const escape = (code: number): string => `\\u{${code.toString(16)}}`;
const CLASS = RANGES.map(([first, last]) => `${escape(first)}-${escape(last)}`).join("");
const HIDDEN = new RegExp(`[${CLASS}]`, "gu");
const HIDDEN_OR_MARK = new RegExp(`[${CLASS}]|⟦U\\+[0-9A-F]{4,6}⟧`, "gu");
/** In JSON, control characters are escaped. */
const IN_JSON = new RegExp(`\\\\(?:u00|[bfr])|[${CLASS}]`, "u");
const EMOJI_BEFORE = /(?:[\p{So}\p{Sm}\p{Sk}\ufe0e\ufe0f])$/u;
const EMOJI_AFTER = /^[\p{So}\p{Sm}\p{Sk}]/u;
const SELECTOR = /^[\ufe0e\ufe0f]$/;

export interface TextPart {
  text: string;
  /** Whether the text is the mark of a hidden character. */
  isMark: boolean;
}

/** The text with a mark in place of each hidden character. */
export function makeVisible(text: string): string {
  return text.replace(HIDDEN, (character, at: number) => (isHarmless(text, character, at) ? character : markOf(character)));
}

/** Parse JSON. All strings and names in it have marks in place of hidden characters. */
export function parseVisible(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return IN_JSON.test(json) ? withMarks(value) : value;
}

function withMarks(value: unknown): unknown {
  if (typeof value === "string") return makeVisible(value);
  if (Array.isArray(value)) return value.map(withMarks);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [makeVisible(name), withMarks(each)]));
}

/** JSON with hidden characters as escape sequences: visible, and still the same value. */
export function escapeHidden(json: string): string {
  const unit = (code: string): string => `\\u${code.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(HIDDEN, (character) => character.split("").map(unit).join(""));
}

/** The text in parts: visible text, and a mark for each hidden character. Marks that the text already has are parts, too. */
export function markedParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN_OR_MARK)) {
    if (isHarmless(text, character, index)) continue;
    if (index > end) parts.push({ text: text.slice(end, index), isMark: false });
    parts.push({ text: markOf(character), isMark: true });
    end = index + character.length;
  }
  if (end < text.length || parts.length === 0) parts.push({ text: text.slice(end), isMark: false });
  return parts;
}

/** The mark of a hidden character, or a mark itself. */
function markOf(found: string): string {
  return found.startsWith("⟦") ? found : `⟦U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}

/** Whether the character is a line end or part of an emoji. */
function isHarmless(text: string, character: string, at: number): boolean {
  const before = text.slice(Math.max(at - 2, 0), at);
  const after = text.slice(at + 1, at + 3);
  if (character === "\r") return after.startsWith("\n");
  if (SELECTOR.test(character)) return /[\p{So}\p{Sm}\p{Sk}‼⁉ℹ〰]$/u.test(before) || (/[#*0-9]$/.test(before) && after.startsWith("\u20e3"));
  return character === "\u200d" && EMOJI_BEFORE.test(before) && EMOJI_AFTER.test(after);
}
