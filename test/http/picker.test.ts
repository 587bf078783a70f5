import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, callback, pkce } from "../helpers/client.ts";
import { wordsOf } from "../helpers/html.ts";

/** The list of test users on the login page: search, pages, who comes first. */

const many = Array.from({ length: 500 }, (_, index) => ({
  username: `user${String(index + 1)}`,
  displayName: `Test User ${String(index + 1)}`,
}));
const idp = await serve({
  fixtures: {
    users: [
      ...many,
      {
        username: "ayse",
        displayName: "Ayşe Çelik",
        email: "ışıl@example.com",
        claims: { roles: ["Yönetici"], groups: ["gece-ekibi"] },
      },
    ],
  },
});
const app = await register(idp);

const names = (visit: Visit): string[] =>
  [...visit.body.matchAll(/data-testid="login-as-([^"]+)"/g)].map((match) => match[1] ?? "");

async function search(query: string): Promise<string[]> {
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url());
  return names(await browser.open(`${login.url}?${query}`));
}

test.each(["q=yonetici", "q=gece-ekibi", "q=celik", "q=%C3%87EL%C4%B0K", "q=AYSE", "q=isil%40", "q=+%C3%A7elik+"])(
  "%s finds Ayşe Çelik, whatever marks and case are typed",
  async (query) => {
    expect(await search(query)).toEqual(["ayse"]);
  },
);

test("a status finds the users who have it, in English and in the language of the page", async () => {
  const own = await serve();
  const shop = await register(own);
  const browser = new Browser(own.issuer);
  const login = await browser.open(shop.url());
  const found = async (query: string) => names(await browser.open(`${login.url}?${query}`));
  expect(await found("q=suspended")).toEqual(["carol"]);
  expect(await found("q=Banned")).toEqual(["dave"]);
  expect(await found("q=active")).toEqual(["alice", "bob"]);
  expect(await found("q=ask%C4%B1da&lang=tr")).toEqual(["carol"]);
  // Only the whole word: a name may have a part of it.
  expect(await found("q=suspend&lang=en")).toEqual([]);
});

test("a long note stands below the name, and does not take its room", async () => {
  const note = "never pays, and complains about each invoice twice";
  const own = await serve({
    fixtures: [
      {
        users: [
          { username: "nora", note },
          { username: "olga", note: "pays" },
        ],
      },
    ],
  });
  const { body } = await new Browser(own.issuer).open(
    authorizeUrl(own, { client_id: (await register(own)).credentials.client_id }),
  );
  const classes = [...body.matchAll(/class="(badges[^"]*)"/g)].map(([, name]) => name);
  expect(classes).toEqual(["badges many", "badges"]);
});

test("twelve users per page; a page beyond the last is the last one", async () => {
  expect(await search("")).toEqual(many.slice(0, 12).map(({ username }) => username));
  expect(await search("page=2")).toEqual(many.slice(12, 24).map(({ username }) => username));
  const last = [...many.slice(492), { username: "ayse" }].map(({ username }) => username);
  expect(await search("page=42")).toEqual(last);
  expect(await search("page=9999")).toEqual(last);
  expect(await search("q=user+50&page=9")).toEqual(["user50", "user500"]);
  for (const odd of ["page=-1", "page=1.5", "page=x", "page=0"]) expect((await search(odd))[0]).toBe("user1");
});

test("the user of login_hint comes first, and the others follow", async () => {
  const login = await new Browser(idp.issuer).open(app.url({ login_hint: "user400" }));
  expect(login.state).toBe("hint");
  expect(names(login).slice(0, 3)).toEqual(["user400", "user1", "user2"]);
});

test("a user who was renamed, suspended or restored is shown so", async () => {
  const shown = async (): Promise<string> => {
    const login = await new Browser(idp.issuer).open(app.url({ login_hint: "user7" }));
    const [button = ""] = /<button class="person" id="login-as-user7"[^]*?<\/button>/.exec(login.body) ?? [];
    return wordsOf(button).trim().replaceAll(/\s+/g, " ");
  };
  expect(await shown()).toBe("T7 Continue as Test User 7 user7@example.com");
  await idp.call("users.edit", { username: "user7", displayName: "Somebody Else" });
  expect(await shown()).toBe("SE Continue as Somebody Else user7@example.com");
  await idp.call("users.suspend", { username: "user7" });
  expect(await shown()).toBe("SE Continue as Somebody Else user7@example.com suspended");
  await idp.call("users.restore", { username: "user7" });
  expect(await shown()).toBe("SE Continue as Somebody Else user7@example.com");
});

test("the roles of a user are beside the name, as text", async () => {
  await idp.call("users.edit", { username: "user8", claims: { roles: ["admin", "<b>", 7, ""] } });
  const login = await new Browser(idp.issuer).open(app.url({ login_hint: "user8" }));
  expect(login.body).toContain(
    '<span class="badge"><bdi>admin</bdi></span> <span class="badge"><bdi>&lt;b&gt;</bdi></span>',
  );
  expect(login.body.match(/class="badge"/g)).toHaveLength(2);
  await idp.call("users.edit", { username: "user8", claims: { roles: "support" } });
  expect((await new Browser(idp.issuer).open(app.url({ login_hint: "user8" }))).body).toContain("<bdi>support</bdi>");
});

test("the note of a user without roles is beside the name, and no client receives it", async () => {
  const note = "has <3 orders";
  await idp.call("users.edit", { username: "user9", note });
  const shown = async () => (await new Browser(idp.issuer).open(app.url({ login_hint: "user9" }))).body;
  expect(await shown()).toContain('<span class="badge"><bdi>has &lt;3 orders</bdi></span>');
  const { access_token, id_token } = await idp.issueTokens({
    user: "user9",
    client: app.credentials.client_id,
    scope: "openid profile",
  });
  for (const token of [access_token, id_token]) expect(decodeJwt(token)).not.toHaveProperty("note");
  await idp.call("users.edit", { username: "user9", claims: { roles: "support" } });
  expect(await shown()).not.toContain("orders");
});

test("a user who has to sign in again is the only one to pick, even if other names contain theirs", async () => {
  const { browser } = await app.signIn({ user: "user5" });
  const login = await browser.open(app.url({ prompt: "login" }));
  expect([login.state, names(login)]).toEqual(["reauth", ["user5"]]);
});

test("with very many users only the first are searched, and the others are found by the whole name or address", async () => {
  const others = Array.from({ length: 5_200 }, (_, index) => ({
    username: `other${String(index + 1)}`,
    email: `Other${String(index + 1)}@example.com`,
  }));
  const crowd = await serve({
    fixtures: { users: others, clients: [{ client_id: "demo-app", redirect_uris: [callback] }] },
  });
  const browser = new Browser(crowd.issuer);
  const login = await browser.open(
    authorizeUrl(crowd, { code_challenge: pkce().challenge, code_challenge_method: "S256" }),
  );
  expect(wordsOf(login.body).replace(/\s+/g, " ")).toContain("Only the first 5,000 of 5,200 users are searched.");
  const find = async (query: string) => names(await browser.open(`${login.url}?${query}`));
  expect(await find("q=other49")).toHaveLength(12);
  expect(await find("q=other5199")).toEqual(["other5199"]);
  expect(await find("q=OTHER5199%40example.com")).toEqual(["other5199"]);
  expect(await find("q=ther5199")).toEqual([]);
  expect((await find("page=9999")).at(-1)).toBe("other5000");
});
