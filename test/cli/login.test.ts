import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import { idp as spawned, newFolder } from "../helpers/cli.ts";
import { beginHere, idpHere, type Begun } from "../helpers/command.ts";
import { jwtPart } from "../helpers/client.ts";
import { freePort } from "../helpers/port.ts";
import { rawRequest } from "../helpers/raw-http.ts";

/** `idp login` against a server of ours: every flow, by a person in a browser and without one. */

const idp = await serve();
const cwd = newFolder(afterAll);
const tokenFile = join(cwd, "admin-token");
writeFileSync(tokenFile, idp.adminToken);
const target = ["--url", idp.issuer, "--admin-token-file", tokenFile, "--data", join(cwd, "none")];
/** As a hint names it. */
const inHints = `--url ${idp.issuer} --admin-token-file ${tokenFile}`;
const login = (words: string, input = "") => idpHere(["login", ...words.split(" ").filter(Boolean), ...target], input);
const begin = (words: string): Begun => beginHere(["login", ...words.split(" ").filter(Boolean), ...target]);

interface Answer {
  readonly valid: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  readonly tokens: Readonly<Record<string, unknown>> | null;
  readonly claims: Readonly<Record<string, unknown>> | null;
  readonly userinfo: Readonly<Record<string, unknown>> | null;
}
const answerOf = (stdout: string) => JSON.parse(stdout) as Answer;
const failedOf = (stdout: string) =>
  answerOf(stdout)
    .checks.filter(({ ok }) => !ok)
    .map(({ name }) => name);

const ofUser = ["discovery", "par", "response", "response.state", "response.iss", "token"];
const ofTokens = ["signature", "iss", "aud", "azp", "sub", "exp", "iat", "nonce", "at_hash"].map(
  (name) => `id_token.${name}`,
);

describe("without a person", () => {
  test("alice approves: every check is reported, and the document holds what was got", async () => {
    const { code, stdout, stderr } = await login("--user alice --approve --json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const answer = answerOf(stdout);
    expect(answer).toMatchObject({
      valid: true,
      issuer: idp.issuer,
      client: "idp-cli",
      flow: "code",
      tokens: { token_type: "Bearer", scope: "openid profile email" },
      claims: { sub: "7123456789012345678", aud: "idp-cli" },
      userinfo: { sub: "7123456789012345678" },
    });
    expect(answer.checks.map(({ name }) => name)).toEqual([...ofUser, ...ofTokens, "userinfo", "userinfo.sub"]);
    expect(answer.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(JSON.stringify(answer.checks)).not.toContain(String(answer.tokens?.["access_token"]));
  });

  test("alice denies: exit 6, and what came back is judged all the same", async () => {
    for (const again of ["at first", "after she approved"]) {
      const { code, stdout, stderr } = await login("--user alice --deny --json");
      expect(code, again).toBe(6);
      expect(answerOf(stdout)).toMatchObject({ valid: false, tokens: null });
      expect(failedOf(stdout)).toEqual(["response"]);
      expect(answerOf(stdout).checks.map(({ name }) => name)).toEqual(ofUser.slice(0, -1));
      expect(JSON.parse(stderr)).toEqual({
        error: { code: "refused", message: "login denied: The user denied the request" },
      });
      await login("--user alice --approve");
    }
  });

  test.each(["query", "form_post"])("--response-mode %s", async (mode) => {
    expect(await login(`--user bob --approve --response-mode ${mode}`)).toMatchObject({ code: 0 });
  });

  test("the secret of a client is the server's to tell, and it may be given", async () => {
    const app = await register(idp);
    const { client_id, client_secret } = app.credentials;
    const words = `--client ${client_id} --user alice --approve`;
    const { code, stdout } = await login(words);
    expect(code).toBe(0);
    expect(stdout).toContain("client authentication client_secret_basic");
    expect(await login(`${words} --secret-stdin`, `${client_secret ?? ""}\n`)).toMatchObject({ code: 0 });
    const wrong = await login(`${words} --secret-stdin --json`, "a secret that is wrong");
    expect([wrong.code, failedOf(wrong.stdout)]).toEqual([6, ["par"]]);
    expect(wrong.stdout + wrong.stderr).not.toContain("that is wrong");
  });

  test("a client that registered a way to authenticate uses that one", async () => {
    const { credentials } = await register(idp, { token_endpoint_auth_method: "client_secret_post" });
    const { code, stdout } = await login(`--client ${credentials.client_id} --user alice --approve`);
    expect(code).toBe(0);
    expect(stdout).toContain("client authentication client_secret_post");
    const keys = await register(idp, { token_endpoint_auth_method: "client_secret_jwt" });
    const other = await login(`--client ${keys.credentials.client_id} --user alice --approve --json`);
    expect([other.code, failedOf(other.stdout)]).toEqual([6, ["par"]]);
    expect(other.stdout).toContain("may authenticate with client_secret_jwt");
  });

  test("an ID token that the client's secret signs", async () => {
    const { credentials } = await register(idp, { id_token_signed_response_alg: "HS256" });
    const { code, stdout } = await login(`--client ${credentials.client_id} --user alice --approve`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ id_token\.signature +HS256, the client's secret/);
  });

  test.each(["RS256", "PS256", "ES256", "EdDSA"] as const)(
    "an ID token signed with %s, and its at_hash",
    async (alg) => {
      const { credentials } = await register(idp, { id_token_signed_response_alg: alg });
      const { code, stdout } = await login(`--client ${credentials.client_id} --user alice --approve`);
      expect(code, stdout).toBe(0);
      expect(stdout).toMatch(new RegExp(`✓ id_token\\.signature +${alg}, key \\S+\n`));
      expect(stdout).toMatch(/✓ id_token\.at_hash +matches the access token/);
    },
  );

  test("max_age and acr are asked for and checked", async () => {
    const good = await login(
      "--user alice --approve --max-age 60 --acr urn:idp:single-factor --prompt login --ui-locales tr",
    );
    expect(good).toMatchObject({ code: 0 });
    expect(good.stdout).toMatch(/✓ id_token\.auth_time +signed in (now|\d+ s ago); max_age asked for at most 60 s\n/);
    expect(good.stdout).toMatch(/✓ id_token\.acr +urn:idp:single-factor\n/);
  });

  test.each([
    ["carol", /suspended.*idp users restore carol/],
    ["dave", /banned.*idp users restore dave/],
  ])("%s cannot sign in, and the check says what helps", async (user, why) => {
    const { code, stdout } = await login(`--user ${user} --approve --json`);
    expect([code, failedOf(stdout)]).toEqual([6, ["response"]]);
    expect(stdout).toMatch(why);
  });

  test("what a provider says of a user does not act upon the terminal", async () => {
    const user = await enroll(idp, { displayName: "E\u001b[2Jsc" });
    const { code, stdout } = await login(`--user ${user} --approve`);
    expect(code).toBe(0);
    expect(stdout).toContain(`Signed in as ${user} (E\\u001b[2Jsc)\n`);
    expect(stdout).not.toContain("\u001b");
  });

  test("nothing can be denied where the client skips consent: no tokens are taken", async () => {
    const { credentials } = await register(idp, { skip_consent: true });
    const { code, stdout } = await login(`--client ${credentials.client_id} --user alice --deny --prompt login --json`);
    expect([code, failedOf(stdout), answerOf(stdout).tokens]).toEqual([6, ["response"], null]);
    expect(stdout).toContain("this client skips consent");
  });

  test("without a client's redirect URI no user can sign in to it", async () => {
    const { code, stderr } = await login("--client demo-service --user alice --approve");
    expect(code).toBe(6);
    expect(stderr).toContain("idp login --client demo-service --flow client-credentials");
  });

  test("without the admin token the pages are still ours, and the client is public", async () => {
    const words = ["login", "--url", idp.issuer, "--data", join(cwd, "none"), "--user", "alice", "--approve"];
    expect(await idpHere(words)).toMatchObject({ code: 0 });
    const other = ["login", "--issuer", idp.issuer, "--data", join(cwd, "none"), "--user", "alice", "--approve"];
    expect(await idpHere(other)).toMatchObject({ code: 0 });
  });
});

test.each([
  ["another name of it", idp.issuer.replace("localhost", "127.0.0.1")],
  ["a slash too many", `${idp.issuer}/`],
  ["nobody there", "http://localhost:1"],
])("%s: what is wrong with the issuer is said the same with --user as without", async (_what, issuer) => {
  const words = ["login", "--issuer", issuer, "--data", join(cwd, "none"), "--no-browser"];
  const without = await idpHere(words);
  expect(without).toMatchObject({
    code: 6,
    stdout: expect.stringMatching(/✗ discovery .*(must be exactly|nothing listens)/s),
  });
  for (const flow of ["code", "device"]) {
    expect(await idpHere([...words, "--user", "alice", "--approve", "--flow", flow])).toEqual(without);
  }
});

describe("the device flow", () => {
  test("without a person: approved and denied", async () => {
    const good = await login("--flow device --user bob --approve --json");
    expect(good.code).toBe(0);
    expect(answerOf(good.stdout)).toMatchObject({ valid: true, flow: "device", claims: { aud: "idp-cli" } });
    expect(answerOf(good.stdout).checks.map(({ name }) => name)).toEqual([
      ...["discovery", "device", "token"],
      ...ofTokens.filter((name) => name !== "id_token.nonce"),
      ...["userinfo", "userinfo.sub"],
    ]);
    const bad = await login("--flow device --user bob --deny --json");
    expect([bad.code, failedOf(bad.stdout)]).toEqual([6, ["token"]]);
    expect(bad.stderr).toContain("login denied");
  });

  test("a person types the code, or opens the address that has it", async () => {
    const { told, ended } = begin("--flow device --timeout 60");
    const [, code = ""] = await told(/Enter {2}([A-Z]{4}-[A-Z]{4}) {2}at this address.*\n {2}http\S+\/device\n/);
    const [, address = ""] = await told(/\n {2}(http\S+\?user_code=\S+)\n/);
    expect(address).toBe(`${idp.issuer}/device?user_code=${code}`);
    const browser = new Browser(idp.issuer);
    const confirm = await browser.press(await browser.open(address), "login-as-alice");
    await browser.press(confirm, "device-allow");
    const { code: exit, stdout } = await ended;
    expect(exit, stdout).toBe(0);
    expect(stdout).toContain("Signed in as alice (Alice Adams)\n");
  });

  test("nobody comes", async () => {
    const { code, stdout } = await login("--flow device --timeout 1 --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["token"]]);
    expect(stdout).toContain("nobody entered the code in time");
  });

  test("of a client that may not", async () => {
    const { code, stdout } = await login("--flow device --client demo-spa --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["device"]]);
    expect(stdout).toContain("unauthorized_client");
  });
});

describe("client credentials", () => {
  test("a token for the client itself", async () => {
    const { code, stdout } = await login("--flow client-credentials --client demo-service --json");
    expect(code).toBe(0);
    expect(answerOf(stdout)).toMatchObject({ valid: true, claims: null, userinfo: null });
    expect(answerOf(stdout).checks.map(({ name }) => name)).toEqual(["discovery", "token"]);
  });

  test("a public client is refused by the server", async () => {
    const { code, stdout } = await login("--flow client-credentials --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["token"]]);
  });
});

describe("--print", () => {
  test.each([
    ["access", "at+jwt"],
    ["id", "JWT"],
    ["refresh", "rt+jwt"],
  ])("%s: the token alone on stdout, the checks on stderr", async (what, typ) => {
    const { code, stdout, stderr } = await login(`--user alice --approve --print ${what}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ey\S+\n$/);
    expect(jwtPart(stdout, 0)["typ"]).toBe(typ);
    expect(stderr).toMatch(/^✓ discovery /);
    expect(await login(`--user alice --approve --print ${what} --quiet`)).toMatchObject({ code: 0, stderr: "" });
  });

  test("response: the token response", async () => {
    const { stdout } = await login("--user alice --approve --print response --scope openid");
    expect(JSON.parse(stdout)).toMatchObject({ token_type: "Bearer", scope: "openid" });
  });

  test("nothing is printed where a check fails, or there is no such token", async () => {
    expect(await login("--user carol --approve --print access")).toMatchObject({ code: 6, stdout: "" });
    const none = await login("--flow client-credentials --client demo-service --print id");
    expect(none).toMatchObject({ code: 6, stdout: "" });
    expect(none.stderr).toContain("the token response has no id_token");
  });
});

const addressIn = async ({ told }: Begun) => (await told(/at this address:\n {2}(\S+)\n/))[1] ?? "";
const redirectUriIn = async ({ told }: Begun) => (await told(/Waiting at (\S+) for /))[1] ?? "";

describe("a person in a browser", () => {
  test("signs in: the page shows who signed in, and nothing listens any more", async () => {
    const begun = begin("--no-browser");
    const browser = new Browser(idp.issuer);
    const { left } = await approve(browser, await browser.open(await addressIn(begun)));
    const redirectUri = await redirectUriIn(begun);
    expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(left?.href.startsWith(`${redirectUri}?`)).toBe(true);
    const page = await fetch(left ?? "");
    const text = await page.text();
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(text).toContain("You can close this tab");
    expect(text).toContain("<dd>alice@example.test</dd>");
    expect(text).not.toContain(left?.searchParams.get("code"));
    const { code, stdout, stderr } = await begun.ended;
    expect(code, stdout).toBe(0);
    expect(stdout).toContain("Signed in as alice (Alice Adams)\nscope   openid profile email\n");
    expect(stderr).toContain("Open it within 60 s.\n");
    await expect(fetch(left ?? "")).rejects.toThrow();
  });

  test("denies: the page tells that too", async () => {
    const begun = begin("--no-browser --login-hint alice --prompt consent --json");
    const browser = new Browser(idp.issuer);
    const consent = await browser.press(await browser.open(await addressIn(begun)), "login-as-alice");
    const { left } = await browser.press(consent, "consent-deny");
    expect(await (await fetch(left ?? "")).text()).toContain("The sign-in was refused. The terminal says why.");
    expect(await begun.ended).toMatchObject({ code: 6, stderr: expect.stringContaining("login denied") });
  });

  test("form_post comes back as a form", async () => {
    const begun = begin("--no-browser --response-mode form_post --json");
    const browser = new Browser(idp.issuer);
    const page = await approve(browser, await browser.open(await addressIn(begun)));
    const fields = [...page.body.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    const body = new URLSearchParams(fields);
    expect([...body.keys()]).toEqual(["code", "state", "iss"]);
    const posted = await fetch(await redirectUriIn(begun), { method: "POST", body });
    expect(posted.status).toBe(200);
    expect((await begun.ended).code).toBe(0);
  });

  test("nobody comes back", async () => {
    const { code, stdout } = await login("--no-browser --timeout 1 --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["response"]]);
    expect(stdout).toContain("no response came back from the provider within 1 s");
  });

  test("--quiet prints nothing but the address that has to be opened", async () => {
    const begun = begin("--no-browser --quiet --timeout 1");
    const { stderr } = await begun.ended;
    expect(stderr).toMatch(/^ {2}http\S+\nError: login failed: 1 of 3 checks failed\n$/);
  });

  test("whatever else arrives is turned away, and the login goes on", async () => {
    const begun = begin("--no-browser --json");
    const redirectUri = await redirectUriIn(begun);
    const { port, origin } = new URL(redirectUri);
    const status = async (path: string, init: RequestInit = {}) => (await fetch(origin + path, init)).status;
    expect(await status("/")).toBe(404);
    expect(await status("/callback/?code=x&state=y")).toBe(404);
    expect(await status("/favicon.ico")).toBe(404);
    expect(await status("/%63allback?code=x")).toBe(404);
    expect(await status("/callback", { method: "PUT" })).toBe(405);
    expect(await status("/callback", { method: "POST", body: "{}" })).toBe(405);
    const rebound = "GET /callback?code=x HTTP/1.1\r\nHost: attacker.test\r\n\r\n";
    expect((await rawRequest(Number(port), rebound)).status).toBe(421);
    const browser = new Browser(idp.issuer);
    const { left } = await approve(browser, await browser.open(await addressIn(begun)));
    await fetch(left ?? "");
    expect((await begun.ended).code).toBe(0);
  });

  test("a response that somebody else sends fails the check of state, and its code is not used", async () => {
    const begun = begin("--no-browser --json");
    await fetch(`${await redirectUriIn(begun)}?code=stolen&state=guessed&iss=${encodeURIComponent(idp.issuer)}`);
    const { code, stdout } = await begun.ended;
    expect([code, failedOf(stdout)]).toEqual([6, ["response.state"]]);
    expect(stdout).not.toContain('"token"');
  });
});

describe("where it listens", () => {
  test("a public client without the redirect URI gets the exact command that fixes it", async () => {
    const { credentials } = await register(idp, { token_endpoint_auth_method: "none" });
    const { client_id } = credentials;
    const { code, stderr } = await login(`--client ${client_id}`);
    expect(code).toBe(6);
    const [, command = ""] = /Allow it: idp (clients edit .*)\n/.exec(stderr) ?? [];
    expect(command).toBe(`clients edit ${client_id} --add-redirect-uri 'http://127.0.0.1:*/callback' ${inHints}`);
    await idpHere([...command.replaceAll("'", "").split(" "), ...target]);
    const { code: after, stdout } = await login(`--client ${client_id} --no-browser --timeout 1 --json`);
    expect([after, failedOf(stdout)]).toEqual([6, ["response"]]);
    expect(stdout).toContain("no response came back");
  });

  test("a client with a secret has to name the port, which is then used", async () => {
    const port = await freePort();
    const app = await register(idp);
    const { client_id } = app.credentials;
    const { stderr } = await login(`--client ${client_id} --redirect-port ${port}`);
    const [, command = ""] = /Allow it: idp (clients edit .*)\n/.exec(stderr) ?? [];
    expect(command).toContain(`--add-redirect-uri http://127.0.0.1:${port}/callback`);
    await idpHere([...command.split(" "), ...target]);
    const begun = begin(`--client ${client_id} --no-browser --timeout 1 --json`);
    expect(await redirectUriIn(begun)).toBe(`http://127.0.0.1:${port}/callback`);
    await begun.ended;
  });

  test("a port that is taken: exit 4", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await login(`--redirect-port ${port}`);
    server.close();
    expect(code).toBe(4);
    expect(stderr).toContain(
      `port ${port} of 127.0.0.1 is taken\n  Use another one: idp login --redirect-port PORT ${inHints}\n`,
    );
  });
});

test.each([
  ["--user alice", /--login-hint alice/],
  ["--approve", /idp login --user alice --approve/],
  ["--deny", /--user alice/],
  ["--user alice --approve --deny", /Leave one out/],
  ["--flow client-credentials --user alice --approve", /Leave out --user/],
  ["--flow device --prompt login", /Leave out --prompt/],
  ["--flow device --redirect-port 8400", /Leave out --redirect-port/],
  ["--flow client-credentials --max-age 1", /Leave out --max-age/],
  ["--print access --json", /The tokens are in the document of --json: idp login --json/],
  ["--issuer login.example.com", /See: idp login --help/],
  ["--issuer https://x.test/.well-known/openid-configuration", /See: idp login --help/],
  ["--timeout 0", /See: idp login --help/],
  ["--redirect-port 70000", /See: idp login --help/],
  ["--secret-stdin", /--secret-stdin/],
])("idp login %s: exit 2 and what to do", async (words, hint) => {
  const { code, stdout, stderr } = await login(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(hint);
});

test("a user or a client that is not there: exit 3", async () => {
  const user = await login("--user alcie --approve");
  expect(user).toMatchObject({ code: 3, stderr: expect.stringContaining("Did you mean alice?") });
  const client = await login("--client demo-ap");
  expect(client).toMatchObject({ code: 3, stderr: expect.stringContaining("Did you mean demo-app?") });
});

test("no server: exit 5 and how to start it; and at an address where none is", async () => {
  const { code, stdout, stderr } = await idpHere(["login", "--data", join(cwd, "none")], "", { IDP_PORT: "auto" });
  expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
  expect(stderr).toContain("To start it: idp start");
  const elsewhere = await idpHere(["login", "--url", "http://127.0.0.1:1"]);
  expect(elsewhere).toMatchObject({ code: 5, stderr: expect.stringContaining("no idp server answers at") });
});

test("a server without idp-cli says how to go on", async () => {
  const bare = await serve({ fixtures: [{ value: { users: [{ username: "alice" }] } }] });
  const file = join(cwd, "bare-token");
  writeFileSync(file, bare.adminToken);
  const { code, stderr } = await idpHere(["login", "--url", bare.issuer, "--admin-token-file", file]);
  expect(code).toBe(3);
  expect(stderr.split("\n")).toContain(
    `  Name another client with --client CLIENT_ID, or add this one: idp clients add idp-cli --public --redirect-uri 'http://127.0.0.1:*/callback' --set 'grant_types=["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:device_code"]' --url ${bare.issuer} --admin-token-file ${file}`,
  );
});

test("a login page that takes passwords only is no place for nobody", async () => {
  const strict = await serve({ settings: { login: "password" } });
  const { code, stdout } = await idpHere(["login", "--url", strict.issuer, "--user", "alice", "--approve", "--json"]);
  expect([code, failedOf(stdout)]).toEqual([6, ["response"]]);
  expect(stdout).toContain("start the server with --login picker");
});

test("the built command, with --issuer of a server with a path", async () => {
  const issuer = await serveBelowPath();
  const { code, stdout, stderr } = await spawned(["login", "--issuer", issuer, "--user", "alice", "--approve"], {
    cwd,
  });
  expect({ code, stdout }, stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("Signed in as alice") });
});

async function serveBelowPath(): Promise<string> {
  const port = await freePort();
  const { issuer } = await serve({ port: Number(port), issuer: `http://localhost:${port}/tenant` });
  return issuer;
}
