// What people can do with an agent, and why not. Pure. The daemon checks everything again.
import type { Capability } from "./clients.svelte";
import type { Agent } from "./types";

export type ActionName = "stop" | "resume" | "fork" | "rename" | "note" | "archive" | "worktree";

export interface AgentAction {
  name: ActionName;
  title: string;
  /** Why it does not apply now, as a sentence; empty if it does. */
  refusal: string;
}

/** All actions in the order in which they are shown. `limit` is what the client of the agent cannot do. */
export function agentActions(agent: Agent, limit: (capability: Capability) => string): AgentAction[] {
  const { name, state } = agent;
  const hasEnded = state === "ended";
  const resume = !hasEnded ? `${name} is still running.` : agent.session_id ? limit("resume") : `${name} never started a session.`;
  const worktree = !agent.worktree ? `${name} does not work in a git worktree of its own.` : agent.worktree.removed ? "Its worktree was removed." : "";
  return [
    hasEnded
      ? { name: "resume", title: agent.crashed ? "Restart" : "Resume", refusal: resume }
      : { name: "stop", title: "Stop", refusal: limit("stop") },
    { name: "fork", title: "Fork", refusal: limit("fork") || (agent.session_id ? "" : `${name} has no conversation yet.`) },
    { name: "rename", title: "Rename", refusal: "" },
    { name: "note", title: "Note", refusal: "" },
    { name: "worktree", title: "Worktree", refusal: worktree },
    { name: "archive", title: agent.archived ? "Put back" : "Archive", refusal: hasEnded ? "" : "Only ended agents can be archived. Stop it first." },
  ];
}

/** What stopping the agent does, for the question. */
export function stopText(agent: Agent): string {
  const first = agent.state === "working" ? "Its turn is interrupted, then its client gets its own exit command." : "Its client gets its own exit command.";
  const then = agent.tmux.pane ? `${first} If it does not end, it is asked to end, and finally killed.` : "It does not run in tmux: its client is asked to end with a signal, and finally killed.";
  return `${then} The conversation is kept, and can be resumed.`;
}

/** The result of stopping, as a sentence. */
export function stoppedText(status: string, name: string, state: string): string {
  const texts: Record<string, string> = {
    exited: `${name} has ended.`,
    terminated: `${name} has ended, after a signal.`,
    killed: `${name} was killed: it did not end by itself.`,
  };
  return texts[status] ?? `${name} is ${state}.`;
}
