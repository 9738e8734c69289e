// A time axis on which long idle times are short, so that hours without work do not squeeze the minutes with work. Pure.

export interface Segment {
  startsAt: number;
  endsAt: number;
  isIdle: boolean;
}

export interface TimeScale {
  /** From 0 to 1. */
  position: (time: number) => number;
  /** The time at a position. */
  time: (position: number) => number;
  /** Whether a segment is shorter on the axis than it was. */
  isShortened: (segment: Segment) => boolean;
}

const MIN_IDLE_MILLISECONDS = 60_000;
/** An idle time takes at most this share of all times with work. */
const IDLE_SHARE = 0.1;

const duration = ({ startsAt, endsAt }: Segment): number => endsAt - startsAt;

/** The scale of consecutive segments. Without any work, nothing is shortened. */
export function timeScale(segments: Segment[]): TimeScale {
  const work = segments.filter((each) => !each.isIdle).reduce((sum, each) => sum + duration(each), 0);
  const limit = work === 0 ? Infinity : Math.max(MIN_IDLE_MILLISECONDS, work * IDLE_SHARE);
  const width = (each: Segment): number => (each.isIdle ? Math.min(duration(each), limit) : duration(each));
  const total = Math.max(segments.reduce((sum, each) => sum + width(each), 0), 1);
  let end = 0;
  const placed = segments.map((segment) => {
    const start = end;
    end += width(segment) / total;
    return { segment, start, end };
  });
  return {
    position: (time) => {
      const found = placed.find(({ segment }) => time < segment.endsAt);
      if (!found) return 1;
      const { segment, start, end } = found;
      return start + Math.max((time - segment.startsAt) / duration(segment), 0) * (end - start);
    },
    time: (position) => {
      const found = placed.find(({ end }) => position < end);
      if (!found) return segments.at(-1)?.endsAt ?? 0;
      const { segment, start, end } = found;
      return segment.startsAt + Math.max((position - start) / (end - start), 0) * duration(segment);
    },
    isShortened: (segment) => width(segment) < duration(segment),
  };
}
