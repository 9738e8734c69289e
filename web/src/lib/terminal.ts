// The screen of a terminal as parts with classes and colours. Pure. The 16 colours are classes, so that they follow the
// background of the view; the others are colours of their own.
import type { ScreenLine } from "./stream-events";

export interface StyledPart {
  text: string;
  classes: string;
  /** CSS colours; undefined for the 16 colours, which are classes. */
  colour: string | undefined;
  background: string | undefined;
}

const FLAGS: Record<string, string> = { "1": "bold", "2": "dimmed", "3": "italic", "4": "underline", "7": "inverse", "8": "concealed", "9": "strike" };
const CUBE_LEVELS = [0, 95, 135, 175, 215, 255];

/** The parts of a line. `cursor` is the column of the cursor in it. */
export function styledParts(line: ScreenLine, cursor: number | null = null): StyledPart[] {
  const parts = line.map(({ text, style = "", wide = false }) => ({ text, wide, ...styleOf(style) }));
  const shown = cursor === null ? parts : withCursor(parts, cursor);
  return shown.map(({ text, wide, flags, ...colours }) => ({ text, classes: [...flags, ...(wide ? ["wide"] : [])].join(" "), ...colours }));
}

/** The codes of a style, such as `1;38;5;208`. */
export function styleOf(style: string): { flags: string[]; colour: string | undefined; background: string | undefined } {
  const codes = style.split(";");
  const flags: string[] = [];
  const found: { colour?: string; background?: string } = {};
  while (codes.length > 0) {
    const code = codes.shift()!;
    if (FLAGS[code]) flags.push(FLAGS[code]);
    else if (code === "38" || code === "48") setExtended(code, codes, flags, found);
    else if (basicColour(code)) flags.push(basicColour(code)!);
  }
  return { flags, colour: found.colour, background: found.background };
}

/** 30–37 and 90–97 are `text-0` … `text-15`, 40–47 and 100–107 `ground-0` … `ground-15`. */
function basicColour(code: string): string | undefined {
  const number = Number(code);
  const [tens, ones] = [Math.floor(number / 10), number % 10];
  if (ones > 7) return undefined;
  return { 3: `text-${ones}`, 9: `text-${ones + 8}`, 4: `ground-${ones}`, 10: `ground-${ones + 8}` }[tens];
}

/** A colour of 256, or one with red, green and blue. Takes its parameters from the codes. */
function setExtended(code: string, codes: string[], flags: string[], found: { colour?: string; background?: string }): void {
  const kind = codes.shift();
  const numbers = codes.splice(0, kind === "5" ? 1 : 3).map((each) => Math.min(Number(each) || 0, 255));
  const [name, prefix] = code === "38" ? (["colour", "text"] as const) : (["background", "ground"] as const);
  if (kind === "5" && numbers[0]! < 16) flags.push(`${prefix}-${numbers[0]}`);
  else found[name] = kind === "5" ? paletteColour(numbers[0]!) : rgb(numbers);
}

/** A colour of the palette of 256, from 16 on: a cube of colours, then shades of grey. */
export function paletteColour(number: number): string {
  if (number >= 232) return rgb(Array<number>(3).fill(8 + (number - 232) * 10));
  const place = number - 16;
  return rgb([Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((each) => CUBE_LEVELS[each]!));
}

const rgb = (numbers: number[]): string => `rgb(${numbers.join(" ")})`;

type Part = { text: string; wide: boolean; flags: string[]; colour: string | undefined; background: string | undefined };

/** The parts with the character at a column marked. Behind the end of the line, the cursor is on a space. */
function withCursor(parts: Part[], column: number): Part[] {
  const result: Part[] = [];
  let at = 0;
  for (const part of parts) {
    const signs = part.wide ? [part.text] : [...part.text];
    const width = part.wide ? 2 : signs.length;
    const index = column - at;
    if (index < 0 || index >= width) result.push(part);
    else if (part.wide) result.push({ ...part, flags: [...part.flags, "cursor"] });
    else result.push(...around(part, signs, index));
    at += width;
  }
  if (column >= at) result.push({ ...PLAIN, text: " ".repeat(column - at) }, { ...PLAIN, text: " ", flags: ["cursor"] });
  return result.filter((part) => part.text !== "");
}

const PLAIN: Part = { text: "", wide: false, flags: [], colour: undefined, background: undefined };

function around(part: Part, signs: string[], index: number): Part[] {
  const [before, sign, after] = [signs.slice(0, index), signs.slice(index, index + 1), signs.slice(index + 1)];
  return [
    { ...part, text: before.join("") },
    { ...part, text: sign.join(""), flags: [...part.flags, "cursor"] },
    { ...part, text: after.join("") },
  ];
}

/** The number of lines to show: without the empty ones at the end, but with the one of the cursor. */
export function usedLines(lines: ScreenLine[], cursorRow: number | null): number {
  const last = lines.findLastIndex((line) => line.some((part) => part.text.trim() !== "" || (part.style ?? "") !== ""));
  return Math.max(last, cursorRow ?? -1) + 1;
}
