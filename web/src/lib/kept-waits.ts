// The waits that a view shows. A wait that ends keeps its place until it is dismissed, so that nothing moves under the
// pointer; a new wait is added at the end. Pure.
import { parseTime } from "./time";
import type { Agent, Wait } from "./types";

export interface ShownWait {
  agent: Agent;
  wait: Wait;
  isOpen: boolean;
}

export type OpenWait = Pick<ShownWait, "agent" | "wait">;

/** All open waits of some agents, the longest first. */
export function openWaits(agents: Iterable<Agent>): OpenWait[] {
  return [...agents]
    .flatMap((agent) => agent.waits.map((wait) => ({ agent, wait })))
    .toSorted((a, b) => parseTime(a.wait.opened_at) - parseTime(b.wait.opened_at));
}

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
