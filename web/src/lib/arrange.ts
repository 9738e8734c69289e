// What stands where on the board. Pure: agents in, sections out. The order within a section follows from things that
// seldom change (since when it waits, when it was born), never from the last sign of life, so that cards keep their
// places while people look at them.
import type { Agent, State } from "./types";
import { oneLine, STATES, summary } from "./words";

export type View = "attention" | "project" | "state";

export interface Filter {
  text: string;
  project: string | null;
  state: State | null;
}

export interface Section {
  key: string;
  title: string;
  state: State | null;
  agents: Agent[];
}

const TITLES: Record<State, string> = {
  waiting: "Waiting for you",
  error: "Stopped by an error",
  working: "Working",
  starting: "Starting",
  idle: "Idle",
  ended: "Ended",
};

/** What decides where a card stands, and what is counted. */
const PLACING = ["state", "state_since", "created_at", "name", "project", "parent_id", "unseen", "waits"] as const;

/** Whether a change moves no card and changes no number: then all that is arranged stays as it is. */
export function isPlacedAlike(before: Agent | undefined, after: Agent | undefined): boolean {
  if (!before || !after) return before === after;
  return before.subagents.length === after.subagents.length && PLACING.every((field) => before[field] === after[field]);
}

export const URGENCY = Object.fromEntries(STATES.map((state, at) => [state, at])) as Record<State, number>;

/** The API writes all its times alike, so their texts are in the order of time; reading them would cost more. */
function earlier(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Who waits longest comes first; who finished last comes first; who works stays where it is. */
function within(a: Agent, b: Agent): number {
  if (a.state === "waiting" || a.state === "error") return earlier(a.state_since, b.state_since);
  if (a.state === "working" || a.state === "starting") return earlier(a.created_at, b.created_at);
  return earlier(b.state_since, a.state_since);
}

export function inOrder(a: Agent, b: Agent): number {
  return URGENCY[a.state] - URGENCY[b.state] || within(a, b) || (a.id < b.id ? -1 : 1);
}

/** Every word that was typed must be found somewhere on the card. */
export function matches(agent: Agent, filter: Filter): boolean {
  if (filter.project !== null && agent.project.id !== filter.project) return false;
  if (filter.state !== null && agent.state !== filter.state) return false;
  if (filter.text === "") return true;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = haystack(agent);
  return words.every((word) => shown.includes(word));
}

function haystack(agent: Agent): string {
  const parts = [
    agent.name,
    agent.project.name,
    agent.branch,
    agent.state,
    agent.waiting_for,
    agent.model,
    agent.host,
    agent.cwd,
    summary(agent, 0),
    oneLine(agent.command?.text ?? ""),
    ...agent.subagents.map((sub) => `${sub.type} ${sub.description}`),
  ];
  return parts.filter(Boolean).join(" ").toLowerCase();
}

export function sections(agents: Agent[], view: View): Section[] {
  const sorted = agents.toSorted(inOrder);
  return view === "project" ? byProject(sorted) : byState(sorted);
}

function byState(sorted: Agent[]): Section[] {
  return STATES.map((state) => ({
    key: state,
    title: TITLES[state],
    state,
    agents: sorted.filter((agent) => agent.state === state),
  })).filter((section) => section.agents.length > 0);
}

function byProject(sorted: Agent[]): Section[] {
  const groups = Map.groupBy(sorted, (agent) => agent.project.id);
  return [...groups.entries()]
    .map(([key, agents]) => ({ key, title: agents[0]!.project.name, state: null, agents }))
    .toSorted((a, b) => URGENCY[a.agents[0]!.state] - URGENCY[b.agents[0]!.state] || a.title.localeCompare(b.title));
}

export function counts(agents: Iterable<Agent>): Record<State, number> {
  const found = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  for (const agent of agents) found[agent.state] += 1;
  return found;
}

export interface ProjectCount {
  id: string;
  name: string;
  agents: number;
  waiting: number;
}

export function projects(agents: Iterable<Agent>): ProjectCount[] {
  const found = new Map<string, ProjectCount>();
  for (const agent of agents) {
    const { id, name } = agent.project;
    const entry = found.get(id) ?? { id, name, agents: 0, waiting: 0 };
    if (agent.state !== "ended") entry.agents += 1;
    if (agent.state === "waiting") entry.waiting += 1;
    found.set(id, entry);
  }
  return [...found.values()].toSorted((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));
}

/** Whether two lists say the same: then the old one is kept, and nothing that shows it is made anew. */
export function areSame(before: ProjectCount[], after: ProjectCount[]): boolean {
  return (
    before.length === after.length &&
    before.every((one, at) => {
      const other = after[at]!;
      return one.id === other.id && one.name === other.name && one.agents === other.agents && one.waiting === other.waiting;
    })
  );
}

/** Who to look at next: who waits longest, then who was stopped, then who finished something that nobody saw. */
export function recommended(agents: Agent[]): Agent | null {
  return agents.filter((agent) => agent.state === "waiting" || agent.unseen).toSorted(inOrder)[0] ?? null;
}
