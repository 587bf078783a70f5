import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ForeignProvider } from "../helpers/foreign-provider.ts";
import { foreignClient, signInThere, startForeignProvider } from "../helpers/foreign-provider.ts";
import { newFolder } from "../helpers/cli.ts";
import { beginHere, idpHere } from "../helpers/command.ts";

/** `idp login` against a foreign provider: it passes, and if the provider does wrong, the right check fails. */

const there = await startForeignProvider();
const data = join(newFolder(afterAll), "none");

interface Answer {
  readonly valid: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  readonly claims: unknown;
}

/** One login, by a person in a browser. */
async function login(bend: ForeignProvider["bend"], words = ""): Promise<{ code: number | null; answer: Answer }> {
  there.bend = bend;
  const flags = `login --issuer ${there.issuer} --client ${foreignClient.id} --secret-stdin`;
  const { told, ended } = beginHere(
    [...`${flags} --no-browser --json --data ${data} ${words}`.trim().split(" ")],
    foreignClient.secret,
  );
  const [, address = ""] = await told(/at this address:\n {2}(\S+)\n/);
  const back = await signInThere(there, address, "someone");
  expect((await fetch(back)).status).toBe(200);
  const { code, stdout } = await ended;
  return { code, answer: JSON.parse(stdout) as Answer };
}
const failed = ({ checks }: Answer) => checks.filter(({ ok }) => !ok).map(({ name }) => name);

test.each(["", "--max-age 600", "--prompt login --scope openid"])(
  "oidc-provider passes every check %s",
  async (words) => {
    const { code, answer } = await login({}, words);
    expect([code, failed(answer)]).toEqual([0, []]);
    expect(answer).toMatchObject({ valid: true, claims: { sub: "someone", aud: foreignClient.id } });
    const names = answer.checks.map(({ name }) => name);
    for (const name of [
      "par",
      "response.iss",
      "id_token.signature",
      "id_token.nonce",
      "id_token.at_hash",
      "userinfo.sub",
    ])
      expect(names).toContain(name);
    expect(names.includes("id_token.auth_time")).toBe(words.includes("max-age"));
  },
);

test.each<[string, ForeignProvider["bend"], string]>([
  ["nonce", { claims: { nonce: "another" } }, "id_token.nonce"],
  ["iss of the ID token", { claims: { iss: "https://elsewhere.test" } }, "id_token.iss"],
  ["at_hash", { claims: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" } }, "id_token.at_hash"],
  ["sub of UserInfo", { userinfo: { sub: "another" } }, "userinfo.sub"],
  ["sub of the ID token", { claims: { sub: "another" } }, "userinfo.sub"],
  ["aud", { claims: { aud: "another" } }, "id_token.aud"],
  ["exp", { claims: { exp: 1_700_000_000 } }, "id_token.exp"],
  ["iss of the response", { back: (url) => url.searchParams.set("iss", "https://elsewhere.test") }, "response.iss"],
  ["state", { back: (url) => url.searchParams.set("state", "another") }, "response.state"],
])("a wrong %s fails that check alone: exit 6", async (_what, bend, check) => {
  const { code, answer } = await login(bend);
  expect([code, failed(answer)]).toEqual([6, [check]]);
});

test("its iss has to be there, since its metadata promises it", async () => {
  const { code, answer } = await login({ back: (url) => url.searchParams.delete("iss") });
  expect([code, failed(answer)]).toEqual([6, ["response.iss"]]);
  expect(answer.checks.at(-1)?.detail).toContain("the metadata announces it");
});

test("without a person its pages cannot be answered, and a sentence says why", async () => {
  const { code, stderr } = await idpHere([
    "login",
    "--issuer",
    there.issuer,
    "--user",
    "alice",
    "--approve",
    "--data",
    data,
  ]);
  expect(code).toBe(2);
  expect(stderr).toContain("only the pages of an idp server can be answered without a person");
});
