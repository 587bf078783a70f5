import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { callback, exchange, paths, post, refresh, userinfo, type Answer } from "../helpers/client.ts";
import { newDatabase } from "../helpers/postgres.ts";
import { longRuns, report, timeLimit } from "../helpers/runs.ts";
import { createHistory, hasOrder, type Done } from "./history.ts";
import { createModel, type Issued, type Model } from "./model.ts";

/** Three instances on one PostgreSQL, asked at the same time about the credentials of one user, answer as one server would. */

const runs = longRuns(25);
const store = await newDatabase();
const client = "demo-app";
const scopes = ["openid", "email"];
const clients = [{ client_id: client, client_secret: "demo-secret", redirect_uris: [callback] }];
const fixtures = { users: Array.from({ length: runs }, (_, index) => ({ username: `user-${index}` })), clients };
const instances: Idp[] = [];
for (let count = 0; count < 3; count += 1) instances.push(await createIdp({ store, fixtures }));
afterAll(async () => {
  for (const idp of instances) await idp.close();
});
const seen = new Map<string, number>();
let turn = 0;

/** The next instance, at its own address. */
function next(): Idp & { readonly here: { readonly issuer: string } } {
  const idp = instances[(turn += 1) % instances.length] as Idp;
  return Object.assign(Object.create(idp) as Idp, { here: { issuer: `http://localhost:${idp.port}` } });
}

const actions = [
  ...(["exchange", "refresh", "refresh", "refresh", "userinfo", "userinfo", "introspect"] as const),
  ...(["revoke access", "revoke refresh", "revoke grant", "suspend", "restore"] as const),
];
type Action = (typeof actions)[number];
type Deed = Pick<Done<Model>, "what" | "fits">;

const issued = ({ json }: Answer): Issued => ({ access: json.access_token, refresh: json.refresh_token });

/** Does it at the next instance. @param user and what is known of the tokens and the code */
async function act(
  action: Action,
  { user, code, tokens }: { readonly user: string; readonly code: string; readonly tokens: Issued },
  onTokens: (tokens: Issued) => void,
): Promise<Deed> {
  const idp = next();
  const deed = (what: string | number | boolean, fits: Deed["fits"]): Deed => {
    const named = `${action}: ${what}`;
    seen.set(named, (seen.get(named) ?? 0) + 1);
    return { what: `${named} at ${idp.port}`, fits };
  };
  const tokenIn = (model: Model, text: string) => model.tokens.find((one) => one.text === text);
  switch (action) {
    case "exchange": {
      const answer = await exchange(idp.here, code);
      if (answer.status === 200) onTokens(issued(answer));
      return deed(answer.status, (model) => {
        const known = model.codes.find(({ text }) => text === code);
        if (known === undefined) return false;
        const isGood = model.isGoodCode(known);
        if (isGood) model.redeem(known, issued(answer));
        else model.refuseCode(known);
        return answer.status === (isGood ? 200 : 400);
      });
    }
    case "refresh": {
      const answer = await refresh(idp.here, tokens.refresh);
      if (answer.status === 200) onTokens(issued(answer));
      return deed(answer.status, (model) => {
        const token = tokenIn(model, tokens.refresh);
        if (token === undefined) return false;
        const isGood = model.isGoodRefresh(token);
        if (isGood) model.refresh(token, null, issued(answer));
        else model.refuseRefresh(token);
        return answer.status === (isGood ? 200 : 400);
      });
    }
    case "userinfo": {
      const { status } = await userinfo(idp.here, tokens.access);
      return deed(status, (model) => {
        const token = tokenIn(model, tokens.access);
        return token !== undefined && model.userinfo(token) === status;
      });
    }
    case "introspect": {
      const { active } = await idp.call("token.introspect", { token: tokens.refresh });
      return deed(active, (model) => {
        const token = tokenIn(model, tokens.refresh);
        return token !== undefined && model.isActive(token) === active;
      });
    }
    case "revoke access":
    case "revoke refresh": {
      const text = action === "revoke access" ? tokens.access : tokens.refresh;
      const { status } = await post(idp.here, paths.revoke, { token: text });
      return deed(status, (model) => {
        const token = tokenIn(model, text);
        if (token !== undefined) model.revokeToken(token, client);
        return token !== undefined && status === 200;
      });
    }
    case "revoke grant": {
      const { revoked } = await idp.revoke({ user, client });
      return deed(revoked.length, (model) => model.revokeGrant(user, client) === (revoked.length === 1));
    }
    case "suspend":
    case "restore":
      await idp.call(`users.${action}`, { username: user });
      return deed("done", (model) => {
        model.setStatus(user, action === "suspend" ? "suspended" : "active");
        return true;
      });
  }
}

let run = 0;
async function check(threads: readonly (readonly Action[])[]): Promise<void> {
  const user = `user-${run}`;
  run += 1;
  const given = await next().issueTokens({ user, client, scope: scopes.join(" ") });
  const { code } = await next().issueCode({ user, client, scope: scopes.join(" ") });
  const tokens = { access: given.access_token, refresh: given.refresh_token ?? "" };
  const begin = (): Model => {
    const model = createModel();
    model.consent(user, client, scopes, scopes);
    model.issueAtOnce(user, client, scopes, tokens);
    model.drawCode(user, client, scopes, code);
    return model;
  };
  const history = createHistory<Model>();
  const all = [tokens];
  await Promise.all(
    threads.map(async (some) => {
      let newest: Issued = tokens;
      for (const action of some) {
        const onTokens = (received: Issued): void => {
          newest = received;
          all.push(received);
        };
        await history.record(() => act(action, { user, code, tokens: newest }, onTokens));
      }
    }),
  );
  // What became of each token, at whichever instance.
  for (const one of all) {
    for (const look of ["userinfo", "introspect"] as const)
      await history.record(() => act(look, { user, code, tokens: one }, () => undefined));
  }
  const told = history.done.map(({ what, began, ended }) => `${began} to ${ended}: ${what}`).join("\n");
  expect(hasOrder(history.done, begin), `no order explains\n${told}`).toBe(true);
}

test(`${runs} histories of three instances are those of one server`, { timeout: timeLimit }, async () => {
  const thread = fc.array(fc.constantFrom(...actions), { minLength: 1, maxLength: 3 });
  await fc.assert(fc.asyncProperty(fc.tuple(thread, thread, thread), check), { numRuns: runs, endOnFailure: true });
  report("histories", seen);
  for (const what of ["exchange: 200", "refresh: 200", "refresh: 400", "userinfo: 200"])
    expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
});

test("an impossible history is recognized", () => {
  const done = (began: number, ended: number, value: number, does: "read" | "write"): Done<{ value: number }> => ({
    ...{ what: does, began, ended },
    fits: (model) => (does === "write" ? ((model.value = value), true) : model.value === value),
  });
  const begin = () => ({ value: 0 });
  expect(hasOrder([done(1, 4, 1, "write"), done(2, 3, 0, "read")], begin)).toBe(true);
  expect(hasOrder([done(1, 4, 1, "write"), done(2, 3, 1, "read")], begin)).toBe(true);
  expect(hasOrder([done(1, 2, 1, "write"), done(3, 4, 0, "read")], begin)).toBe(false);
});
