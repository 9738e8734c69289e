// The waits that a view shows. A wait that ends keeps its place until it is dismissed, so that nothing moves under the
// pointer; a new wait is added at the end. Pure.
import { parseTime } from "./time";
import type { Agent, Wait } from "./types";

export interface ShownWait {
  agent: Agent;
  wait: Wait;
  /** Since when the agent waits for it. */
  since: string;
  isOpen: boolean;
}

export type OpenWait = Omit<ShownWait, "isOpen">;

/** All open waits of some agents, the longest first: measured and sorted like their cards on the board. */
export function openWaits(agents: Iterable<Agent>): OpenWait[] {
  return [...agents]
    .flatMap((agent) => agent.waits.map((wait) => ({ agent, wait, since: waitingSince(agent, wait) })))
    .toSorted((a, b) => parseTime(a.since) - parseTime(b.since) || compareText(a.agent.id, b.agent.id) || compareText(a.wait.opened_at, b.wait.opened_at));
}

/** The first wait of a waiting agent is as old as its state: a later hook of the same request opens it again. */
function waitingSince(agent: Agent, wait: Wait): string {
  const isFirst = agent.waits.every((other) => other === wait || compareText(wait.opened_at, other.opened_at) <= 0);
  return agent.state === "waiting" && isFirst ? agent.state_since : wait.opened_at;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The waits to show, given those that were shown before and those that are open now. */
export function keepWaits(before: ShownWait[], open: OpenWait[]): ShownWait[] {
  const byId = new Map(open.map((each) => [each.wait.id, each]));
  const shown = new Set(before.map(({ wait }) => wait.id));
  return [
    ...before.map((each): ShownWait => (byId.has(each.wait.id) ? { ...byId.get(each.wait.id)!, isOpen: true } : { ...each, isOpen: false })),
    ...open.filter(({ wait }) => !shown.has(wait.id)).map((each): ShownWait => ({ ...each, isOpen: true })),
  ];
}

/** The wait to answer after another one: the longest that is open and can be answered here. */
export function nextWait(open: OpenWait[], after: string): OpenWait | null {
  const others = open.filter(({ wait }) => wait.id !== after && wait.answered === null);
  return others.find(({ wait }) => wait.held_until !== null) ?? others[0] ?? null;
}
