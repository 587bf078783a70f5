/** The outcome of some work, kept until it is on disk and may be reported. */
export type WorkOutcome<T> = { readonly value: T } | { readonly error: unknown };

export function outcomeOf<T>(work: () => T): WorkOutcome<T> {
  try {
    const value = work();
    if (value instanceof Promise) throw new Error("the work of a transaction must not be async");
    return { value };
  } catch (error) {
    return { error };
  }
}

export function resultOf<T>(outcome: WorkOutcome<T>): T {
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}
