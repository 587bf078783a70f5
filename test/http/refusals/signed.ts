import { partner } from "../../helpers/cross-app.ts";
import { paths } from "../../helpers/client.ts";
import type { Cases, World } from "./world.ts";

/** Refusals of what somebody else signed: assertions, ID-JAGs, DPoP proofs; and of access tokens. */

export const signedCases = (world: World): Cases => {
  const { assert, idJag, token, proof, clock, idp, userinfo, tokens, bound, proofFor, other, code, exchange, key } =
    world;
  const seconds = (more = 0) => Math.floor(Date.parse("2026-01-15T12:00:00.000Z") / 1000) + more;
  const now = (more = 0) => Math.floor(clock.now() / 1000) + more;
  const prove = async (claims: object = {}, header: object = {}) =>
    token({ grant_type: "client_credentials" }, { dpop: await proof(claims, header) });
  return {
    "assertion: signature": () => assert({ iat: now(), exp: now(60) }, "another secret of 32 bytes or more, for HS256"),
    "assertion: aud": () => assert({ aud: "https://other.test", exp: now(60) }),
    "assertion: iss": () => assert({ iss: "x", exp: now(60) }),
    "assertion: expired": () => assert({ exp: seconds(-100) }),
    "assertion: lives too long": () => assert({ exp: now(5000) }),
    "assertion: no jti": () => assert({ jti: undefined, exp: now(60) }),
    "assertion: used twice": async () => {
      const claims = { jti: "once", exp: now(60) };
      await assert(claims);
      return assert(claims);
    },
    "workload: another audience": async () => {
      const { token: given } = await idp.call("workloads.issue", { name: "shop", audience: "https://other.test" });
      return world.deploy(given);
    },
    "ID-JAG: untrusted issuer": () => idJag({ iss: "https://other.test" }),
    "ID-JAG: audience": () => idJag({ aud: "https://other.test" }),
    "ID-JAG: client_id": () => idJag({ client_id: "other" }),
    "ID-JAG: no key": () => idJag({}, { kid: "p2" }),
    "ID-JAG: no user": () => idJag({ sub: "nobody" }),
    "ID-JAG: workload's type": () => idJag({}, { typ: "JWT" }),
    "ID-JAG: resource": () => idJag({ resource: "files" }),
    "ID-JAG: scope": () => idJag({ scope: ["files:read"] }),
    "ID-JAG: confirmation": () => idJag({ cnf: {} }),
    "DPoP: no proof": () =>
      token({ grant_type: "refresh_token", client_id: "bound", client_secret: "secret of bound, long enough" }),
    "DPoP: no JWT": () => token({ grant_type: "client_credentials" }, { dpop: "x" }),
    "DPoP: method": () => prove({ htm: "GET" }),
    "DPoP: address": () => prove({ htu: "https://other.test/token" }),
    "DPoP: type": () => prove({}, { typ: "JWT" }),
    "DPoP: old": () => prove({ iat: now(-90) }),
    "DPoP: used twice": async () => {
      await prove({ jti: "once" });
      return prove({ jti: "once" });
    },
    "DPoP: code bound to a key": async () => {
      const given = await world.app.signIn({ dpop_jkt: other.jkt });
      return exchange(given.code, {});
    },
    "userinfo: no token": () => userinfo({}),
    "userinfo: no JWT": () => userinfo({ authorization: "Bearer x" }),
    "userinfo: malformed header": () => userinfo({ authorization: "Bearer a b" }),
    "userinfo: in the query": () => world.get(`${paths.userinfo}?access_token=x`),
    "userinfo: an ID token": async () => userinfo({ authorization: `Bearer ${(await tokens()).id_token}` }),
    "userinfo: signature": async () => {
      const [header, payload] = (await tokens()).access_token.split(".");
      return userinfo({ authorization: `Bearer ${header}.${payload}.${"A".repeat(43)}` });
    },
    "userinfo: alg none": () =>
      userinfo({ authorization: `Bearer ${Buffer.from('{"alg":"none"}').toString("base64url")}.e30.` }),
    "userinfo: expired": async () => {
      const { access_token: given } = await tokens();
      clock.pass(1900);
      return userinfo({ authorization: `Bearer ${given}` });
    },
    "userinfo: made to expire": async () => {
      const { access_token: given } = await tokens();
      await idp.call("expire", { client: "app" });
      return userinfo({ authorization: `Bearer ${given}` });
    },
    "userinfo: revoked by the client": async () => {
      const { access_token: given } = await tokens();
      await world.post(paths.revoke, { token: given });
      return userinfo({ authorization: `Bearer ${given}` });
    },
    "userinfo: revoked by the user": async () => {
      const { access_token: given } = await tokens();
      await idp.revoke({ user: "alice", client: "app" });
      return userinfo({ authorization: `Bearer ${given}` });
    },
    "userinfo: suspended": async () => {
      const { access_token: given } = await tokens({ user: "bob" });
      await idp.call("users.suspend", { username: "bob" });
      await userinfo({ authorization: `Bearer ${given}` });
      return idp.call("users.restore", { username: "bob" });
    },
    "userinfo: of a client": async () => {
      const response = await token({ grant_type: "client_credentials" });
      const { access_token: given } = (await response.json()) as { access_token: string };
      return userinfo({ authorization: `Bearer ${given}` });
    },
    "userinfo: bound token as Bearer": async () => userinfo({ authorization: `Bearer ${await bound()}` }),
    "userinfo: bound token without proof": async () => userinfo({ authorization: `DPoP ${await bound()}` }),
    "userinfo: bound token, another key": async () => {
      const given = await bound();
      return userinfo({ authorization: `DPoP ${given}`, dpop: await proofFor(given, other) });
    },
    "userinfo: bearer token as DPoP": async () => {
      const { access_token: given } = await tokens();
      return userinfo({ authorization: `DPoP ${given}`, dpop: await proofFor(given, key) });
    },
    "userinfo: bearer token with a proof": async () => {
      const { access_token: given } = await tokens();
      return userinfo({ authorization: `Bearer ${given}`, dpop: await proofFor(given, key) });
    },
    "introspect: public client": () =>
      world.post("/api/v2/oauth/introspect", { client_id: "spa", client_secret: null, token: "x" }),
    "introspect: no token": () => world.post("/api/v2/oauth/introspect", {}),
    "revoke: no token": () => world.post(paths.revoke, {}),
    "code: of nobody": async () => {
      await idp.call("seed", { users: [{ username: "gone" }] });
      const given = await code({ user: "gone" });
      await idp.call("users.remove", { username: "gone" });
      return exchange(given);
    },
  };
};

/** What the real time says, while the clock of the server is moved. On a server of their own, where nobody guessed before. */
export const clockCases = ({ assert, clock, deploy, idJag, idp, proof, token }: World): Cases => {
  const now = (more = 0) => Math.floor(clock.now() / 1000) + more;
  const moved = async (by: string, send: () => Promise<unknown>) => {
    await idp.clock.advance(by);
    await idp.call("requests.clear", {});
    await send();
    await idp.clock.reset();
  };
  return {
    "assertion: clock behind": () => moved("-2h", () => assert({ exp: now(60), nbf: now() })),
    "ID-JAG: clock behind": () => moved("-31m", () => idJag({ iat: now(), exp: now(300) })),
    "assertion: clock ahead": () => moved("31m", () => assert({ exp: now(60) })),
    "ID-JAG: clock ahead": () => moved("31m", () => idJag({ iat: now(), exp: now(300), iss: partner })),
    "workload: clock ahead": () => moved("31m", deploy),
    "DPoP: clock ahead": () =>
      moved("31m", async () => token({ grant_type: "client_credentials" }, { dpop: await proof() })),
  };
};
