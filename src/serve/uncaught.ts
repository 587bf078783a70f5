import { OperationError, problemText } from "../core/base/errors.ts";

/** How many problems the message lists; if there are more, these are enough to start with. */
const maxProblems = 5;

/** The same refusal, with its first problems in the message, because test runners print only the message of an uncaught error. */
function withProblems(error: unknown): unknown {
  if (!(error instanceof OperationError) || error.code !== "invalid" || error.problems.length === 0) return error;
  const { code, summary, hint, problems } = error;
  const lines = problems.slice(0, maxProblems).map((problem) => `  ${problemText(problem)}`);
  if (problems.length > maxProblems) lines.push(`  and ${problems.length - maxProblems} more`);
  return new OperationError(code, [`${summary}:`, ...lines].join("\n"), {
    problems,
    summary,
    ...(hint !== null && { hint }),
    ...("cause" in error && { cause: error.cause }),
  });
}

/** Runs `work`; a refusal lists its problems in its message. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withProblems(error);
  }
}
