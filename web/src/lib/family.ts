// Who works for an agent: its sub-agents, now and before, and the agents that it started. Pure.
import { instant } from "./time";
import type { Agent, Call, StateChange, Subagent } from "./types";
import { oneLine, toolWords } from "./words";

export interface Helper {
  id: string;
  kind: string;
  /** As it is now; null when it is done. */
  now: Subagent | null;
  calls: Call[];
  began: string;
}

/** The sub-agents that run, then those of whom calls are known, the newest first. */
export function helpers(running: Subagent[], calls: Call[]): Helper[] {
  const found = new Map<string, Helper>();
  for (const sub of running) {
    found.set(sub.id, { id: sub.id, kind: sub.type || "sub-agent", now: sub, calls: [], began: sub.started_at });
  }
  for (const call of calls) {
    if (call.subagent_id === null) continue;
    const kind = call.subagent_type || "sub-agent";
    const known = found.get(call.subagent_id) ?? { id: call.subagent_id, kind, now: null, calls: [], began: call.started_at };
    known.calls.push(call);
    found.set(call.subagent_id, known);
  }
  return [...found.values()].toSorted((a, b) => Number(b.now !== null) - Number(a.now !== null) || instant(b.began) - instant(a.began));
}

/** The agents that an agent started, each with those that it started itself. */
export function childrenOf(id: string, agents: Iterable<Agent>): Agent[] {
  return [...agents].filter((agent) => agent.parent_id === id).toSorted((a, b) => instant(a.created_at) - instant(b.created_at));
}

export interface Failure {
  key: string;
  at: string;
  what: string;
  detail: string;
  /** The call that failed; null: the turn itself ended in an error. */
  call: string | null;
}

/** What went wrong, the newest first: turns that ended in an error, calls that failed or were refused. */
export function failures(changes: StateChange[], calls: Call[]): Failure[] {
  const stopped = changes
    .filter((change) => change.state === "error")
    .map((change) => ({ key: `state ${change.seq}`, at: change.at, what: "the turn was stopped", detail: change.why, call: null }));
  const failed = calls
    .filter((call) => call.outcome === "failed" || call.outcome === "refused")
    .map((call) => ({
      key: `call ${call.id}`,
      at: call.ended_at ?? call.started_at,
      what: `${call.outcome}: ${toolWords({ name: call.tool, summary: call.summary })}`,
      detail: typeof call.result === "string" ? oneLine(call.result) : "",
      call: call.id,
    }));
  return [...stopped, ...failed].toSorted((a, b) => instant(b.at) - instant(a.at));
}
