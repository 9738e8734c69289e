// Which parts of a request were on the screen, as intervals of its height. Pure.

export type Interval = readonly [from: number, to: number];

/** Positions on the screen are rounded. */
const TOLERANCE = 2;

/** The parts that were seen, and one more. They are sorted, and those that touch are joined. */
export function addPart(seen: readonly Interval[], [from, to]: Interval): Interval[] {
  if (to <= from) return [...seen];
  const touching = seen.filter((each) => each[0] <= to && from <= each[1]);
  const others = seen.filter((each) => !touching.includes(each));
  const joined: Interval = [Math.min(from, ...touching.map((each) => each[0])), Math.max(to, ...touching.map((each) => each[1]))];
  return [...others, joined].toSorted((a, b) => a[0] - b[0]);
}

/** Whether everything up to a height was seen. */
export function coversAll(seen: readonly Interval[], height: number): boolean {
  if (height <= TOLERANCE) return true;
  return seen.some(([from, to]) => from <= TOLERANCE && to >= height - TOLERANCE);
}
