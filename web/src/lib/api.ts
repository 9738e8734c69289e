// Requests to the daemon, typed by path from `api-types.ts` (generated from `/openapi.json`). A refused request throws
// an ApiError with a hint; a daemon that cannot be reached throws an ApiError with status 0. The cookie is sent by the
// browser; its key is stored for this origin only, because cookies are shared by all ports of a host. Hidden characters
// in replies are replaced by visible marks, here and in the stream, so that no view can forget it.
import type { paths } from "./api-types";
import { parseVisible } from "./hidden-characters";

const KEY = "headspace.key";

type Method = "get" | "post";
type Operation<P extends keyof paths, M extends Method> = Extract<paths[P][M], object>;
type Content<T> = T extends { content: { "application/json": infer Value } } ? Value : never;
type PathParameters<P extends keyof paths, M extends Method> = Operation<P, M> extends { parameters: { path: infer Value extends object } } ? Value : object;
type Optional<T> = [T] extends [never] ? object : { [N in keyof T]?: T[N] | "" | null | undefined };
type QueryParameters<P extends keyof paths> =
  Operation<P, "get"> extends { parameters: { query?: infer Query } } ? Optional<Query> : object;

export type GetPath = { [P in keyof paths]: paths[P] extends { get: object } ? P : never }[keyof paths];
export type PostPath = { [P in keyof paths]: paths[P] extends { post: object } ? P : never }[keyof paths];
export type Reply<P extends keyof paths, M extends Method = "get"> =
  Operation<P, M> extends { responses: { 200: infer Response } } ? Content<Response> : never;
export type Body<P extends PostPath> = Operation<P, "post"> extends { requestBody: infer Request } ? Content<Request> : object;
export type Parameters<P extends GetPath> = PathParameters<P, "get"> & QueryParameters<P>;

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

/** Store the key of a sign-in link. It is in the fragment of the address, which browsers do not send. */
export function storeKeyFromAddress(): void {
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (!key) return;
  localStorage.setItem(KEY, key);
  history.replaceState(null, "", location.pathname + location.search);
}

/** Sign this browser out: its cookie is worth nothing without the key. */
export function signOut(): void {
  localStorage.removeItem(KEY);
  location.assign("/");
}

/** GET a path of the API. Parameters that are not part of the path go into the query; empty ones are left out. */
export async function get<P extends GetPath>(path: P, parameters: Parameters<P>): Promise<Reply<P>> {
  return parseVisible(await getText(path, parameters)) as Reply<P>;
}

/** The same without marks for hidden characters: for texts that are sent back. */
export async function getExact<P extends GetPath>(path: P, parameters: Parameters<P>): Promise<Reply<P>> {
  return JSON.parse(await getText(path, parameters)) as Reply<P>;
}

async function getText(path: string, parameters: object): Promise<string> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (!path.includes(`{${name}}`) && value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const response = await send(query.size > 0 ? `${fillIn(path, parameters)}?${query}` : fillIn(path, parameters), {});
  return response.text();
}

export async function post<P extends PostPath>(path: P, parameters: PathParameters<P, "post">, body: Body<P>): Promise<Reply<P, "post">> {
  const headers = { "Content-Type": "application/json", "X-Headspace-Via": "web" };
  const response = await send(fillIn(path, parameters), { method: "POST", body: JSON.stringify(body), headers });
  return parseVisible(await response.text()) as Reply<P, "post">;
}

function fillIn(path: string, parameters: object): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent((parameters as Record<string, string>)[name]!));
}

export async function send(address: string, init: RequestInit): Promise<Response> {
  const key = localStorage.getItem(KEY);
  const headers = { ...(key ? { "X-Headspace-Key": key } : {}), ...init.headers };
  let response: Response;
  try {
    response = await fetch(address, { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "away", "Headspace is not responding.", "Start it with `headspace up`.");
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

async function errorOf(response: Response): Promise<ApiError> {
  try {
    const { error } = parseVisible(await response.text()) as { error: { code: string; message: string; hint: string } };
    return new ApiError(response.status, error.code, error.message, error.hint);
  } catch {
    const message = `Headspace replied with status ${response.status}.`;
    return new ApiError(response.status, "bad_answer", message, "See `headspace logs`.");
  }
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}
