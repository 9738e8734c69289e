// A selection of a view in the query of the address: it is in links, and back and forward restore it. The initial value is
// left out.
import { router } from "./router.svelte";

export class QueryValue<T extends string = string> {
  constructor(
    private readonly name: string,
    private readonly initial: T,
  ) {}

  get value(): T {
    return (router.query.get(this.name) as T | null) ?? this.initial;
  }

  set value(value: T) {
    router.setQuery({ [this.name]: value === this.initial ? null : value });
  }
}
