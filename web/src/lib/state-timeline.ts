// The states of an agent as spans of time. Pure.
import { parseTime } from "./time";
import type { StateChange } from "./types";

export interface StateSpan {
  change: StateChange;
  startsAt: number;
  endsAt: number;
}

function inOrder(changes: StateChange[]): StateChange[] {
  return changes.toSorted((a, b) => parseTime(a.at) - parseTime(b.at) || a.seq - b.seq);
}

/** Each state lasts until the next one, the last one until `until`. Empty spans are left out. */
export function stateSpans(changes: StateChange[], until: number): StateSpan[] {
  const sorted = inOrder(changes);
  return sorted
    .map((change, index) => {
      const startsAt = parseTime(change.at);
      const next = sorted[index + 1];
      return { change, startsAt, endsAt: next ? parseTime(next.at) : Math.max(until, startsAt) };
    })
    .filter((span) => span.endsAt > span.startsAt);
}

/** The last change at or before a time; null before the first one. */
export function stateAt(changes: StateChange[], time: number): StateChange | null {
  return inOrder(changes).findLast((change) => parseTime(change.at) <= time) ?? null;
}

/** At most six round times between two times. */
export function axisTicks(from: number, to: number): number[] {
  const steps = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880, 10080].map((minutes) => minutes * 60_000);
  const step = steps.find((each) => (to - from) / each <= 6) ?? Math.ceil((to - from) / 6);
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const ticks: number[] = [];
  for (let tick = Math.ceil((from - offset) / step) * step + offset; tick < to; tick += step) ticks.push(tick);
  return ticks;
}
