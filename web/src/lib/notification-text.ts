// The text of a browser notification. Its title says what the agent wants, so the text does not repeat it. Pure. The same rules
// as for the other channels (`kernel/notify/messages.py`).
import { oneLine } from "./text";
import type { Agent, Wait } from "./types";

export const EXCERPT = "Excerpt: see the complete request before you answer.";
const MAX_LENGTH = 600;
const MAX_LABEL_LENGTH = 80;

/** The beginning of what the agent asks, or its command, and its project. `need` is the id of the wait, if there is one. */
export function notificationText(agent: Agent, need: string): string {
  const wait = agent.waits.find(({ id }) => id === need);
  const lines = wait ? waitLines(wait) : [truncate(agent.command?.text ?? "", MAX_LENGTH)];
  return [...lines, agent.project.name].filter(Boolean).join("\n");
}

function waitLines(wait: Wait): string[] {
  const options = wait.questions.flatMap((question) => [
    truncate(question.text, MAX_LENGTH),
    ...(question.options ?? []).map(({ label }, index) => `  ${index + 1}. ${truncate(label, MAX_LABEL_LENGTH)}`),
  ]);
  const lines = options.length > 0 ? options : [truncate(wait.summary || wait.text, MAX_LENGTH)];
  // The summary of a permission is one line of its tool call: never the diff, the other arguments or the line breaks.
  const isExcerpt = wait.kind === "permission" || lines.some((line) => line.endsWith("…"));
  return isExcerpt ? [...lines, EXCERPT] : lines;
}

function truncate(text: string, maxLength: number): string {
  const line = oneLine(text);
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).trimEnd()}…`;
}
