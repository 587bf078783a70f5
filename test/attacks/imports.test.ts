import { describe, expect, test } from "vitest";
import { register, serve, type App } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, paths, post, userinfo, type Body } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** An import never brings back what was ended. */

const exchangeType = "urn:ietf:params:oauth:grant-type:token-exchange";
type State = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const clock = testClock();
const idp = await underAttack({ now: clock.now, dynamicRegistration: true });
const document = async (): Promise<Record<string, unknown>> => ({ ...(await idp.call("export", {})) });

interface World {
  readonly app: App;
  readonly client: string;
  readonly user: string;
  readonly browser: Browser;
  readonly tokens: Body;
}

/** A user of their own, signed in to a client of its own. */
async function world(): Promise<World> {
  const app = await register(idp, {
    grant_types: ["authorization_code", "refresh_token", "client_credentials", exchangeType],
  });
  const client = app.credentials.client_id;
  const user = `of-${client}`;
  await idp.call("seed", { users: [{ username: user, id: `id-${user}` }] });
  const { browser, code } = await app.signIn({ user });
  return { app, client, user, browser, tokens: (await app.exchange(code)).json };
}

const isGood = async (token: string): Promise<boolean> => (await userinfo(idp, token)).status === 200;
const isActive = async (token: string): Promise<boolean> => (await idp.call("token.introspect", { token })).active;
const access = ({ tokens }: World) => isGood(tokens.access_token);
const refreshes = async ({ app, tokens }: World) => (await app.refresh(tokens.refresh_token)).status === 200;
const session = async ({ browser }: World) => (await browser.open("/account")).page === "account";
const hint = (app: App, token: string) => async () =>
  (await new Browser(idp.issuer).open(app.url({ id_token_hint: token, prompt: "none" }))).left?.searchParams.get(
    "error",
  ) === "login_required";
const ofClient = async ({ app }: World): Promise<string> =>
  (await post(idp, paths.token, { ...app.credentials, grant_type: "client_credentials" })).json.access_token;

/** Ends something after the export. @returns what asks whether it lives; none of them does anything if it does not */
type Ending = (world: World) => Promise<readonly (() => Promise<boolean>)[]>;

const remove = async ({ user }: World): Promise<void> => {
  await idp.call("users.remove", { username: user });
};

const endings: Readonly<Record<string, Ending>> = {
  "a grant that was revoked": async (of) => {
    await idp.revoke({ user: of.user, client: of.client });
    return [() => access(of), () => refreshes(of)];
  },
  "a grant that was revoked, and given again": async (of) => {
    await idp.revoke({ user: of.user, client: of.client });
    await idp.issueTokens({ user: of.user, client: of.client, scope: "openid profile email" });
    return [() => access(of), () => refreshes(of)];
  },
  "the grants of a user who was banned": async (of) => {
    await idp.call("users.ban", { username: of.user });
    return [() => access(of), () => refreshes(of), () => session(of)];
  },
  "an access token that was revoked": async (of) => {
    await post(idp, paths.revoke, { ...of.app.credentials, token: of.tokens.access_token });
    return [() => access(of)];
  },
  "a refresh token that was revoked, and its access token": async (of) => {
    await post(idp, paths.revoke, { ...of.app.credentials, token: of.tokens.refresh_token });
    return [() => access(of), () => refreshes(of)];
  },
  "a refresh token that was rotated twice": async (of) => {
    const next = (await of.app.refresh(of.tokens.refresh_token)).json;
    const { refresh_token: last } = (await of.app.refresh(next.refresh_token)).json;
    expect(await isActive(last)).toBe(true);
    return [() => isActive(of.tokens.refresh_token), () => isActive(next.refresh_token)];
  },
  "tokens whose code was replayed": async (of) => {
    const { code } = await of.app.signIn({ user: of.user });
    const { json } = await of.app.exchange(code);
    await of.app.exchange(code);
    return [() => isGood(json.access_token), () => isActive(json.refresh_token)];
  },
  "tokens that were made to expire": async (of) => {
    await idp.expire({ user: of.user, access: true, refresh: true });
    return [() => access(of), () => refreshes(of)];
  },
  "sessions that were made to expire": async (of) => {
    await idp.expire({ user: of.user, sessions: true });
    return [() => session(of)];
  },
  "a session that signed out": async (of) => {
    await of.browser.open(`/api/v2/oauth/logout?id_token_hint=${of.tokens.id_token}`);
    return [() => session(of)];
  },
  "bad tokens that were issued": async ({ app, user, client }) => {
    const { token } = await idp.call("token.issue", { user, client, wrong_audience: true });
    const own = await idp.call("token.issue", { client, wrong_audience: true });
    const id = await idp.call("token.issue", { user, client, type: "id", expired: true });
    return [() => isGood(token), () => isActive(own.token), hint(app, id.token)];
  },
  "a flawed ID token": async ({ app, user }) => {
    await idp.faults.add({ endpoint: "token", flaw: "nonce-wrong" });
    return [hint(app, (await app.exchange((await app.signIn({ user })).code)).json.id_token)];
  },
  "what a user had who was removed": async (of) => {
    await remove(of);
    return [() => access(of), () => refreshes(of), () => session(of)];
  },
  "what a user had who was removed, and added again": async (of) => {
    await remove(of);
    await idp.call("seed", { users: [{ username: of.user, id: `id-${of.user}` }] });
    return [() => access(of), () => refreshes(of), () => session(of)];
  },
  "the tokens of a client that was removed": async (of) => {
    const own = await ofClient(of);
    await idp.call("clients.remove", { client_id: of.client });
    return [() => access(of), () => refreshes(of), () => isActive(own)];
  },
  "an exchanged token, of a client that was removed": async (of) => {
    const exchanged = await post(idp, paths.token, {
      ...{ ...of.app.credentials, grant_type: exchangeType, subject_token: of.tokens.access_token },
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    });
    expect(await isActive(exchanged.json.access_token)).toBe(true);
    await idp.call("clients.remove", { client_id: of.client });
    return [() => isActive(exchanged.json.access_token)];
  },
  "everything that a reset ended": async (of) => {
    const own = await ofClient(of);
    await idp.reset();
    return [() => access(of), () => refreshes(of), () => session(of), () => isActive(own)];
  },
  "tokens from between a snapshot and its restore": async (of) => {
    await idp.snapshot("before");
    const { access_token: token } = await idp.issueTokens({ user: of.user, client: of.client });
    await idp.restore("before");
    return [() => isGood(token)];
  },
  "tokens of a past that is over": async (of) => {
    const state = (await document()) as State;
    const { era } = jwtPart(of.tokens.access_token, 1);
    const pasts = { id: "pasts", value: [{ era, end: clock.now() + 3_600_000 }] };
    const others = (state["meta"] ?? []).filter(({ id }) => id !== "era" && id !== "pasts");
    const meta = [...others, { id: "era", value: Number(era) + 1 }, pasts];
    await idp.call("import", { ...state, meta });
    return [() => access(of)];
  },
  "tokens of a key that was removed": async (of) => {
    await idp.call("keys.rotate", { alg: "HS256" });
    const old = (await idp.call("keys.list", {})).filter(({ alg, status }) => alg === "HS256" && status === "retired");
    for (const { kid } of old) await idp.call("keys.remove", { id: kid });
    return [() => access(of), () => refreshes(of)];
  },
  "tokens of keys that were all removed": async (of) => {
    await replaceKeys();
    return [() => access(of), () => refreshes(of), hint(of.app, of.tokens.id_token)];
  },
};

/** What may happen to the keys between an ending and the import: no key of the export is left. */
const keysSince: Readonly<Record<string, () => Promise<unknown>>> = {
  "a reset with new keys": () => idp.call("reset", { keys: true }),
  "a reset, and a rotation whose old keys were removed": async () => {
    await idp.reset();
    await replaceKeys();
  },
  "the import of other data": async () => {
    const other = await serve({ issuer: idp.issuer, now: clock.now });
    await idp.call("import", { ...(await other.call("export", {})) });
  },
  "a snapshot of other keys that was restored": async () => {
    await replaceKeys();
    await idp.snapshot("other-keys");
    await replaceKeys();
    await idp.restore("other-keys");
  },
};

async function replaceKeys(): Promise<void> {
  await idp.call("keys.rotate", {});
  const old = (await idp.call("keys.list", {})).filter(({ status }) => status === "retired");
  for (const { kid } of old) await idp.call("keys.remove", { id: kid });
}

async function staysEnded(end: Ending, since: () => Promise<unknown>): Promise<void> {
  const of = await world();
  expect([await access(of), await session(of)]).toEqual([true, true]);
  const before = await document();
  const asks = await end(of);
  const answers = () => Promise.all(asks.map((ask) => ask()));
  const none = asks.map(() => false);
  expect(await answers()).toEqual(none);
  // Also one that was made after it ended, and twice.
  const after = await document();
  await since();
  for (const state of [before, after, before]) {
    await idp.call("import", { ...state });
    expect(await answers()).toEqual(none);
  }
  // What begins now is good.
  const { browser, code } = await of.app.signIn({ user: of.user });
  expect(await isGood((await of.app.exchange(code)).json.access_token)).toBe(true);
  expect((await browser.open("/account")).page).toBe("account");
}

describe("an import does not bring back", () => {
  test.each(Object.entries(endings))("%s", (_name, end) => staysEnded(end, () => Promise.resolve()));

  describe.each(Object.entries(keysSince))("after %s", (_name, since) => {
    test.each([
      "a grant that was revoked",
      "the grants of a user who was banned",
      "sessions that were made to expire",
      "what a user had who was removed, and added again",
      "a flawed ID token",
      "everything that a reset ended",
    ])("%s", (name) => staysEnded(endings[name] as Ending, since));
  });

  test("tokens that were issued after a snapshot, where the restore brought back other keys", async () => {
    const of = await world();
    await idp.snapshot("earlier-keys");
    await replaceKeys();
    const { access_token: token } = await idp.issueTokens({ user: of.user, client: of.client });
    const before = await document();
    await idp.restore("earlier-keys");
    await idp.call("import", before);
    expect(await isGood(token)).toBe(false);
  });

  test("a grant that was revoked before all its keys expired", async () => {
    const of = await world();
    const before = await document();
    await idp.revoke({ user: of.user, client: of.client });
    await idp.call("keys.rotate", {});
    clock.pass(30 * 86_400);
    expect((await idp.call("keys.list", {})).filter(({ status }) => status === "retired")).toEqual([]);
    await idp.call("import", before);
    expect(await idp.call("grants.list", { user: of.user })).toMatchObject([{ status: "revoked" }]);
  });

  test("the token that managed a registered client which was removed", async () => {
    const registered = await fetch(`${idp.issuer}/api/v2/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["https://app.example.test/cb"] }),
    });
    const { registration_client_uri: uri, ...made } = (await registered.json()) as Record<string, string>;
    const headers = { authorization: `Bearer ${made["registration_access_token"] ?? ""}` };
    const read = async () => (await fetch(uri ?? "", { headers })).status;
    const before = await document();
    expect((await fetch(uri ?? "", { method: "DELETE", headers })).status).toBe(204);
    await idp.call("import", { ...before });
    expect(await read()).toBe(401);
    expect((await idp.call("clients.list", {})).map(({ client_id }) => client_id)).toContain(made["client_id"]);
  });
});

test("what was not ended stays good: tokens, sessions and refresh tokens from before the export", async () => {
  const [of, declined] = [await world(), await world()];
  await idp.call("grants.edit", {
    id: (await idp.call("grants.list", { client: declined.client }))[0]?.id ?? "",
    scope: "openid",
  });
  const ended = await world();
  await idp.revoke({ user: ended.user, client: ended.client });
  await idp.call("import", { ...(await document()) });
  expect([await access(of), await session(of), await refreshes(of)]).toEqual([true, true, true]);
  expect(jwtPart(of.tokens.access_token, 1)["sub"]).toBe(`id-${of.user}`);
});

test("an export whose user left a scope out is imported", async () => {
  const { app, user } = await world();
  await app.signIn({ user, scope: "openid phone", prompt: "consent" });
  const state = await document();
  const grants = (state["grants"] as object[]).map((grant) => ({ ...grant, declined: ["phone"] }));
  expect((await idp.call("import", { ...state, grants })).grants).toBe(grants.length);
});

test("into data with other keys the tokens of the export come along, and nothing of the data stays", async () => {
  const of = await world();
  await idp.call("token.revoke", { token: of.tokens.refresh_token });
  const good = await world();
  const other = await serve({ issuer: idp.issuer, now: clock.now });
  const lost = await other.issueTokens({ user: "alice", client: "demo-app" });
  await other.call("import", { ...(await document()) });
  const active = async (token: string) => (await other.call("token.introspect", { token })).active;
  expect(await active(good.tokens.access_token)).toBe(true);
  expect([await active(of.tokens.access_token), await active(lost.access_token)]).toEqual([false, false]);
});
