import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listFlaws } from "../../src/core/testing/controls/faults/flaw-list.ts";
import { createIdp, type Idp } from "../../src/index.ts";
import { idp as run, newFolder } from "../helpers/cli.ts";
import { idpHere, startHere } from "../helpers/command.ts";

/** `idp faults`, and where else faults come from and are shown: fixtures, exec, status, the first screen. */

const fixtures = {
  users: [{ username: "alice" }],
  clients: [{ client_id: "app", redirect_uris: ["http://localhost:3000/callback"] }],
  faults: [{ endpoint: "jwks", status: 503, always: true }] as const,
};

describe("on a running server", () => {
  const data = join(newFolder(afterAll), ".idp");
  let server: Idp;
  beforeAll(async () => {
    server = await createIdp({ data, fixtures });
    return () => server.close();
  });
  const faults = (...words: readonly string[]) => idpHere(["--data", data, "faults", ...words]);
  const list = async () => JSON.parse((await faults("list", "--json")).stdout) as readonly { readonly id: string }[];

  test.each([
    ["-5m", -300],
    ["2h30m", 9000],
    ["-90", -90],
    ["-1h30m", -5400],
  ])("idp clock advance %s moves the clock by %d s", async (by, offset) => {
    const clock = (...words: readonly string[]) => idpHere(["--data", data, "clock", ...words]);
    const { code, stdout } = await clock("advance", by, "--json");
    expect({ code, state: JSON.parse(stdout) }).toMatchObject({ code: 0, state: { offset } });
    await clock("reset");
  });

  test("what the server refuses names the argument or the flag", async () => {
    expect(await idpHere(["--data", data, "clock", "advance", "banana"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("<duration> must be a whole number of seconds"),
    });
    expect(await faults("add", "token")).toMatchObject({ code: 2, stderr: expect.stringContaining("--status") });
    expect(await faults()).toEqual(await faults("list"));
  });

  test("every flag is the field of the same name", async () => {
    const flags =
      "--client app --user alice --grant-type refresh_token --method POST --times 3 --skip 1 --after --delay 2s";
    const added = await faults(
      ...[
        "add",
        "token",
        ...flags.split(" "),
        "--status",
        "503",
        "--error",
        "server_error",
        "--description",
        "not now",
      ],
      ...["--header", "Retry-After: 2", "--header", "X-A: b: c", "--drop-after", "4", "--json"],
    );
    const fault = {
      ...{ id: "x2", endpoint: "token", client: "app", user: "alice", grant_type: "refresh_token", method: "POST" },
      ...{ times: 3, remaining: 3, skip: 1, after: true, delay: "2s", status: 503, error: "server_error" },
      ...{ description: "not now", header: { "Retry-After": "2", "X-A": "b: c" }, drop_after: 4, by: "admin" },
    };
    expect(JSON.parse(added.stdout)).toEqual(fault);
    expect((await list())[1]).toEqual(fault);
    expect((await faults("list")).stdout).toMatchInlineSnapshot(`
      "FAULT  ENDPOINT  REQUESTS                              LEFT     BY     DOES
      x1     jwks                                            always          503 temporarily_unavailable
      x2     token     app alice refresh_token POST after 1  3 times  admin  delay 2 s, 503 server_error, connection closed after 4 bytes, after the work
      "
    `);
    const body = await faults("add", "jwks", "--body", "", "--content-type", "text/html", "--always", "--json");
    expect(JSON.parse(body.stdout)).toMatchObject({
      body: "",
      content_type: "text/html",
      times: null,
      remaining: null,
    });
    expect((await faults("add", "par", "--drop", "--quiet")).code).toBe(0);
    expect((await faults("add", "token", "--flaw", "nonce-wrong", "--quiet")).code).toBe(0);
  });

  test("status counts them; remove and clear", async () => {
    const count = (await list()).length;
    expect((await idpHere(["--data", data, "status"])).stdout).toContain(`${count} faults active`);
    expect(await faults("remove", "x2")).toMatchObject({ code: 0, stdout: "Removed x2\n" });
    expect((await faults("remove", "x2")).code).toBe(3);
    expect((await faults("clear")).stdout).toBe(`Removed ${count - 1} faults\n`);
    expect((await faults("list")).stdout).toBe("No faults: every response is as it should be.\n");
    expect((await idpHere(["--data", data, "status"])).stdout).not.toContain("fault");
  });

  test("a reset brings back those of the fixtures, and no others", async () => {
    await faults("add", "token", "--drop");
    await idpHere(["--data", data, "reset", "--yes"]);
    expect(await list()).toMatchObject([{ endpoint: "jwks", status: 503, remaining: null }]);
    await idpHere(["--data", data, "reset", "--yes"]);
    expect(await list()).toHaveLength(1);
  });

  test.each([
    ["add login --drop", 2, "endpoint must be one of"],
    ["add token", 2, "does nothing"],
    ["add token --flaw nope", 2, "It must be a name that idp faults flaws lists."],
    ["add userinfo --flaw nonce-wrong", 2, '"nonce-wrong" is a flaw of token, not of userinfo'],
    ["add any --flaw iss-wrong", 2, '"iss-wrong" is a flaw of authorize and token, not of any'],
    ["add jwks --client app --drop", 2, "has no effect at jwks: no request there names one"],
    [
      "add token --drop --status 503",
      2,
      "--status is given beside --drop; leave one of them out See: idp faults add --help",
    ],
    ["add token", 2, "faults add does nothing; give it one of --status, --error, --delay"],
    ["add token --header A:b", 2, "faults add does nothing; give it one of --status, --error, --delay"],
    ["add token --user alise --drop", 2, "Did you mean alice?"],
    ["add token --status 99", 2, "must be at least 200"],
    ["add token --status 200", 2, "--status is below 400, so it needs --error or --body too"],
    ["add token --delay 500ms", 2, '"500ms" must be seconds, or a time such as 0.5s, 3s or 2m'],
    ["add token --grant-type refresh --drop", 2, '"refresh" is not a grant type. Did you mean refresh_token?'],
    ["add token --status 503 --header x", 2, "It must be a name and a value"],
  ])("%s: exit %i", async (words, code, message) => {
    const refused = await faults(...words.split(" "));
    expect(refused.code, refused.stderr).toBe(code);
    expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain(message);
  });

  test("flaws lists each with what it is for", async () => {
    const { stdout } = await faults("flaws", "--json");
    expect(JSON.parse(stdout)).toEqual(listFlaws());
    expect((await faults("flaws")).stdout).toContain("nonce-wrong");
  });
});

test("without a server: exit 5", async () => {
  const refused = await idpHere(["--data", join(newFolder(), ".idp"), "faults", "add", "token", "--drop"]);
  expect(refused).toMatchObject({ code: 5, stdout: "" });
});

test("idp start says that faults are active, at once and when one is added", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  const started = await startHere([], { cwd });
  expect(started.output.stdout).toContain("1 fault active: idp faults list");
  await fetch(`${started.issuer}/api/v2/oauth/jwks`);
  await started.printed("fault x1: 503 temporarily_unavailable");
  await run(["faults", "add", "token", "--status", "503"], { cwd });
  await expect.poll(() => started.output.stderr).toContain("fault x2 at token: 503 temporarily_unavailable, once");
});

test("idp exec --fault", async () => {
  const cwd = newFolder();
  const fetchTwice = `const at = process.env.OIDC_ISSUER + "/api/v2/oauth/jwks";
    console.log((await fetch(at)).status, (await fetch(at)).status)`;
  const child = ["--", process.execPath, "--input-type=module", "--eval", fetchTwice];
  const fault = '{"endpoint":"jwks","status":503}';
  expect(await run(["exec", "--quiet", "--fault", fault, ...child], { cwd })).toMatchObject({
    code: 0,
    stdout: "503 200\n",
  });
  const wrong = await run(["exec", "--fault", '{"endpoint":"jwks"}', ...child], { cwd });
  expect(wrong).toMatchObject({ code: 125, stdout: "" });
  expect(wrong.stderr).toBe(
    'Error: --fault: does nothing; give it one of status, error, delay, body, drop, drop_after, flaw, claims\n  For example: --fault \'{"endpoint":"token","status":503}\'\n',
  );
  expect((await run(["exec", "--fault", "status 503", ...child], { cwd })).code).toBe(125);
});
