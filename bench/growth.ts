import { callback, clientId, clientSecret, startServer, username, type Server } from "./server.ts";
import { createClient, median, rate, type Answer, type Client } from "./http.ts";

/** Whether a request costs the same with 100 and with 100,000 users and grants: both servers in turn, ratios of each round. */

const small = 100;
const large = 100_000;
const rounds = 5;
const concurrency = 8;
const requests = { userinfo: 3000, flow: 1500, exchange: 1000 };

interface Loaded {
  readonly server: Server;
  readonly client: Client;
  readonly count: number;
  /** Session cookies of some of the users. */
  readonly cookies: readonly string[];
  readonly accessTokens: readonly string[];
}

const form = { "content-type": "application/x-www-form-urlencoded" };

function expectStatus(answer: Answer, status: number, what: string): Answer {
  if (answer.status !== status) throw new Error(`${what}: ${answer.status} ${answer.body.slice(0, 300)}`);
  return answer;
}

const query = new URLSearchParams({
  response_type: "code",
  client_id: clientId,
  redirect_uri: callback,
  scope: "openid profile email",
  state: "s",
}).toString();

const cookieOf = (answer: Answer): string =>
  (answer.headers["set-cookie"] ?? []).map((line) => line.split(";")[0]).join("; ");

async function signIn(client: Client, user: string): Promise<string> {
  const begun = expectStatus(await client.send("GET", `/api/v2/oauth/authorize?${query}`), 303, "authorize");
  const browser = cookieOf(begun);
  const path = begun.headers.location ?? "";
  const page = expectStatus(await client.send("GET", path, { headers: { cookie: browser } }), 200, "login page");
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? "";
  const body = new URLSearchParams({ csrf, username: user, pick: "1" }).toString();
  const done = expectStatus(
    await client.send("POST", path, { body, headers: { cookie: browser, ...form } }),
    303,
    "login",
  );
  return `${browser}; ${cookieOf(done)}`;
}

async function returning({ client, cookies }: Loaded, index: number): Promise<string> {
  const cookie = cookies[index % cookies.length] ?? "";
  const answer = expectStatus(
    await client.send("GET", `/api/v2/oauth/authorize?${query}`, { headers: { cookie } }),
    303,
    "authorize",
  );
  const code = new URL(answer.headers.location ?? "").searchParams.get("code");
  if (code === null) throw new Error(`no code in ${answer.headers.location ?? ""}`);
  return code;
}

async function exchange({ client }: Loaded, code: string): Promise<string> {
  const body = JSON.stringify({
    grant_type: "authorization_code",
    code,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: callback,
  });
  const headers = { "content-type": "application/json" };
  const answer = expectStatus(await client.send("POST", "/api/v2/oauth/token", { body, headers }), 200, "token");
  return (JSON.parse(answer.body) as { access_token: string }).access_token;
}

async function load(count: number): Promise<Loaded> {
  const server = await startServer(count);
  const client = createClient(server.issuer, concurrency);
  const cookies: string[] = [];
  // Users from all over the data, not the first ones only.
  for (let index = 0; index < 50; index += 1)
    cookies.push(await signIn(client, username(Math.floor((index * count) / 50))));
  const loaded = { server, client, count, cookies, accessTokens: [] };
  const accessTokens: string[] = [];
  for (let index = 0; index < 50; index += 1) accessTokens.push(await exchange(loaded, await returning(loaded, index)));
  return { ...loaded, accessTokens };
}

const measures: Readonly<Record<string, (loaded: Loaded) => Promise<number>>> = {
  UserInfo: ({ client, accessTokens }) =>
    rate(requests.userinfo, concurrency, async (index) => {
      const authorization = `Bearer ${accessTokens[index % accessTokens.length] ?? ""}`;
      expectStatus(await client.send("GET", "/api/v2/oauth/userinfo", { headers: { authorization } }), 200, "userinfo");
    }),
  "returning user": (loaded) =>
    rate(requests.flow, concurrency, async (index) => {
      await returning(loaded, index);
    }),
  "code exchange": async (loaded) => {
    const codes: string[] = [];
    for (let index = 0; index < requests.exchange; index += 1) codes.push(await returning(loaded, index));
    return rate(requests.exchange, concurrency, async (index) => {
      await exchange(loaded, codes[index] ?? "");
    });
  },
};

export async function growth(): Promise<void> {
  const [few, many] = [await load(small), await load(large)];
  console.log(`requests a second, medians of ${rounds} rounds, ${concurrency} connections\n`);
  console.log(`                  ${small} users and grants    ${large}      ratio (of each round: min  median  max)`);
  try {
    for (const [name, measure] of Object.entries(measures)) {
      await measure(few);
      await measure(many);
      const pairs: [number, number][] = [];
      for (let round = 0; round < rounds; round += 1) pairs.push([await measure(few), await measure(many)]);
      const ratios = pairs.map(([a, b]) => b / a).sort((a, b) => a - b);
      const [a, b] = [median(pairs.map(([one]) => one)), median(pairs.map(([, one]) => one))];
      const shown = [ratios[0], median(ratios), ratios.at(-1)]
        .map((ratio) => (ratio ?? Number.NaN).toFixed(2))
        .join("  ");
      console.log(
        `${name.padEnd(16)}  ${String(Math.round(a)).padStart(12)}  ${String(Math.round(b)).padStart(18)}      ${shown}`,
      );
    }
  } finally {
    for (const { client, server } of [few, many]) {
      client.close();
      await server.stop();
    }
  }
}
