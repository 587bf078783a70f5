import { describe, expect, test } from "vitest";
import { enroll, register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { pick, userinfo, type Answer } from "../helpers/client.ts";

/** Many at the same moment: one wins at most, and after a revocation was answered nothing is good any more. */

const idp = await underAttack();
const app = await register(idp);
const accepted = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 200);
const tokenOf = ({ json }: Answer): string => json.access_token;

test("a code, fifty times at once: one gets tokens, and the replays revoke them", async () => {
  const { code } = await app.signIn();
  const answers = await Promise.all(Array.from({ length: 50 }, () => app.exchange(code)));
  expect(accepted(answers)).toHaveLength(1);
  for (const answer of accepted(answers)) {
    expect((await userinfo(idp, answer.json.access_token)).status).toBe(401);
    expect((await app.refresh(answer.json.refresh_token)).json.error).toBe("invalid_grant");
  }
});

test("a refresh token, fifty times at once: one gets tokens, and the family is dead", async () => {
  const { refresh_token, access_token } = await app.tokens();
  const answers = await Promise.all(Array.from({ length: 50 }, () => app.refresh(refresh_token)));
  expect(accepted(answers)).toHaveLength(1);
  const all = [access_token, ...accepted(answers).map(tokenOf)];
  expect(await Promise.all(all.map(async (one) => (await userinfo(idp, one)).status))).toEqual([401, 401]);
  expect((await app.refresh(accepted(answers)[0]?.json.refresh_token ?? "")).json.error).toBe("invalid_grant");
});

describe("fifty rounds of a revocation that races", () => {
  test("the redemption of a code and a refresh", async () => {
    const user = await enroll(idp);
    const client = app.credentials.client_id;
    let wins = 0;
    for (let round = 0; round < 50; round += 1) {
      const scope = "openid profile email";
      const { code } = await idp.issueCode({ user, client, scope });
      const held = await idp.issueTokens({ user, client, scope });
      const redeem = (): Promise<Answer> => app.exchange(code, { redirect_uri: "http://localhost:3000/callback" });
      const renew = (): Promise<Answer> => app.refresh(held.refresh_token ?? "");
      // A request as well, so that it has no head start.
      const revoke = async (): Promise<null> => {
        const headers = { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" };
        const body = JSON.stringify({ user, client });
        expect((await fetch(`${idp.issuer}/_idp/api/revoke`, { method: "POST", headers, body })).status).toBe(200);
        return null;
      };
      // Each order of arrival in turn.
      const orders = [
        [redeem, renew, revoke],
        [revoke, redeem, renew],
        [redeem, revoke, renew],
        [renew, revoke, redeem],
      ];
      const answers = await Promise.all((orders[round % orders.length] ?? []).map((one) => one()));
      const won = answers.filter((one) => one !== null);
      wins += accepted(won).length;
      const tokens = [held.access_token, ...accepted(won).map(tokenOf)];
      for (const token of tokens) expect((await userinfo(idp, token)).status).toBe(403);
      for (const { json } of accepted(won)) expect((await app.refresh(json.refresh_token)).status).toBe(400);
    }
    // Some came before the revocation, and were ended by it; some came after it.
    expect(wins).toBeGreaterThan(0);
    expect(wins).toBeLessThan(100);
  });

  test("the client's own revocation of its refresh token", async () => {
    const client = app.credentials.client_id;
    for (let round = 0; round < 50; round += 1) {
      const held = await idp.issueTokens({ user: "bob", client, scope: "openid email" });
      const [renewed] = await Promise.all([
        app.refresh(held.refresh_token ?? ""),
        fetch(`${idp.issuer}/api/v2/oauth/revoke`, {
          method: "POST",
          body: new URLSearchParams({
            token: held.refresh_token ?? "",
            client_id: client,
            client_secret: app.credentials.client_secret ?? "",
          }),
        }),
      ]);
      const tokens = [held.access_token, ...accepted([renewed]).map(tokenOf)];
      for (const token of tokens) expect((await userinfo(idp, token)).status).toBe(401);
    }
  });
});

test("a decision sent fifty times at once draws one code", async () => {
  const user = await enroll(idp);
  const browser = new Browser(idp.issuer);
  const page = await pick(browser, await browser.open(app.url()), user);
  expect(page.page).toBe("consent");
  const visits = await Promise.all(Array.from({ length: 50 }, () => browser.press(page, "consent-allow")));
  expect(visits.filter(({ left }) => left?.searchParams.has("code"))).toHaveLength(1);
});
