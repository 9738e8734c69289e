// A conversation: what was said and what was done, in the order of time, commands apart. Pure.
import { instant } from "./time";
import type { Call, Turn } from "./types";

export interface CallGroup {
  kind: "calls";
  key: string;
  at: string;
  calls: Call[];
}

export interface Said {
  kind: "turn";
  key: string;
  at: string;
  turn: Turn;
}

export type Item = Said | CallGroup;

/** Turns with the calls between them; calls that follow one another are one group. */
export function talk(turns: Turn[], calls: Call[]): Item[] {
  const all: (Said | { kind: "call"; at: string; call: Call })[] = [
    ...turns.map((turn): Said => ({ kind: "turn", key: turn.turn_id, at: turn.timestamp, turn })),
    ...calls.map((call) => ({ kind: "call" as const, at: call.started_at, call })),
  ];
  const items: Item[] = [];
  for (const each of all.toSorted((a, b) => instant(a.at) - instant(b.at))) {
    const last = items.at(-1);
    if (each.kind === "turn") items.push(each);
    else if (last?.kind === "calls") last.calls.push(each.call);
    else items.push({ kind: "calls", key: `calls ${each.call.id}`, at: each.at, calls: [each.call] });
  }
  return items;
}

/** The element that shows what was said or done at a moment, or nearest to it. */
export function placeAt(turns: Turn[], calls: Call[], at: string): string | null {
  const places = [
    ...turns.map((turn) => ({ place: `turn-${turn.turn_id}`, at: turn.timestamp })),
    ...calls.flatMap((call) => [call.started_at, call.ended_at ?? call.started_at].map((time) => ({ place: `call-${call.id}`, at: time }))),
  ];
  const distance = (each: { at: string }): number => Math.abs(instant(each.at) - instant(at));
  return places.toSorted((a, b) => distance(a) - distance(b))[0]?.place ?? null;
}

/** What went in or came out, as people read it: a text as it is, one lonely text of an object too, else JSON. */
export function plain(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "object" && !Array.isArray(value)) {
    const told = value as Record<string, unknown>;
    const output = [told.stdout, told.stderr].filter((part) => typeof part === "string" && part !== "");
    if ("stdout" in told || "stderr" in told) return output.join("\n") || "(no output)";
    const entries = Object.entries(told);
    if (entries.length === 1 && typeof entries[0]![1] === "string") return entries[0]![1];
  }
  return JSON.stringify(value, null, 2);
}
