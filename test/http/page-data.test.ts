import request from "supertest";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/** The pages as data: a whole sign-in by an API test that reads no HTML. */

const idp = await serve();

interface Content {
  readonly page: string;
  readonly state: string;
  readonly csrf: string;
  readonly actions: readonly {
    readonly name: string;
    readonly method: string;
    readonly href: string;
    readonly sends?: object;
  }[];
  readonly [name: string]: unknown;
}

async function agentAt(path: string) {
  const agent = request.agent(idp.app).set("Accept", "application/json").set("Host", "localhost").redirects(5);
  const answer = await agent.get(path);
  return { agent, content: answer.body as Content };
}

const action = ({ actions }: Content, name: string) =>
  actions.find((one) => one.name === name) ?? expect.fail(`no action ${name}`);

test("login and consent are read and answered as JSON, to the code", async () => {
  const app = await register(idp, { client_name: "API test" });
  const { agent, content: login } = await agentAt(app.url().slice(idp.issuer.length));
  expect(login).toMatchObject({
    page: "login",
    state: "default",
    title: "Sign in",
    client: { id: app.credentials.client_id, name: "API test" },
    fields: [{ name: "username", value: "" }, { name: "password" }],
  });
  expect(login["picker"]).toMatchObject({
    total: 4,
    users: expect.arrayContaining([expect.objectContaining({ username: "carol", status: "suspended" })]),
  });

  const { csrf } = login;
  const signIn = action(login, "sign-in");
  const refused = await agent.post(signIn.href).send({ csrf, username: "alice", password: "wrong" });
  expect([refused.status, (refused.body as Content).state]).toEqual([401, "error-credentials"]);
  expect(JSON.stringify(refused.body)).not.toContain("wrong");
  const pick = action(login, "pick");
  const forged = await agent.post(pick.href).send({ csrf: "guessed", username: "alice", ...pick.sends });
  expect([forged.status, forged.body]).toMatchObject([403, { error: "invalid_request" }]);

  const consent = (await agent.post(pick.href).send({ csrf, username: "alice", ...pick.sends })).body as Content;
  expect(consent).toMatchObject({
    page: "consent",
    state: "default",
    user: { username: "alice" },
    fields: [{ name: "scope", options: ["openid", "profile", "email"] }],
  });
  const allow = action(consent, "allow");
  const done = await agent
    .post(allow.href)
    .redirects(0)
    .send({ csrf: consent.csrf, scope: ["openid", "email"], ...allow.sends });
  expect(done.status).toBe(303);
  expect(new URL(done.headers["location"] ?? "").searchParams.get("code")).toMatch(/.{40,}/);
  expect(await idp.call("grants.list", { client: app.credentials.client_id })).toMatchObject([
    { scope: "openid email" },
  ]);

  const account = (await agent.get("/account")).body as Content;
  expect(account).toMatchObject({ page: "account", user: { username: "alice" } });
  expect(account.actions.map(({ name }) => name)).toContain("sign-out-everywhere");
});

test("a device, the account and a sign-out are read and answered as JSON", async () => {
  const { client_id } = (await register(idp, { token_endpoint_auth_method: "none", grant_types: [deviceGrant] }))
    .credentials;
  const answer = await request(idp.app)
    .post("/api/v2/oauth/device_authorization")
    .set("Host", "localhost")
    .send(new URLSearchParams({ client_id, scope: "openid email" }).toString());
  const { user_code } = answer.body as { user_code: string };
  const { agent, content: login } = await agentAt("/device");
  const pick = action(login, "pick");
  const enter = (await agent.post(pick.href).send({ csrf: login.csrf, username: "bob", ...pick.sends }))
    .body as Content;
  expect([enter.page, enter.state]).toEqual(["device", "enter"]);
  // The page is for Bob; it does not have his record, with the hash of his password.
  expect(enter["user"]).toBeUndefined();

  const act = async (from: Content, name: string, body: object = {}): Promise<Content> => {
    const { method, href, sends } = action(from, name);
    if (method === "GET") return (await agent.get(href)).body as Content;
    return (await agent.post(href).send({ csrf: from.csrf, ...sends, ...body })).body as Content;
  };
  const invalid = await act(enter, "continue", { user_code: "BBBB-BBBB" });
  expect([invalid.page, invalid.state]).toEqual(["device", "invalid"]);
  expect(JSON.stringify(invalid)).not.toMatch(/password/i);
  const confirm = await act(enter, "continue", { user_code });
  expect(confirm).toMatchObject({ page: "device", state: "confirm", userCode: user_code, client: { id: client_id } });
  expect(JSON.stringify(confirm)).not.toMatch(/password/i);
  expect((await act(confirm, "allow")).state).toBe("done");

  const elsewhere = await agentAt("/account");
  const there = action(elsewhere.content, "pick");
  const { csrf } = elsewhere.content;
  await elsewhere.agent.post(there.href).send({ csrf, username: "bob", ...there.sends });

  const account = (await agent.get("/account")).body as Content;
  expect(account).toMatchObject({ page: "account", state: "one", apps: [{ client: { id: client_id } }] });
  const saved = await act(account, "save", { language: "tr", theme: "dark" });
  expect([saved.state, saved["language"], saved["chosenTheme"]]).toEqual(["saved", "tr", "dark"]);
  expect((await act(account, "end-session")).state).toBe("ended");
  const question = await act(account, "remove");
  expect([question.page, question.state]).toEqual(["account", "revoke"]);
  expect((await act(question, "remove")).state).toBe("removed");
  const logout = (await agent.get("/api/v2/oauth/logout")).body as Content;
  expect([logout.page, logout.state, logout["why"]]).toEqual(["logout", "default", "no-hint"]);
  const out = await act(logout, "sign-out");
  expect([out.page, out.state]).toEqual(["signed-out", "done"]);
});

test("a page that is over says so in JSON too, and no page answers JSON to a browser", async () => {
  const over = await request(idp.app)
    .get("/interaction/nothing/login")
    .set("Host", "localhost")
    .set("Accept", "application/json");
  expect([over.status, over.body]).toMatchObject([
    404,
    { page: "login", state: "expired", error: "invalid_request", actions: [] },
  ]);
  const app = await register(idp);
  const browser = request.agent(idp.app).set("Host", "localhost").redirects(1);
  for (const accept of ["text/html,application/xhtml+xml,*/*;q=0.8", "*/*"]) {
    const page = await browser.get(app.url().slice(idp.issuer.length)).set("Accept", accept);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  }
});
