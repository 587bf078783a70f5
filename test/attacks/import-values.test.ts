import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** An import refuses records that cannot be, and what it brings leaves the counters room. */

type State = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const clock = testClock();
const idp = await underAttack({ now: clock.now });
const document = async (): Promise<Record<string, unknown>> => ({ ...(await idp.call("export", {})) });

/** A user of their own with an access token. */
async function signedIn() {
  const app = await register(idp);
  const user = `of-${app.credentials.client_id}`;
  await idp.call("seed", { users: [{ username: user, id: `id-${user}` }] });
  const { code } = await app.signIn({ user });
  return { user, token: (await app.exchange(code)).json.access_token };
}

describe("what one field of an export requires of another", () => {
  const refusalOf = (state: object) => idp.call("import", { ...state }).catch((error: unknown) => error);

  test("a user with one-time codes has their secret", async () => {
    await idp.call("seed", { users: [{ username: "otto", factors: ["otp"] }] });
    const state = (await document()) as State;
    const at = (state["users"] ?? []).findIndex(({ username }) => username === "otto");
    const users = (state["users"] ?? []).map(({ otp_secret: secret, ...user }, index) =>
      index === at || secret === undefined ? user : { ...user, otp_secret: secret },
    );
    expect(await refusalOf({ ...state, users })).toMatchObject({
      code: "invalid",
      problems: [{ path: `users[${at}].otp_secret`, message: 'is missing: "otp" is among the factors' }],
    });
    // The codes are still those from before.
    expect(await idp.call("users.otp", { username: "otto" })).toMatchObject({ code: expect.stringMatching(/^\d{6}$/) });
  });

  test("a workload has a key that signs", async () => {
    await idp.call("workloads.issue", { name: "gitlab" });
    const state = (await document()) as State;
    const meta = (state["meta"] ?? []).map((one) => {
      if (one["id"] !== "workloadKeys") return one;
      const { gitlab } = one["value"] as Readonly<Record<string, object>>;
      return { ...one, value: { gitlab: { ...gitlab, jwk: { kty: "RSA" } } } };
    });
    const at = meta.findIndex(({ id }) => id === "workloadKeys");
    expect(await refusalOf({ ...state, meta })).toMatchObject({
      code: "invalid",
      problems: [{ path: `meta[${at}].value.gitlab.jwk`, message: "is not a private key for RS256" }],
    });
    expect((await fetch(`${idp.issuer}/w/gitlab/.well-known/jwks`)).status).toBe(200);
  });
});

describe("a counter of an import has a bound that leaves room", () => {
  const huge = Number.MAX_SAFE_INTEGER;
  const withMeta = (state: State, id: string, value: unknown) => ({
    ...state,
    meta: [...(state["meta"] ?? []).filter((one) => one["id"] !== id), { id, value }],
  });
  const withRecord = (state: State, name: string, record: object) => ({ ...state, [name]: [record] });
  const family = { id: "f", generation: 0, rotatedAt: 0, deadBecause: null, expiresAt: 1 };
  const cases: readonly (readonly [name: string, (state: State) => object])[] = [
    ["era", (state) => withMeta(state, "era", huge)],
    ["era", (state) => withMeta(state, "era", 2 ** 52)],
    ["longestLife", (state) => withMeta(state, "longestLife", huge)],
    ["latestEnd", (state) => withMeta(state, "latestEnd", huge)],
    ["era", (state) => withMeta(state, "pasts", [{ era: huge, end: 0 }])],
    ["end", (state) => withMeta(state, "pasts", [{ era: 1, end: huge }])],
    ["era", (state) => withMeta(state, "deadEras", [[1, huge]])],
    // Not ended yet: they would end what is issued later.
    ["era", (state) => withMeta(state, "pasts", [{ era: 1e9, end: 0 }])],
    ["era", (state) => withMeta(state, "deadEras", [[1, 1e9]])],
    ["era", (state) => withRecord(state, "expirations", { id: "[null,null]", access: { era: 1e9, at: 0 } })],
    ["era", (state) => withRecord(state, "expirations", { id: "[null,null]", refresh: { era: huge, at: 0 } })],
    ["at", (state) => withRecord(state, "expirations", { id: "[null,null]", refresh: { era: 1, at: huge } })],
    ["generation", (state) => withRecord(state, "families", { ...family, generation: huge })],
    ["generation", (state) => withRecord(state, "families", { ...family, generation: -1 })],
    ["rotatedAt", (state) => withRecord(state, "families", { ...family, rotatedAt: huge })],
    ["expiresAt", (state) => withRecord(state, "families", { ...family, expiresAt: huge })],
    ["deadAt", (state) => withRecord(state, "families", { ...family, deadAt: huge })],
    ["expiresAt", (state) => withRecord(state, "deadTokens", { jti: "j", reason: "", expiresAt: huge })],
    ["expiresAt", (state) => withRecord(state, "usedAssertions", { id: "j", expiresAt: huge })],
    [
      "authTime",
      (state) => ({ ...state, sessions: (state["sessions"] ?? []).map((one) => ({ ...one, authTime: huge })) }),
    ],
    [
      "expiresAt",
      (state) => ({ ...state, sessions: (state["sessions"] ?? []).map((one) => ({ ...one, expiresAt: huge })) }),
    ],
    ["retiredAt", (state) => ({ ...state, keys: (state["keys"] ?? []).map((one) => ({ ...one, retiredAt: huge })) })],
  ];

  test.each(cases)("%s (%#)", async (name, change) => {
    const { user, token } = await signedIn();
    const state = (await document()) as State;
    const imported = idp.call("import", { ...change(state) });
    await expect(imported).rejects.toMatchObject({
      code: "invalid",
      problems: expect.arrayContaining([
        expect.objectContaining({ message: expect.stringContaining(`${name} must be`) }),
      ]),
    });
    await idp.expire({ user });
    expect((await userinfo(idp, token)).status).toBe(401);
  });

  test("at the bound everything still works, also the next export and import", async () => {
    const state = (await document()) as State;
    const top = withMeta(
      withMeta(withMeta(state, "era", 1e12), "latestEnd", Date.parse("9995-01-01")),
      "longestLife",
      315_360_000,
    );
    const other = await serve({ now: clock.now });
    await other.call("import", { ...top });
    const { access_token: token } = await other.issueTokens({ user: "alice", client: "demo-app" });
    expect((await userinfo(other, token)).status).toBe(200);
    await other.expire({ user: "alice" });
    expect((await userinfo(other, token)).status).toBe(401);
    await other.call("token.revoke", {
      token: (await other.issueTokens({ user: "alice", client: "demo-app" })).refresh_token ?? "",
    });
    await other.call("keys.rotate", {});
    expect(await other.call("keys.list", {})).not.toEqual([]);
    const again = (await other.call("export", {})) as unknown as State;
    const meta = (again["meta"] ?? []).map((one) => (one["id"] === "era" ? { ...one, value: 1e12 } : one));
    await other.call("import", { ...again, meta, expirations: [] });
  });
});
