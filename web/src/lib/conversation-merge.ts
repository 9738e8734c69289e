// Joins turns and tool calls from several sources, in order of time. What did not change stays the same object, so that
// only what changed is drawn again. Pure.
import type { ToolCall, Turn } from "./types";

export function mergeTurns(known: Turn[], more: Turn[]): Turn[] {
  const isSame = (a: Turn, b: Turn): boolean => a.text === b.text && a.timestamp === b.timestamp && a.intent === b.intent && a.command_id === b.command_id;
  return merge(known, more, (turn) => turn.turn_id, (turn) => turn.timestamp, isSame);
}

export function mergeCalls(known: ToolCall[], more: ToolCall[]): ToolCall[] {
  const isSame = (a: ToolCall, b: ToolCall): boolean => a.outcome === b.outcome && a.ended_at === b.ended_at && a.started_at === b.started_at;
  return merge(known, more, (call) => call.id, (call) => call.started_at, isSame);
}

function merge<T>(known: T[], more: T[], id: (each: T) => string, time: (each: T) => string, isSame: (a: T, b: T) => boolean): T[] {
  const found = new Map(known.map((each) => [id(each), each]));
  let isChanged = false;
  for (const each of more) {
    const old = found.get(id(each));
    if (old !== undefined && isSame(old, each)) continue;
    found.set(id(each), each);
    isChanged = true;
  }
  if (!isChanged) return known;
  return [...found.values()].toSorted((a, b) => (time(a) < time(b) ? -1 : time(a) > time(b) ? 1 : 0));
}

/** Where an update of the newest part begins: a few turns or calls before its end, or at the oldest running call. */
export function updateStart(turns: Turn[], calls: ToolCall[], overlap = 10): string | undefined {
  const running = calls.filter((call) => call.outcome === "running").map((call) => call.started_at);
  const recent = [turns.at(-overlap)?.timestamp, calls.at(-overlap)?.started_at].filter((time) => time !== undefined).toSorted().at(-1);
  return [...running, ...(recent === undefined ? [] : [recent])].toSorted()[0];
}
