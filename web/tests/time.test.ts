// Times as text.
import { expect, it } from "vitest";
import { secondsUntil } from "../src/lib/time";

it("counts down from the delay, even if the clock of the page is late", () => {
  const sentAt = 13_000;
  expect([9_100, 10_000, 11_000, 12_400, 13_200].map((now) => secondsUntil(sentAt, now, 3))).toEqual([3, 3, 2, 1, 1]);
});
