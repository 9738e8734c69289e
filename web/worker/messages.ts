// What the service worker understands: pushes, targets of notifications, and the paths of the page. Pure.

export interface PushMessage {
  tag: string;
  title: string;
  text: string;
  path: string;
  /** The need was met: the notification is removed. */
  over: boolean;
}

/** Paths that are not views of the page: they are never answered from the cache. */
const OTHERS = ["/api/", "/answer/", "/share/", "/hook/", "/assets/", "/icons/", "/signin", "/openapi.json", "/metrics", "/plates", "/health", "/events"];

export function isPagePath(path: string): boolean {
  return !OTHERS.some((other) => path.startsWith(other));
}

/** A push as the daemon sends it. A browser must show something for a push that cannot be read, too. */
export function readPush(text: string): PushMessage {
  const values = parse(text);
  const word = (name: string, otherwise: string): string => (typeof values[name] === "string" ? values[name] : otherwise);
  return {
    tag: word("tag", "headspace"),
    title: word("title", "Headspace needs you"),
    text: word("text", ""),
    path: word("path", "/"),
    over: values["over"] === true,
  };
}

/** The path that a notification opens: always one of this page. */
export function targetOf(data: unknown, origin: string): string {
  const path = (data as { path?: unknown } | null)?.path;
  const url = new URL(typeof path === "string" && path.startsWith("/") ? path : "/", origin);
  return url.origin === origin ? url.pathname + url.search : "/";
}

function parse(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}
