// Why guards are off. A connection to the stream begins with the current problems, if there are any.
import type { Reply } from "./api";
import { parseVisible } from "./hidden-characters";

type GuardProblem = NonNullable<Reply<"/health">["guard_problems"]>[number];

class Guards {
  problems = $state<GuardProblem[]>([]);

  /** A new connection: nothing is known until its first message. */
  reset(): void {
    this.problems = [];
  }

  /** A message of the stream. */
  update(data: string): void {
    this.problems = (parseVisible(data) as { problems: GuardProblem[] }).problems;
  }
}

export const guards = new Guards();
