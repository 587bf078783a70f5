import type { output, ZodType } from "zod";
import type { DeepReadonly } from "../../fields.ts";
import type { z } from "./zod.ts";

/** A schema that is made when it is first needed, because a short command runs as long as zod takes to load. */
export type Later<S> = (zod: typeof z) => S | Promise<S>;

/** What an operation with this schema takes. */
export type Input<S extends ZodType> = DeepReadonly<output<S>>;
