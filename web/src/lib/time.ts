// Time in words, the same words as in the terminal. Pure.

export function instant(time: string): number {
  const found = Date.parse(time);
  return Number.isNaN(found) ? 0 : found;
}

/** How long, in one unit: "12 s", "4 min", "2 h", "3 d". */
export function span(seconds: number): string {
  const whole = Math.max(Math.floor(seconds), 0);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 48 * 3600) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86400)} d`;
}

export function since(time: string, now: number): string {
  return span((now - instant(time)) / 1000);
}

/** When, seen from now. A clock that goes ahead of ours says "just now". */
export function ago(time: string, now: number): string {
  const seconds = (now - instant(time)) / 1000;
  return seconds < 5 ? "just now" : `${span(seconds)} ago`;
}

/** Two units where one says too little: "1 h 20 min". */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return span(seconds);
  const rest = minutes % 60;
  return rest && minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${rest} min` : span(seconds);
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export function clock(time: string): string {
  return CLOCK.format(instant(time));
}

export function hour(moment: number): string {
  return HOUR.format(moment);
}

export function exact(time: string): string {
  return EXACT.format(instant(time));
}

/** The day here, as the API takes it. */
export function dayOf(moment: number): string {
  const date = new Date(moment);
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
