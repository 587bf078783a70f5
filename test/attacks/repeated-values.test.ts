import { expect, test } from "vitest";
import { innards, underAttack } from "../helpers/attack.ts";
import { authorizeUrl, callback, exchange, paths, signIn } from "../helpers/client.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";

/** What a refusal repeats of a request: never a valid secret, and never the whole of an endless value. */

const told: string[] = [];
const idp = await underAttack({
  log: (line) => told.push(line),
  onRequest: (event) => told.push(JSON.stringify(event)),
});
const own = { client_id: "demo-app", client_secret: "demo-secret" };

/** The answer and the log of one request. */
async function said(answer: Response): Promise<string> {
  const text = [await answer.text(), answer.headers.get("location"), answer.headers.get("www-authenticate")].join("\n");
  return decodeURIComponent((text + told.splice(0).join("\n")).replaceAll(/%(?![\da-f]{2})/gi, "%25"));
}
const form = (path: string, body: Record<string, string>): Promise<Response> =>
  fetch(idp.issuer + path, { method: "POST", body: new URLSearchParams(body), redirect: "manual" });

test("a code in a redirect URI, as from an app that sends its own address, is hidden: it is still valid", async () => {
  const { code, back } = await signIn(idp);
  const atToken = await form(paths.token, { ...own, grant_type: "authorization_code", code, redirect_uri: back.href });
  const page = await fetch(authorizeUrl(idp, { redirect_uri: back.href }), { headers: { accept: "text/html" } });
  for (const answer of [atToken, page]) {
    expect(answer.status).toBe(400);
    const text = await said(answer);
    expect(text).not.toContain(code);
    // The rest of it says what is wrong.
    expect(text).toContain(`${callback}?code=…`);
  }
  expect((await exchange(idp, code)).status).toBe(200);
});

test("a token in the place of another value", async () => {
  const { json } = await exchange(idp, (await signIn(idp)).code);
  const query = new URLSearchParams({
    id_token_hint: json.id_token,
    post_logout_redirect_uri: `http://localhost:3000/?id_token_hint=${json.id_token}&access_token=${json.access_token}`,
  });
  const answers = await Promise.all([
    form(paths.token, { ...own, grant_type: json.access_token }),
    form(paths.token, {
      ...own,
      grant_type: "refresh_token",
      refresh_token: json.refresh_token,
      scope: json.access_token,
    }),
    form(paths.token, { client_id: json.access_token, grant_type: "authorization_code" }),
    fetch(authorizeUrl(idp, { scope: `openid ${json.access_token}` }), { redirect: "manual" }),
    fetch(`${idp.issuer}/api/v2/oauth/logout?${query.toString()}`),
  ]);
  const texts = (await Promise.all(answers.map(said))).join("\n");
  for (const token of [json.access_token, json.refresh_token, json.id_token]) {
    expect(texts).not.toContain(token);
    expect(texts).not.toContain(token.split(".")[2]);
  }
});

test("id and secret are swapped", async () => {
  const swapped = { client_id: own.client_secret, client_secret: own.client_id };
  const basic = `Basic ${Buffer.from(`${own.client_secret}:${own.client_id}`).toString("base64")}`;
  for (const answer of [
    await form(paths.token, { ...swapped, grant_type: "client_credentials" }),
    await form("/api/v2/oauth/introspect", { ...swapped, token: "x" }),
    await fetch(idp.issuer + paths.token, {
      method: "POST",
      headers: { authorization: basic },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    }),
  ]) {
    expect(answer.status).toBe(401);
    const text = await said(answer);
    expect(text).toContain("are swapped");
    expect(text).not.toContain(own.client_secret);
    // The secret parameter is not repeated, whatever it holds.
    expect(text).not.toContain(own.client_id);
  }
});

test("an endless value: its beginning is in the response and in the log", async () => {
  const long = "a ".repeat(45_000);
  for (const answer of [
    await form(paths.token, { client_id: long, grant_type: "authorization_code" }),
    await form(paths.token, { ...own, grant_type: long }),
    await fetch(authorizeUrl(idp, { prompt: "x".repeat(12_000) }), { redirect: "manual" }),
  ]) {
    expect(answer.status).toBeGreaterThanOrEqual(300);
    expect((await said(answer)).length).toBeLessThan(10_000);
  }
});

test("a value in which a token may begin at each of 24,000 places is searched quickly, ten times over", async () => {
  for (let time = 0; time < 10; time += 1) {
    const { status } = await form(paths.token, { ...own, grant_type: "eyJ-".repeat(24_000) });
    expect(status).toBe(400);
  }
});

test("without a terminal, the error about an endless value is short and comes at once", async () => {
  const server = await startIdp(["--memory"], { cwd: newFolder() });
  const words = "client_id=demo-spa&grant_type=" + "+".repeat(90_000);
  await fetch(server.issuer + paths.token, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: words,
  });
  const unknown = Array.from({ length: 3500 }, (_, index) => index.toString(36)).join(" ");
  await fetch(authorizeUrl(server, { scope: `openid ${unknown}` }), { redirect: "manual" });
  expect((await fetch(`${server.issuer}/_idp/health`)).status).toBe(200);
  await expect.poll(() => server.output.stdout + server.output.stderr).toContain("is not defined: ignored");
  const { stdout, stderr } = server.output;
  expect(Math.max(...`${stdout}\n${stderr}`.split("\n").map(({ length }) => length))).toBeLessThan(4000);
  expect(stdout + stderr).not.toMatch(innards);
});
