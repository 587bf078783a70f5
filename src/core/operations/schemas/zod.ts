import * as zod from "zod";
import type { output, ZodType } from "zod";
import type { DeepReadonly } from "../../fields.ts";

/** What the schemas of operations are made with. Each part of zod is named, so that the command line's files leave out the others. */
export const z = {
  array: zod.array,
  boolean: zod.boolean,
  enum: zod.enum,
  int: zod.int,
  literal: zod.literal,
  looseObject: zod.looseObject,
  null: zod.null,
  number: zod.number,
  object: zod.object,
  record: zod.record,
  strictObject: zod.strictObject,
  string: zod.string,
  union: zod.union,
  unknown: zod.unknown,
};

export type Zod = typeof z;

/** A schema that is made when it is first needed, because a short command runs as long as zod takes to load. */
export type LazySchema<S> = (zod: Zod) => S | Promise<S>;

/** What an operation with this schema takes. */
export type Input<S extends ZodType> = DeepReadonly<output<S>>;
