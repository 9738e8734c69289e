// The source text of Markdown in parts with a look: headings, code, strong text, markers of lists. Pure. The joined parts are
// the text, so nothing that an agent wrote is left out: rendered Markdown drops symbols, link targets and comments.

export type SourceKind = "heading" | "code" | "strong" | "marker" | null;

export interface SourcePart {
  text: string;
  kind: SourceKind;
}

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}\s/;
const MARKER = /^\s*(?:[-*+]|\d{1,9}[.)])(?=\s)/;
const INLINE = /(?<code>(`+)(?:(?!\2).)+\2)|(?<strong>\*\*(?!\s).+?\*\*)/g;

/** The text in parts, in order and without a gap. */
export function sourceParts(text: string): SourcePart[] {
  const parts: SourcePart[] = [];
  let fence = "";
  for (const line of text.split(/(?<=\n)/)) {
    const found = FENCE.exec(line)?.[1] ?? "";
    if (fence || found) add(parts, line, "code");
    else addLine(parts, line);
    if (!fence) fence = found;
    else if (found.startsWith(fence)) fence = "";
  }
  return parts;
}

function addLine(parts: SourcePart[], line: string): void {
  if (HEADING.test(line)) return add(parts, line, "heading");
  const marker = MARKER.exec(line)?.[0] ?? "";
  add(parts, marker, "marker");
  let end = marker.length;
  for (const { 0: found, index, groups } of line.slice(end).matchAll(INLINE)) {
    const at = marker.length + index;
    add(parts, line.slice(end, at), null);
    add(parts, found, groups?.code === undefined ? "strong" : "code");
    end = at + found.length;
  }
  add(parts, line.slice(end), null);
}

/** Add a text. Neighbours with the same look are one part. */
function add(parts: SourcePart[], text: string, kind: SourceKind): void {
  const last = parts.at(-1);
  if (last?.kind === kind) last.text += text;
  else if (text) parts.push({ text, kind });
}
