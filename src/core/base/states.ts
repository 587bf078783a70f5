/**
 * A state machine. Its states have names, and one table says what leads where: for each state, the state that an event leads to. An event that a
 * state does not name changes nothing.
 */
type Table<S extends string, E extends string> = Readonly<Record<S, Readonly<Partial<Record<E, NoInfer<S>>>>>>;

export interface Machine<S extends string, E extends string> {
  is(...states: readonly S[]): boolean;
  on(event: E): void;
}

export function createMachine<S extends string, E extends string>(
  table: Table<S, E>,
  first: NoInfer<S>,
): Machine<S, E> {
  let state: S = first;
  return {
    is: (...states) => states.includes(state),
    on(event) {
      state = table[state][event] ?? state;
    },
  };
}
