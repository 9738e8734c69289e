// The states of an agent as spans of time. Pure.
import { parseTime } from "./time";
import { timeScale, type Segment, type TimeScale } from "./time-scale";
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

const isIdle = ({ change }: StateSpan): boolean => change.state === "idle" || change.state === "ended";

/** The axis of the spans. Long idle times are shortened. */
export function stateScale(spans: StateSpan[]): TimeScale {
  return timeScale(spans.map((span) => segmentOf(span)));
}

export const segmentOf = (span: StateSpan): Segment => ({ startsAt: span.startsAt, endsAt: span.endsAt, isIdle: isIdle(span) });

/** The share of the axis that a label needs. */
const LABEL_SHARE = 0.15;

/** Round times for the axis of the spans; none within a shortened span, and none that overlap. */
export function scaleTicks(spans: StateSpan[], scale: TimeScale): number[] {
  const shown = spans.filter((span) => !scale.isShortened(segmentOf(span)));
  const length = shown.reduce((sum, span) => sum + span.endsAt - span.startsAt, 0);
  // A label at an end is moved inwards.
  const labelPosition = (tick: number): number => Math.min(Math.max(scale.position(tick), LABEL_SHARE / 2), 1 - LABEL_SHARE / 2);
  const ticks: number[] = [];
  for (const tick of shown.flatMap((span) => axisTicks(span.startsAt, span.endsAt, length))) {
    const last = ticks.at(-1);
    if (last === undefined || labelPosition(tick) - labelPosition(last) >= LABEL_SHARE) ticks.push(tick);
  }
  return ticks.length > 0 || !spans[0] ? ticks : [spans[0].startsAt];
}

/** Round times between two times: at most six in a given length. */
export function axisTicks(from: number, to: number, length = to - from): number[] {
  const steps = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880, 10080].map((minutes) => minutes * 60_000);
  const step = steps.find((each) => length / each <= 6) ?? Math.ceil(length / 6);
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const ticks: number[] = [];
  for (let tick = Math.ceil((from - offset) / step) * step + offset; tick < to; tick += step) ticks.push(tick);
  return ticks;
}
