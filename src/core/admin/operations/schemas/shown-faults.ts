import * as z from "zod";
import { faultSchema } from "../../../testing/controls/faults/schema.ts";

/** The schema of a fault as operations return it. */

const { times: _, always: __, skip: ___, after: ____, ...faultFields } = faultSchema.shape;
export const fault = z
  .object({
    id: z.string(),
    ...faultFields,
    times: z.int().nullable().describe("null: always"),
    remaining: z.int().nullable().describe("How many requests will still take it; null: always"),
    skip: z.int().describe("How many matching requests still pass first"),
    after: z.boolean().describe("The work is done first, and only its response is spoiled"),
    by: z.exactOptional(z.string()).describe("Who added it: the name of the token; absent for those of fixtures"),
  })
  .describe("A response that is wrong on purpose");
