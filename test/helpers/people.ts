import { expect } from "vitest";
import { callback, exchange, paths, post, refresh, signIn, userinfo } from "./client.ts";

/** Users who sign in, refresh and revoke, and what the responses said about each: all of it must still hold after a crash. */

/** A server, or one of several on the same store. */
interface At {
  readonly issuer: string;
}

/** One user with her client, and what the responses said about her. What a request may change is unknown until its response. */
interface Person {
  readonly name: string;
  grant: "none" | "active" | "revoked" | "unknown";
  /** Newest tokens, and the refresh token that was rotated for them. */
  live: { readonly access: string; readonly refresh: string; readonly older: string | null } | null;
  /** Access tokens that died, and the response of UserInfo to them from then on. */
  readonly dead: { readonly access: string; readonly status: 401 | 403 }[];
}

export interface People {
  readonly all: readonly Person[];
  /** A fixture file with all of them. */
  readonly fixtures: { readonly users: readonly object[]; readonly clients: readonly object[] };
  /** How much was answered. */
  readonly counts: { readonly consents: number; readonly refreshes: number; readonly revocations: number };
  /** One random action of a person's client. Throws if a request gets no response. */
  readonly act: (idp: At, person: Person) => Promise<void>;
  /** Checks that what the responses said is true. @param idp is called again for each request */
  readonly check: (idp: () => At) => Promise<void>;
}

async function grantsOf({ issuer }: At, adminToken: string): Promise<ReadonlyMap<string, string>> {
  const answer = await fetch(`${issuer}/_idp/api/grants`, { headers: { authorization: `Bearer ${adminToken}` } });
  const grants = (await answer.json()) as readonly { readonly user: string; readonly status: string }[];
  return new Map(grants.map(({ user, status }) => [user, status]));
}

async function revokeGrant({ issuer }: At, name: string, adminToken: string): Promise<void> {
  const { status } = await fetch(`${issuer}/_idp/api/revoke`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${adminToken}` },
    body: JSON.stringify({ user: name, client: "demo-app" }),
  });
  expect(status).toBe(200);
}

export function createPeople(count: number, adminToken: string): People {
  const counts = { consents: 0, refreshes: 0, revocations: 0 };
  const all = Array.from({ length: count }, (_, index): Person => ({
    ...{ name: `user-${index}`, grant: "none", live: null, dead: [] },
  }));

  async function act(idp: At, person: Person): Promise<void> {
    const { live } = person;
    person.live = null;
    if (live === null) {
      if (person.grant !== "active") person.grant = "unknown";
      const { code } = await signIn(idp, { user: person.name, scope: "openid email" });
      person.grant = "active";
      counts.consents += 1;
      const { status, json } = await exchange(idp, code);
      expect(status).toBe(200);
      person.live = { access: json.access_token, refresh: json.refresh_token, older: null };
      return;
    }
    const dice = Math.random();
    if (dice < 0.8) {
      const { status, json } = await refresh(idp, live.refresh);
      expect(status).toBe(200);
      counts.refreshes += 1;
      person.live = { access: json.access_token, refresh: json.refresh_token, older: live.refresh };
    } else if (dice < 0.9) {
      expect((await post(idp, paths.revoke, { token: live.refresh })).status).toBe(200);
      counts.revocations += 1;
      person.dead.push({ access: live.access, status: 401 });
    } else {
      person.grant = "unknown";
      await revokeGrant(idp, person.name, adminToken);
      person.grant = "revoked";
      counts.revocations += 1;
      person.dead.push({ access: live.access, status: 403 });
    }
  }

  async function checkOne(idp: () => At, person: Person): Promise<void> {
    for (const { access, status } of person.dead) expect((await userinfo(idp(), access)).status).toBe(status);
    const { live } = person;
    if (live === null) return;
    expect((await userinfo(idp(), live.access)).status).toBe(200);
    const { status, json } = await refresh(idp(), live.refresh);
    expect(status).toBe(200);
    person.live = { access: json.access_token, refresh: json.refresh_token, older: live.refresh };
    if (live.older === null || Math.random() < 0.5) return;
    // The older one is not only refused: its use is theft, and its family dies.
    expect(await refresh(idp(), live.older)).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
    person.live = null;
    person.dead.push({ access: json.access_token, status: 401 });
  }

  return {
    ...{ all, counts, act },
    fixtures: {
      users: all.map(({ name }) => ({ username: name })),
      clients: [{ client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] }],
    },
    async check(idp) {
      const grants = await grantsOf(idp(), adminToken);
      for (const { name, grant } of all) if (grant !== "unknown") expect(grants.get(name) ?? "none").toBe(grant);
      await Promise.all(all.map((person) => checkOne(idp, person)));
    },
  };
}
