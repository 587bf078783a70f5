import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** Data of a team are never replaced by what happens to be in a folder, or by the demo. */

test.each([["seed"], ["seed", "--check"], ["reset", "--yes"], ["diff", "--json"]])(
  "%s with --store and no server needs fixtures by name, and opens nothing before",
  async (...words) => {
    // Nothing listens there: the refusal comes first.
    const store = ["--store", "postgres://idp@127.0.0.1:1/idp"];
    const { code, stderr } = await idpIn(newFolder(), [...words, ...store]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("must be named") as string });
  },
);
