// The title of the page: how many agents need the user, the item, and its view.
import { board } from "./board.svelte";
import { router } from "./router.svelte";

class PageSubject {
  /** The name of the item that a view shows, for views whose items are not agents. */
  text = $state("");
}

export const pageSubject = new PageSubject();

const AGENT_TABS: Record<string, string> = { changes: "Changes", terminal: "Terminal" };

/** "calm-otter · Changes". Empty parts are left out. */
export function viewTitle(view: string, selected: string): string {
  const [path, id] = router.segments;
  if (path === "agents") return joined(agentName(id), AGENT_TABS[router.query.get("tab") ?? ""] ?? "");
  if (path === "new") return "New agent";
  if (path === "replay") return joined(agentName(id), view);
  return joined(id === undefined ? selected : pageSubject.text, view);
}

function agentName(reference: string | undefined): string {
  return reference === undefined ? "" : (board.find(reference)?.name ?? "");
}

/** "(3) Waits · Headspace". */
export function documentTitle(needingAttention: number, view: string): string {
  return `${needingAttention > 0 ? `(${needingAttention}) ` : ""}${joined(view, "Headspace")}`;
}

const joined = (...parts: string[]): string => parts.filter(Boolean).join(" · ");
