// The address of the page. Paths are real paths, so links can be shared and the browser's buttons work. Which view
// belongs to a path is in `routes.ts`.

class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));
  /** "/agents/a%20b" is ["agents", "a b"]. */
  segments = $derived(this.path.split("/").filter(Boolean).map(decodeURIComponent));
  isBoard = $derived(this.segments.length === 0);

  constructor() {
    window.addEventListener("popstate", () => this.#update());
  }

  navigate(path: string): void {
    history.pushState(null, "", path);
    this.#update();
    window.scrollTo(0, 0);
  }

  /** Change the address without a new entry in the browser's history. */
  replace(path: string): void {
    history.replaceState(null, "", path);
    this.#update();
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
export const effortPath = (id: string): string => `/efforts/${encodeURIComponent(id)}`;
export const missionPath = (id: string): string => `/missions/${encodeURIComponent(id)}`;
export const replayPath = (id: string): string => `/replay/${encodeURIComponent(id)}`;
/** The changes of an agent, or of one of its commands. */
export const changesPath = (agent: string, command: string | null = null): string =>
  `${agentPath(agent)}?tab=changes${command === null ? "" : `&command=${encodeURIComponent(command)}`}`;
