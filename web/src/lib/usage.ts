// Cost and tokens in a time range: the range and the grouping of an address, the days of a chart, the rows of a table.
// Pure. An unknown cost is null, never zero. A sum with tokens without a known price is a minimum.
import { formatTokens } from "./text";
import { isoDate } from "./time";
import type { UsageRow } from "./types";

export const RANGES = { today: "Today", "7d": "7 days", "30d": "30 days", month: "Month", own: "Dates" } as const;
export type Range = keyof typeof RANGES;
export const GROUPS = { day: "Day", project: "Project", model: "Model", client: "Client", agent: "Agent" } as const;
export type Group = keyof typeof GROUPS;
export const MEASURES = { cost: "Cost", tokens: "Tokens" } as const;
export type Measure = keyof typeof MEASURES;

/** What the address selects. `from` and `to` are the first and the last day. */
export interface Selection {
  range: Range;
  from: string;
  to: string;
  by: Group;
  measure: Measure;
}

export interface Sums {
  cost: number | null;
  unpriced: number;
  tokens: number;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
}

/** One group: a project, a model, a client, an agent or a day. */
export interface GroupSums extends Sums {
  key: string;
  name: string;
  /** The address of its details; empty if it has none. */
  agentId: string;
}

const DAYS: Partial<Record<Range, number>> = { today: 1, "7d": 7, "30d": 30 };
const MAX_DAYS = 366;
/** The groups with a colour of their own. All others are one series. */
export const SERIES = 5;
export const OTHERS = "others";

const isDate = (text: string | null): text is string => text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
const choice = <T extends string>(text: string | null, choices: Record<T, string>, initial: NoInfer<T>): T => (text !== null && Object.hasOwn(choices, text) ? (text as T) : initial);
/** Noon, so that a day with 23 or 25 hours stays the same day. */
const noon = (day: string): number => Date.parse(`${day}T12:00`);

export function addDays(day: string, days: number): string {
  const date = new Date(noon(day));
  date.setDate(date.getDate() + days);
  return isoDate(date.getTime());
}

/** What an address selects. Invalid values are replaced by the defaults. */
export function selectionOf(query: URLSearchParams, now: number): Selection {
  const today = isoDate(now);
  const asked = choice(query.get("range"), RANGES, "7d");
  const [first, last] = [query.get("from"), query.get("to")];
  const isOwn = asked === "own" && isDate(first) && isDate(last) && first <= last;
  const range = asked === "own" && !isOwn ? "7d" : asked;
  const from = isOwn ? first : range === "month" ? `${today.slice(0, 7)}-01` : addDays(today, 1 - (DAYS[range] ?? 1));
  return { range, from, to: isOwn ? last : today, by: choice(query.get("by"), GROUPS, "project"), measure: choice(query.get("show"), MEASURES, "cost") };
}

/** The address of a selection. Only an own range names its days, so that the others move on. */
export function addressOf({ range, from, to, by, measure }: Selection): string {
  const days = range === "own" ? { from, to } : {};
  return `/usage?${new URLSearchParams({ range, ...days, by, show: measure })}`;
}

/** The parameters of the API for a selection, by day and group. */
export function parametersOf({ from, to, by }: Selection): { since: string; until: string; by: string } {
  return { since: from, until: addDays(to, 1), by: by === "day" ? "day" : `day,${by}` };
}

/** All days of a range, at most a year: the last ones. */
export function daysOf({ from, to }: Pick<Selection, "from" | "to">): string[] {
  const days: string[] = [];
  for (let day = to; day >= from && days.length < MAX_DAYS; day = addDays(day, -1)) days.unshift(day);
  return days;
}

function sumsOf(rows: UsageRow[]): Sums {
  const add = (field: "unpriced_tokens" | "total_tokens" | "input_tokens" | "cache_read_tokens" | "cache_write_tokens" | "output_tokens"): number =>
    rows.reduce((sum, row) => sum + row[field], 0);
  const known = rows.flatMap((row) => row.cost_usd ?? []);
  return {
    cost: known.length > 0 ? known.reduce((sum, cost) => sum + cost, 0) : null,
    unpriced: add("unpriced_tokens"),
    tokens: add("total_tokens"),
    input: add("input_tokens"),
    cacheRead: add("cache_read_tokens"),
    cacheWrite: add("cache_write_tokens"),
    output: add("output_tokens"),
  };
}

function keyOf(row: UsageRow, by: Group): { key: string; name: string } {
  if (by === "project") return { key: row.project?.id ?? "", name: row.project?.name ?? "" };
  if (by === "agent") return { key: row.agent_id ?? "", name: row.agent ?? "" };
  const name = row[by] ?? "";
  return { key: name, name };
}

function byKey(rows: UsageRow[], keyOfRow: (row: UsageRow) => string): Map<string, UsageRow[]> {
  const found = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const own = found.get(keyOfRow(row));
    if (own) own.push(row);
    else found.set(keyOfRow(row), [row]);
  }
  return found;
}

/** The groups of the range, those with the highest value first; days in their order. */
export function groupsOf(rows: UsageRow[], by: Group, measure: Measure): GroupSums[] {
  const groups = [...byKey(rows, (row) => keyOf(row, by).key).values()].map((own) => {
    const { key, name } = keyOf(own[0]!, by);
    return { key, name, agentId: own[0]!.agent_id ?? "", ...sumsOf(own) };
  });
  return groups.toSorted((a, b) => (by === "day" ? a.key.localeCompare(b.key) : valueOf(b, measure) - valueOf(a, measure) || a.name.localeCompare(b.name)));
}

export const valueOf = (sums: Pick<Sums, "cost" | "tokens">, measure: Measure): number => (measure === "cost" ? (sums.cost ?? 0) : sums.tokens);

/** One series of the chart: the value of each day. */
export interface Series extends GroupSums {
  /** Its colour: 0 is the strongest. */
  shade: number;
  days: Map<string, Sums>;
}

/** The groups with the highest values, and all others together. By day, there is one series. */
export function seriesOf(rows: UsageRow[], by: Group, measure: Measure): Series[] {
  if (by === "day") return rows.length > 0 ? [{ key: "all", name: "All", agentId: "", shade: 0, ...sumsOf(rows), days: daySums(rows) }] : [];
  const groups = groupsOf(rows, by, measure);
  const shown = groups.length > SERIES + 1 ? groups.slice(0, SERIES) : groups;
  const own = byKey(rows, (row) => keyOf(row, by).key);
  const series = shown.map((group, shade) => ({ ...group, shade, days: daySums(own.get(group.key) ?? []) }));
  const rest = groups.slice(shown.length);
  if (rest.length === 0) return series;
  const others = rest.flatMap((group) => own.get(group.key) ?? []);
  return [...series, { key: OTHERS, name: `${rest.length} others`, agentId: "", shade: SERIES, ...sumsOf(others), days: daySums(others) }];
}

function daySums(rows: UsageRow[]): Map<string, Sums> {
  return new Map([...byKey(rows, (row) => row.day ?? "")].map(([day, own]) => [day, sumsOf(own)]));
}

export const totalOf = (rows: UsageRow[]): Sums => sumsOf(rows);

/** A cost with cents: "$41.20". One of less than half a cent is not nothing. */
export function dollars(cost: number): string {
  if (cost > 0 && cost < 0.005) return "<$0.01";
  const text = Math.abs(cost).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return `${cost <= -0.005 ? "-" : ""}$${text}`;
}

/** A cost: "unknown", or a minimum if some of it is not known. */
export function costText({ cost, unpriced }: Pick<Sums, "cost" | "unpriced">): string {
  if (cost === null) return "unknown";
  return `${unpriced > 0 ? "at least " : ""}${dollars(cost)}`;
}

/** Tokens: "unknown" if the client reported a cost without them. */
export const tokensText = ({ tokens, cost }: Pick<Sums, "tokens" | "cost">): string => (tokens === 0 && cost ? "unknown" : formatTokens(tokens));

export const valueText = (sums: Sums, measure: Measure): string => (measure === "cost" ? costText(sums) : tokensText(sums));

/** A round number at or above a value, for the top of an axis. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((factor) => Number((factor * power).toPrecision(2))).find((each) => each >= value * 0.999) ?? value;
}

const LIMIT_WORDS: Record<string, string> = {
  five_hour: "5 hours",
  seven_day: "7 days",
  primary: "short window",
  secondary: "long window",
};

/** The name of a rate limit as people know it. */
export const limitName = (name: string): string => LIMIT_WORDS[name] ?? name.replaceAll("_", " ");

/** The level of a budget or limit: used up, nearly, or neither. */
export function limitLevel(percent: number): "full" | "warning" | "calm" {
  if (percent >= 100) return "full";
  return percent >= 80 ? "warning" : "calm";
}
