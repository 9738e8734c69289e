// What a person chose and typed, as the API takes it. Pure; whether it fits, the daemon says.
import type { Answer, Field, Question, Wait } from "./types";

export interface Choice {
  title: string;
  key: string;
  answer: Answer;
  /** Whether the message below goes along. */
  explains?: boolean;
}

const DENY: Omit<Choice, "title"> = { key: "d", answer: { decision: "deny" }, explains: true };
const CHOICES: Record<string, Choice[]> = {
  permission: [
    { title: "Allow", key: "y", answer: { decision: "allow" } },
    { title: "Deny", ...DENY },
  ],
  plan: [
    { title: "Approve", key: "y", answer: { decision: "allow" } },
    { title: "Keep planning", ...DENY },
  ],
  elicitation: [
    { title: "Decline", key: "d", answer: { action: "decline" } },
    { title: "Cancel", key: "c", answer: { action: "cancel" } },
  ],
};
const ALWAYS: Choice = { title: "Always allow", key: "a", answer: { decision: "allow", always: true } };

/** The buttons of a wait, the usual one first. */
export function choices(wait: Wait): Choice[] {
  const usual = CHOICES[wait.kind] ?? [];
  return wait.kind === "permission" && wait.suggestions.length > 0 ? [...usual, ALWAYS] : usual;
}

/** What was chosen of each question: labels, and words of one's own, which stand alone where one answer is wanted. */
export function given(question: Question, chosen: string[], own: string): string[] {
  const words = own.trim();
  if (!words) return chosen;
  return question.several ? [...chosen, words] : [words];
}

export function answers(questions: Question[], chosen: Record<string, string[]>, own: Record<string, string>): Answer {
  const pairs = questions.map((question) => {
    const found = given(question, chosen[question.text] ?? [], own[question.text] ?? "");
    return [question.text, question.several ? found : (found[0] ?? "")] as const;
  });
  return { answers: Object.fromEntries(pairs) };
}

export type Typed = string | number | boolean | string[] | null | undefined;

/** What a form begins with. */
export function beginning(form: Field[]): Record<string, Typed> {
  const empty = (field: Field): Typed => (field.kind === "boolean" ? field.default === true : (field.default ?? ""));
  return Object.fromEntries(form.map((field) => [field.name, field.kind === "choices" ? [] : empty(field)]));
}

/** What was filled in; what was left empty is left out. */
export function content(form: Field[], typed: Record<string, Typed>): Record<string, unknown> {
  const isEmpty = (value: Typed): boolean => value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(form.map((field) => [field.name, typed[field.name]] as const).filter(([, value]) => !isEmpty(value)));
}
