import { expect, test } from "vitest";
import { authorizeCases } from "./authorize.ts";
import { pageCases } from "./pages.ts";
import { clockCases, signedCases } from "./signed.ts";
import { clientCases, grantCases } from "./token.ts";
import { startWorld } from "./world.ts";

/**
 * The table of refusals, kept in table.txt: what the ledger says of each, with the paragraph that requires it and the next step, each once.
 * `npx vitest run refusals -u` writes it.
 */

/** No standard requires these; each says what does. */
const withoutRule: Readonly<Record<string, string>> = {
  "authorize: too long": "a limit of this server",
  "authorize: nonce too long": "a limit of this server",
  "token: parameter not text": "JSON bodies are an extension of this server",
  "token: body not an object": "JSON bodies are an extension of this server",
  "page: sign-in unknown": "how long the page of a sign-in can be opened is this server's affair",
  "page: finished": "how long the page of a sign-in can be opened is this server's affair",
};

/** The message of each of these says the next step, so it has no fix that repeats it. */
const stepInMessage: Readonly<Record<string, string>> = {
  "authorize: scope twice": "send it once",
  "authorize: no response_type": 'send "code"',
  "authorize: response_mode": "use query or fragment or form_post",
  "authorize: unknown request_uri": "push the request again",
  "authorize: prompt=create": "use none, login, consent, select_account",
  "client: two ways": "send the Authorization header or client_secret, not both",
  "client: Basic not encoded": 'send a "%" of id or secret as %25, or use client_secret_post',
  "client: assertion type": 'has to be "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"',
  "token: unknown grant_type": "use one of: authorization_code",
  "token: parameter twice": "send it once",
  "code: no redirect_uri": "repeat the one from the authorization request",
  "device: too fast": "ask again in 10 s",
  "exchange: type": 'send "urn:ietf:params:oauth:token-type:access_token"',
  "id-jag: actor": "leave it out",
  "id-jag: subject token type": 'send "urn:ietf:params:oauth:token-type:id_token" or',
  "assertion: used twice": "make a new assertion for each request",
  "DPoP: used twice": "make a new proof for each request",
  "userinfo: no token": "send it as Authorization: Bearer",
  "userinfo: malformed header": "send Bearer, one space and the access token alone",
  "userinfo: in the query": "send Authorization: Bearer",
  "userinfo: bound token as Bearer": "send it as Authorization: DPoP <access token>, with a DPoP proof",
  "userinfo: bearer token with a proof": "leave the DPoP header out, or send a token that is bound to its key",
  "http: method": "use POST",
  "http: media type": "send application/json or application/x-www-form-urlencoded",
  "http: two hosts": "send it once",
};

const world = await startWorld();
const ofClock = await startWorld();
const cases = [
  ...[authorizeCases, clientCases, grantCases, signedCases, pageCases].flatMap((some) =>
    Object.entries(some(world)).map(([name, send]) => [name, world, send] as const),
  ),
  ...Object.entries(clockCases(ofClock)).map(([name, send]) => [name, ofClock, send] as const),
];

/** The same in each run: the port, what is random, and how long it took. */
const stable = (text: string): string =>
  text.replaceAll(world.idp.issuer, "http://localhost:PORT").replaceAll(ofClock.idp.issuer, "http://localhost:PORT");

const rows: string[] = [];

test.each(cases)("%s", async (name, { idp }, send) => {
  await idp.call("requests.clear", {});
  await send();
  const refused = (await idp.call("requests.list", { parts: true })).filter(({ error }) => error !== null).at(-1);
  if (refused === undefined) throw new Error(`${name}: nothing was refused`);
  const { endpoint, status, error, rule, fix, reason, parameters } = refused;
  const why = withoutRule[name];
  const step = stepInMessage[name];
  expect(rule === null).toBe(why !== undefined);
  if (step === undefined) expect(fix).toMatch(/./);
  else expect({ fix, error }).toEqual({ fix: null, error: expect.stringContaining(step) });
  // The paragraph is in `rule` alone.
  expect(error).not.toMatch(/(?:RFC|OpenID Connect|ID-JAG|Client ID Metadata Document) [\d.A-Z]+\d/);
  // The parameter that a sentence begins with is in data, too; of a registration, several members may be wrong.
  const [subject = ""] = /^\w+(?= (?!and ))/.exec(reason?.message ?? "") ?? [];
  const isSent = endpoint !== "register" && Object.hasOwn(parameters, subject);
  if (isSent) expect(reason?.parameter).toBe(subject);
  rows.push(
    [
      `${name}: ${endpoint} ${status}`,
      `  ${error ?? ""}`,
      `  rule: ${rule ?? `none (${why ?? ""})`}`,
      `  next: ${fix ?? "the message says it"}`,
    ]
      .map(stable)
      .join("\n"),
  );
});

test("the table is as it is kept", async () => {
  expect(rows.length).toBe(cases.length);
  await expect(`${rows.join("\n\n")}\n`).toMatchFileSnapshot("table.txt");
});
