// Builds the answer to a wait from what the user selected and typed. Pure. The daemon validates the result.
import { keyOf } from "./shortcuts";
import type { Answer, FormField, Question, Wait } from "./types";

export interface AnswerChoice {
  title: string;
  key: string;
  answer: Answer;
  /** Whether the text of the message field is sent along. */
  withMessage?: boolean;
}

const DENY: Omit<AnswerChoice, "title"> = { key: keyOf("deny"), answer: { decision: "deny" }, withMessage: true };
const CHOICES: Record<string, AnswerChoice[]> = {
  permission: [
    { title: "Allow", key: keyOf("allow"), answer: { decision: "allow" } },
    { title: "Deny", ...DENY },
  ],
  plan: [
    { title: "Approve", key: keyOf("allow"), answer: { decision: "allow" } },
    { title: "Keep planning", ...DENY },
  ],
  question: [{ title: "Decline to answer", ...DENY }],
  elicitation: [
    { title: "Decline", key: keyOf("deny"), answer: { action: "decline" } },
    { title: "Cancel", key: keyOf("cancel"), answer: { action: "cancel" } },
  ],
};
/** Shows what can be granted beyond this request. */
export const GRANT_KEY = keyOf("grant");
/** Cancels an answer that is sent with a delay. */
export const UNDO_KEY = keyOf("undo");

/** The buttons of a wait besides those that send a form, the most common one first. */
export function answerChoices(wait: Pick<Wait, "kind">): AnswerChoice[] {
  return CHOICES[wait.kind] ?? [];
}

/** Whether an answer lets the agent do something: it needs the complete request, and can be delayed. */
export function isAllowing(answer: Answer): boolean {
  return answer.decision === "allow" || answer.action === "accept" || (answer.answers ?? null) !== null;
}

/** The answers to one question. A typed answer replaces the selected option, or is added if several are allowed. */
export function selectedAnswers(question: Question, selected: string[], typed: string): string[] {
  const text = typed.trim();
  if (!text) return selected;
  return question.several ? [...selected, text] : [text];
}

/** The answer to a set of questions. `selected` and `typed` have the question's text as key. */
export function questionsAnswer(questions: Question[], selected: Record<string, string[]>, typed: Record<string, string>): Answer {
  const entries = questions.map((question) => {
    const found = selectedAnswers(question, selected[question.text] ?? [], typed[question.text] ?? "");
    return [question.text, question.several ? found : (found[0] ?? "")] as const;
  });
  return { answers: Object.fromEntries(entries) };
}

export type FieldValue = string | number | boolean | string[] | null | undefined;

export function initialFormValues(form: FormField[]): Record<string, FieldValue> {
  const initial = (field: FormField): FieldValue => (field.kind === "boolean" ? field.default === true : (field.default ?? ""));
  return Object.fromEntries(form.map((field) => [field.name, field.kind === "choices" ? [] : initial(field)]));
}

/** The values of a form without the empty ones. */
export function formContent(form: FormField[], values: Record<string, FieldValue>): Record<string, unknown> {
  const isEmpty = (value: FieldValue): boolean => value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(form.map((field) => [field.name, values[field.name]] as const).filter(([, value]) => !isEmpty(value)));
}
