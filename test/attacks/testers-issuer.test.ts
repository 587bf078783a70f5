import { Agent, request } from "node:http";
import { text as readText } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { call, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";

/** An issuer that a tester added is that tester's, and no way around the role. */

describe("an issuer that a tester added", async () => {
  const server = await startWithTokens();
  const qa = tokenOf("qa");
  await call(server, qa, "POST", "/issuers", { name: "mine" });
  const at = (path: string): string => `/../../i/mine/_idp/api${path}`;

  test("is its tester's: fixtures, clients, users and a reset, but no secret and no stop", async () => {
    expect((await call(server, qa, "POST", at("/users"), { username: "newbie" })).status).toBe(201);
    expect((await call(server, qa, "POST", at("/seed"), { fixtures: { users: [{ username: "more" }] } })).status).toBe(
      422,
    );
    expect((await call(server, qa, "POST", at("/seed"), { users: [{ username: "more" }] })).status).toBe(200);
    expect((await call(server, qa, "POST", at("/reset"), {})).status).toBe(200);
    expect((await call(server, qa, "GET", at("/export"))).status).toBe(403);
    expect((await call(server, qa, "GET", at("/clients?secrets=true"))).status).toBe(403);
    expect((await call(server, qa, "POST", at("/stop"), {})).status).toBe(403);
    expect((await call(server, qa, "PUT", at("/issuer"), { issuer: "http://localhost:1" })).status).toBe(403);
  });

  test("is nobody else's, and only its tester or an admin removes it", async () => {
    expect((await call(server, tokenOf("other"), "POST", at("/users"), { username: "x" })).status).toBe(403);
    expect((await call(server, tokenOf("other"), "DELETE", "/issuers/mine")).status).toBe(403);
    expect((await call(server, server.adminToken, "POST", "/issuers", { name: "theirs" })).status).toBe(201);
    expect((await call(server, qa, "DELETE", "/issuers/theirs")).status).toBe(403);
    expect((await call(server, qa, "GET", "/issuers/mine")).json).toMatchObject({ addedBy: "qa" });
  });

  test.each([
    ["a seed", "/seed", (client: object) => ({ clients: [client] })],
    ["a reset", "/reset", (client: object) => ({ fixtures: { clients: [client] } })],
    ["a new client", "/clients", (client: object) => client],
  ])("%s cannot make this server call into its own network", async (_name, path, bodyOf) => {
    for (const uri of ["http://127.0.0.1:9/x", "http://10.0.0.1/x", "http://169.254.169.254/latest"]) {
      const client = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], backchannel_logout_uri: uri };
      const { status, text } = await call(server, qa, "POST", at(path), bodyOf(client));
      expect([uri, status >= 400 && status < 500]).toEqual([uri, true]);
      expect(text).toContain("cannot be used");
      for (const more of [{ scim: { url: uri } }, { global_token_revocation: { uri } }]) {
        const other = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], ...more };
        expect((await call(server, qa, "POST", at(path), bodyOf(other))).status).toBeGreaterThanOrEqual(400);
      }
    }
  });

  test("its settings cannot widen where this server calls", async () => {
    const settings = { registration_loopback: true, client_metadata_documents: true, client_metadata_loopback: true };
    const client = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], jwks_uri: "http://127.0.0.1:9/x" };
    await call(server, qa, "POST", at("/seed"), { settings });
    expect((await call(server, qa, "POST", at("/seed"), { clients: [client] })).status).toBe(422);
  });

  test("its fixtures make no further issuers, which would be nobody's", async () => {
    const { status } = await call(server, qa, "POST", at("/seed"), { issuers: { escaped: {} } });
    expect(status).toBe(422);
    expect((await call(server, qa, "GET", "/issuers/escaped")).status).toBe(404);
  });
});

describe("what a tester sends keeps nobody waiting", async () => {
  const server = await startWithTokens();
  const qa = tokenOf("qa");
  let asked = 0;
  const add = (body: object) => call(server, qa, "POST", "/issuers", { name: `large${(asked += 1)}`, ...body });

  test("1,000,000 bytes of texts are the most, in 100 files; an admin may send more", async () => {
    const text = (bytes: number): string => `x-a: "${"x".repeat(bytes - 7)}"`;
    const of = (bytes: number) => ({ sources: [{ name: "f.yaml", text: text(bytes) }] });
    expect((await add(of(1_000_001))).status).toBe(413);
    expect((await add(of(3_000_000))).status).toBe(413);
    const small = Array.from({ length: 101 }, () => ({ name: "f.yaml", text: "{}" }));
    expect((await add({ sources: small })).status).toBe(413);
    expect((await add({ fixtures: { "x-a": "x".repeat(1_000_000) } })).status).toBe(413);
    expect((await add({ name: "largest", ...of(1_000_000) })).status).toBe(201);
    const more = { name: "larger", ...of(1_000_001) };
    expect((await call(server, server.adminToken, "POST", "/issuers", more)).status).toBe(201);
  });

  test("what stands beside empty sources counts as well", async () => {
    for (const bytes of [1_000_000, 1_900_000, 3_000_000]) {
      const { status, text } = await add({ sources: [], fixtures: { "x-a": "x".repeat(bytes) } });
      expect([bytes, status, text]).toEqual([bytes, 413, expect.stringContaining("a role below admin")]);
    }
  });

  test.each(["with its length", "in chunks"])(
    "a body of 20 MB, %s, is refused, and the connection goes on",
    async (how) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = (
        method: string,
        path: string,
        body: string,
      ): Promise<{ status: number; port: number; text: string }> =>
        new Promise((resolve, reject) => {
          const url = `${server.issuer.ctx.issuer}/_idp/api${path}`;
          const headers = {
            authorization: `Bearer ${qa}`,
            "content-type": "application/json",
            ...(how === "with its length" && { "content-length": Buffer.byteLength(body) }),
          };
          const asked = request(url, { method, agent, headers }, (res) => {
            const port = res.socket.localPort ?? 0;
            readText(res).then((text) => {
              resolve({ status: res.statusCode ?? 0, port, text });
            }, reject);
          });
          asked.on("error", reject);
          for (let at = 0; at < body.length; at += 1_000_000) asked.write(body.slice(at, at + 1_000_000));
          asked.end();
        });
      const body = JSON.stringify({ name: "much", sources: [], fixtures: { "x-a": "x".repeat(20_000_000) } });
      const refused = await ask("POST", "/issuers", body);
      expect([refused.status, refused.text]).toEqual([413, expect.stringContaining("the body is too large")]);
      expect((await ask("POST", "/issuers", body)).status).toBe(413);
      expect((await ask("POST", "/issuers", JSON.stringify({ name: `after-${how.length}` }))).status).toBe(201);
      agent.destroy();
    },
  );

  test.each([
    ["aliases", `x-a: &a [${"1,".repeat(1000)}1]\nx-b: [${"*a,".repeat(10)}1]`],
    [
      "merge keys",
      `x-a: &a {${Array.from({ length: 1000 }, (_, at) => `k${at}: 1`).join(", ")}}\nx-b: [${"{<<: *a},".repeat(10)}1]`,
    ],
  ])("10,000 values by %s are the most", async (_what, text) => {
    const { status, text: said } = await add({ sources: [{ name: "f.yaml", text }] });
    expect([status, said]).toEqual([422, expect.stringContaining("more than 10,000 values")]);
  });

  test.each([
    ["users", "users: [" + "1,".repeat(5000) + "1]", "5001 problems, of which the first 100 are shown"],
    ["keys", Array.from({ length: 300 }, (_, at) => `key${at}: 1`).join("\n"), "300 problems, of which the first 100"],
    [
      "names of scopes",
      `scopes: {${Array.from({ length: 300 }, (_, at) => `"a b${at}": {}`).join(",")}}`,
      "300 problems",
    ],
  ])("of many problems of %s the first 100 are shown, with the count", async (_what, text, count) => {
    const { status, json } = await add({ sources: [{ name: "f.yaml", text }] });
    expect([status, json]).toMatchObject([422, { error_description: expect.stringContaining(count) }]);
    expect((json as { problems: unknown[] }).problems).toHaveLength(100);
  });

  test.each([
    ["a scope", (key: string, unknown: string) => `scopes: {${key}: {${unknown}}}`],
    [
      "a claim",
      (key: string) => `users: [{username: a, claims: {${key}: [${"99999999999999999999, ".repeat(300)}1]}}]`,
    ],
    ["a user", (key: string) => `users: [{username: a, ? ${key} : 1}]`],
  ])("a long key of %s is not repeated in each problem", async (_what, textOf) => {
    const unknown = Array.from({ length: 300 }, (_, at) => `k${at}: 1`).join(", ");
    const { status, text } = await add({
      sources: [{ name: "f.yaml", text: textOf("x".repeat(400_000), unknown) }],
    });
    expect([status, text.length < 300_000]).toEqual([422, true]);
  });

  test("a file has no name of a megabyte, which each problem would repeat", async () => {
    const text = `users: [${"1,".repeat(100)}1]`;
    expect((await add({ sources: [{ name: "x".repeat(900_000), text }] })).text.length).toBeLessThan(1000);
  });

  /** The most processor time, in milliseconds, that went by while nobody else could be answered. Other programs do not change it. */
  async function longestPiece(work: () => Promise<unknown>): Promise<number> {
    let longest = 0;
    let last = process.cpuUsage();
    const timer = setInterval(() => {
      const { user, system } = process.cpuUsage(last);
      longest = Math.max(longest, (user + system) / 1000);
      last = process.cpuUsage();
    });
    await work();
    clearInterval(timer);
    return longest;
  }

  const filled = (piece: string): string => piece.repeat(900_000 / piece.length);
  test.each([
    ["numbers that lose a zero", `x-a: [${filled("00,")}1]`, 422],
    ["faults", `faults: [${filled("{endpoint: token, status: 503},")}]`, 422],
  ])("a megabyte of %s is read in pieces", { timeout: 60_000 }, async (_what, text, status) => {
    const asked = async () => expect((await add({ sources: [{ name: "f.yaml", text }] })).status).toBe(status);
    expect(await longestPiece(asked)).toBeLessThan(1000);
  });

  test("1000 faults of an issuer are the most, in one file or in several, which each of its requests looks at", async () => {
    const file = (count: number) => ({
      name: `${count}.yaml`,
      text: `faults: [${"{endpoint: token, status: 503, skip: 9},".repeat(count).slice(0, -1)}]`,
    });
    for (const sources of [[file(1001)], [file(500), file(501)]]) {
      const { status, json } = await add({ sources });
      const said = { message: "is one too many: an issuer has 1000 at most", file: sources.at(-1)?.name };
      expect([status, json]).toMatchObject([422, { problems: [said] }]);
    }
    expect((await add({ name: "full", sources: [file(500), file(500)] })).status).toBe(201);
    const one = { endpoint: "token", status: 503 };
    const more = await call(server, qa, "POST", "/../../i/full/_idp/api/faults", one);
    expect([more.status, more.text]).toEqual([409, expect.stringContaining("at most 1000 faults")]);
  });

  test("50 issuers at a time are the most", async () => {
    const list = (await call(server, qa, "GET", "/issuers")).json as readonly { readonly addedBy: string | null }[];
    const own = list.filter(({ addedBy }) => addedBy === "qa").length;
    for (let number = own; number < 50; number += 1)
      expect((await call(server, qa, "POST", "/issuers", { name: `n${number}` })).status).toBe(201);
    const refused = await call(server, qa, "POST", "/issuers", { name: "one-more" });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("'qa' has 50 issuers")]);
    expect((await call(server, qa, "DELETE", "/issuers/n49")).status).toBe(204);
    expect((await call(server, qa, "POST", "/issuers", { name: "one-more" })).status).toBe(201);
  });
});
