import { Chalk } from "chalk";
import { expect, test } from "vitest";
import type { Check } from "../../src/jwt/checks.ts";
import { newReport, type Report } from "../../src/client/check.ts";
import { nothing } from "../../src/client/result.ts";
import type { Invocation } from "../../src/cli/invocation.ts";
import { outcomeOf } from "../../src/cli/commands/login/outcome.ts";
import { hintOf, hintText } from "../../src/core/base/hint.ts";

/** What `idp login` leaves on a screen of 80 cells. */

const plain = new Chalk({ level: 0 });
const issuer = "http://localhost:4370";
const place = {
  issuer,
  server: null,
  registered: null,
  tokenMissing: false,
  client: { id: "idp-cli", secret: null, method: null },
};
const flags = { client: "idp-cli", flow: "code", timeout: 120, browser: true } as const;
const cli = { width: 80, json: false, quiet: false } as Invocation;
const check = (name: string, detail: string, ok = true): Check => ({ name, ok, detail });
const reportOf = (checks: readonly Check[]): Report => ({ ...newReport(), checks });

const before = [check("discovery", `issuer ${issuer}`), check("par", "request pushed, good for 60 s")];
const tokens = {
  access_token: "a",
  refresh_token: "r",
  id_token: "i",
  expires_in: 1800,
  scope: "openid profile email",
};
const claims = { sub: "7", preferred_username: "alice", name: "Alice Adams" };

test("signed in", () => {
  const checks = [
    ...before,
    check("response.iss", issuer),
    check("token", "code exchanged with PKCE S256, client authentication none"),
    check("id_token.signature", "RS256, key emBHQb0rvx4sdClHfEplwkRPBrXOGvpBeloJEM7p27g"),
    check("id_token.auth_time", "signed in 5 s ago; max_age asked for at most 60 s"),
    check("userinfo", `answered by ${issuer}/api/v2/oauth/userinfo`),
  ];
  const { text, notes, failure } = outcomeOf(cli, flags, place, reportOf(checks), { ...nothing, tokens, claims });
  expect(failure).toBeNull();
  expect(text(plain)).toMatchSnapshot();
  expect(notes.map((note) => hintText(hintOf(note)))).toMatchSnapshot();
});

test("the commands below repeat the same sign-in", () => {
  const typed = { ...flags, client: "web", user: "alice", approve: true } as const;
  const { notes } = outcomeOf(cli, typed, place, reportOf([]), { ...nothing, tokens: {}, claims: {} });
  expect(notes.map((note) => hintText(hintOf(note)))).toEqual([
    "To see a token: idp login --client web --user alice --approve --print access",
    "To see all of it: idp login --client web --user alice --approve --json",
  ]);
});

test("a check that failed, in full on lines that fit", () => {
  const why = `expected "${"n".repeat(22)}", the response has "${"x".repeat(22)}"; the code is not used`;
  const checks = [...before, check("response.state", why, false), check("response.iss", issuer)];
  const { text, failure } = outcomeOf(cli, flags, place, reportOf(checks), nothing);
  expect(failure).toMatchObject({ exit: 6, message: "login failed: 1 of 4 checks failed" });
  const screen = text(plain);
  expect(screen).toMatchSnapshot();
  expect(screen.split("\n").filter((line) => line.length > 80)).toEqual([]);
});
