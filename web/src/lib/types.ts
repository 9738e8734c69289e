// The shapes of the API, as far as the page reads them. `/openapi.json` has them in full.

export type State = "waiting" | "error" | "working" | "starting" | "idle" | "ended";

export interface Tool {
  name: string;
  summary: string;
  since: string;
}

export interface Option {
  label: string;
  description?: string;
}

export interface Question {
  text: string;
  header?: string;
  options?: Option[];
  several?: boolean;
}

export interface Field {
  name: string;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  title?: string;
  description?: string;
  required?: boolean;
  options?: Option[];
  default?: string | number | boolean;
  least?: number;
  most?: number;
  format?: string;
}

export interface Wait {
  id: string;
  agent_id: string;
  kind: string;
  text: string;
  questions: Question[];
  form?: Field[];
  tool: string | null;
  summary: string;
  subagent_id: string | null;
  suggestions: Record<string, unknown>[];
  opened_at: string;
  /** Until when it can be answered through Headspace; null: only in the terminal. */
  held_until: string | null;
  answered: { by: string; via: string; words: string; at: string } | null;
  closed_at: string | null;
  resolution: string | null;
}

/** What a person answers; the daemon says when it does not fit. */
export interface Answer {
  decision?: "allow" | "deny";
  message?: string;
  input?: Record<string, unknown>;
  always?: boolean;
  answers?: Record<string, string | string[]>;
  action?: "accept" | "decline" | "cancel";
  content?: Record<string, unknown>;
}

/** A call to a person: sending, delivered, failed or over. */
export interface Called {
  need: string;
  kind: string;
  channel: string;
  status: string;
  title: string;
  begun_at: string;
  failure: string;
  outcome: string;
}

export interface NotifyRules {
  file: string;
  problem: string | null;
  channels: { name: string; available: boolean; detail: string; last_failure: string }[];
}

export interface Tested {
  ok: boolean;
  channels: { channel: string; status: string; detail: string }[];
}

export interface Command {
  id: string;
  state: string;
  text: string;
  trigger: string;
  started_at: string;
  ended_at: string | null;
  outcome: string | null;
}

export interface Subagent {
  id: string;
  type: string;
  description: string;
  started_at: string;
  tool: Tool | null;
}

export interface BackgroundTask {
  id: string;
  kind: string;
  description: string;
  started_at: string;
}

export interface Evidence {
  source: string;
  confidence: string;
  at: string;
  why: string;
}

export interface Project {
  id: string;
  name: string;
  root: string;
}

/** What an agent was sent to do, as the agent has it. */
export interface Mission {
  id: string;
  goal: string;
  started_by: string;
  conversation_id: string | null;
  report: string;
  answer: string;
  outcome: Outcome | null;
  words: string;
  started_at: string;
  ended_at: string | null;
}

export type Outcome = "succeeded" | "failed" | "abandoned";

/** A mission with everybody who works on it; sessions and timeline only where one is asked for. */
export interface MissionOverview extends Mission {
  mode: string;
  project: Project;
  conversation: string | null;
  cost_usd: number | null;
  workers: { id: string; name: string; state: State; cost_usd: number | null; sessions: Session[] }[];
  timeline: { at: string; what: string; text: string; agent_id: string }[];
}

export interface Session {
  id: string;
  ordinal: number;
  source: string;
  started_at: string;
}

/** A call that a rule spoke about. */
export interface Judged {
  event_id: string;
  timestamp: string;
  ruling: "warn" | "ask" | "deny";
  rule: string | null;
  reason: string | null;
  enforced: boolean;
  tool: string;
  summary: string;
}

export interface Agent {
  id: string;
  name: string;
  project: Project;
  cwd: string | null;
  branch: string | null;
  host: string;
  client: string;
  pid: number | null;
  tmux: { session: string | null; pane: string | null };
  session_id: string | null;
  session: Session | null;
  parent_id: string | null;
  state: State;
  waiting_for: string | null;
  state_since: string;
  last_active_at: string;
  /** Whether it came to something that nobody has looked at yet, on whatever surface. */
  unseen: boolean;
  evidence: Evidence | null;
  tool: Tool | null;
  command: Command | null;
  waits: Wait[];
  subagents: Subagent[];
  background_tasks: BackgroundTask[];
  notices: Called[];
  todo: { done: number; total: number } | null;
  verdicts: Judged[];
  error: string | null;
  model: string | null;
  context_percent: number | null;
  context_warning_level: number;
  tokens: number | null;
  cost_usd: number | null;
  permission_mode: string | null;
  role: string | null;
  mode: string;
  mission: Mission | null;
  /** What it is to be told of its workers, at its next prompt. */
  news: { mission_id: string; goal: string; at: string; woken: boolean }[];
  note: { text: string; at: string } | null;
  briefed: { at: string; files: string[]; left_out: string[]; problem: string } | null;
  supervision: Supervision | null;
  dialects: Record<string, string>;
  created_at: string;
  ended_at: string | null;
  end_reason: string | null;
}

/** Somebody starts the client anew when its context window is spent. */
export interface Supervision {
  restarts: number;
  restarted_at: string | null;
  reason: string;
  under_way: boolean;
  ended: string;
}

export interface EffortWindow {
  id: string;
  agent_id: string;
  subagent_id: string | null;
  prev_session_id: string | null;
  heartbeat: number;
  context_usage: number | null;
  loaded_files: string[];
  dehydrated: boolean;
  spent: string | null;
  started_at: string;
  ended_at: string | null;
  end_reason: string | null;
}

/** Work that outlives sessions. */
export interface Effort {
  id: string;
  skill: string;
  ordinal: number;
  mode: string;
  lifecycle: "active" | "finished";
  phase: string | null;
  phases: string[];
  task_id: string;
  task_dir: string;
  owner: string | null;
  agent_id: string | null;
  manager: string | null;
  heartbeat: number;
  heartbeat_limit: number;
  context_usage: number | null;
  logged: number;
  directives: string[];
  pending_preloads: string[];
  injections: { id: string; text: string; at: string; delivery: string }[];
  metadata: Record<string, unknown>;
  dehydrated: string | null;
  sessions: EffortWindow[];
  started_at: string;
  finished_at: string | null;
}

export interface EffortStory extends Effort {
  messages: { id: string; at: string; kind: string; text: string; session_id: string | null }[];
}

/** A directory in which efforts are made. */
export interface Task {
  id: string;
  dir_path: string;
  title: string;
  keywords: string[];
  efforts: number;
  status: "active" | "dormant";
}

export interface Turn {
  turn_id: string;
  agent_id: string;
  command_id: string;
  actor: string;
  intent: string;
  text: string;
  timestamp: string;
  timestamp_source: string;
  reason: string;
}

export interface StateChange {
  seq: number;
  at: string;
  state: State;
  waiting_for: string | null;
  source: string;
  confidence: string;
  why: string;
  event: string;
}

export interface LogEvent {
  seq: number;
  id: string;
  name: string;
  origin: string;
  agent_id: string;
  host: string;
  fired_at: string;
  received_at: string;
  correlation: string;
  anomaly: string | null;
  payload: unknown;
}

export interface Call {
  id: string;
  tool: string;
  summary: string;
  subagent_id: string | null;
  subagent_type: string | null;
  started_at: string;
  ended_at: string | null;
  outcome: "running" | "done" | "failed" | "refused" | "unknown";
  input: unknown;
  result: unknown;
}

export interface Measure {
  at: string;
  tokens: number | null;
  context_percent: number | null;
  cost_usd: number | null;
}

export interface Part {
  status: string;
  detail: string;
}

export interface HookStatus {
  enabled: boolean;
  mode: string;
  polling_interval_seconds: number;
  last_event_at: string | null;
  last_look_at: string | null;
  /** Null, as what is below, while the database is away. */
  events_total: number | null;
  events_since_start: number;
  agents: Record<string, number> | null;
  anomalies: number | null;
  last_seq: number | null;
  refused: Record<string, number>;
  spool: { depth: number; rejected: number; lost: number; taken: number; last_drain_at: string | null };
  sources: Record<string, Part>;
  version: string;
  pid: number;
  started_at: string;
}

export interface ProjectActivity {
  project: Project;
  agents: number;
  commands: number;
  outcomes: Record<string, number>;
  working_seconds: number;
  waiting_seconds: number;
  tools: Record<string, number>;
}

export interface Activity {
  day: string;
  begins_at: string;
  ends_at: string;
  projects: ProjectActivity[];
  hours: { working_seconds: number; waiting_seconds: number }[];
  tools: Record<string, number>;
  latency_ms: { p50: number; p90: number; p99: number; slowest: number; events: number; late: number } | null;
}

export interface Setting {
  name: string;
  value: unknown;
  default: unknown;
  origin: string;
  description: string;
  environment: string;
}

export interface SettingsAnswer {
  settings: Setting[];
  places: Record<string, string>;
}

export interface Check {
  name: string;
  status: string;
  detail: string;
  hint: string;
}

export interface DoctorReport {
  ok: boolean;
  places: { name: string; checks: Check[] }[];
}

export interface Hit {
  seq: number;
  agent_id: string;
  agent: string;
  project: string;
  kind: "prompt" | "answer" | "tool_input" | "tool_result";
  actor: string;
  tool: string | null;
  at: string;
  command_id: string | null;
  turn_id: string | null;
  snippet: { text: string; match: boolean }[];
  score: number;
}

export interface Hits {
  hits: Hit[];
  next: string | null;
  hint: string | null;
}
