import * as z from "zod";
import { listActs } from "../../records/operators/acts.ts";
import { declare, nothing } from "./operation.ts";
import { act } from "./schemas/shown.ts";

/** Who changed what. */

export const actOperations = {
  acts: declare({ input: nothing, answer: z.array(act), run: async (ctx) => listActs(ctx) }),
};
