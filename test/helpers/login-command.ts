import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { serve } from "./app.ts";
import { newFolder } from "./cli.ts";
import { beginHere, idpHere, type Begun } from "./command.ts";

/** `idp login` against a server of ours, and what its `--json` document says. */
export async function loginCommand() {
  const idp = await serve();
  const cwd = newFolder(afterAll);
  const tokenFile = join(cwd, "admin-token");
  writeFileSync(tokenFile, idp.adminToken);
  const target = ["--url", idp.issuer, "--admin-token-file", tokenFile, "--data", join(cwd, "none")];
  const wordsOf = (words: string): string[] => ["login", ...words.split(" ").filter(Boolean), ...target];
  return {
    idp,
    cwd,
    target,
    /** As a hint names it. */
    inHints: `--url ${idp.issuer} --admin-token-file ${tokenFile}`,
    login: (words: string, input = "") => idpHere(wordsOf(words), input),
    begin: (words: string): Begun => beginHere(wordsOf(words)),
  };
}

interface Answer {
  readonly valid: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  readonly tokens: Readonly<Record<string, unknown>> | null;
  readonly claims: Readonly<Record<string, unknown>> | null;
  readonly userinfo: Readonly<Record<string, unknown>> | null;
}
export const answerOf = (stdout: string) => JSON.parse(stdout) as Answer;
export const failedOf = (stdout: string) =>
  answerOf(stdout)
    .checks.filter(({ ok }) => !ok)
    .map(({ name }) => name);

/** The checks of an ID token, in their order. */
export const idTokenChecks = ["signature", "iss", "aud", "exp", "iat", "azp", "sub", "nonce", "at_hash"].map(
  (name) => `id_token.${name}`,
);
