// The text of a browser notification: the beginning of the request, and that it is only the beginning.
import { expect, test } from "vitest";
import { EXCERPT, notificationText } from "../src/lib/notification-text";
import type { Wait } from "../src/lib/types";
import { agent } from "./fixtures";

const wait = (parts: Partial<Wait>): Wait => ({ id: "w1", kind: "permission", text: "", summary: "", questions: [], ...parts }) as Wait;
const textOf = (parts: Partial<Wait>): string => notificationText(agent({ waits: [wait(parts)] }), "w1");

test("a permission is an excerpt, and does not repeat the title", () => {
  expect(textOf({ summary: "make deploy" })).toBe(`make deploy\n${EXCERPT}\napp`);
  expect(textOf({ summary: "echo\n".repeat(400) })).toMatch(new RegExp(`^echo .*…\n${EXCERPT}\napp$`));
});

test("a question has its options", () => {
  const questions = [{ text: "Which?", header: "", options: [{ label: "Red" }, { label: "Blue" }], several: false }];
  expect(textOf({ kind: "question", questions } as Partial<Wait>)).toBe("Which?\n  1. Red\n  2. Blue\napp");
});

test("a need without a wait shows the command", () => {
  expect(notificationText(agent({ command: { text: "Fix it" } as never }), "other")).toBe("Fix it\napp");
});
