// The errors of an agent: turns that ended in an error, and tool calls that failed or were refused. Pure.
import { oneLine, toolText } from "./text";
import { parseTime } from "./time";
import type { StateChange, ToolCall } from "./types";

export interface AgentError {
  key: string;
  at: string;
  title: string;
  detail: string;
  /** The id of the tool call; null if the turn itself ended in an error. */
  callId: string | null;
}

/** All errors, newest first. */
export function agentErrors(changes: StateChange[], calls: ToolCall[]): AgentError[] {
  const stoppedTurns = changes
    .filter((change) => change.state === "error")
    .map((change) => ({ key: `state ${change.seq}`, at: change.at, title: "turn stopped", detail: change.why, callId: null }));
  const failedCalls = calls
    .filter((call) => call.outcome === "failed" || call.outcome === "refused")
    .map((call) => ({
      key: `call ${call.id}`,
      at: call.ended_at ?? call.started_at,
      title: `${call.outcome}: ${toolText({ name: call.tool, summary: call.summary })}`,
      detail: typeof call.result === "string" ? oneLine(call.result) : "",
      callId: call.id,
    }));
  return [...stoppedTurns, ...failedCalls].toSorted((a, b) => parseTime(b.at) - parseTime(a.at));
}
