// A conversation: turns and tool calls in chronological order. Pure.
import { parseTime } from "./time";
import type { ToolCall, Turn } from "./types";

interface TurnItem {
  kind: "turn";
  key: string;
  at: string;
  turn: Turn;
}

interface CallsItem {
  kind: "calls";
  key: string;
  at: string;
  calls: ToolCall[];
}

export type ConversationItem = TurnItem | CallsItem;

/** Turns and tool calls by time. Consecutive calls are one item. */
export function conversationItems(turns: Turn[], calls: ToolCall[]): ConversationItem[] {
  const all: ConversationItem[] = [
    ...turns.map((turn): TurnItem => ({ kind: "turn", key: turn.turn_id, at: turn.timestamp, turn })),
    ...calls.map((call): CallsItem => ({ kind: "calls", key: `calls ${call.id}`, at: call.started_at, calls: [call] })),
  ];
  const items: ConversationItem[] = [];
  for (const item of all.toSorted((a, b) => parseTime(a.at) - parseTime(b.at))) {
    const last = items.at(-1);
    if (item.kind === "calls" && last?.kind === "calls") last.calls.push(...item.calls);
    else items.push(item);
  }
  return items;
}

/** The ids of the turns with which a person started a command. */
export function commandStarts(turns: Turn[]): Set<string> {
  const firsts = new Map<string, string>();
  for (const turn of turns) if (turn.actor === "USER" && turn.command_id && !firsts.has(turn.command_id)) firsts.set(turn.command_id, turn.turn_id);
  return new Set(firsts.values());
}

/** The id of the element that shows the turn or tool call closest to a time. */
export function elementIdAt(turns: Turn[], calls: ToolCall[], time: string): string | null {
  const elements = [
    ...turns.map((turn) => ({ id: `turn-${turn.turn_id}`, at: turn.timestamp })),
    ...calls.flatMap((call) => [call.started_at, call.ended_at ?? call.started_at].map((at) => ({ id: `call-${call.id}`, at }))),
  ];
  const distance = (element: { at: string }): number => Math.abs(parseTime(element.at) - parseTime(time));
  return elements.toSorted((a, b) => distance(a) - distance(b))[0]?.id ?? null;
}

/** The input of a tool call: one value as it is, several by name; texts are never escaped. */
export function inputText(input: unknown): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return readableText(input);
  const fields = Object.entries(input);
  return fields.length === 1 ? readableText(input) : fields.map(([name, value]) => argumentText(name, readableText(value))).join("\n");
}

function argumentText(name: string, text: string): string {
  return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`;
}

/** The input or result of a tool call as text: strings and outputs as they are, everything else as JSON. */
export function readableText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "object" && !Array.isArray(value)) {
    const fields = value as Record<string, unknown>;
    const output = [fields.stdout, fields.stderr].filter((part) => typeof part === "string" && part !== "");
    if ("stdout" in fields || "stderr" in fields) return output.join("\n") || "(no output)";
    const values = Object.values(fields);
    if (values.length === 1 && typeof values[0] === "string") return values[0];
  }
  return JSON.stringify(value, null, 2);
}
