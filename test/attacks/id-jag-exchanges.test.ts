import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { fixtures, idJagOf, noGrant, post, refused, tokenExchange, typeOf } from "../helpers/cross-app.ts";

/** Exchanges for an ID-JAG that the client may not ask for, and of tokens that do not count. */

const company = await underAttack({ fixtures });
const tool = { issuer: `${company.issuer}/i/tool` };

describe("an exchange for an ID-JAG is refused", () => {
  test.each<[string, Readonly<Record<string, string>>, string]>([
    ["for another audience", { audience: "https://evil.test" }, "invalid_target"],
    ["for the company itself", { audience: "/" }, "invalid_target"],
    ["for the name of the issuer in place of its identifier", { audience: "tool" }, "invalid_target"],
    ["without an audience", { audience: "" }, "invalid_request"],
    ["for a resource with a fragment", { resource: "https://a.test/#x" }, "invalid_target"],
    ["for a scope with a quote", { scope: 'a"b' }, "invalid_scope"],
    ["with an actor", { actor_token: "x" }, "invalid_request"],
    ["with an access token", { subject_token_type: typeOf("access_token") }, "invalid_request"],
    ["without a type", { subject_token_type: "" }, "invalid_request"],
    ["without a token", { subject_token: "" }, "invalid_request"],
  ])("%s", async (_what, change, error) => {
    expect(refused(await idJagOf(company, change))).toEqual([400, error, []]);
  });

  test("with a token of another client", async () => {
    const { id_token, refresh_token = "" } = await company.call("issue.tokens", { user: "alice", client: "other" });
    for (const [subject_token, type] of [
      [id_token, "id_token"],
      [refresh_token, "refresh_token"],
    ] as const) {
      const answer = await idJagOf(company, { subject_token, subject_token_type: typeOf(type) });
      expect(refused(answer)).toEqual([400, "invalid_request", []]);
    }
  });

  test("with an ID token from before a revocation, also after a new consent in the same second", async () => {
    const { id_token, refresh_token = "" } = await company.call("issue.tokens", { user: "alice", client: "agent" });
    const ask = (subject_token: string, type: string) =>
      idJagOf(company, { user: "bob", subject_token, subject_token_type: typeOf(type) });
    await company.call("revoke", { user: "alice", client: "agent" });
    for (const _ of ["revoked", "granted again"]) {
      expect(refused(await ask(id_token, "id_token"))).toEqual(noGrant);
      expect(refused(await ask(refresh_token, "refresh_token"))).toEqual(noGrant);
      await company.call("issue.grant", { user: "alice", client: "agent", scope: "openid" });
    }
  });

  test("with an ID token whose sign-in was ended: by its client, by a replay, by idp expire", async () => {
    const { id_token, refresh_token = "" } = await company.call("issue.tokens", { user: "alice", client: "agent" });
    const ask = () => idJagOf(company, { user: "bob", subject_token: id_token });
    expect(await ask()).toMatchObject({ status: 200 });
    const next = { grant_type: "refresh_token", refresh_token };
    for (const status of [200, 400]) expect((await post(company, "agent", next)).status).toBe(status);
    expect(refused(await ask())).toEqual([400, "invalid_request", []]);
    const other = await company.call("issue.tokens", { user: "alice", client: "agent" });
    await company.call("expire", { user: "alice" });
    const expired = await idJagOf(company, { user: "bob", subject_token: other.id_token });
    expect(refused(expired)).toEqual([400, "invalid_request", []]);
  });

  test("with a rotated refresh token, which then revokes its family", async () => {
    const { refresh_token = "" } = await company.call("issue.tokens", { user: "alice", client: "agent" });
    const next = await post(company, "agent", { grant_type: "refresh_token", refresh_token });
    const answer = await idJagOf(company, {
      subject_token: refresh_token,
      subject_token_type: typeOf("refresh_token"),
    });
    expect(refused(answer)).toEqual([400, "invalid_request", []]);
    const after = { grant_type: "refresh_token", refresh_token: String(next.json["refresh_token"]) };
    expect((await post(company, "agent", after)).status).toBe(400);
  });

  test("with an ID token that its client could have made, or that was made to be refused", async () => {
    await company.call("clients.add", {
      ...{ client_id: "hs", client_secret: "secret-of-hs-that-is-long-enough", redirect_uris: ["http://localhost/cb"] },
      ...{ grant_types: ["authorization_code", tokenExchange], id_token_signed_response_alg: "HS256" },
      id_jag_audiences: [{ issuer: "tool" }],
    });
    const { id_token } = await company.call("issue.tokens", { user: "alice", client: "hs" });
    const parameters = {
      ...{ grant_type: tokenExchange, requested_token_type: typeOf("id-jag"), audience: tool.issuer },
      ...{
        subject_token: id_token,
        subject_token_type: typeOf("id_token"),
        client_secret: "secret-of-hs-that-is-long-enough",
      },
    };
    expect(refused(await post(company, "hs", parameters))).toEqual([400, "invalid_request", []]);
    await company.call("faults.add", { endpoint: "token", flaw: "azp-wrong" });
    const { refresh_token = "" } = await company.call("issue.tokens", { user: "alice", client: "agent" });
    const flawed = (await post(company, "agent", { grant_type: "refresh_token", refresh_token })).json["id_token"];
    const answer = await idJagOf(company, { subject_token: String(flawed) });
    expect(refused(answer)).toEqual([400, "invalid_request", []]);
    const bad = { user: "alice", client: "agent", type: "id" as const };
    for (const flaw of ["wrong_audience", "expired", "bad_signature", "alg_none", "wrong_type", "unknown_kid"]) {
      const { token } = await company.call("token.issue", { ...bad, [flaw]: true });
      expect(refused(await idJagOf(company, { subject_token: token }))).toEqual([400, "invalid_request", []]);
    }
  });
});
