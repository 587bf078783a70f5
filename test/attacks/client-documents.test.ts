import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { testClock } from "../helpers/clock.ts";
import { documentServer, redirectUri } from "../helpers/document-server.ts";
import { documentSignIns } from "../helpers/document-sign-in.ts";
import { resolve } from "../helpers/resolve.ts";

/** Which URLs and metadata documents are refused as a `client_id` (OAuth Client ID Metadata Document). */

const documents = await documentServer();
const file = (name: string) => readFileSync(new URL(`../helpers/tls/${name}`, import.meta.url));
const tls = await documentServer((listener) =>
  createTlsServer({ cert: file("cert.pem"), key: file("key.pem") }, listener),
);
const { base, port } = documents;
const clock = testClock();
const options = { now: clock.now } as const;
const open = await underAttack({
  ...options,
  settings: { client_metadata_documents: true, client_metadata_loopback: true },
});
const strict = await underAttack({ ...options, settings: { client_metadata_documents: true } });
const { attempt } = documentSignIns(clock, [documents, tls]);

describe("an address that is not public is not read", () => {
  test.each([
    "127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a00:1]",
    "[::127.0.0.1]",
    "[2002:7f00:1::]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "[fe80::1]",
    "[fd00::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:169.254.169.254]",
    "0.0.0.0",
    "[::]",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "localhost",
    "app.localhost",
  ])("%s", async (host) => {
    const written = new URL(`https://${host}/c.json`).href.replace("/c.json", "");
    for (const idp of [strict, ...(/127|::1\]|localhost/.test(host) ? [] : [open])]) {
      const { status, error, page, reads } = await attempt(idp, `${written}:${port}/c.json`);
      expect([status, reads]).toEqual([400, []]);
      expect(error).toMatch(/^invalid_client: the metadata document of client .* is not accepted: it is at /);
      expect(page).toContain("it is at ");
    }
  });

  test.each([
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1.",
    "①27.0.0.1",
    "LOCALHOST",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "127%2e0.0.1",
    "10.1",
    "0xa9fea9fe",
  ])("in the spelling %s", async (host) => {
    for (const idp of [strict, open]) {
      const { status, error, reads } = await attempt(idp, `https://${host}:${port}/c.json`);
      expect([status, reads]).toEqual([400, []]);
      expect(error).toMatch(/invalid_client: (?:client_id .* (?:usual form|valid URL)|.* it is at )/);
    }
  });

  test.each([
    [["127.0.0.1"]],
    [["93.184.216.34", "127.0.0.1"]],
    [["::ffff:127.0.0.1"]],
    [["64:ff9b::7f00:1"]],
    [["10.0.0.1"]],
    [["169.254.169.254"]],
  ])("by a name that resolves to %j", async (...answers) => {
    resolve({ "client.example": answers });
    const { status, error, reads } = await attempt(strict, `https://client.example:${port}/${answers.join("-")}.json`);
    expect([status, reads]).toEqual([400, []]);
    expect(error).toContain("is not accepted: it is at ");
  });

  test("nor where the resolver answers differently the second time: the address that was checked is the one that is connected to", async () => {
    const { asked } = resolve({
      "rebinding.example": [["192.0.2.1"], ["127.0.0.1"]],
      "near.example": [["127.0.0.1"], ["10.0.0.1"]],
    });
    const refused = await attempt(open, `https://rebinding.example:${port}/c.json`);
    expect([refused.status, refused.reads]).toEqual([400, []]);
    expect(refused.error).toContain("it is at 192.0.2.1");
    const url = `https://near.example:${tls.port}/near.json`;
    const read = await attempt(open, url);
    // It reached the server at the first answer.
    expect(read.error).toContain("certificate");
    expect(asked).toEqual({ "rebinding.example": 1, "near.example": 1 });
  });
});

describe("a URL that is refused without a read", () => {
  test.each([
    ["with a fragment", `${base}/c.json#`, "has a fragment"],
    ["with user info", `http://someone@127.0.0.1:${port}/c.json`, "has user info"],
    ["with a password", `http://:secret@127.0.0.1:${port}/c.json`, "has user info"],
    ["with a dot segment", `${base}/a/../c.json`, "dot segment"],
    ["with an encoded one", `${base}/a/%2e%2E/c.json`, "dot segment"],
    ["with a single dot", `${base}/./c.json`, "dot segment"],
    ["without a path", base, "has no path"],
    ["with a backslash", `http://127.0.0.1:${port}\\c.json`, "has no path"],
    ["with a tab", `http://127.0.0.1:${port}/c\t.json`, "usual form"],
    ["in capital letters", `HTTP://127.0.0.1:${port}/c.json`, "usual form"],
    ["with the default port", "https://client.example:443/c.json", "usual form"],
    ["http on a name", "http://client.example/c.json", "is http on a host that is not loopback"],
    ["http on another address", "http://93.184.216.34/c.json", "is http on a host that is not loopback"],
  ])("%s", async (_what, url, rule) => {
    const { status, error, reads } = await attempt(open, url);
    expect([status, reads]).toEqual([400, []]);
    expect(error).toContain(rule);
  });

  test("http, without the flag for loopback", async () => {
    const { error, reads } = await attempt(strict, `${base}/c.json`);
    expect([error, reads]).toEqual([expect.stringContaining("is not https"), []]);
  });
});

const secretKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });

describe("a document that is refused", () => {
  test.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ["names another client_id", { client_id: `${base}/other.json` }, "its client_id is"],
    ["names its URL in another spelling", { client_id: `${base}/./names.json` }, "its client_id is"],
    ["names none", { client_id: undefined }, "it has no client_id"],
    ["has no client_name", { client_name: undefined }, "no client_name"],
    ["has a blank client_name", { client_name: " " }, "no client_name"],
    ["has no redirect_uris", { redirect_uris: undefined }, "no redirect_uris"],
    ["has empty redirect_uris", { redirect_uris: [] }, "no redirect_uris"],
    ["has a redirect URI that runs", { redirect_uris: ["javascript:alert(1)"] }, "redirect_uris"],
    ["has a redirect URI that Windows opens", { redirect_uris: ["ms-msdt:/id"] }, "operating systems open themselves"],
    ["has a redirect URI that macOS opens", { redirect_uris: ["x-help-script://x"] }, "operating systems open"],
    ["has a redirect URI on plain http", { redirect_uris: ["http://app.test/cb"] }, "http"],
    ["contains a client_secret", { client_secret: "s" }, "client_secret"],
    ["contains client_secret_expires_at", { client_secret_expires_at: 0 }, "client_secret_expires_at"],
    ["contains a private key", { jwks: { keys: [secretKey] } }, "private or secret key"],
    ["contains a private key elsewhere", { keys: { old: [secretKey] } }, "private or secret key"],
    [
      "contains a private key without its kty",
      { jwks: { keys: [{ n: "abc", e: "AQAB", d: "abc" }] } },
      "private or secret key",
    ],
    [
      "contains a symmetric key without its kty",
      { jwks: { keys: [{ kid: "a", k: "c2VjcmV0" }] } },
      "private or secret key",
    ],
    ["contains a key in PEM", { keys: ["-----BEGIN EC PRIVATE KEY-----\nMHcCAQ"] }, "private key in PEM format"],
    ["contains a symmetric key", { jwks: { keys: [{ kty: "oct", kid: "a" }] } }, "secret key"],
    ["authenticates by a secret", { token_endpoint_auth_method: "client_secret_basic" }, "token_endpoint_auth_method"],
    [
      "authenticates by a secret JWT",
      { token_endpoint_auth_method: "client_secret_jwt" },
      "token_endpoint_auth_method",
    ],
    ["has a jwks_uri", { jwks_uri: `${base}/keys` }, "jwks_uri"],
    [
      "has private_key_jwt without keys",
      { token_endpoint_auth_method: "private_key_jwt" },
      "token_endpoint_auth_method",
    ],
    ["has metadata that no client may have", { grant_types: ["password"] }, "grant_types"],
  ])("%s", async (what, change, rule) => {
    const url = documents.publish(`/names/${what.replaceAll(" ", "-")}.json`, change);
    const { status, error, page, reads } = await attempt(open, url);
    expect([status, reads]).toEqual([400, [new URL(url).pathname]]);
    expect(error).toMatch(/^invalid_client: the metadata document of client /);
    expect(error).toContain(rule);
    expect(page).toContain(rule);
  });

  test.each<readonly [string, Parameters<typeof documents.answer>[1], string]>([
    ["redirects", (_req, res) => res.writeHead(302, { location: "/good.json" }).end(), "redirects are not followed"],
    [
      "redirects for good",
      (_req, res) => res.writeHead(308, { location: "/good.json" }).end(),
      "redirects are not followed",
    ],
    ["is not 200", (_req, res) => res.writeHead(201).end("{}"), "answered 201"],
    ["is missing", (_req, res) => res.writeHead(404).end("{}"), "answered 404"],
    ["is not JSON", (_req, res) => res.end("<p>hello"), "not JSON"],
    ["is HTML", (_req, res) => res.writeHead(200, { "content-type": "text/html" }).end("{}"), "Content-Type"],
    ["is a list", (_req, res) => res.end("[]"), "not a JSON object"],
    ["is nested too deep", (_req, res) => res.end("[".repeat(2000) + "]".repeat(2000)), "not JSON"],
    ["hangs up", (req) => req.socket.destroy(), "could not be reached"],
    ["never answers", () => undefined, "within 3 s"],
    ["dribbles", (_req, res) => dribble(res), "within 3 s"],
  ])("%s", { timeout: 15_000 }, async (what, how, rule) => {
    documents.publish("/good.json");
    const url = documents.answer(`/${what.replaceAll(" ", "-")}`, how);
    const { status, error, reads } = await attempt(open, url);
    expect([status, reads]).toEqual([400, [new URL(url).pathname]]);
    expect(error).toContain(rule);
  });

  test("larger than 5,120 bytes, and no more of it is read; one of exactly 5,120 passes", async () => {
    const url = documents.answer("/endless", (_req, res) => {
      const more = (): void => {
        while (!res.destroyed && res.write(" ".repeat(65_536)));
        if (!res.destroyed) res.once("drain", more);
      };
      more();
    });
    expect((await attempt(open, url)).error).toContain("larger than 5120 bytes");
    for (const [size, status] of [
      [5120, 303],
      [5121, 400],
    ] as const) {
      const path = `/size-${size}.json`;
      const text = JSON.stringify({ client_id: base + path, client_name: "Big", redirect_uris: [redirectUri] });
      documents.answer(path, (_req, res) => res.end(text.padEnd(size)));
      expect((await attempt(open, base + path)).status).toBe(status);
    }
  });

  test("by a certificate that nobody vouches for, whatever the environment says", async () => {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    onTestFinished(() => {
      delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    });
    const { error, reads } = await attempt(open, `https://127.0.0.1:${tls.port}/c.json`);
    expect([error, reads]).toEqual([expect.stringContaining("certificate is not trusted"), []]);
  });
});

function dribble(res: {
  readonly destroyed: boolean;
  write: (text: string) => unknown;
  on: (name: "close", run: () => void) => unknown;
}): void {
  const timer = setInterval(() => res.write(" "), 50);
  res.on("close", () => {
    clearInterval(timer);
  });
}

test("a redirect URI that the document does not list, or no longer lists, is refused", async () => {
  const elsewhere = "https://evil.test/cb";
  const url = documents.publish("/list.json", { redirect_uris: [redirectUri, elsewhere] });
  expect((await attempt(open, url, { redirect_uri: elsewhere })).status).toBe(303);
  documents.publish("/list.json");
  expect((await attempt(open, url, { redirect_uri: elsewhere })).status).toBe(400);
  expect((await attempt(open, url)).status).toBe(303);
});
