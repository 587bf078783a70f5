import { expect, test } from "vitest";
import { readYaml } from "../../src/core/base/fixture-files/yaml.ts";
import { decodeToken, findTokens } from "../../src/core/protocol/tokens/read/decode.ts";
import { webUrlForm } from "../../src/core/base/identifiers.ts";
import { lossLines } from "../../src/migrate/losses.ts";
import { readFrom } from "../../src/migrate/tools.ts";
import { hashPassword, maxPasswordLength, matchesHash } from "../../src/core/records/users/passwords.ts";
import { register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { cpuTimeOf } from "../helpers/cpu-time.ts";
import { authorizeUrl, callback, paths, post } from "../helpers/client.ts";

/**
 * Texts whose letters take time that grows with the square of their number: marks that are to be put in order (NFKC), names of hosts (IDNA),
 * and what a pattern tries again from each letter. 50,000 of them would keep the server busy for seconds.
 */

const exchangeType = "urn:ietf:params:oauth:grant-type:token-exchange";
const idp = await underAttack();
const app = await register(idp, {
  grant_types: [
    "authorization_code",
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:device_code",
    exchangeType,
  ],
});

const marks = (count: number): string => "\u0344".repeat(count / 2) + "\u0316".repeat(count / 2);

test("a password has a maximum length, and a longer one never matches, not even the correct one", async () => {
  const random = (bytes: number): string => Buffer.alloc(bytes, 7).toString("base64url");
  const longest = "x".repeat(maxPasswordLength);
  expect(await matchesHash(longest, await hashPassword(longest, random))).toBe(true);
  expect(await matchesHash(`${longest}x`, await hashPassword(`${longest}x`, random))).toBe(false);
  expect(await matchesHash(`${longest}x`, await hashPassword("", random))).toBe(false);
  const seeding = idp.call("seed", { users: [{ username: "long", password: `${longest}x` }] });
  await expect(seeding).rejects.toThrow(/is longer than 1024 characters/);
});

const resources = (values: readonly string[]): URLSearchParams =>
  new URLSearchParams(values.map((one) => ["resource", one]));

test.each(["/api/v2/oauth/par", "/api/v2/oauth/device_authorization", paths.token])(
  "%s: a very long resource of letters that no URI has",
  async (path) => {
    const ask = async (values: readonly string[]) => {
      const body = resources(values);
      const more = {
        ...app.credentials,
        grant_type: "client_credentials",
        response_type: "code",
        redirect_uri: callback,
      };
      for (const [name, value] of Object.entries(more)) if (value !== null) body.append(name, value);
      return post(idp, path, {}, { body, headers: { "content-type": "application/x-www-form-urlencoded" } });
    };
    const target = { status: 400, json: { error: "invalid_target" } };
    expect(await ask([`http://${marks(2000)}`])).toMatchObject(target);
    expect(await ask(["http://b\u00fccher.example/"])).toMatchObject(target);
    expect(await ask(Array.from({ length: 21 }, (_, at) => `a:${at}`))).toMatchObject(target);
    const twenty = await ask(Array.from({ length: 20 }, (_, at) => `a:${at}`));
    expect(twenty.json.error).not.toBe("invalid_target");
  },
);

test("an audience of such letters", async () => {
  const { access_token: token } = await app.tokens();
  const body = {
    ...app.credentials,
    grant_type: exchangeType,
    subject_token: token,
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    audience: "http://b\u00fccher.example/",
  };
  const { status, json } = await post(idp, paths.token, body);
  expect([status, json.error]).toEqual([400, "invalid_target"]);
});

test("no address on the web has a host of more than 300 letters", () => {
  expect(webUrlForm.test(`https://${"a".repeat(300)}/${"x".repeat(1000)}`)).toBe(true);
  expect(webUrlForm.test(`https://${"a".repeat(301)}/`)).toBe(false);
  expect(webUrlForm.test(`https://${marks(50_000)}/`)).toBe(false);
});

/** The tests below give a text to what reads it. Were the cost quadratic, it would take many seconds. */
const soon = 3000;

async function timeOf(read: () => unknown): Promise<number> {
  const begun = performance.now();
  await read();
  return performance.now() - begun;
}

const part = (json: string): string => Buffer.from(json).toString("base64url");
const zeros = "0".repeat(100_000);

test.each([
  ["a claim with zeros between its digits", () => decodeToken(`${part(`{"a":1${zeros}1}`)}.${part("{}")}.x`, 0)],
  ["a claim with zeros after the point", () => decodeToken(`${part(`{"a":1.${zeros}1}`)}.${part("{}")}.x`, 0)],
  ["quotes around it", () => findTokens(`eyJ.${'"'.repeat(100_000)}x`)],
  ["commas in one of several lines", () => findTokens(`eyJ${",".repeat(100_000)}x\neyJ.eyJ.x`)],
])("a token with %s", async (_what, read) => {
  expect(await timeOf(read)).toBeLessThan(soon);
});

test("a refused request that names clients which registered addresses of thousands of parts", async () => {
  const open = await underAttack({ dynamicRegistration: true });
  const ids: string[] = [];
  for (let number = 0; number < 100; number += 1) {
    const parts = Array.from({ length: 1600 }, (_, at) => (number * 1600 + at).toString(36).padStart(4, "0"));
    const uris = [parts.slice(0, 1500), parts.slice(100)].map((some) => `https://app.example.test/${some.join("/")}`);
    const answer = await fetch(`${open.issuer}/api/v2/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: uris }),
    });
    expect(answer.status).toBe(201);
    ids.push(((await answer.json()) as { client_id: string }).client_id);
  }
  const query = new URLSearchParams({ client_id: "nobody", redirect_uri: callback, scope: ids.join(" ") });
  const ask = () => fetch(`${open.issuer}${paths.authorize}?${query}`).then((answer) => answer.text());
  await ask();
  const took = await cpuTimeOf(ask);
  expect(took).toBeLessThan(400);
});

test("introspection of a token whose claim is a number of 70,000 digits", async () => {
  const token = `${part("{}")}.${part(`{"a":1${"0".repeat(70_000)}1}`)}.x`;
  const ask = () => post(idp, "/api/v2/oauth/introspect", { ...app.credentials, token });
  const time = await timeOf(async () => {
    for (let times = 0; times < 5; times += 1) {
      const { status, json } = await ask();
      expect([status, json]).toEqual([200, { active: false }]);
    }
  });
  expect(time).toBeLessThan(soon);
});

test("a login_hint that begins like an e-mail address", async () => {
  const browser = new Browser(idp.issuer);
  const url = authorizeUrl(idp, { login_hint: `a@${".".repeat(15_000)}@` });
  const time = await timeOf(async () => {
    for (let times = 0; times < 20; times += 1) expect((await browser.open(url)).page).toBe("login");
  });
  expect(time).toBeLessThan(soon);
});

test.each([
  ["dashes", `${"-".repeat(100_000)}!: b: c\n`],
  ["colons before a separator", `a: ${"b: ".repeat(50_000)}\u2028: c\n`],
])("fixtures with a line of %s", async (_what, text) => {
  expect(await timeOf(() => readYaml(text, false))).toBeLessThan(soon);
});

const users = (more: object): string =>
  JSON.stringify({ realm: "r", enabled: true, users: [{ username: "u", ...more }] });
test.each([
  ["braces", users({ attributes: { a: ["{{".repeat(50_000)] } })],
  ["signs of a placeholder", users({ attributes: { a: ["${".repeat(100_000)] } })],
  ["a name that begins with a quote", users({ [`"${"a".repeat(100_000)}`]: 1 })],
  ["empty lines", `${"\n".repeat(100_000)}x: [`],
])("a file of another tool with %s", async (_what, text) => {
  const read = async () => {
    const { leftOut } = await readFrom("keycloak", [{ name: "realm.json", text }]);
    lossLines(leftOut);
  };
  expect(await timeOf(() => read().catch(() => null))).toBeLessThan(soon);
});
