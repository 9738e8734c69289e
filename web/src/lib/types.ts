// Names for the types of the API that the page uses. The types themselves are generated (`api-types.ts`). Only the
// events of the stream are written by hand (`stream-events.ts`): OpenAPI cannot describe them.
import type { Body, Parameters, Reply } from "./api";

/** The description calls fields with a default optional. In this reply they are always present. */
type Complete<T> = { [N in keyof T]-?: T[N] extends object | null | undefined ? Complete<T[N]> : T[N] };
type WithComplete<T, N extends keyof T> = Omit<T, N> & { [K in N]-?: Required<NonNullable<T[K]>> };

export type Agent = Reply<"/api/agents/{agent}">;
export type State = Agent["state"];
export type Client = Reply<"/api/clients">[number];
export type ToolWords = Reply<"/api/tools">[number];
/** A client to filter by; "" is every client. */
export type ClientFilter = NonNullable<Parameters<"/api/agents">["client"]> | "";
export type Project = Agent["project"];
export type Tool = NonNullable<Agent["tool"]>;
export type Subagent = Agent["subagents"][number];
export type AgentMission = NonNullable<Agent["mission"]>;
export type Notification = Agent["notices"][number];
export type PolicyVerdict = Agent["verdicts"][number];

export type Wait = Agent["waits"][number];
export type Question = Wait["questions"][number];
export type FormField = Wait["form"][number];
export type WaitDetails = WithComplete<Reply<"/api/waits/{wait}">, "request">;
export type GrantOption = WaitDetails["suggestions"][number];
export type Answer = Body<"/api/waits/{wait}/answer">;

export type Turn = Reply<"/api/agents/{agent}/turns">[number];
export type ConversationPage = Reply<"/api/agents/{agent}/conversation">;
export type StateChange = Reply<"/api/agents/{agent}/evidence">[number];
export type ToolCall = Reply<"/api/agents/{agent}/calls">[number];
export type UsageSample = Reply<"/api/agents/{agent}/usage">[number];

export type LaunchOffers = Reply<"/api/launches">;
export type ClientOffer = LaunchOffers["clients"][number];
export type DirectoryOffer = Required<Reply<"/api/launches/directory">>;
export type WorktreePlan = Reply<"/api/agents/{agent}/worktree">;
export type Retry = Reply<"/api/agents/{agent}/retry">;
export type PendingPrompt = Agent["pending_prompts"][number];

export type Changes = Reply<"/api/agents/{agent}/changes">;
export type ChangedFile = Changes["files"][number];
export type Commit = Changes["commits"][number];
export type Command = Reply<"/api/agents/{agent}/commands">[number];

export type Mission = Reply<"/api/missions/{mission}">;
export type Task = Reply<"/api/tasks">[number];
export type Effort = Reply<"/api/efforts">[number];
export type EffortSession = Effort["sessions"][number];

export type Activity = Complete<Reply<"/api/activity">>;
export type LogEvent = Reply<"/api/events">[number];
export type SearchHit = Reply<"/api/search">["hits"][number];
export type UsageReport = Complete<Reply<"/api/usage">>;
export type UsageRow = UsageReport["rows"][number];
export type UsageLimits = Complete<Reply<"/api/usage/limits">>;
export type Budget = UsageLimits["budgets"][number];
export type RateLimit = UsageLimits["rate_limits"][number];
export type Timeline = Complete<Reply<"/api/timeline">>;
