import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { idp as spawned } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { jwtPart } from "../helpers/client.ts";
import { freePort } from "../helpers/port.ts";
import { answerOf, failedOf, idTokenChecks, loginCommand } from "../helpers/login-command.ts";

/** `idp login` for a user who is picked by name, and what it refuses. */

const { cwd, idp, login } = await loginCommand();

const ofUser = ["discovery", "par", "response", "response.state", "response.iss", "token"];

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
    expect(answer.checks.map(({ name }) => name)).toEqual([...ofUser, ...idTokenChecks, "userinfo", "userinfo.sub"]);
    expect(answer.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(JSON.stringify(answer.checks)).not.toContain(String(answer.tokens?.["access_token"]));
  });

  test("alice denies: exit 6, and the response is still checked", async () => {
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

  test("the secret of a client comes from the server, or from --secret-stdin", async () => {
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
    expect(stdout).toMatch(/✓ id_token\.signature +HS256, with the client's secret/);
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

  test("user data from a provider does not act on the terminal", async () => {
    const user = await enroll(idp, { displayName: "E\u001b[2Jsc" });
    const { code, stdout } = await login(`--user ${user} --approve`);
    expect(code).toBe(0);
    expect(stdout).toContain(`Signed in as ${user} (E\\u001b[2Jsc)\n`);
    expect(stdout).not.toContain("\u001b");
  });

  test("a client that skips consent cannot be denied: no tokens are requested", async () => {
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

  test("without the admin token, --user works for a public client", async () => {
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
])("%s: a wrong issuer is reported the same with --user as without", async (_what, issuer) => {
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

  test("nothing is printed if a check fails, or the token is missing", async () => {
    expect(await login("--user carol --approve --print access")).toMatchObject({ code: 6, stdout: "" });
    const none = await login("--flow client-credentials --client demo-service --print id");
    expect(none).toMatchObject({ code: 6, stdout: "" });
    expect(none.stderr).toContain("the token response has no id_token");
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
  ["--secret-stdin", /no secret on standard input.*Pipe it in/s],
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

test("no server: exit 5 and how to start it; the same at a wrong address", async () => {
  const { code, stdout, stderr } = await idpHere(["login", "--data", join(cwd, "none")], "", { IDP_PORT: "auto" });
  expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
  expect(stderr).toContain("To start a server: idp start");
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

test("a login page that takes passwords only cannot be answered without a person", async () => {
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

test("a server that is named by its address alone: a refused client says what the command could not ask for", async () => {
  const { adminToken: _adminToken, issuer } = await serve({ fixtures: [{ users: [{ username: "alice" }] }] });
  const words = ["login", "--url", issuer, "--user", "alice", "--approve"];
  const { code, stdout, stderr } = await idpHere(words);
  expect({ code, stdout }).toEqual({
    code: 6,
    stdout: expect.stringContaining("client_id 'idp-cli' is not registered"),
  });
  expect(stderr).toContain("Without IDP_ADMIN_TOKEN, this command cannot ask that server about its clients.");
  expect(stderr).toContain(`idp login --client CLIENT_ID --secret-stdin --url ${issuer}\n`);
  expect((await idpHere(["login", "--issuer", issuer, "--user", "alice", "--approve"])).stderr).not.toContain(
    "ADMIN_TOKEN",
  );
  const spoiled = await serve();
  const fault = { endpoint: "token", status: 400, error: "invalid_grant", description: "not invalid_client" } as const;
  await spoiled.call("faults.add", fault);
  const other = await idpHere(["login", "--url", spoiled.issuer, "--user", "alice", "--approve"]);
  expect(other).toMatchObject({ code: 6, stdout: expect.stringContaining("not invalid_client") });
  expect(other.stderr).not.toContain("ADMIN_TOKEN");
});
