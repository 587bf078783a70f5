import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createIdp, signInWithoutBrowser, type Idp } from "../../src/index.ts";

/** `signInWithoutBrowser`: a test of an app signs a user in with its own HTTP client. */

/** A small app: `/login` leads to idp, `/cb` takes the response, `/me` says who is signed in. */
async function app(mode: "query" | "form_post"): Promise<{ idp: Idp; url: string; posts: string[] }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirect_uri = `${url}/cb`;
  const client = { client_id: "app", client_secret: "app-secret", redirect_uris: [redirect_uri] };
  const idp = await createIdp({
    fixtures: { users: [{ username: "alice" }, { username: "carol", status: "suspended" }], clients: [client] },
  });
  const posts: string[] = [];
  const sessions = new Map<string, string>();
  server.on("request", (request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const { pathname, searchParams } = new URL(request.url ?? "/", url);
      if (request.method === "POST") posts.push(pathname);
      const session = /sid=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
      if (pathname === "/login") {
        const asked = new URLSearchParams({
          client_id: "app",
          response_type: "code",
          redirect_uri,
          response_mode: mode,
          scope: "openid profile",
        });
        response.writeHead(302, {
          location: `${idp.issuer}/api/v2/oauth/authorize?${asked}`,
          "set-cookie": "sid=one; HttpOnly; Path=/",
        });
      } else if (pathname === "/cb") {
        const given = mode === "query" ? searchParams : new URLSearchParams(body);
        if (given.has("error")) {
          response.writeHead(403).end(given.get("error"));
          return;
        }
        const sent = {
          grant_type: "authorization_code",
          code: given.get("code"),
          redirect_uri,
          client_id: "app",
          client_secret: "app-secret",
        };
        const tokens = await fetch(`${idp.issuer}/api/v2/oauth/token`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(sent),
        });
        const { id_token } = (await tokens.json()) as { id_token: string };
        sessions.set(
          "two",
          (JSON.parse(Buffer.from(id_token.split(".")[1] ?? "", "base64url").toString()) as { name: string }).name,
        );
        response.writeHead(303, { location: "/me", "set-cookie": "sid=two; HttpOnly; Path=/" });
      } else response.writeHead(sessions.has(session) ? 200 : 401, { "content-type": "text/html" });
      // A form of the app's own, which nobody fills in.
      response.end(
        `<form method="post" action="/delete"><input type="submit"></form> ${sessions.get(session) ?? "nobody"}`,
      );
    })();
  });
  onTestFinished(async () => {
    server.close();
    await idp.close();
  });
  return { idp, url, posts };
}

test.each(["query", "form_post"] as const)(
  "%s: the app's last page, its cookies, and requests with them",
  async (mode) => {
    const { url, posts } = await app(mode);
    const { fetch: get, ...ended } = await signInWithoutBrowser(`${url}/login`, { user: "alice" });
    expect(ended).toEqual({ url: `${url}/me`, status: 200, cookies: { sid: "two" } });
    const answer = await get("/me");
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("alice")]);
    expect((await fetch(`${url}/me`)).status).toBe(401);
    // Only the response that idp posts.
    expect(posts).toEqual(mode === "query" ? [] : ["/cb"]);
  },
);

test("a denial ends at the app; a user who may not sign in, and an unknown one, is an error", async () => {
  const { url } = await app("query");
  expect(await signInWithoutBrowser(`${url}/login`, { user: "alice", approve: false })).toMatchObject({ status: 403 });
  for (const user of ["carol", "nobody"]) {
    await expect(signInWithoutBrowser(`${url}/login`, { user })).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining(user),
    });
  }
});
