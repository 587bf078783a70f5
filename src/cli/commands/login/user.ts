import { listenForCallback, type CallbackListener, callbackPath } from "../../../client/callback-listener.ts";
import type { Visit } from "../../../client/code-flow.ts";
import { codeOnceLeft } from "../../../client/one-time-code.ts";
import type { DevicePrompt } from "../../../client/device-flow.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { duration } from "../../../text/time.ts";
import { escapeLine } from "../../output/escape.ts";
import type { Invocation } from "../../invocation.ts";
import { openBrowser } from "../../output/open-browser.ts";
import { say } from "../../output/print.ts";
import { callServer, issuerAt } from "../../../serve/remote.ts";
import { decisionOf, type LoginFlags } from "./flags.ts";
import type { Decider } from "../../../client/pages.ts";
import { pagesOf } from "./headless.ts";
import type { LoginPlace } from "./place.ts";
import { hasOpenPort, matchRedirectUri } from "../../../core/records/redirect-uri.ts";
import { commandOn } from "../../../core/base/hint.ts";

/** Who signs in: a person in a browser, or this process answers the pages of an idp server for the user. */

interface CodeUser {
  readonly redirectUri: string;
  readonly visit: Visit;
  /** Parameters for the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Shows the person the result of the sign-in. */
  readonly answer: CallbackListener["answer"];
  readonly close: () => void;
}

/** For the code flow. @throws {OperationError} if this client cannot be used for it, or the port is taken */
export async function codeUser(cli: Invocation, flags: LoginFlags, place: LoginPlace): Promise<CodeUser> {
  const { prompt, loginHint, uiLocales, responseMode } = flags;
  const decider = await deciderOf(flags, place);
  // Consent that was given before is asked for again, so that there is something to deny.
  const asked = prompt ?? (decider?.decision === "deny" ? "consent" : undefined);
  const given = { prompt: asked, login_hint: loginHint, ui_locales: uiLocales, response_mode: responseMode };
  const parameters = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  if (decider !== null) {
    const redirectUri = redirectUriWithoutBrowser(place, flags.redirectPort);
    const pages = pagesOf(place.issuer, decider);
    return {
      redirectUri,
      parameters,
      answer: () => Promise.resolve(),
      close: () => undefined,
      visit: (address) => pages.signIn(address, redirectUri),
    };
  }
  const listener = await listen(portFor(place, flags.redirectPort));
  return {
    redirectUri: listener.redirectUri,
    parameters,
    answer: (page) => listener.answer(page),
    close: () => listener.close(),
    visit: (address, life) => visitInBrowser(cli, flags, { address, life }, listener),
  };
}

async function listen(port: number): Promise<CallbackListener> {
  try {
    return await listenForCallback(port);
  } catch (error) {
    const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    throw new OperationError("conflict", `port ${port} of 127.0.0.1 ${taken ? "is taken" : "cannot be listened on"}`, {
      hint: { text: "Use another one", command: ["idp", "login", "--redirect-port", "PORT"] },
      cause: error,
    });
  }
}

/** Writes a line that a person needs in order to go on. */
function tell(cli: Invocation, line: string): void {
  cli.stderr.write(`${escapeLine(line)}\n`);
}

async function visitInBrowser(
  cli: Invocation,
  { browser, timeout, withServer }: LoginFlags,
  { address, life }: { readonly address: string; readonly life: number | null },
  listener: CallbackListener,
): Promise<URLSearchParams> {
  if (!cli.quiet) tell(cli, browser ? "Sign in at this address (your browser opens it):" : "Sign in at this address:");
  if (!cli.quiet || !browser) tell(cli, `  ${address}`);
  const limit =
    life !== null && life < timeout ? `. Open the address within ${duration(life)}` : ` for ${duration(timeout)}`;
  const stops = `Ctrl+C stops${withServer === true ? " the server too" : ""}.`;
  say(cli, `Waiting at ${listener.redirectUri}${limit}. ${stops}`);
  if (!cli.quiet) tell(cli, "");
  // Not awaited: the response may come before the opener is done.
  if (browser) void openBrowser(cli, address);
  return listener.received(timeout);
}

/** For the device flow. */
export async function deviceUser(
  cli: Invocation,
  flags: LoginFlags,
  place: LoginPlace,
): Promise<(prompt: DevicePrompt) => Promise<void>> {
  const decider = await deciderOf(flags, place);
  if (decider !== null) {
    const pages = pagesOf(place.issuer, decider);
    return ({ verificationUriComplete, verificationUri }) =>
      pages.decideDevice(verificationUriComplete ?? verificationUri);
  }
  return async ({ userCode, verificationUri, verificationUriComplete }) => {
    tell(cli, `Enter  ${userCode}  at this address, on any device:`);
    tell(cli, `  ${verificationUri}`);
    if (verificationUriComplete !== null && !cli.quiet) {
      tell(cli, "Or open this one, which has the code in it:");
      tell(cli, `  ${verificationUriComplete}`);
    }
    say(cli, `Waiting for ${duration(flags.timeout)}. Ctrl+C stops.`);
    if (!cli.quiet) tell(cli, "");
  };
}

/** How many milliseconds a server has to say that it is an idp server. */
const timeoutMs = 5000;

/**
 * Who decides for the user; null for a person.
 * @throws {OperationError} usage if the provider is not an idp server; not_found for an unknown user
 */
async function deciderOf(flags: LoginFlags, { issuer, server }: LoginPlace): Promise<Decider | null> {
  const decision = decisionOf(flags);
  if (decision === null || flags.user === undefined) return null;
  if (server !== null) await callServer(server, "users.show", { username: flags.user });
  else if ((await issuerAt(issuer, timeoutMs)) !== issuer) {
    throw new OperationError(
      "usage",
      `--user ${flags.user} cannot sign in to ${issuer}: only the pages of an idp server can be answered without a person, and nothing there says it is one`,
      { hint: "Sign in yourself: leave out --user, --approve and --deny" },
    );
  }
  const { user } = flags;
  return {
    user,
    decision,
    code: server === null ? null : () => codeOnceLeft(() => callServer(server, "users.otp", { username: user })),
  };
}

/** Which redirect URI a login uses. */

const loopback = (port: number | "*"): string => `http://127.0.0.1:${port}${callbackPath}`;

/** The port for clients that have to register one. */
const namedPort = 8400;

/**
 * The port of 127.0.0.1 to listen on; 0 for a free one.
 * @param wanted the value of `--redirect-port`
 * @throws {OperationError} refused if the client does not allow it, with the command that allows it
 */
function portFor({ client, registered }: LoginPlace, wanted: number | undefined): number {
  if (registered === null) return wanted ?? 0;
  const { redirectUris, isPublic } = registered;
  // If a confidential client has an open port, the server allowed it at registration.
  const ports = isPublic || redirectUris.some(hasOpenPort) ? "open" : "none";
  const allows = (port: number): boolean => redirectUris.some((uri) => matchRedirectUri(uri, loopback(port), ports));
  if (wanted !== undefined && allows(wanted)) return wanted;
  if (wanted === undefined) {
    if (ports === "open" && allows(namedPort) && allows(namedPort + 1)) return 0;
    const named = redirectUris
      .map((uri) => Number(/^http:\/\/127\.0\.0\.1:(\d+)\/callback$/.exec(uri)?.[1]))
      .find(allows);
    if (named !== undefined) return named;
  }
  // RFC 8252 7.3: an open port is for native apps, which are public clients (8.4).
  const missing = loopback(wanted ?? (isPublic ? "*" : namedPort));
  throw new OperationError("refused", `client "${client.id}" does not allow the redirect URI ${missing}`, {
    hint: {
      text: "Allow it",
      command: commandOn(["idp", "clients", "edit"], client.id, ["--add-redirect-uri", missing]),
    },
  });
}

/**
 * The redirect URI if no browser returns to it: any registered one, because nothing has to listen there.
 * @throws {OperationError} refused if there is none
 */
function redirectUriWithoutBrowser({ client, registered }: LoginPlace, wanted: number | undefined): string {
  const port = String(wanted ?? namedPort);
  if (registered === null) return loopback(Number(port));
  const [first] = registered.redirectUris;
  if (first === undefined) {
    throw new OperationError("refused", `client "${client.id}" has no redirect URI, so no user can sign in to it`, {
      hint: { text: "For itself", command: ["idp", "login", "--client", client.id, "--flow", "client-credentials"] },
    });
  }
  return hasOpenPort(first) ? first.replace(":*", `:${port}`) : first;
}
