// A conversation: turns and tool calls in chronological order, as items of a list. Pure.
import { parseTime } from "./time";
import type { ToolCall, Turn } from "./types";

interface TurnItem {
  kind: "turn";
  key: string;
  turn: Turn;
}

interface CallsItem {
  kind: "calls";
  key: string;
  calls: ToolCall[];
}

export type ConversationItem = TurnItem | CallsItem;

/** More consecutive calls than this are several items, so that no item is slow to draw. */
export const MAX_ITEM_CALLS = 40;

/** Turns and tool calls by time. Consecutive calls are one item. */
export function conversationItems(turns: Turn[], calls: ToolCall[]): ConversationItem[] {
  const all = [
    ...turns.map((turn) => ({ time: parseTime(turn.timestamp), item: { kind: "turn", key: turn.turn_id, turn } as const })),
    ...calls.map((call) => ({ time: parseTime(call.started_at), item: { kind: "calls", key: `calls ${call.id}`, calls: [call] } as const })),
  ];
  const items: ConversationItem[] = [];
  for (const { item } of all.toSorted((a, b) => a.time - b.time)) {
    const last = items.at(-1);
    if (item.kind === "calls" && last?.kind === "calls" && last.calls.length < MAX_ITEM_CALLS) last.calls.push(...item.calls);
    else items.push(item.kind === "calls" ? { ...item, calls: [...item.calls] } : item);
  }
  return items;
}

/** The same items; those that did not change are the objects from before, so that they are not drawn again. */
export function keptItems(before: ConversationItem[], items: ConversationItem[]): ConversationItem[] {
  const known = new Map(before.map((item) => [item.key, item]));
  return items.map((item) => {
    const old = known.get(item.key);
    return old !== undefined && isSameItem(old, item) ? old : item;
  });
}

function isSameItem(a: ConversationItem, b: ConversationItem): boolean {
  if (a.kind === "turn") return b.kind === "turn" && a.turn === b.turn;
  return b.kind === "calls" && a.calls.length === b.calls.length && a.calls.every((call, index) => call === b.calls[index]);
}

/** The tools of some calls with their numbers: "4 Read, 2 Bash, 1 Edit". */
export function callTools(calls: ToolCall[]): string {
  const numbers = new Map<string, number>();
  for (const { tool } of calls) numbers.set(tool, (numbers.get(tool) ?? 0) + 1);
  return [...numbers].toSorted((a, b) => b[1] - a[1]).map(([tool, number]) => `${number} ${tool}`).join(", ");
}

const LINE_CHARACTERS = 80;

/** About how high an item is, in pixels, before it was drawn. */
export function estimatedHeight(item: ConversationItem): number {
  if (item.kind === "calls") return 12 + Math.min(item.calls.length, 7) * 24;
  return 64 + Math.ceil(Math.min(item.turn.text.length, 8_000) / LINE_CHARACTERS) * 20;
}

/** The key of the item that shows an element: `turn-…` or `call-…`. */
export function itemOf(items: ConversationItem[], element: string): string | null {
  const shows = (item: ConversationItem): boolean =>
    item.kind === "turn" ? `turn-${item.key}` === element : item.calls.some((call) => `call-${call.id}` === element);
  return items.find(shows)?.key ?? null;
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

/** The shell command in the input of a tool call; null if there is none. */
export function shellCommand(input: unknown): string | null {
  const command = typeof input === "object" && input !== null ? (input as Record<string, unknown>).command : null;
  return typeof command === "string" && command !== "" ? command : null;
}

/** The input without its shell command. */
export function otherFields(input: unknown): string {
  const { command: _command, ...others } = input as Record<string, unknown>;
  return Object.entries(others).map(([name, value]) => argumentText(name, readableText(value))).join("\n");
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
