import { expect, test } from "vitest";
import { webUrlForm } from "../../src/core/uri.ts";
import { hashPassword, maxPasswordLength, matchesHash } from "../../src/core/users/passwords.ts";
import { register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { callback, paths, post } from "../helpers/client.ts";

/**
 * Texts whose letters take time that grows with the square of their number: marks that are to be put in order (NFKC), names of hosts (IDNA).
 * 50,000 of them would keep the server busy for seconds, so a text of that length is not processed.
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
