// Interrupts an agent with Esc in its terminal, if that is possible.
import { post } from "./api";
import { clients } from "./clients.svelte";
import type { Agent } from "./types";

/** Whether its terminal shows a dialog, in which a prompt cannot be typed. */
export const hasDialog = (agent: Agent): boolean => agent.waits.some((wait) => wait.tool !== null || wait.kind !== "question");

/** Why an agent cannot be interrupted, as a sentence; empty if it can. */
export function whyNotInterrupt(agent: Agent): string {
  if (agent.state !== "working" && !hasDialog(agent)) return `The agent is ${agent.state}.`;
  if (!agent.tmux.pane) return "Its terminal is not a tmux pane.";
  return clients.limit(agent, "interrupt");
}

/** Returns what happened, as a sentence. */
export async function interrupt(agent: Agent): Promise<string> {
  const { status, state } = await post("/api/agents/{agent}/interrupt", { agent: agent.id }, {});
  return status === "confirmed" ? `The agent stopped and is now ${state}.` : `Esc was pressed, but the agent is still ${state}.`;
}
