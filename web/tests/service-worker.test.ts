// Unit tests of what the service worker understands.
import { describe, expect, test } from "vitest";
import { isPagePath, readPush, targetOf } from "../worker/messages";

const ORIGIN = "https://mac.example";

describe("a push", () => {
  test("has the fields of the daemon", () => {
    const text = JSON.stringify({ tag: "w1", title: "calm-otter asks", text: "Which?", path: "/waits/w1" });
    expect(readPush(`${text}    `)).toEqual({ tag: "w1", title: "calm-otter asks", text: "Which?", path: "/waits/w1", over: false });
    expect(readPush('{"tag":"w1","title":"Resolved","over":true}').over).toBe(true);
  });

  test("that cannot be read still shows something", () => {
    for (const text of ["", "null", "1", "{", '{"title": 1}']) expect(readPush(text).title).toBe("Headspace needs you");
  });
});

test("a notification opens only paths of this page", () => {
  expect(targetOf({ path: "/waits/a%2Fb?x=1" }, ORIGIN)).toBe("/waits/a%2Fb?x=1");
  for (const path of ["https://evil.example/", "//evil.example/x", "javascript:alert(1)", "/\\evil.example", 7, undefined]) {
    expect(targetOf({ path }, ORIGIN)).toBe("/");
  }
  expect(targetOf(null, ORIGIN)).toBe("/");
});

test("only views of the page are answered from the cache", () => {
  for (const path of ["/", "/waits", "/waits/w1", "/agents/a1", "/settings"]) expect(isPagePath(path)).toBe(true);
  for (const path of ["/api/agents", "/signin", "/answer/x.y", "/share/x", "/metrics", "/health"]) expect(isPagePath(path)).toBe(false);
});
