// What the form for a new agent or mission contains, and the requests that start them. Pure.
import type { Body } from "./api";
import type { ClientOffer, DirectoryOffer, LaunchOffers } from "./types";

export interface LaunchForm {
  what: "agent" | "mission";
  directory: string;
  client: string;
  prompt: string;
  model: string;
  permissionMode: string;
  name: string;
  inWorktree: boolean;
  worktree: string;
  base: string;
  /** A mission without an interactive client. */
  inBackground: boolean;
  /** The agent that receives the report of a mission; empty: none. */
  reportsTo: string;
}

/** Why a client cannot be chosen, as a sentence; empty if it can. */
export function clientProblem(client: ClientOffer, what: LaunchForm["what"]): string {
  return [client.problem, client.problem ? client.hint : "", what === "mission" && !client.problem ? client.mission_problem : ""].filter(Boolean).join(" ");
}

/** The client to begin with: the wanted one, or else the first one that can be started. */
export function firstClient(offers: LaunchOffers, wanted: string | null): string {
  const usable = offers.clients.filter((client) => client.problem === "");
  return (usable.find((client) => client.name === wanted) ?? usable[0] ?? offers.clients[0])?.name ?? "";
}

/** Why the form cannot be sent yet; empty if it can. */
export function formProblem(form: LaunchForm, offers: LaunchOffers, place: DirectoryOffer | null): string {
  const client = offers.clients.find((each) => each.name === form.client);
  if (offers.problem) return `${offers.problem} ${offers.hint}`;
  if (client && clientProblem(client, form.what)) return clientProblem(client, form.what);
  if (!form.directory.trim()) return "Choose a project, or type a directory.";
  if (place?.problem) return `${place.problem} ${place.hint}`;
  if (form.what === "mission" && !form.prompt.trim()) return "A mission needs a goal.";
  return "";
}

export function startingBody(form: LaunchForm): Body<"/api/agents/start"> {
  const { directory, client, name, prompt, model } = form;
  const worktree = form.inWorktree ? { worktree: form.worktree.trim(), base: form.base || null } : {};
  return { directory, client, name: name.trim(), prompt, model: model.trim(), permission_mode: form.permissionMode, ...worktree };
}

export function missionBody(form: LaunchForm): Body<"/api/missions"> {
  return {
    goal: form.prompt,
    cwd: form.directory,
    mode: form.inBackground ? "background" : "mission",
    conversation: form.reportsTo || null,
    name: form.name.trim(),
    client: form.client,
    start: true,
    model: form.model.trim(),
    permission_mode: form.permissionMode,
  };
}
