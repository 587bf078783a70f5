/** `idp issue`: what is asked for by a flag is in the tokens. */
import { expect, test } from "vitest";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { exchange, jwtPart } from "../helpers/client.ts";

test("issue tokens and issue code: --nonce is in the ID token", async () => {
  const cwd = newFolder();
  const { issuer } = await startIdp([], { cwd });
  const issue = async (what: string, nonce: string): Promise<Record<string, string>> => {
    const words = `issue ${what} --user alice --client demo-app --nonce ${nonce} --json`.split(" ");
    return JSON.parse((await idp(words, { cwd })).stdout) as Record<string, string>;
  };
  expect(jwtPart((await issue("tokens", "n-1"))["id_token"] ?? "", 1)).toMatchObject({ nonce: "n-1" });
  const { code = "" } = await issue("code", "n-2");
  const { json } = await exchange({ issuer }, code, { code_verifier: null });
  expect(jwtPart(json.id_token, 1)).toMatchObject({ nonce: "n-2" });
});
