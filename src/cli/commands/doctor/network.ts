import { lookup } from "node:dns/promises";
import { connect, createServer } from "node:net";
import { defaultIssuer, portOf } from "../../../core/base/endpoints.ts";
import { hasOpenPort } from "../../../core/records/redirect-uri.ts";
import { commandOn } from "../../../core/base/hint.ts";
import { isLoopbackHost, withoutBrackets } from "../../../net/address.ts";
import { ok, timeoutMs, problem, warning, type Finding } from "./finding.ts";
import type { Invocation } from "../../invocation.ts";
import { issuerOnPort, usualPort } from "../../target/usual-port.ts";
import { issuerAt } from "../../../serve/remote.ts";

/** What doctor looks at between this machine, its server and its apps: names, ports, addresses. Only loopback is connected to. */

/** What the running server serves, else what the data was last served as. */
export interface ServedIssuer {
  /** Where a server should listen; null if none runs. */
  readonly address: string | null;
  /** The issuer that answers there. */
  readonly answers: string | null;
  /** The issuer that the data was last served under, without a server. */
  readonly issuer: string | null;
  readonly clients: readonly {
    readonly client_id: string;
    readonly redirect_uris: readonly string[];
    readonly saml?: unknown;
  }[];
}

/** How long an app on this machine takes to accept a connection, in milliseconds. */
const connectTimeoutMs = 500;

/** One flag for each value. */
const flagsOf = (name: string, values: readonly string[]): string[] => values.flatMap((value) => [name, value]);

export async function networkFindings(cli: Invocation, served: ServedIssuer): Promise<readonly Finding[]> {
  const issuer = served.answers ?? served.issuer ?? defaultIssuer;
  const apps = localApps(served.clients);
  return [
    ...(await issuerFindings(cli, served, issuer)),
    ...(served.address === null && cli.store === null ? await portFindings(cli) : []),
    ...(await redirectFindings(apps)),
    ...mixedHosts(issuer, served.clients),
  ];
}

async function issuerFindings(
  cli: Invocation,
  { address, answers }: ServedIssuer,
  issuer: string,
): Promise<readonly Finding[]> {
  if (address !== null && answers === null) {
    // Of a server that was found by its lock, the finding on the lock has already reported this.
    return cli.url === null
      ? []
      : [problem("issuer", `nothing answers at ${address}`, { text: "", command: ["idp", "start"] })];
  }
  const { hostname } = new URL(issuer);
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
  if (addresses.length === 0) {
    const fix = {
      text: `Your app and your browser must reach the same issuer. Add a line for ${hostname} to the hosts file, use --backchannel dynamic for containers, or use another issuer`,
      command: ["idp", "start", "--issuer", "http://localhost:4370"],
    };
    return [problem("issuer", `${issuer}: "${hostname}" does not resolve on this machine`, fix)];
  }
  const found = [...new Set(addresses.map((each) => each.address))].join(" and ");
  if (address === null && cli.store === null) return [ok("issuer", `${issuer} resolves to ${found}; no server runs`)];
  const there = await issuerAt(issuer, timeoutMs);
  if (there === issuer) return [ok("issuer", `${issuer} resolves to ${found} and answers`)];
  const what = there === null ? "idp does not answer there" : `the issuer there is ${there}`;
  if (address === null)
    return [warning("issuer", `${issuer} resolves to ${found}, but ${what}`, "Check the balancer and its instances.")];
  const fix = {
    text: `The server listens at ${address}. Serve it under an issuer that leads there`,
    command: ["idp", "start", "--issuer", "URL"],
  };
  return [problem("issuer", `${issuer} resolves to ${found}, but ${what}`, fix)];
}

/** Whether `idp start` would find its port free. */
async function portFindings({ env }: Invocation): Promise<readonly Finding[]> {
  const port = usualPort(env);
  if (port === null) return [];
  const taken = (await Promise.all(["127.0.0.1", "::1"].map((host) => isTaken(host, port)))).includes(true);
  const fix = { text: "Use another port (the issuer changes with it)", command: ["idp", "start", "--port", "auto"] };
  if (!taken) return [ok("port", `${port} is free for idp start`)];
  const issuer = await issuerOnPort(port);
  const holder = issuer === null ? "another program" : `another idp: ${issuer}`;
  return [problem("port", `${port} is in use by ${holder}`, fix)];
}

const isTaken = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    // Without IPv6 the port cannot be in use there.
    server.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code === "EADDRINUSE");
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(false);
      });
    });
  });

/** Origins on this machine, each with the clients that return there. */
type LocalApps = ReadonlyMap<string, ReadonlySet<ServedIssuer["clients"][number]>>;

/** Leaves out redirect URIs with an open port, because such an app does not run all the time. */
function localApps(clients: ServedIssuer["clients"]): LocalApps {
  const apps = new Map<string, Set<ServedIssuer["clients"][number]>>();
  for (const client of clients) {
    for (const uri of client.redirect_uris) {
      if (hasOpenPort(uri) || !URL.canParse(uri)) continue;
      const { protocol, hostname, origin } = new URL(uri);
      if (/^https?:$/.test(protocol) && isLoopbackHost(hostname))
        apps.set(origin, (apps.get(origin) ?? new Set()).add(client));
    }
  }
  return apps;
}

async function redirectFindings(apps: LocalApps): Promise<readonly Finding[]> {
  const silent = await Promise.all(
    [...apps].map(async ([origin, clients]) => ((await answersAt(origin)) ? [] : [{ origin, clients: [...clients] }])),
  );
  const findings = silent.flat().map(({ origin, clients: [first, ...others] }) => {
    const { client_id: id = "", redirect_uris: uris = [] } = first ?? {};
    const have = others.length === 0 ? "has" : `and ${others.length} more have`;
    const text = "Start your app. If it runs elsewhere, change the redirect URI";
    const detail = `nothing listens on ${origin}, where ${id} ${have} a redirect URI`;
    const gone = uris.filter((uri) => !hasOpenPort(uri) && URL.canParse(uri) && new URL(uri).origin === origin);
    const flags = [...flagsOf("--remove-redirect-uri", gone), "--add-redirect-uri", "URI"];
    const command = commandOn(["idp", "clients", "edit"], id, flags);
    return warning("apps", detail, { text, command });
  });
  if (findings.length > 0) return findings;
  return [
    ok("apps", apps.size === 0 ? "no client has a redirect URI on this machine" : "all redirect URIs here answer"),
  ];
}

function answersAt(origin: string): Promise<boolean> {
  const { hostname } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect({
      // To browsers app.localhost is localhost; not every resolver knows it (RFC 6761 6.3).
      host: withoutBrackets(hostname).replace(/^.*\.localhost$/, "localhost"),
      port: portOf(origin),
      timeout: connectTimeoutMs,
    });
    const end = (answered: boolean) => () => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", end(true)).once("error", end(false)).once("timeout", end(false));
  });
}

/** Names that people mix up. Names such as app.localhost are used on purpose. */
const mixedUp = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** To a browser, localhost and 127.0.0.1 are two sites, so one does not get the cookies of the other. */
function mixedHosts(issuer: string, clients: ServedIssuer["clients"]): readonly Finding[] {
  const own = new URL(issuer).hostname;
  if (!mixedUp.test(own)) return [];
  const findings = clients.flatMap(({ client_id: id, redirect_uris: uris }) => {
    const foreign = uris.filter((uri) => !hasOpenPort(uri) && URL.canParse(uri) && isOther(own, new URL(uri).hostname));
    const [first] = foreign;
    if (first === undefined) return [];
    const corrected = foreign.map((uri) => uri.replace(new URL(uri).hostname, own));
    const flags = [...flagsOf("--remove-redirect-uri", foreign), ...flagsOf("--add-redirect-uri", corrected)];
    const command = commandOn(["idp", "clients", "edit"], id, flags);
    const detail = `${id} is on ${new URL(first).hostname} and the issuer on ${own}: two cookie jars`;
    return [warning("hosts", detail, { text: "Use one of them, in your app as well", command })];
  });
  return findings.length > 0 ? findings : [ok("hosts", `apps here and the issuer are all on ${own}`)];
}

const isOther = (own: string, host: string): boolean => mixedUp.test(host) && host !== own;
