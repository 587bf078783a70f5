import { request } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import { createAttempts, passwordLimits } from "../../src/core/base/attempts.ts";
import { enroll, register, serve } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, pick, post } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** Guessing is slowed at its source, while the user can sign in from elsewhere. */

const clock = testClock();
const idp = await underAttack({ now: clock.now });
const app = await register(idp);
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
/** Another machine, as far as the server can tell: another address of loopback. */
const elsewhere = "127.0.0.2";

beforeEach(() => idp.reset().then(() => register(idp, { ...app.credentials, client_secret: "the right secret" })));

/** A form sent from another address. @returns the status, and where it leads */
function sendFrom(localAddress: string, url: string, fields: Record<string, string>, headers = {}): Promise<number> {
  const { port, pathname } = new URL(url, idp.issuer);
  const body = new URLSearchParams(fields).toString();
  const length = { "content-type": "application/x-www-form-urlencoded", "content-length": body.length };
  return new Promise((resolve, reject) => {
    request(
      {
        host: "127.0.0.1",
        port,
        path: pathname,
        method: "POST",
        localAddress,
        headers: { host: `localhost:${port}`, ...length, ...headers },
      },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    )
      .on("error", reject)
      .end(body);
  });
}

const guess = (browser: Browser, page: Visit, username: string, password: string): Promise<Visit> =>
  browser.press(page, "login-submit", { username, password });

test("with passwords, the page for a login_hint is the same for active, suspended and unknown users", async () => {
  const own = await serve({ settings: { login: "password" } });
  await own.call("users.edit", { username: "carol", status: "suspended" });
  const pages = await Promise.all(
    ["alice", "carol", "nobody"].map(async (hint) => {
      const { body } = await new Browser(own.issuer).open(authorizeUrl(own, { login_hint: hint }));
      return body
        .replaceAll(hint, "HINT")
        .replace(/interaction\/[\w-]+/g, "")
        .replace(/name="csrf" value="[^"]*"/g, "");
    }),
  );
  expect(new Set(pages).size).toBe(1);
  expect(pages[0]).toContain("HINT");
});

describe("passwords", () => {
  async function loginPage(): Promise<{ browser: Browser; page: Visit }> {
    const browser = new Browser(idp.issuer);
    return { browser, page: await browser.open(app.url({ prompt: "login" })) };
  }
  /** Wrong guesses until no more are taken. */
  async function useUp(username: string): Promise<Visit> {
    const { browser, page } = await loginPage();
    const visits = await Promise.all(Array.from({ length: 40 }, () => guess(browser, page, username, "wrong")));
    expect(visits.filter(({ status }) => status === 401)).toHaveLength(30);
    expect(visits.filter(({ status }) => status === 429)).toHaveLength(10);
    return visits.find(({ status }) => status === 429) ?? page;
  }

  test("forty at once: thirty are looked at; then one in ten seconds, and nobody is locked out meanwhile", async () => {
    const refused = await useUp("alice");
    expect(refused).toMatchObject({ page: "error", state: "too-many" });
    expect(refused.headers.get("retry-after")).toBe("10");
    expect(refused.body).toContain("try again in 10 s");
    expect(refused.body).toContain("Wait 10 seconds, then go back and try again.");

    // Slowed: the right one is not taken either, nor in a browser that forgot its cookies, nor by her other name.
    const { browser, page } = await loginPage();
    expect((await guess(browser, page, "alice", "alice")).status).toBe(429);
    expect((await guess(browser, page, "alice@example.com", "alice")).status).toBe(429);

    // Not locked out: another user, and the same user from elsewhere.
    const other = await loginPage();
    expect((await guess(other.browser, other.page, "bob", "bob")).page).toBe("consent");
    const form = formsOf(page.body).find(({ buttons }) => buttons.some(({ id }) => id === "login-submit"));
    const fields = { ...Object.fromEntries(form?.fields ?? []), username: "alice", password: "alice" };
    const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
    expect(await sendFrom(elsewhere, form?.action ?? "", fields, { cookie, origin: idp.issuer })).toBe(303);

    clock.pass(10);
    const late = await loginPage();
    expect((await guess(late.browser, late.page, "alice", "wrong")).status).toBe(401);
    expect((await guess(late.browser, late.page, "alice", "alice")).status).toBe(429);
    clock.pass(10);
    expect((await guess(late.browser, late.page, "alice", "alice")).page).toBe("consent");
  });

  test("of unknown users are slowed the same, so that the delay tells nothing", async () => {
    await useUp("nobody-of-this-name");
  });
});

describe("client secrets", () => {
  const ask = (change: Record<string, string | null>) =>
    post(idp, "/api/v2/oauth/introspect", { token: "x", ...app.credentials, ...change });

  test("are limited to 300 wrong ones, then one a second; other clients and addresses are not slowed", async () => {
    const right = { client_secret: "the right secret" };
    const answers = await Promise.all(Array.from({ length: 310 }, () => ask({ client_secret: "wrong" })));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(300);
    const refused = await ask(right);
    expect(refused).toMatchObject({ status: 429, json: { error: "too_many_requests" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(JSON.stringify(refused.json)).not.toContain("right secret");
    for (const path of ["token", "revoke", "par"]) {
      expect(
        (
          await post(
            idp,
            `/api/v2/oauth/${path}`,
            {},
            { body: new URLSearchParams({ token: "x", ...app.credentials, ...right }), headers: {} },
          )
        ).status,
      ).toBe(429);
    }
    expect((await ask({ client_id: "demo-app", client_secret: "demo-secret" })).status).toBe(200);
    const fields = { token: "x", client_id: app.credentials.client_id, ...right };
    expect(await sendFrom(elsewhere, "/api/v2/oauth/introspect", fields)).toBe(200);
    clock.pass(1);
    expect((await ask(right)).status).toBe(200);
  });

  test("a correct one does not count as a guess, whatever was guessed before", async () => {
    const other = await register(idp);
    const right = { token: "x", ...other.credentials };
    const statuses = async (fields: Record<string, string | null>, times: number): Promise<Set<number>> => {
      const answers = await Promise.all(
        Array.from({ length: times }, () => post(idp, "/api/v2/oauth/introspect", fields)),
      );
      return new Set(answers.map(({ status }) => status));
    };
    expect(await statuses({ ...right, client_secret: "wrong" }, 299)).toEqual(new Set([401]));
    expect(await statuses(right, 310)).toEqual(new Set([200]));
    expect(await statuses({ ...right, client_secret: "wrong" }, 1)).toEqual(new Set([401]));
    expect(await statuses(right, 1)).toEqual(new Set([429]));
  });

  test("guesses of pages do not slow the app on the same machine", async () => {
    const page = (client_secret: string) => {
      const body = new URLSearchParams({ token: "x", ...app.credentials, client_secret });
      return post(idp, "/api/v2/oauth/introspect", {}, { headers: { origin: "https://evil.example" }, body });
    };
    const answers = await Promise.all(Array.from({ length: 310 }, () => page("wrong")));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(300);
    expect((await page("the right secret")).status).toBe(429);
    expect((await ask({ client_secret: "the right secret" })).status).toBe(200);
  });
});

test("user codes of devices (RFC 8628 5.1): fifty wrong ones, then one in ten seconds; other users are not slowed", async () => {
  const device = await register(idp, { grant_types: [deviceGrant], redirect_uris: [] });
  const body = new URLSearchParams({
    client_id: device.credentials.client_id,
    client_secret: device.credentials.client_secret ?? "",
  });
  const begun = await post(idp, "/api/v2/oauth/device_authorization", {}, { headers: {}, body });
  const right = `/device?user_code=${String(begun.json["user_code"])}`;
  const signedIn = async (user: string): Promise<Browser> => {
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open("/device"), user);
    return browser;
  };
  const attacker = await signedIn(await enroll(idp));
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async () => (await attacker.open("/device?user_code=BBBB-BBBB")).status),
  );
  expect(statuses.filter((status) => status === 400)).toHaveLength(50);
  expect(await attacker.open(right)).toMatchObject({ status: 429, page: "error", state: "too-many" });
  expect((await (await signedIn(await enroll(idp))).open(right)).state).toBe("confirm");
  clock.pass(10);
  expect((await attacker.open(right)).state).toBe("confirm");
});

describe("guesses are counted by real time, however the clock is moved:", () => {
  const otp_secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const introspect = (client_secret: string) =>
    post(idp, "/api/v2/oauth/introspect", { token: "x", ...app.credentials, client_secret });
  const status = ({ status: is, page }: Visit): string => (page === "consent" ? "right" : `${is}`);

  /** Each sends a guess: how many may be wrong, and what came of it. */
  const kinds: Readonly<
    Record<string, readonly [allowed: number, begin: () => Promise<(right: boolean) => Promise<string>>]>
  > = {
    passwords: [
      30,
      async () => {
        const browser = new Browser(idp.issuer);
        const page = await browser.open(app.url({ prompt: "login" }));
        return async (right) => status(await guess(browser, page, "alice", right ? "alice" : "wrong"));
      },
    ],
    "client secrets": [
      300,
      () =>
        Promise.resolve(async (right) => {
          const answer = await introspect(right ? "the right secret" : "wrong");
          return answer.status === 200 ? "right" : `${answer.status}`;
        }),
    ],
    "one-time codes": [
      30,
      async () => {
        const settings = { acr: { "urn:otp": ["otp"] } };
        await idp.call("seed", { users: [{ username: "erin", factors: ["otp"], otp_secret }], settings });
        const browser = new Browser(idp.issuer);
        const page = await pick(browser, await browser.open(app.url({ acr_values: "urn:otp" })), "erin");
        return async (right) => {
          const { code } = await idp.call("users.otp", { username: "erin" });
          return status(await browser.press(page, "factor-submit", { otp: right ? (code ?? "") : "abc" }));
        };
      },
    ],
  };
  const moves = {
    forward: () => idp.clock.advance("1d"),
    backward: () => idp.clock.set(new Date(clock.now() - 86_400_000)),
  };

  describe.each(Object.entries(moves))("%s", (_way, move) => {
    test.each(Object.entries(kinds))("%s: one wrong guess locks nobody out after a reset", async (_kind, [, begin]) => {
      await move();
      expect(await (await begin())(false)).toBe("401");
      await idp.clock.reset();
      expect(await (await begin())(true)).toBe("right");
    });

    test.each(Object.entries(kinds))("%s: one wrong guess before locks nobody out", async (_kind, [, begin]) => {
      expect(await (await begin())(false)).toBe("401");
      await move();
      expect(await (await begin())(true)).toBe("right");
      await idp.clock.reset();
    });

    test.each(Object.entries(kinds))("%s: more than are allowed stay too many", async (_kind, [allowed, begin]) => {
      const wrong = await begin();
      await Promise.all(Array.from({ length: allowed }, () => wrong(false)));
      expect(await (await begin())(true)).toBe("429");
      await move();
      expect(await (await begin())(true)).toBe("429");
      await idp.clock.freeze();
      clock.pass(10);
      expect(await (await begin())(true)).toBe("right");
    });
  });
});

describe("records of guesses", () => {
  test("there are none of correct ones", () => {
    const attempts = createAttempts(clock.now);
    for (let round = 0; round < 100; round += 1) attempts.begin("guesses", [{ key: "x", guesses: 1, every: 1 }])();
    expect(attempts.size).toBe(0);
  });

  test("they have a fixed size, however much is guessed", () => {
    const attempts = createAttempts(clock.now);
    for (let index = 0; index < 30_000; index += 1) {
      attempts.begin("guesses", [{ key: `${index}${"x".repeat(1000)}`, guesses: 2, every: 1 }]);
    }
    expect(attempts.size).toBe(10_000);
  });

  test("many users from one address are slowed together, and other addresses are not", () => {
    const attempts = createAttempts(clock.now);
    const guessFrom = (address: string, user: string) => attempts.begin("passwords", passwordLimits(user, address));
    for (let index = 0; index < 500; index += 1) guessFrom("192.0.2.1", `user ${index}`);
    expect(() => guessFrom("192.0.2.1", "alice")).toThrow(/try again in 1 s/);
    guessFrom("192.0.2.2", "alice");
  });

  test("a clock that is set back by a year does not block anybody for a year", () => {
    const setBack = testClock();
    const attempts = createAttempts(setBack.now);
    const limit = { key: "x", guesses: 5, every: 1 };
    for (let index = 0; index < 5; index += 1) attempts.begin("guesses", [limit]);
    setBack.pass(-365 * 86_400);
    expect(() => attempts.begin("guesses", [limit])).toThrow(/try again in 1 s/);
    setBack.pass(1);
    attempts.begin("guesses", [limit]);
  });
});
