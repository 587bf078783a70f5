/** `idp issue`: what is asked for by a flag is in the tokens. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { exchange, jwtPart } from "../helpers/client.ts";

test("issue tokens and issue code: --nonce is in the ID token", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  const issue = async (what: string, nonce: string): Promise<Record<string, string>> => {
    const words = `issue ${what} --user alice --client demo-app --nonce ${nonce} --json`.split(" ");
    return JSON.parse((await idpIn(cwd, words)).stdout) as Record<string, string>;
  };
  expect(jwtPart((await issue("tokens", "n-1"))["id_token"] ?? "", 1)).toMatchObject({ nonce: "n-1" });
  const { code = "" } = await issue("code", "n-2");
  const { json } = await exchange({ issuer }, code, { code_verifier: null });
  expect(jwtPart(json.id_token, 1)).toMatchObject({ nonce: "n-2" });
});

test("issue tokens and issue code: amr as the picker gives it, and the factors of --acr", async () => {
  const cwd = newFolder();
  const users = [{ username: "alice", factors: ["otp"] }, { username: "bob" }];
  const clients = [{ client_id: "app", client_secret: "s", redirect_uris: ["http://localhost:3000/cb"] }];
  const settings = { acr: { "urn:otp": ["otp"] } };
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users, clients, settings }));
  const { issuer } = await startHere([], { cwd });
  const issue = (what: string, user: string, ...acr: readonly string[]) =>
    idpIn(cwd, ["issue", what, "--user", user, "--client", "app", ...acr, "--json"]);
  for (const what of ["tokens", "code"]) {
    const claims = async (...acr: readonly string[]) => {
      const { code = "", id_token } = JSON.parse((await issue(what, "alice", ...acr)).stdout) as Record<string, string>;
      if (id_token !== undefined) return jwtPart(id_token, 1);
      const sent = { client_id: "app", client_secret: "s", redirect_uri: "http://localhost:3000/cb" };
      return jwtPart((await exchange({ issuer }, code, { ...sent, code_verifier: null })).json.id_token, 1);
    };
    expect(await claims()).toMatchObject({ acr: "urn:idp:single-factor", amr: ["user"] });
    expect(await claims("--acr", "urn:idp:single-factor")).toMatchObject({ amr: ["user"] });
    expect(await claims("--acr", "urn:otp")).toMatchObject({ acr: "urn:otp", amr: ["user", "otp"] });
    const refused = { code: 6, stderr: expect.stringContaining("bob cannot meet acr") };
    expect(await issue(what, "bob", "--acr", "urn:otp")).toMatchObject(refused);
    expect((await issue(what, "alice", "--acr", "urn:none")).code).toBe(2);
  }
});

test("issue tokens works for a client of the device grant, and issue code names the grant that it lacks", async () => {
  const cwd = newFolder();
  const device = "urn:ietf:params:oauth:grant-type:device_code";
  const clients = [{ client_id: "tv", grant_types: [device, "refresh_token"] }];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }], clients }));
  await startHere([], { cwd });
  const whom = ["--user", "alice", "--client", "tv", "--json"];
  const tokens = JSON.parse((await idpIn(cwd, ["issue", "tokens", ...whom])).stdout) as Record<string, string>;
  expect(jwtPart(tokens["access_token"] ?? "", 1)).toMatchObject({ client_id: "tv" });
  expect(await idpIn(cwd, ["issue", "code", ...whom])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("may not use authorization_code, so no user can grant it a code"),
  });
});

test("an issuer that is not there is named with those that are, with a server and without; --as-issuer is the iss", async () => {
  const cwd = newFolder();
  const { stop } = await startHere([], { cwd });
  await idpIn(cwd, ["issuers", "add", "tenant-a"]);
  const unknown = ["users", "list", "--issuer", "tenant-b"];
  const named = {
    code: 3,
    stderr: expect.stringMatching(
      /^Error: there is no issuer "tenant-b"; there are tenant-a, and the first one\n {2}Did you mean tenant-a\?/,
    ),
  };
  expect(await idpIn(cwd, unknown)).toMatchObject(named);
  const whom = ["--user", "alice", "--client", "demo-app"];
  expect(await idpIn(cwd, ["token", "issue", ...whom, "--issuer", "http://x.test"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("For the iss of the token: --as-issuer URL."),
  });
  await stop();
  expect(await idpIn(cwd, unknown)).toMatchObject(named);
  const { stdout } = await idpIn(cwd, ["token", "issue", ...whom, "--as-issuer", "http://x.test"]);
  expect(jwtPart(stdout.trim(), 1)).toMatchObject({ iss: "http://x.test" });
  expect(await idpIn(cwd, ["token", "issue", ...whom, "--as-issuer", "tenant-a"])).toEqual({
    code: 2,
    stdout: "",
    stderr:
      'Error: --as-issuer "tenant-a" is not a URL, such as http://localhost:4370\n  For the issuer of that name: --issuer tenant-a\n',
  });
});

test("--url with the very address of the server of this folder needs no token; another address does", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  expect(await idpIn(cwd, ["users", "list", "--url", issuer])).toMatchObject({ code: 0 });
  await idpIn(cwd, ["issuers", "add", "tenant-a"]);
  expect(await idpIn(cwd, ["users", "list", "--url", `${issuer}/i/tenant-a`])).toMatchObject({ code: 0 });
  const needsToken = { code: 2, stderr: expect.stringContaining("needs its admin token") };
  expect(await idpIn(cwd, ["users", "list", "--url", issuer.replace("localhost", "127.0.0.1")])).toMatchObject(
    needsToken,
  );
  expect(await idpIn(newFolder(), ["users", "list", "--url", issuer])).toMatchObject(needsToken);
});

test("a claim whose name is almost a standard one is added, and a note asks for the other", async () => {
  const cwd = newFolder();
  await startHere([], { cwd });
  const issue = ["token", "issue", "--user", "alice", "--client", "demo-app", "--claim"];
  for (const [claim, note] of [
    ["emial_verified=true", '"emial_verified" is not a standard claim. Did you mean email_verified?\n'],
    ["role=admin", '"role" is not a standard claim. Did you mean roles?\n'],
  ]) {
    expect(await idpIn(cwd, [...issue, claim ?? ""])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(note ?? ""),
    });
  }
  for (const claim of ["tenant=acme", "given_name=Al", "roles=x"]) {
    expect((await idpIn(cwd, [...issue, claim])).stderr).not.toContain("standard claim");
  }
});
