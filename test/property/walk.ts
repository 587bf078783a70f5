import { expect } from "vitest";
import { asForm } from "../../bench/connection.ts";
import { OperationError } from "../../src/index.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, callback, paths, pick } from "../helpers/client.ts";
import { createModel, type Code, type Issued, type Model, type Token } from "./model.ts";
import { createPlaces } from "./places.ts";
import { scopeNames, type Step } from "./steps.ts";

/** Model and server walk a sequence side by side; after each step every token that was ever issued is looked at. */

/** What UserInfo shows for a scope (the service's own description). */
const fieldOf = { email: "email", phone: "phone", social: "socialLinks", details: "birthDate" } as const;

const credentials = (client: string): Readonly<Record<"client_id" | "client_secret", string>> => ({
  client_id: client,
  client_secret: `secret-of-${client}`,
});

interface Said {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Walker {
  /** Walks one sequence with new users and clients. @throws if the server differs from the model */
  walk(steps: readonly Step[]): Promise<void>;
  close(): Promise<void>;
  /** How often each step had which outcome, and each kind of response came up: an outcome that was never reached was never tested. */
  readonly seen: ReadonlyMap<string, number>;
}

export function createWalker(): Walker {
  const places = createPlaces();
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

  async function walk(steps: readonly Step[]): Promise<void> {
    const at = await places.next();
    const model = createModel();
    await at.idp.clock.reset();
    const first = 2 * (at.sequences - 1);
    const named = (who: { readonly user: number; readonly client: number }) => ({
      user: `user-${first + who.user}`,
      client: `client-${first + who.client}`,
    });

    async function send(path: string, body: Readonly<Record<string, string>> | null, bearer?: string): Promise<Said> {
      const headers =
        (bearer === undefined ? "" : `Authorization: Bearer ${bearer}\r\n`) + (body === null ? "" : asForm);
      const text = body === null ? "" : new URLSearchParams(body).toString();
      const answer = await at.connection.send(body === null ? "GET" : "POST", path, headers, text);
      return { status: answer.status, json: JSON.parse(answer.body) as Said["json"] };
    }
    const issued = ({ json }: Said): Issued => ({
      access: String(json["access_token"]),
      refresh: String(json["refresh_token"]),
    });
    /** The operation refuses exactly when the model says so. @returns null if it refused */
    async function allowed<T>(expected: boolean, operation: Promise<T>): Promise<T | null> {
      const done = await operation.catch((error: unknown) => {
        if (error instanceof OperationError) return null;
        throw error;
      });
      expect(done !== null, "the operation was allowed").toBe(expected);
      return done;
    }

    /** In a browser without a session, up to the consent page. */
    async function askUser(user: string, client: string, scope: string) {
      const browser = new Browser(at.idp.issuer);
      const page = await browser.open(authorizeUrl(at.idp, { client_id: client, scope, prompt: "consent" }));
      const next = await pick(browser, page, user);
      expect(next.page, "the page after the picker").toBe(model.mayDecide(user) ? "consent" : "login");
      return { browser, page: next };
    }

    async function exchange(code: Code): Promise<void> {
      const said = await send(paths.token, {
        grant_type: "authorization_code",
        code: code.text,
        redirect_uri: callback,
        ...credentials(code.client),
      });
      if (model.isGoodCode(code)) {
        expect(said, "exchange of a good code").toMatchObject({ status: 200 });
        note("exchange: tokens");
        model.redeem(code, issued(said));
      } else {
        expect(said, "exchange of a bad code").toMatchObject({ status: 400, json: { error: "invalid_grant" } });
        note(code.used === null ? "exchange: refused" : "exchange: replay");
        model.refuseCode(code);
      }
    }

    async function refresh(token: Token, narrow: readonly string[] | null): Promise<void> {
      const narrowed = narrow && ["openid", ...narrow].filter((scope) => token.scopes.includes(scope));
      const said = await send(paths.token, {
        grant_type: "refresh_token",
        refresh_token: token.text,
        ...credentials(token.client),
        ...(narrowed && { scope: narrowed.join(" ") }),
      });
      if (model.isGoodRefresh(token)) {
        expect(said, "refresh with a good token").toMatchObject({ status: 200 });
        note("refresh: tokens");
        model.refresh(token, narrowed, issued(said));
      } else {
        expect(said, "refresh with a bad token").toMatchObject({ status: 400, json: { error: "invalid_grant" } });
        note(token.generation < token.family.generation ? "refresh: rotated" : "refresh: refused");
        model.refuseRefresh(token);
      }
    }

    async function take(step: Step): Promise<void> {
      const newest = <T>(all: readonly T[], which: number): T | undefined => all[all.length - 1 - which];
      switch (step.does) {
        case "approve": {
          const { user, client } = named(step.who);
          const scope = step.scopes.join(" ");
          const given = await allowed(model.mayDecide(user), at.idp.issueCode({ user, client, scope }));
          if (given === null) return;
          model.consent(user, client, step.scopes, step.scopes);
          model.drawCode(user, client, step.scopes, given.code);
          return;
        }
        case "issue tokens": {
          const { user, client } = named(step.who);
          const scope = step.scopes.join(" ");
          const given = await allowed(model.mayDecide(user), at.idp.issueTokens({ user, client, scope }));
          if (given === null) return;
          model.consent(user, client, step.scopes, step.scopes);
          model.issueAtOnce(user, client, step.scopes, {
            access: given.access_token,
            refresh: given.refresh_token ?? "",
          });
          return;
        }
        case "consent":
        case "deny": {
          const { user, client } = named(step.who);
          const { browser, page } = await askUser(user, client, step.scopes.join(" "));
          if (!model.mayDecide(user)) {
            note(`${step.does}: refused`);
            return;
          }
          if (step.does === "deny") {
            const { left } = await browser.press(page, "consent-deny");
            expect(left?.searchParams.get("error")).toBe("access_denied");
            note("deny: done");
            return;
          }
          const ticked = step.scopes.filter((scope) => scope === "openid" || step.ticked.includes(scope as never));
          const { left } = await browser.press(page, "consent-allow", { scope: ticked });
          model.consent(user, client, step.scopes, ticked);
          model.drawCode(user, client, ticked, left?.searchParams.get("code") ?? "no code");
          note("consent: done");
          return;
        }
        case "exchange": {
          const code = newest(model.codes, step.which);
          if (code === undefined) return;
          await exchange(code);
          if (step.twice) await exchange(code);
          return;
        }
        case "refresh": {
          const token = newest(
            model.tokens.filter(({ kind }) => kind === "refresh"),
            step.which,
          );
          if (token !== undefined) await refresh(token, step.narrow);
          return;
        }
        case "revoke token": {
          const token = newest(model.tokens, step.which);
          if (token === undefined) return;
          const client = step.own
            ? token.client
            : named({ user: 0, client: token.client.endsWith(String(first)) ? 1 : 0 }).client;
          expect(await send(paths.revoke, { token: token.text, ...credentials(client) })).toEqual({
            status: 200,
            json: {},
          });
          model.revokeToken(token, client);
          note(step.own ? `revoke token: ${token.kind}` : "revoke token: another client's");
          return;
        }
        case "revoke grant": {
          const { user, client } = named(step.who);
          const { revoked } = await at.idp.revoke({ user, client });
          const expected = model.revokeGrant(user, client);
          expect(revoked.length, "grants revoked").toBe(expected ? 1 : 0);
          note(expected ? "revoke grant: done" : "revoke grant: none");
          return;
        }
        case "narrow grant": {
          const { user, client } = named(step.who);
          const [grant] = await at.idp.call("grants.list", { user, client });
          const scopes = ["openid", ...step.ticked];
          if (grant === undefined) return;
          const expected = model.grantOf(user, client)?.active === true;
          await allowed(expected, at.idp.call("grants.edit", { id: grant.id, scope: scopes.join(" ") }));
          if (expected) model.narrowGrant(user, client, scopes);
          note(`narrow grant: ${expected ? "done" : "refused"}`);
          return;
        }
        case "set status": {
          const { user } = named({ user: step.user, client: 0 });
          const operation = ({ active: "users.restore", suspended: "users.suspend", banned: "users.ban" } as const)[
            step.to
          ];
          // To suspend a banned user would lighten the ban.
          const expected = !(step.to === "suspended" && model.statusOf(user) === "banned");
          await allowed(expected, at.idp.call(operation, { username: user }));
          if (expected) model.setStatus(user, step.to);
          note(`set status: ${step.to}`);
          return;
        }
        case "time passes":
          places.pass(step.seconds);
          model.pass(step.seconds);
          return;
        case "move the clock": {
          const to = model.now() + step.by;
          if (step.by > 0) await at.idp.clock.advance(step.by);
          else await at.idp.clock.set(new Date(places.time() + (to - model.real()) * 1000));
          model.setClock(to);
          note(`clock: ${step.by > 0 ? "forward" : "back"}`);
          return;
        }
        case "reset the clock":
          await at.idp.clock.reset();
          model.setClock(model.real());
          return;
        case "expire": {
          const both = named(step.who);
          const user = step.of === "client" ? undefined : both.user;
          const client = step.of === "user" ? undefined : both.client;
          await at.idp.expire({ user, client, ...Object.fromEntries(step.kinds.map((kind) => [kind, true])) });
          model.expire(step.kinds, user, client);
          note("expire");
          return;
        }
        case "restart":
          await places.restart();
          model.restart();
          {
            note("restart");
            return;
          }
      }
    }

    async function check(model: Model): Promise<void> {
      for (const token of model.tokens) {
        const said = await send(paths.userinfo, null, token.text);
        const expected = model.userinfo(token);
        expect(said, `UserInfo with ${token.kind} token ${token.generation} of ${token.user}`).toMatchObject({
          status: expected,
        });
        note(`UserInfo: ${expected}`);
        if (expected === 200) {
          const shown = Object.keys(said.json["user"] as object);
          const released = scopeNames.filter((scope) => shown.includes(fieldOf[scope]));
          expect(released, "the scopes that UserInfo shows").toEqual(
            scopeNames.filter((scope) => model.scopesNow(token).includes(scope)),
          );
        }
        const { active } = await at.idp.call("token.introspect", { token: token.text });
        expect(active, `introspection of ${token.kind} token ${token.generation} of ${token.user}`).toBe(
          model.isActive(token),
        );
        note(active ? "introspection: active" : "introspection: inactive");
      }
      const [last] = model.tokens.slice(-1);
      if (last === undefined) return;
      // The endpoint says what the operation says.
      const { json } = await send("/api/v2/oauth/introspect", { token: last.text, ...credentials(last.client) });
      expect(json["active"], "introspection by the client").toBe(model.isActive(last));
    }

    note("sequences");
    for (const step of steps) {
      await take(step);
      await check(model);
      note("steps");
    }
  }

  return { walk, close: places.close, seen };
}
