// The states of an agent as stretches of time. Pure.
import { instant } from "./time";
import type { State, StateChange } from "./types";

export interface Stretch {
  change: StateChange;
  state: State;
  begins: number;
  ends: number;
}

/** Each state lasts until the next one; the last until `until`. */
export function stretches(changes: StateChange[], until: number): Stretch[] {
  const sorted = changes.toSorted((a, b) => instant(a.at) - instant(b.at) || a.seq - b.seq);
  return sorted
    .map((change, at) => {
      const begins = instant(change.at);
      const next = sorted[at + 1];
      return { change, state: change.state, begins, ends: next ? instant(next.at) : Math.max(until, begins) };
    })
    .filter((stretch) => stretch.ends > stretch.begins);
}

/** The state at a moment; before the first one there is none. */
export function stateAt(changes: StateChange[], moment: number): StateChange | null {
  let found: StateChange | null = null;
  for (const change of changes.toSorted((a, b) => instant(a.at) - instant(b.at) || a.seq - b.seq)) {
    if (instant(change.at) <= moment) found = change;
  }
  return found;
}

/** Round moments for an axis: some four of them between the ends. */
export function ticks(begins: number, ends: number): number[] {
  const steps = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880, 10080].map((minutes) => minutes * 60_000);
  const step = steps.find((each) => (ends - begins) / each <= 6) ?? Math.ceil((ends - begins) / 6);
  const offset = new Date(begins).getTimezoneOffset() * 60_000;
  const first = Math.ceil((begins - offset) / step) * step + offset;
  const found: number[] = [];
  for (let at = first; at < ends; at += step) found.push(at);
  return found;
}
