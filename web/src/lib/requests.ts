// The complete request of a wait, divided into the parts that the page shows. Pure.
import type { WaitDetails } from "./types";

export interface RequestParts {
  /** One line above a diff: what is done to which file. */
  title: string;
  diff: string;
  markdown: string;
  /** Shown as it is, with its line breaks. */
  verbatim: string;
  arguments: [string, unknown][];
}

const NO_ARGUMENTS = "(no arguments)";
const NOTHING: RequestParts = { title: "", diff: "", markdown: "", verbatim: "", arguments: [] };

/** A diff, a plan as Markdown, a command with its other arguments, or all arguments by name. The name of the tool is in the title. */
export function requestParts({ kind, tool, questions, request }: Pick<WaitDetails, "kind" | "tool" | "questions" | "request">): RequestParts {
  if (questions.length > 0) return NOTHING;
  if (request.diff) return { ...NOTHING, title: request.text, diff: request.diff };
  if (kind !== "permission") return { ...NOTHING, markdown: request.text };
  const named = Object.entries(request.arguments);
  if (named.length === 0 && request.text === tool) return { ...NOTHING, verbatim: NO_ARGUMENTS };
  const others = named.filter(([, value]) => value !== request.text);
  if (others.length < named.length || named.length === 0) return { ...NOTHING, verbatim: request.text, arguments: others };
  return { ...NOTHING, arguments: named };
}

const REDACTED = "[redacted]";

/** The input of the tool call, to be edited as JSON. An error says why it cannot be edited. */
export function editableInput({ request }: Pick<WaitDetails, "request">): string {
  if (Object.keys(request.arguments).length === 0) throw new Error("Headspace does not have the input of this call.");
  if (!request.complete) throw new Error("A part of the input is left out, so it cannot be edited here.");
  const text = JSON.stringify(request.arguments, null, 2);
  if (text.includes(REDACTED)) throw new Error("A secret in the input is redacted, so it cannot be edited here.");
  return text;
}

/** A value of an argument: texts as they are, everything else as JSON. */
export function argumentText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** "U+202E RIGHT-TO-LEFT OVERRIDE (2 times), U+200B ZERO WIDTH SPACE". */
export function hiddenCharactersText(found: WaitDetails["hidden_characters"]): string {
  const counts = new Map<string, number>();
  for (const { code, name } of found) counts.set(`${code} ${name}`, (counts.get(`${code} ${name}`) ?? 0) + 1);
  return [...counts].map(([character, times]) => (times > 1 ? `${character} (${times} times)` : character)).join(", ");
}
