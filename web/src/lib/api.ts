// Speaking to the daemon. What it refuses becomes an ApiError that says what to do next; a daemon that is away becomes
// an ApiError with the status 0. The cookie goes along by itself; the key that belongs to it is kept for this origin
// alone, since cookies are shared by every port of a host.

const KEY = "headspace.key";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/** Keep the key that a sign-in link brought in the part of the address that is sent to nobody. */
export function takeKey(): void {
  const found = /^#key=([\w-]+)$/.exec(location.hash);
  if (!found?.[1]) return;
  localStorage.setItem(KEY, found[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

export function headers(): Record<string, string> {
  const key = localStorage.getItem(KEY);
  return key ? { "X-Headspace-Key": key } : {};
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${path}?${search}` : path;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return read<T>(await send(address(path, query), signal ? { signal } : {}));
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const told = { "Content-Type": "application/json", "X-Headspace-Via": "web" };
  return read<T>(await send(path, { method: "POST", body: JSON.stringify(body), headers: told }));
}

export async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers: { ...headers(), ...init.headers } });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "away", "Headspace does not answer.", "Start it with `headspace up`.");
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

async function read<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

async function refusal(response: Response): Promise<ApiError> {
  try {
    const told = ((await response.json()) as { error: { code: string; message: string; hint: string } }).error;
    return new ApiError(response.status, told.code, told.message, told.hint);
  } catch {
    const message = `Headspace answered with status ${response.status}.`;
    return new ApiError(response.status, "bad_answer", message, "See `headspace logs`.");
  }
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}
