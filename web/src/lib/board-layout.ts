// The layout of the board: sections, order, filter, counts. Pure. The order within a section depends only on values that
// rarely change (since when it waits, when it was created), never on the last activity, so cards stay where they are.
import { agentSummary, count, oneLine, STATES } from "./text";
import type { Agent, State } from "./types";

export type Grouping = "attention" | "project" | "state";

export interface Filter {
  text: string;
  project: string | null;
  state: State | null;
  client: string | null;
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

/** The fields that determine the position of a card or a count. */
const LAYOUT_FIELDS = ["state", "state_since", "created_at", "name", "project", "parent_id", "unseen", "waits", "archived"] as const;

/** Whether a change of an agent moves no card and changes no count. */
export function hasSameLayout(before: Agent | undefined, after: Agent | undefined): boolean {
  if (!before || !after) return before === after;
  return before.subagents.length === after.subagents.length && LAYOUT_FIELDS.every((field) => before[field] === after[field]);
}

const URGENCY = Object.fromEntries(STATES.map((state, index) => [state, index])) as Record<State, number>;

/** Times of the API have one format, so they are compared as text: parsing them would be slower. */
function compareTimes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Longest wait first, latest finished first, working agents by creation. */
function compareWithinState(a: Agent, b: Agent): number {
  if (a.state === "waiting" || a.state === "error") return compareTimes(a.state_since, b.state_since);
  if (a.state === "working" || a.state === "starting") return compareTimes(a.created_at, b.created_at);
  return compareTimes(b.state_since, a.state_since);
}

export function compareAgents(a: Agent, b: Agent): number {
  return URGENCY[a.state] - URGENCY[b.state] || compareWithinState(a, b) || (a.id < b.id ? -1 : 1);
}

/** Every word of the filter must occur on the card. */
export function matchesFilter(agent: Agent, filter: Filter): boolean {
  if (filter.project !== null && agent.project.id !== filter.project) return false;
  if (filter.state !== null && agent.state !== filter.state) return false;
  if (filter.client !== null && agent.client !== filter.client) return false;
  if (filter.text === "") return true;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const text = cardText(agent);
  return words.every((word) => text.includes(word));
}

function cardText(agent: Agent): string {
  const parts = [
    agent.name,
    agent.project.name,
    agent.branch,
    agent.state,
    agent.waiting_for,
    agent.client,
    agent.model,
    agent.host,
    agent.cwd,
    agentSummary(agent, 0),
    oneLine(agent.command?.text ?? ""),
    ...agent.subagents.map((sub) => `${sub.type} ${sub.description}`),
  ];
  return parts.filter(Boolean).join(" ").toLowerCase();
}

export function sections(agents: Agent[], grouping: Grouping): Section[] {
  const sorted = agents.toSorted(compareAgents);
  return grouping === "project" ? byProject(sorted) : byState(sorted);
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

export function countByState(agents: Iterable<Agent>): Record<State, number> {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  for (const agent of agents) counts[agent.state] += 1;
  return counts;
}

/** How many agents are shown: "20 agents, 3 ended", or "1 of 20 agents" with a filter. */
export function countText(shown: Agent[], all: Agent[]): string {
  const [ended, allEnded] = [shown, all].map((agents) => agents.filter((agent) => agent.state === "ended").length) as [number, number];
  const living = count(all.length - allEnded, "agent");
  const isAll = shown.length === all.length;
  return `${isAll ? "" : `${(shown.length - ended).toLocaleString("en")} of `}${living}${ended > 0 ? `, ${ended.toLocaleString("en")} ended` : ""}`;
}

export interface ProjectCount {
  id: string;
  name: string;
  agents: number;
  waiting: number;
}

export function countByProject(agents: Iterable<Agent>): ProjectCount[] {
  const counts = new Map<string, ProjectCount>();
  for (const agent of agents) {
    const { id, name } = agent.project;
    const entry = counts.get(id) ?? { id, name, agents: 0, waiting: 0 };
    if (agent.state !== "ended") entry.agents += 1;
    if (agent.state === "waiting") entry.waiting += 1;
    counts.set(id, entry);
  }
  return [...counts.values()].toSorted((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));
}

export function haveSameCounts(before: ProjectCount[], after: ProjectCount[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ id, name, agents, waiting }, index) => {
      const other = after[index]!;
      return id === other.id && name === other.name && agents === other.agents && waiting === other.waiting;
    })
  );
}

export interface ClientCount {
  name: string;
  agents: number;
}

/** The number of living agents by client, in the order of the names. */
export function countByClient(agents: Iterable<Agent>): ClientCount[] {
  const counts = new Map<string, number>();
  for (const { client, state } of agents) counts.set(client, (counts.get(client) ?? 0) + (state === "ended" ? 0 : 1));
  return [...counts].map(([name, number]) => ({ name, agents: number })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The agents that *Next* has shown in this round. */
export type Visits = ReadonlySet<string>;

/** A visit ends with the state: an agent that waits again is shown again. */
const visitOf = (agent: Agent): string => `${agent.id} ${agent.state_since} ${agent.waits[0]?.id ?? ""}`;

/** The agent to look at next: the longest wait, then an unseen error, then unseen finished work; after the last of them the first
 * again. Those of `visits` and the one that is `shown` follow last. */
export function nextAgent(agents: Agent[], visits: Visits = new Set(), shown: string | null = null): Agent | null {
  const wanted = agents.filter((agent) => agent.state === "waiting" || agent.unseen).toSorted(compareAgents);
  const others = wanted.filter((agent) => agent.id !== shown);
  return others.find((agent) => !visits.has(visitOf(agent))) ?? others[0] ?? wanted[0] ?? null;
}

/** The visits after *Next* showed an agent. A visited one begins a new round. */
export function visitsWith(visits: Visits, agent: Agent, shown: Agent | null): Visits {
  if (visits.has(visitOf(agent))) return new Set([visitOf(agent)]);
  return new Set([...visits, ...(shown ? [visitOf(shown)] : []), visitOf(agent)]);
}
