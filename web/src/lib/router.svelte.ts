// The address of the page. Paths are real paths, so links can be shared and the browser's buttons work. Which view
// belongs to a path is in `routes.ts`.

/** The views that have a list of their items. */
const PARENTS: Record<string, string> = { waits: "/waits", missions: "/missions", efforts: "/efforts", replay: "/replay" };

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // such as a lone percent sign
  }
}

class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));
  /** "/agents/a%20b" is ["agents", "a b"]. */
  segments = $derived(this.path.split("/").filter(Boolean).map(decoded));
  isBoard = $derived(this.segments.length === 0);

  constructor() {
    window.addEventListener("popstate", () => this.#update());
  }

  /** The number of views before this one in the browser's history. */
  get #depth(): number {
    return Number((history.state as { depth?: number } | null)?.depth ?? 0);
  }

  navigate(path: string): void {
    history.pushState({ depth: this.#depth + 1 }, "", path);
    this.#update();
    window.scrollTo(0, 0);
  }

  /** Change the address without a new entry in the browser's history. */
  replace(path: string): void {
    history.replaceState(history.state, "", path);
    this.#update();
  }

  /** Go to the previous view; if this is the first one, to the list that it belongs to, or the board. */
  back(): void {
    if (this.#depth > 0) history.back();
    else this.navigate(PARENTS[this.segments.length > 1 ? this.segments[0]! : ""] ?? "/");
  }

  #update(): void {
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }
}

export const router = new Router();

/** Follow a link within the page without reloading it. */
export function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  const isPlainClick = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlainClick || link.target || link.origin !== location.origin || event.defaultPrevented) return;
  event.preventDefault();
  router.navigate(link.pathname + link.search);
}

export const agentPath = (id: string): string => `/agents/${encodeURIComponent(id)}`;
export const waitPath = (id: string): string => `/waits/${encodeURIComponent(id)}`;
/** A turn of an agent's conversation. */
export const turnPath = (agent: string, turn: string): string => `${agentPath(agent)}?turn=${encodeURIComponent(turn)}`;
export const effortPath = (id: string): string => `/efforts/${encodeURIComponent(id)}`;
export const missionPath = (id: string): string => `/missions/${encodeURIComponent(id)}`;
export const replayPath = (id: string): string => `/replay/${encodeURIComponent(id)}`;
/** The page of an agent with the dialog of an action. */
export const actionPath = (agent: string, action: string): string => `${agentPath(agent)}?do=${action}`;
export const terminalPath = (agent: string): string => `${agentPath(agent)}?tab=terminal`;
/** The changes of an agent, or of one of its commands. */
export const changesPath = (agent: string, command: string | null = null): string =>
  `${agentPath(agent)}?tab=changes${command === null ? "" : `&command=${encodeURIComponent(command)}`}`;
