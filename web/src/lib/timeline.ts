// The timeline of all agents: lanes with bands (states), marks (commands) and sub-agents; the time axis. Pure. Times are
// milliseconds. A band lasts until the next one; the last one until now.
import { axisTicks } from "./state-timeline";
import type { StreamEvent } from "./stream-events";
import { parseTime } from "./time";
import { timeScale, type Segment, type TimeScale } from "./time-scale";
import type { Agent, Project, Timeline as Reply } from "./types";

export interface Evidence {
  why: string;
  event: string;
  source: string;
  confidence: string;
}

/** A state that an agent entered. */
export interface Change {
  seq: number;
  at: number;
  state: string;
  waitingFor: string | null;
  evidence: Evidence | null;
}

export interface Command {
  at: number;
  text: string;
  outcome: string | null;
}

export interface Helper {
  id: string;
  startedAt: number;
  /** Null while it runs. */
  endedAt: number | null;
  type: string;
  description: string;
}

/** One agent. */
export interface Lane {
  id: string;
  name: string;
  project: Project;
  client: string;
  mission: { id: string; goal: string } | null;
  changes: Change[];
  commands: Command[];
  subagents: Helper[];
}

export interface Band extends Change {
  endsAt: number;
}

export interface Window {
  from: number;
  to: number;
}

/** The lanes of a reply. Texts of sub-agents are filled in if they are empty. */
export function lanesOf(reply: Reply): Map<string, Lane> {
  const lanes = reply.agents.map((agent): Lane => ({
    id: agent.id,
    name: agent.name,
    project: reply.projects[agent.project]!,
    client: agent.client,
    mission: agent.mission,
    changes: agent.states.map(([seq, at, state, waitingFor, evidence]) => ({ seq, at, state, waitingFor, evidence: reply.evidence[evidence] ?? null })),
    commands: agent.commands.map(([at, text, outcome]) => ({ at, text, outcome })),
    subagents: agent.subagents.map(([id, startedAt, endedAt, type, description]) => ({ id, startedAt, endedAt, type: type || "sub-agent", description })),
  }));
  return new Map(lanes.map((lane) => [lane.id, lane]));
}

/** The lanes after an event of the stream. Null if it is of an agent without a lane: load again. */
export function afterEvent(lanes: ReadonlyMap<string, Lane>, event: StreamEvent, now: number): ReadonlyMap<string, Lane> | null {
  const { agent_id: id, changes } = event.data as { agent_id?: string; changes?: Partial<Agent> };
  if (id === undefined || (changes === undefined && event.type !== "agent_created")) return lanes;
  const lane = lanes.get(id);
  if (lane === undefined) return null;
  if (changes === undefined) return lanes;
  return new Map(lanes).set(id, { ...lane, changes: newChanges(lane, event, changes), commands: newCommands(lane, changes), subagents: newSubagents(lane, changes, now) });
}

function newChanges(lane: Lane, event: StreamEvent, changes: Partial<Agent>): Change[] {
  if (event.type !== "state_changed" || changes.state_since === undefined) return lane.changes;
  const data = event.data as unknown as Pick<Agent, "state" | "waiting_for" | "evidence">;
  const evidence = data.evidence === null ? null : { ...data.evidence, event: "just now" };
  const change = { seq: event.id ?? 0, at: parseTime(changes.state_since), state: data.state, waitingFor: data.waiting_for, evidence };
  return lane.changes.some((each) => each.seq === change.seq) ? lane.changes : [...lane.changes, change].toSorted((a, b) => a.at - b.at || a.seq - b.seq);
}

function newCommands(lane: Lane, { command }: Partial<Agent>): Command[] {
  if (!command) return lane.commands;
  const at = Math.floor(parseTime(command.started_at));
  return [...lane.commands.filter((each) => each.at !== at), { at, text: command.text, outcome: command.outcome }];
}

/** The stream names running sub-agents only: one that is missing has ended. */
function newSubagents(lane: Lane, { subagents }: Partial<Agent>, now: number): Helper[] {
  if (subagents === undefined) return lane.subagents;
  const running = subagents.map((each): Helper => {
    const known = lane.subagents.find((other) => other.id === each.id);
    return { id: each.id, startedAt: known?.startedAt ?? parseTime(each.started_at), endedAt: null, type: each.type || "sub-agent", description: each.description };
  });
  const ids = new Set(running.map((each) => each.id));
  const others = lane.subagents.filter((each) => !ids.has(each.id)).map((each) => ({ ...each, endedAt: each.endedAt ?? now }));
  return [...others, ...running];
}

/** The states of a lane within a window, without those after its end. */
export function bandsOf(changes: readonly Change[], { from, to }: Window): Band[] {
  return changes
    .map((change, index) => ({ ...change, endsAt: changes[index + 1]?.at ?? Math.max(to, change.at) }))
    .filter((band) => band.state !== "ended" && band.endsAt > Math.max(from, band.at) && band.at < to);
}

const URGENCY = ["waiting", "error", "working", "starting", "idle"];

/** Bands that are wide enough to be seen. Consecutive narrow ones become one, with the most urgent state of them. */
export function visibleBands(bands: Band[], position: (time: number) => number, minimum: number): Band[] {
  const shown: Band[] = [];
  const width = (band: Band): number => position(band.endsAt) - position(band.at);
  for (const band of bands) {
    const last = shown.at(-1);
    if (last === undefined || width(last) >= minimum || width(band) >= minimum) shown.push(band);
    else shown[shown.length - 1] = { ...(URGENCY.indexOf(band.state) < URGENCY.indexOf(last.state) ? band : last), at: last.at, endsAt: band.endsAt };
  }
  return shown;
}

/** Whether an agent did anything but idle. */
export const isActive = (lane: Lane, window: Window): boolean =>
  bandsOf(lane.changes, window).some((band) => band.state !== "idle") || lane.commands.some(({ at }) => at >= window.from && at < window.to);

/** A shorter time in which no agent works is not worth a mark on the axis. */
const MIN_QUIET_MILLISECONDS = 10 * 60_000;

/** The times of a window in which some agent works, and those in which none does. An open wait alone is quiet. */
export function segmentsOf(lanes: Iterable<Lane>, window: Window): Segment[] {
  const busy = [...lanes]
    .flatMap((lane) => bandsOf(lane.changes, window).filter((band) => band.state === "working" || band.state === "error"))
    .map((band) => ({ startsAt: Math.max(band.at, window.from), endsAt: Math.min(band.endsAt, window.to) }))
    .toSorted((a, b) => a.startsAt - b.startsAt);
  const segments: Segment[] = [];
  let end = window.from;
  let workFrom = window.from;
  for (const each of [...busy, { startsAt: window.to, endsAt: window.to }]) {
    if (each.startsAt - end >= MIN_QUIET_MILLISECONDS) {
      if (end > workFrom) segments.push({ startsAt: workFrom, endsAt: end, isIdle: false });
      segments.push({ startsAt: end, endsAt: each.startsAt, isIdle: true });
      workFrom = each.startsAt;
    }
    end = Math.max(end, each.endsAt);
  }
  if (window.to > workFrom) segments.push({ startsAt: workFrom, endsAt: window.to, isIdle: false });
  return segments;
}

export interface Axis extends TimeScale {
  ticks: number[];
  /** The times that are shorter on the axis than they were. */
  shortened: Segment[];
}

/** The axis of a window. Ticks are at least `gap` apart, a share of the axis. */
export function axisOf(segments: Segment[], gap: number): Axis {
  const scale = timeScale(segments);
  const shown = segments.filter((each) => !scale.isShortened(each));
  const length = shown.reduce((sum, each) => sum + each.endsAt - each.startsAt, 0);
  const ticks: number[] = [];
  for (const tick of shown.flatMap((each) => axisTicks(each.startsAt, each.endsAt, length * 6 * gap))) {
    const last = ticks.at(-1);
    if (last === undefined || scale.position(tick) - scale.position(last) >= gap) ticks.push(tick);
  }
  return { ...scale, ticks, shortened: segments.filter((each) => scale.isShortened(each)) };
}

/** What can be selected in a lane, in order of time: its states and commands. */
export type Item = { kind: "band"; at: number; band: Band } | { kind: "command"; at: number; command: Command };

export function itemsOf(lane: Lane, window: Window): Item[] {
  const bands = bandsOf(lane.changes, window).map((band): Item => ({ kind: "band", at: band.at, band }));
  const commands = lane.commands.filter(({ at }) => at >= window.from && at < window.to).map((command): Item => ({ kind: "command", at: command.at, command }));
  return [...bands, ...commands].toSorted((a, b) => a.at - b.at);
}

/** The item at a time: a command within a tolerance, else the state. */
export function itemAt(items: Item[], time: number, tolerance: number): Item | null {
  const commands = items.filter((item) => item.kind === "command" && Math.abs(item.at - time) <= tolerance);
  const nearest = commands.toSorted((a, b) => Math.abs(a.at - time) - Math.abs(b.at - time))[0];
  return nearest ?? items.findLast((item) => item.kind === "band" && item.at <= time && time < item.band.endsAt) ?? null;
}

// --- the window in the address ---

export const RANGES = { "1h": "1 hour", "6h": "6 hours", "24h": "24 hours", "3d": "3 days", "7d": "7 days" } as const;
export type Range = keyof typeof RANGES;
const HOUR = 3_600_000;
const LENGTHS: Record<Range, number> = { "1h": HOUR, "6h": 6 * HOUR, "24h": 24 * HOUR, "3d": 72 * HOUR, "7d": 168 * HOUR };
const MIN_LENGTH = 60_000;
const MAX_LENGTH = 31 * 24 * HOUR;

export interface View extends Window {
  /** The range that was chosen; null after zooming. */
  range: Range | null;
  /** It ends now and moves. */
  isLive: boolean;
}

/** The window of an address: a range or minutes until now, or two times. */
export function windowOf(query: URLSearchParams, now: number): View {
  const [since, until] = [parseTime(query.get("since") ?? ""), parseTime(query.get("until") ?? "")];
  if (since > 0 && isPossible(until - since)) return { from: since, to: until, range: null, isLive: false };
  const length = Number(query.get("minutes") ?? 0) * 60_000;
  if (isPossible(length)) return { from: now - length, to: now, range: null, isLive: true };
  const asked = query.get("range") ?? "";
  const range = Object.hasOwn(RANGES, asked) ? (asked as Range) : "6h";
  return { from: now - LENGTHS[range], to: now, range, isLive: true };
}

const isPossible = (length: number): boolean => length >= MIN_LENGTH && length <= MAX_LENGTH;

/** The address of a window. One that ends now stays live. */
export function addressOf({ from, to }: Window, now: number): string {
  const isLive = to >= now;
  const fields = isLive ? { minutes: String(Math.round((to - from) / 60_000)) } : { since: new Date(from).toISOString(), until: new Date(to).toISOString() };
  return `/timeline?${new URLSearchParams(fields)}`;
}

/** Longer or shorter by a factor; the time `anchor` keeps its place. Never beyond now. */
export function zoomed({ from, to }: Window, factor: number, anchor: number, now: number): Window {
  const length = Math.min(Math.max((to - from) * factor, MIN_LENGTH), MAX_LENGTH);
  const share = (anchor - from) / (to - from);
  const end = Math.min(anchor + length * (1 - share), now);
  return { from: end - length, to: end };
}

/** Earlier (negative) or later by a share of the window. Never beyond now. */
export function panned({ from, to }: Window, share: number, now: number): Window {
  const end = Math.min(to + (to - from) * share, now);
  return { from: end - (to - from), to: end };
}
