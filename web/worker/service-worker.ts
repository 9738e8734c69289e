// The service worker: keeps the files of the page, so that it opens without the daemon, and shows pushes.
//
// Rules
// - Only files of the build are kept: they contain nothing private. The API is never touched, nor are other pages of the daemon.
// - HTML always comes from the daemon if it responds, so an upgraded daemon shows its own page.
// - Each build has its own cache, which replaces that of the build before.
// - A push always shows something, as browsers demand, also one that only removes a notification.
import { isPagePath, readPush, targetOf, type PushMessage } from "./messages";

declare const self: ServiceWorkerGlobalScope;
/** Set by the build: an id of its content, and the files of the first load. */
declare const BUILD: string;
declare const SHELL: string[];

const PREFIX = "headspace-shell-";
const CACHE = PREFIX + BUILD;
const INDEX = "/";
const ICON = "/icons/app-192.png";
const BADGE = "/icons/badge.png";
const MATCH = { ignoreVary: true };

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    if (isPagePath(url.pathname)) event.respondWith(networkFirst(request, INDEX));
  } else if (url.pathname.startsWith("/assets/")) event.respondWith(cacheFirst(request));
  else if (SHELL.includes(url.pathname)) event.respondWith(networkFirst(request, url.pathname));
});
self.addEventListener("push", (event) => event.waitUntil(receive(readPush(event.data?.text() ?? ""))));
self.addEventListener("notificationclick", (event) => event.waitUntil(open(event.notification)));

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(SHELL.map((path) => new Request(path, { cache: "reload", credentials: "omit" })));
  await self.skipWaiting();
}

async function activate(): Promise<void> {
  const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(others.map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function networkFirst(request: Request, kept: string): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const found = await caches.match(kept, { ...MATCH, cacheName: CACHE });
    if (found) return found;
    throw error;
  }
}

/** A file with a hash in its name never changes. */
async function cacheFirst(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const found = await cache.match(request, MATCH);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

async function receive(message: PushMessage): Promise<void> {
  const { title, text, tag, path, over } = message;
  await self.registration.showNotification(title, { body: text, tag, icon: ICON, badge: BADGE, silent: over, data: { path } });
  if (!over) return;
  for (const shown of await self.registration.getNotifications({ tag })) shown.close();
}

/** Show the view of a notification: in an open page, or in a new one. */
async function open(notification: Notification): Promise<void> {
  notification.close();
  const path = targetOf(notification.data, self.location.origin);
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((each) => each.visibilityState === "visible") ?? pages[0];
  if (!page) {
    await self.clients.openWindow(path);
    return;
  }
  page.postMessage({ open: path });
  await page.focus();
}
