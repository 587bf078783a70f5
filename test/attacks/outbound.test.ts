import type { lookup as systemLookup } from "node:dns";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { SignJWT, generateKeyPair } from "jose";
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { send } from "../../src/core/base/outbound.ts";
import { kindOfAddress } from "../../src/net/address.ts";
import { register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, paths, pick, post } from "../helpers/client.ts";

/** Where a client can send this server (SSRF): its `jwks_uri`, its `backchannel_logout_uri`, and all else that looks like an address. */

const notes: string[] = [];
const idp = await underAttack({ dynamicRegistration: true, log: (line) => notes.push(line) });

let hits: string[] = [];
let ended = Promise.resolve();
const answers: Record<string, (req: IncomingMessage, res: ServerResponse) => void> = {
  "/moved": (_req, res) => res.writeHead(302, { location: "/secret" }).end(),
  "/silent": () => undefined,
  "/switching": (_req, res) => res.socket?.write("HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
  "/dribbling": (_req, res) => {
    const timer = setInterval(() => res.write(" "), 5);
    res.on("close", () => {
      clearInterval(timer);
    });
  },
  "/endless": (_req, res) => {
    const more = (): void => {
      while (!res.destroyed && res.write("x".repeat(65_536)));
      if (!res.destroyed) res.once("drain", more);
    };
    more();
  },
};
const inside = createServer((req, res) => {
  hits.push(req.url ?? "");
  ended = new Promise((resolve) => res.on("close", resolve));
  (answers[req.url ?? ""] ?? (() => res.end("{}")))(req, res);
});
await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
const { port } = inside.address() as AddressInfo;
const base = `http://127.0.0.1:${port}`;
afterAll(() => {
  inside.closeAllConnections();
  inside.close();
});
beforeEach(() => {
  hits = [];
});

/** A resolver that knows one name, and answers each time what is next in the list. */
function resolver(...answers: string[][]): { lookup: typeof systemLookup; asked: () => number } {
  let asked = 0;
  const lookup = ((_name: string, _options: object, callback: (error: null, found: object[]) => void) => {
    const found = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  }) as unknown as typeof systemLookup;
  return { lookup, asked: () => asked };
}

describe("an address that is refused for every client", () => {
  test.each([
    "169.254.169.254",
    "169.254.0.1",
    "169.254.170.2",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "fe80::1",
    "fd00:ec2::254",
    "100.100.100.200",
    "2002:a9fe:a9fe::",
    "::169.254.169.254",
    "168.63.129.16",
    "224.0.0.1",
    "255.255.255.255",
    "ff02::1",
  ])("%s", async (address) => {
    const { lookup } = resolver([address]);
    await expect(send(`http://app.test:${port}/`, { reach: "local", lookup })).rejects.toThrow(/no client may have/);
    const literal = address.includes(":") ? `[${address}]` : address;
    await expect(send(`http://${literal}:${port}/`, { reach: "local" })).rejects.toThrow(/no client may have/);
  });
});

describe("an address of this machine or its networks, for a client that registered itself", () => {
  const refused = /may not have; name the client in a fixture/;
  test.each([
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.18.0.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1.1.1.1",
    "2002:7f00:1::",
    "2002:101:101::",
    "::127.0.0.1",
    "::1.1.1.1",
    "::ffff:0:1.1.1.1",
    "fd12::1",
    "fec0::1",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "2001::1",
    "2001:2::1",
    "2001:db8::1",
    "3fff::1",
    "100::1",
  ])("%s", async (address) => {
    const { lookup } = resolver([address]);
    await expect(send(`http://app.test:${port}/`, { reach: "public", lookup })).rejects.toThrow(refused);
    const mixed = resolver(["8.8.8.8", address]);
    await expect(send(`http://app.test:${port}/`, { reach: "public", lookup: mixed.lookup })).rejects.toThrow(refused);
    expect(hits).toEqual([]);
  });

  test.each(["9.9.9.9", "::ffff:9.9.9.9", "64:ff9b::909:909", "2620:fe::9"])(
    "%s, its own in the internet",
    async (address) => {
      const wan = [
        { address: "9.9.9.9" },
        { address: "64:ff9b::909:909" },
        { address: "2620:fe::9" },
      ] as os.NetworkInterfaceInfo[];
      const interfaces = vi.spyOn(os, "networkInterfaces").mockReturnValue({ wan });
      syncBuiltinESMExports();
      onTestFinished(() => {
        interfaces.mockRestore();
        syncBuiltinESMExports();
      });
      const { lookup } = resolver([address]);
      await expect(send(`http://app.test:${port}/`, { reach: "public", lookup })).rejects.toThrow(refused);
    },
  );

  test.each([
    "127.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "[::ffff:7f00:1]",
    "localhost",
    "LocalHost.",
    "app.localhost.",
  ])("in the spelling %s", async (host) => {
    const { lookup } = resolver(["127.0.0.1"]);
    await expect(send(`http://${host}:${port}/`, { reach: "public", lookup })).rejects.toThrow(refused);
    expect(hits).toEqual([]);
  });

  test.each(["127.0.0.1", "localhost", "app.localhost"])(
    "%s passes where the operator allows loopback",
    async (host) => {
      const { lookup } = resolver(["127.0.0.1"]);
      expect((await send(`http://${host}:${port}/keys`, { reach: "loopback", lookup })).status).toBe(200);
      expect(hits).toEqual(["/keys"]);
    },
  );

  test.each(["10.0.0.1", "192.168.1.1", "172.16.0.1", "0.0.0.0", "fd12::1", "64:ff9b::7f00:1", "169.254.169.254"])(
    "%s does not pass where the operator allows loopback",
    async (address) => {
      const { lookup } = resolver(["127.0.0.1", address]);
      const why = /may not have; name the client|no client may have/;
      await expect(send(`http://app.test:${port}/`, { reach: "loopback", lookup })).rejects.toThrow(why);
      expect(hits).toEqual([]);
    },
  );

  test.each(["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:4860:4860::8888", "100.128.0.1", "172.32.0.1"])(
    "%s is public",
    (address) => {
      expect(kindOfAddress(address)).toBe("public");
    },
  );
});

test("a name that resolves to another address the next time: asked once, and what was checked is connected to", async () => {
  const { lookup, asked } = resolver(["127.0.0.1"], ["169.254.169.254"]);
  expect((await send(`http://app.test:${port}/keys`, { reach: "local", lookup })).status).toBe(200);
  expect([asked(), hits]).toEqual([1, ["/keys"]]);
});

test("a name that does not resolve: no address, and no uncaught exception", async () => {
  const lookup = ((_name: string, _options: object, done: (error: Error) => void) => {
    setImmediate(() => {
      done(new Error("getaddrinfo ENOTFOUND"));
    });
  }) as unknown as typeof systemLookup;
  await expect(send("http://nobody.invalid/", { reach: "local", lookup })).rejects.toThrow("it could not be reached");
});

describe("limits", () => {
  test("a response that changes the protocol is refused at once", async () => {
    await expect(send(`${base}/switching`, { reach: "local" })).rejects.toThrow("it could not be reached");
  });

  test("no redirect is followed", async () => {
    expect((await send(`${base}/moved`, { reach: "local" })).status).toBe(302);
    expect(hits).toEqual(["/moved"]);
  });
  test("no more is read than 102,400 bytes, and the connection ends there", async () => {
    await expect(send(`${base}/endless`, { reach: "local" })).rejects.toThrow("it is larger than 102400 bytes");
    await ended;
  });
  test.each(["/silent", "/dribbling"])("the time counts to the end of the answer: %s", async (path) => {
    const gone = send(base + path, { reach: "local", timeLimit: 100 });
    await expect(gone).rejects.toThrow("it did not answer within 0.1 s");
    await ended;
  });
  test.each(["file:///etc/passwd", "gopher://127.0.0.1/", "data:application/json,{}", "ftp://127.0.0.1/"])(
    "%s is not fetched",
    async (url) => {
      await expect(send(url, { reach: "local" })).rejects.toThrow("it could not be reached");
    },
  );
});

const { privateKey } = await generateKeyPair("RS256");

describe("from outside", () => {
  const registration = async (metadata: object, at = idp) => {
    const answer = await fetch(`${at.issuer}/api/v2/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: [callback], ...metadata }),
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, string> };
  };
  async function registerItself(metadata: object, at = idp): Promise<Record<string, string>> {
    const { status, json } = await registration(metadata, at);
    expect(status).toBe(201);
    return json;
  }
  /** An operator gives an address to a client that registered itself, which does not make it a client of the operator. */
  const give = (stranger: Record<string, string>, entry: object) =>
    idp.call("clients.edit", { client_id: stranger["client_id"] ?? "", ...entry });
  const authenticate = async (id: string, at = idp) =>
    post(at, paths.revoke, {
      client_id: null,
      client_secret: null,
      token: "x",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await new SignJWT({ iss: id, sub: id, aud: at.issuer, jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: "RS256" })
        .setExpirationTime("1 min")
        .sign(privateKey),
    });

  test("jwks_uri: asked for a client of a fixture, not for one that registered itself", async () => {
    const metadata = { token_endpoint_auth_method: "private_key_jwt", jwks_uri: `${base}/keys` } as const;
    const app = await register(idp, metadata);
    expect((await authenticate(app.credentials.client_id)).status).toBe(401);
    expect(hits).toEqual(["/keys"]);
    const stranger = await registerItself({ token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [] } });
    await give(stranger, { jwks: null, jwks_uri: metadata.jwks_uri });
    const { status, json } = await authenticate(stranger["client_id"] ?? "");
    expect([status, hits]).toEqual([401, ["/keys"]]);
    expect(json.error_description).toContain("name the client in a fixture");
  });

  test.each([
    ["jwks_uri", `${base}/keys`],
    ["jwks_uri", "http://localhost:1/keys"],
    ["jwks_uri", "https://app.localhost/keys"],
    ["jwks_uri", "https://localhost./keys"],
    ["jwks_uri", "https://app.localhost./keys"],
    ["jwks_uri", "https://[::1]/keys"],
    ["jwks_uri", "https://[::127.0.0.1]/keys"],
    ["jwks_uri", "https://192.0.2.1/keys"],
    ["jwks_uri", "https://[2001:db8::1]/keys"],
    ["backchannel_logout_uri", "https://198.18.0.1/logout"],
    ["jwks_uri", "https://10.0.0.1/keys"],
    ["jwks_uri", "https://169.254.169.254/keys"],
    ["backchannel_logout_uri", `${base}/logout`],
    ["backchannel_logout_uri", "https://192.168.1.1/logout"],
  ])("%s %s is refused when a client registers itself, by name", async (field, uri) => {
    const { status, json } = await registration({ [field]: uri });
    expect([status, json["error"]]).toEqual([400, "invalid_client_metadata"]);
    expect(json["error_description"]).toContain(`${field} '${uri}' cannot be used: it is at `);
    expect(json["error_description"]).toMatch(/setting registration_loopback|no client may have/);
    expect(hits).toEqual([]);
  });

  test("a number as a host, which a URL parser turns into 127.0.0.1, is not a URL here", async () => {
    const { status, json } = await registration({ jwks_uri: "http://2130706433/keys" });
    expect([status, json["error"]]).toEqual([400, "invalid_client_metadata"]);
    expect(hits).toEqual([]);
  });

  test("with registration_loopback, loopback passes and no more", async () => {
    const open = await underAttack({ dynamicRegistration: true, settings: { registration_loopback: true } });
    const metadata = { token_endpoint_auth_method: "private_key_jwt", jwks_uri: `${base}/keys` };
    const { client_id } = await registerItself({ ...metadata, backchannel_logout_uri: `${base}/logout` }, open);
    await authenticate(client_id ?? "", open);
    expect(hits).toEqual(["/keys"]);
    const uri = "https://10.0.0.1/keys";
    expect(await registration({ ...metadata, jwks_uri: uri }, open)).toMatchObject({
      status: 400,
      json: { error: "invalid_client_metadata" },
    });
  });

  test("backchannel_logout_uri: the same, and the log says why the client was not notified", async () => {
    const stranger = await registerItself({});
    await give(stranger, { backchannel_logout_uri: `${base}/logout` });
    const credentials = { client_id: stranger["client_id"] ?? "", client_secret: stranger["client_secret"] ?? "" };
    const browser = new Browser(idp.issuer);
    const query = { response_type: "code", client_id: credentials.client_id, redirect_uri: callback, scope: "openid" };
    const login = await browser.open(`${paths.authorize}?${new URLSearchParams(query).toString()}`);
    const { left } = await browser.press(await pick(browser, login, "alice"), "consent-allow");
    const code = left?.searchParams.get("code") ?? "";
    const authorization = `Basic ${Buffer.from(`${credentials.client_id}:${credentials.client_secret}`).toString("base64")}`;
    const body = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: callback });
    const { json } = await post(idp, paths.token, {}, { headers: { authorization }, body });
    const out = await browser.open(`/api/v2/oauth/logout?id_token_hint=${json.id_token}`);
    expect([out.page, hits]).toEqual(["signed-out", []]);
    expect(notes.join("\n")).toContain("which a client that registered itself may not have");
  });

  test("request_uri and every other address of a client: never fetched", async () => {
    const stranger = await registerItself({
      logo_uri: `${base}/logo`,
      client_uri: `${base}/`,
      policy_uri: `${base}/policy`,
      tos_uri: `${base}/tos`,
      initiate_login_uri: `${base.replace("http:", "https:")}/start`,
      request_uris: [`${base}/request`],
      frontchannel_logout_uri: `${base}/front`,
    });
    const query = { response_type: "code", client_id: stranger["client_id"] ?? "", redirect_uri: callback };
    const browser = new Browser(idp.issuer);
    const fetched = new URLSearchParams({ ...query, request_uri: `${base}/request`, prompt: "none" }).toString();
    const { left } = await browser.open(`${paths.authorize}?${fetched}`);
    expect(left?.searchParams.get("error")).toBe("request_uri_not_supported");
    const login = await browser.open(`${paths.authorize}?${new URLSearchParams(query).toString()}`);
    expect((await pick(browser, login, "bob")).page).toBe("consent");
    expect(hits).toEqual([]);
  });
});
