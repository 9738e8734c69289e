// Times and durations as text, with the same wording as the terminal. Pure.

/** Milliseconds since 1970; 0 if the text is not a time. */
export function parseTime(time: string): number {
  const parsed = Date.parse(time);
  return Number.isNaN(parsed) ? 0 : parsed;
}

/** A duration in one unit: "12 s", "4 min", "2 h", "3 d". */
export function shortDuration(seconds: number): string {
  const whole = Math.max(Math.floor(seconds), 0);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 48 * 3600) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86400)} d`;
}

/** A duration in one or two units: "1 h 20 min". */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const rest = minutes % 60;
  return rest && minutes >= 60 && minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${rest} min` : shortDuration(seconds);
}

export function elapsed(time: string, now: number): string {
  return shortDuration((now - parseTime(time)) / 1000);
}

/** "4 min ago". A time in the future, from a clock that is ahead, is "just now". */
export function ago(time: string, now: number): string {
  return now - parseTime(time) < 5_000 ? "just now" : `${elapsed(time, now)} ago`;
}

const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const HOUR_AND_MINUTE = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

const DAY_NAME = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short" });
const SHORT_DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

/** A date (YYYY-MM-DD) in words: "Thu, Nov 19". */
export function dayName(day: string): string {
  return DAY_NAME.format(parseTime(`${day}T12:00`));
}

/** A date without its weekday: "Nov 19". */
export function shortDay(day: string): string {
  return SHORT_DAY.format(parseTime(`${day}T12:00`));
}

export function timeOfDay(time: string): string {
  return TIME_OF_DAY.format(parseTime(time));
}

export function hourAndMinute(milliseconds: number): string {
  return HOUR_AND_MINUTE.format(milliseconds);
}

export function exactTime(time: string): string {
  return EXACT.format(parseTime(time));
}

/** The local date as YYYY-MM-DD. */
export function isoDate(milliseconds: number): string {
  const date = new Date(milliseconds);
  const twoDigits = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

/** Whole seconds until a time, at least 1. The clock of the page is up to a second late, so `most` limits them. */
export function secondsUntil(time: number, now: number, most: number): number {
  return Math.min(Math.max(Math.ceil((time - now) / 1000), 1), most);
}
