import type { Invocation } from "./invocation.ts";
import type { Outcome } from "./print.ts";
export interface SeedFlags {
  readonly check?: true;
  readonly printSchema?: true;
}
export const seed = async (_cli: Invocation, _p: readonly string[], _f: SeedFlags): Promise<Outcome | null> => null;
