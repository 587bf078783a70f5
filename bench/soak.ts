import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openConnection, type Connection } from "./connection.ts";
import { median } from "./measure.ts";
import {
  callback,
  clientSecret,
  codeIn,
  authorizePath,
  expect,
  form,
  idp as idpKind,
  username,
  withCookies,
} from "./sign-in.ts";

/**
 * `npm run soak -- --minutes 30`: mixed load on one server whose clock goes sixty times as fast, so that everything expires many times over. Fails
 * where memory, files, records or p99 of the last minutes are above those before.
 */

const users = 200;
const connections = 6;
/** Each connection begins a flow so often: the load is the same all the time, so that what is held can be compared. */
const everyMs = 150;

interface Held {
  readonly heapUsed: number;
  readonly rss: number;
  readonly counts: Readonly<Record<string, number>>;
}

interface Sample extends Held {
  /** Bytes. */
  readonly files: number;
  readonly requests: number;
  /** Milliseconds a request. */
  readonly p50: number;
  readonly p99: number;
}

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = Number(values.minutes);
/** A sign-in that somebody gave up on is remembered for two hours, longest of all: before that, two minutes here, memory has to grow. */
const warmMinutes = 2.5;
if (!(minutes >= warmMinutes + 2.5)) {
  console.error(`--minutes takes a number of at least ${warmMinutes + 2.5}, not "${values.minutes}"`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "idp-soak-"));
const [data, fixtures] = [join(folder, "data"), join(folder, "fixtures.json")];
writeFileSync(
  fixtures,
  JSON.stringify({
    users: Array.from({ length: users }, (_, index) => ({ username: username(index) })),
    clients: [{ client_id: "app", client_secret: clientSecret, redirect_uris: [callback] }],
  }),
);
const server = fork(fileURLToPath(new URL("peers/soak-server.js", import.meta.url)), [data, fixtures], {
  execArgv: ["--expose-gc"],
});
process.on("exit", () => {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
const said = async <T>(): Promise<T> => ((await once(server, "message")) as [T])[0];
const { port } = await said<{ port: number }>();
const kind = idpKind(port);

let times: number[] = [];
let requests = 0;
let running = true;

/** A connection that notes how long each answer takes. */
async function timedConnection(): Promise<Connection> {
  const connection = await openConnection(port);
  return {
    ...connection,
    send: async (...request) => {
      const began = performance.now();
      const answer = await connection.send(...request);
      times.push(performance.now() - began);
      requests += 1;
      return answer;
    },
  };
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** What a user and an app do, drawn anew each time; an answer that is not the expected one ends the run. */
async function flow(connection: Connection, dice: () => number): Promise<void> {
  const user = Math.floor(dice() * users);
  const post = async (path: string, body: Record<string, string>, status: number) => {
    const { headers, body: text } = form({ client_id: "app", client_secret: clientSecret, ...body });
    return expect(await connection.send("POST", path, headers, text), status, path);
  };
  const { code, cookie } = await kind.signIn(connection, "app", user);
  // Given up on: a code that nobody redeems, a login page that nobody answers.
  if (dice() < 0.1) {
    await connection.send("GET", authorizePath(kind, "app"), "Accept: text/html\r\n");
    return;
  }
  const redeem = { grant_type: "authorization_code", code, redirect_uri: callback };
  let tokens = JSON.parse((await post(kind.token, redeem, 200)).body) as Tokens;
  if (dice() < 0.1) {
    await post(kind.token, redeem, 400);
    return;
  }
  for (let times = Math.floor(dice() * 5); times > 0; times -= 1) {
    await connection.send("GET", kind.userinfo, `Authorization: Bearer ${tokens.access_token}\r\n`);
    await post(kind.introspect, { token: tokens.access_token }, 200);
    // Another sign-in of this user may have taken the grant away by now.
    const { headers, body } = form({
      grant_type: "refresh_token",
      client_id: "app",
      client_secret: clientSecret,
      refresh_token: tokens.refresh_token,
    });
    const answer = await connection.send("POST", kind.token, headers, body);
    if (answer.status !== 200) break;
    tokens = JSON.parse(answer.body) as Tokens;
  }
  if (dice() < 0.3) {
    const again = await connection.send("GET", authorizePath(kind, "app"), withCookies(cookie));
    if (again.status === 303 && /[?&]code=/.test(again.head)) codeIn(kind, again);
  }
  if (dice() < 0.2)
    await post("/api/v2/oauth/revoke", { token: dice() < 0.5 ? tokens.access_token : tokens.refresh_token }, 200);
}

async function use(): Promise<void> {
  const connection = await timedConnection();
  while (running) {
    const began = performance.now();
    await flow(connection, Math.random);
    await delay(Math.max(0, began + everyMs - performance.now()));
  }
  connection.close();
}

function sizeOf(name: string): number {
  return statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0;
}

const quantile = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;

async function sample(): Promise<Sample> {
  const sorted = times.toSorted((a, b) => a - b);
  const count = times.length;
  const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
  server.send("look");
  const held = await said<Held>();
  // What was answered while the server collected its garbage is no measure of anything.
  times = [];
  return { ...held, files: sizeOf("data.json") + sizeOf("data.journal"), requests: count, p50, p99 };
}

const load = Promise.all(Array.from({ length: connections }, use));
load.catch((error: unknown) => {
  console.error(String(error));
  process.exit(1);
});
const mb = (bytes: number): string => (bytes / 1e6).toFixed(1).padStart(7);
const samples: Sample[] = [];
const intervalMs = 30_000;
console.log("   min  requests   p50 ms   p99 ms  heap MB   rss MB files MB  records");
const began = performance.now();
while (performance.now() - began < minutes * 60_000) {
  await delay(intervalMs);
  const one = await sample();
  samples.push(one);
  const at = ((performance.now() - began) / 60_000).toFixed(1).padStart(6);
  const figures = [String(one.requests).padStart(9), one.p50.toFixed(2).padStart(8), one.p99.toFixed(2).padStart(8)];
  const records = Object.entries(one.counts).map(([name, count]) => `${name} ${count}`);
  console.log(
    [
      at,
      ...figures,
      mb(one.heapUsed).padStart(8),
      mb(one.rss).padStart(8),
      mb(one.files).padStart(8),
      ` ${records.join(", ")}`,
    ].join(" "),
  );
}
running = false;
await load;
server.send("stop");
await once(server, "exit");

/** How much more the second half may have than the first, once all has expired; p99 is the machine's as much as ours. */
const limits: Readonly<Record<string, [of: (sample: Sample) => number, factor: number, slack: number]>> = {
  "heap after gc": [({ heapUsed }) => heapUsed, 1.1, 3e6],
  "resident memory": [({ rss }) => rss, 1.1, 10e6],
  files: [({ files }) => files, 1.3, 1e6],
  "families of tokens": [({ counts }) => counts["families"] ?? 0, 1.2, 100],
  sessions: [({ counts }) => counts["sessions"] ?? 0, 1.2, 100],
  "dead tokens": [({ counts }) => counts["deadTokens"] ?? 0, 1.2, 100],
  p99: [({ p99 }) => p99, 2, 5],
};
const warm = samples.slice(Math.ceil((warmMinutes * 60_000) / intervalMs));
const half = Math.floor(warm.length / 2);
const failures = Object.entries(limits).flatMap(([what, [of, factor, slack]]) => {
  const [before, after] = [median(warm.slice(0, half).map(of)), median(warm.slice(-half).map(of))];
  return after > before * factor + slack ? [`${what} grew from ${before.toFixed(1)} to ${after.toFixed(1)}`] : [];
});
console.log(`${requests} requests in ${minutes} minutes. ${failures.length === 0 ? "Nothing grew." : ""}`);
for (const failure of failures) console.error(failure);
process.exit(failures.length === 0 ? 0 : 1);
