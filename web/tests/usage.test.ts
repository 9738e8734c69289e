// Cost and tokens in a time range: addresses, sums, groups, axes.
import { describe, expect, it } from "vitest";
import type { UsageRow } from "../src/lib/types";
import { addressOf, costText, daysOf, dollars, groupsOf, limitLevel, limitName, OTHERS, parametersOf, roundUp, selectionOf, seriesOf, tokensText, totalOf } from "../src/lib/usage";

const NOW = new Date(2026, 10, 19, 15).getTime();
const select = (query: string): ReturnType<typeof selectionOf> => selectionOf(new URLSearchParams(query), NOW);

function row(day: string, project: string, cost: number | null, tokens = 100): UsageRow {
  return {
    day,
    project: { id: project, name: project, root: `/${project}` },
    model: "opus",
    client: "claude-code",
    agent_id: `id-${project}`,
    agent: `agent-${project}`,
    session_id: null,
    cost_usd: cost,
    unpriced_tokens: cost === null ? tokens : 0,
    total_tokens: tokens,
    input_tokens: tokens,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
  };
}

describe("the range of an address", () => {
  it("is the last seven days by project", () => {
    expect(select("")).toEqual({ range: "7d", from: "2026-11-13", to: "2026-11-19", by: "project", measure: "cost" });
  });
  it("can be today, a month or days of one's own", () => {
    expect(select("range=today")).toMatchObject({ from: "2026-11-19", to: "2026-11-19" });
    expect(select("range=month")).toMatchObject({ from: "2026-11-01", to: "2026-11-19" });
    expect(select("range=own&from=2026-02-27&to=2026-03-01")).toMatchObject({ range: "own", from: "2026-02-27", to: "2026-03-01" });
  });
  it("ignores invalid values", () => {
    expect(select("range=own&from=2026-03-02&to=2026-03-01&by=constructor&show=x")).toEqual(select(""));
    expect(select("range=own&from=yesterday&to=2026-03-01")).toEqual(select(""));
  });
  it("is in the address again", () => {
    for (const query of ["range=30d&by=agent&show=tokens", "range=own&from=2026-02-27&to=2026-03-01&by=day&show=cost"]) {
      expect(addressOf(select(query))).toBe(`/usage?${query}`);
    }
  });
  it("ends after its last day", () => {
    expect(parametersOf(select("range=own&from=2026-02-27&to=2026-02-28&by=model"))).toEqual({ since: "2026-02-27", until: "2026-03-01", by: "day,model" });
    expect(parametersOf(select("by=day")).by).toBe("day");
  });
  it("has all days, and at most a year of them", () => {
    expect(daysOf({ from: "2026-02-27", to: "2026-03-01" })).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
    expect(daysOf({ from: "2000-01-01", to: "2026-03-01" })).toHaveLength(366);
  });
});

describe("sums", () => {
  it("are a minimum with unknown prices, and unknown with nothing else", () => {
    expect(costText(totalOf([row("d", "a", 1.5), row("d", "b", null)]))).toBe("at least $1.50");
    expect(costText(totalOf([row("d", "b", null)]))).toBe("unknown");
    expect(costText(totalOf([row("d", "b", 0)]))).toBe("$0.00");
  });
  it("say that tokens were not reported", () => {
    expect([tokensText(totalOf([row("d", "a", 1.5, 0)])), tokensText(totalOf([row("d", "a", 1.5)])), tokensText(totalOf([]))]).toEqual(["unknown", "100", "0"]);
  });
  it("have cents", () => {
    expect([dollars(1234.5), dollars(0.001), dollars(-0.5), dollars(-0.001)]).toEqual(["$1,234.50", "<$0.01", "-$0.50", "$0.00"]);
  });
});

describe("groups", () => {
  const rows = [row("2026-11-18", "a", 1), row("2026-11-19", "a", 2), row("2026-11-19", "b", 5, 10), row("2026-11-18", "c", null, 900)];
  it("are sorted by what is shown", () => {
    expect(groupsOf(rows, "project", "cost").map((each) => [each.name, each.cost])).toEqual([
      ["b", 5],
      ["a", 3],
      ["c", null],
    ]);
    expect(groupsOf(rows, "project", "tokens").map((each) => each.name)).toEqual(["c", "a", "b"]);
    expect(groupsOf(rows, "day", "cost").map((each) => each.key)).toEqual(["2026-11-18", "2026-11-19"]);
  });
  it("are series with a value for each day", () => {
    const [first] = seriesOf(rows, "project", "cost");
    expect([first!.name, first!.days.get("2026-11-19")?.cost, first!.days.get("2026-11-18")]).toEqual(["b", 5, undefined]);
    expect(seriesOf(rows, "day", "cost")).toHaveLength(1);
  });
  it("are combined if there are many", () => {
    const many = Array.from({ length: 9 }, (_, index) => row("2026-11-19", `p${index}`, 9 - index));
    const series = seriesOf(many, "project", "cost");
    expect(series.map((each) => each.name)).toEqual(["p0", "p1", "p2", "p3", "p4", "4 others"]);
    expect([series.at(-1)!.key, series.at(-1)!.cost]).toEqual([OTHERS, 10]);
    expect(seriesOf(many.slice(0, 6), "project", "cost")).toHaveLength(6);
  });
});

describe("axes and limits", () => {
  it("end at a round number", () => {
    expect([0, 0.3, 3.2, 50, 51, 0.0004].map(roundUp)).toEqual([1, 0.3, 4, 50, 60, 0.0004]);
  });
  it("have names and levels", () => {
    expect([limitName("five_hour"), limitName("weekly_opus")]).toEqual(["5 hours", "weekly opus"]);
    expect([79, 80, 100].map(limitLevel)).toEqual(["calm", "warning", "full"]);
  });
});
