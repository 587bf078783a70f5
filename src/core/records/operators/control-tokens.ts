import * as z from "zod";
import { ruleAndValue } from "../fields.ts";
import { explain } from "../../base/fixture-files/explain.ts";
import { problemsIn, type FoundProblem } from "../../base/fixture-files/problems.ts";
import { readSource } from "../../base/fixture-files/source.ts";
import { countOf, OperationError } from "../../base/errors.ts";
import { roles, type ControlToken } from "./roles.ts";

/** The name of the admin token, and that of changes which nobody else's token made. */
const takenNames = ["admin", "inspector"];

const notSendable = "must have at least 16 characters from ! to ~, which a header can carry";

const list = z.array(
  z.strictObject({
    name: z
      .string()
      .regex(/^[\w.@-]{1,64}$/, ruleAndValue("must be 1 to 64 letters, digits, _, -, . and @, such as qa")),
    role: z.enum(roles),
    token: z.string({ error: "must be text" }).regex(/^[\x21-\x7e]{16,}$/, { error: notSendable }),
  }),
);

function repeated(tokens: readonly ControlToken[], adminToken: string | null): FoundProblem[] {
  return tokens.flatMap(({ name, token }, index) => {
    const before = tokens.slice(0, index);
    const found: FoundProblem[] = [];
    if (takenNames.includes(name))
      found.push({ path: [index, "name"], message: `"${name}" is reserved; choose another` });
    else if (before.some((one) => one.name === name))
      found.push({ path: [index, "name"], message: `"${name}" is the name of another token` });
    if (token === adminToken) found.push({ path: [index, "token"], message: "is the admin token" });
    else if (before.some((one) => one.token === token))
      found.push({ path: [index, "token"], message: "is the token of another name" });
    return found;
  });
}

/**
 * Reads the list of `--control-tokens`.
 * @param name of the file, for the positions of problems
 * @param text YAML or JSON: a list of `{ name, role, token }`
 * @throws {OperationError} invalid, with the position of every problem; no token is repeated
 */
export async function readControlTokens(
  name: string,
  text: string,
  adminToken: string | null,
): Promise<readonly ControlToken[]> {
  const document = await readSource({ name, text });
  const parsed = document.value === undefined ? null : list.safeParse(document.value);
  const found: readonly FoundProblem[] =
    document.found.length > 0 || parsed === null
      ? document.found
      : parsed.success
        ? repeated(parsed.data, adminToken)
        : parsed.error.issues.flatMap((issue) => explain(issue, document.value, [], () => ["name", "role", "token"]));
  if (found.length === 0 && parsed?.success === true) return parsed.data;
  const problems = problemsIn(
    [document],
    found.map((one) => ({ ...one, document: 0 })),
  );
  throw new OperationError("invalid", `the control tokens have ${countOf(problems)}`, {
    hint: "Fix the problems above: the file is a list of { name, role, token }, with the roles reader, tester and admin",
    problems,
  });
}
