import { asForm, asJson, cookies, header, type Answer, type Connection } from "./connection.ts";

/**
 * How each kind of server is signed in at: its paths, and its way from the authorization request to the code. An answer that is not the
 * expected one ends the run: it is never counted.
 */

export const callback = "http://localhost:3000/callback";
export const clientSecret = "bench-secret";
export const username = (index: number): string => `user${index}`;

type Encode = (parameters: Record<string, string>) => { readonly headers: string; readonly body: string };

export const form: Encode = (parameters) => ({ headers: asForm, body: new URLSearchParams(parameters).toString() });
const json: Encode = (parameters) => ({ headers: asJson, body: JSON.stringify(parameters) });

/** What the browser and the app have after a sign-in. */
interface SignedIn {
  readonly code: string;
  /** Every cookie of the browser. */
  readonly cookie: string;
}

/** What differs between the servers. */
export interface Kind {
  readonly authorize: string;
  readonly token: string;
  readonly userinfo: string;
  readonly introspect: string;
  /** The body of a token request. */
  readonly encode: Encode;
  /** Of the redirect back to the client. */
  readonly redirectStatus: number;
  /** From a browser without cookies to the code. */
  readonly signIn: (connection: Connection, client: string, user: number) => Promise<SignedIn>;
  /** How many requests that takes. */
  readonly signInRequests: number;
}

export function expect(answer: Answer, status: number, what: string): Answer {
  if (answer.status === status) return answer;
  throw new Error(`${what}: expected ${status}, got ${answer.status} ${answer.body.slice(0, 300)}`);
}

const html = "Accept: text/html\r\n";
export const withCookies = (value: string): string => `${html}Cookie: ${value}\r\n`;

export const authorizePath = ({ authorize }: Pick<Kind, "authorize">, client: string): string =>
  `${authorize}?${new URLSearchParams({
    response_type: "code",
    client_id: client,
    redirect_uri: callback,
    scope: "openid profile email",
    state: "af0ifjsldkj",
    nonce: "n-0S6_WzA2Mj",
  }).toString()}`;

export function codeIn({ redirectStatus }: Pick<Kind, "redirectStatus">, answer: Answer): string {
  const location = header(expect(answer, redirectStatus, "authorize"), "location");
  const code = /[?&]code=([^&]+)/.exec(location)?.[1];
  if (code === undefined) throw new Error(`no code in ${location}`);
  return code;
}

const csrfIn = (page: Answer): string => /name="csrf" value="([^"]+)"/.exec(expect(page, 200, "page").body)?.[1] ?? "";

/** `idp`: the login page with its picker, the consent page, and back to the app. */
export function idp(port: number): Kind {
  const posted = `Origin: http://localhost:${port}\r\n${asForm}`;
  const kind = {
    authorize: "/api/v2/oauth/authorize",
    token: "/api/v2/oauth/token",
    userinfo: "/api/v2/oauth/userinfo",
    introspect: "/api/v2/oauth/introspect",
    encode: json,
    redirectStatus: 303,
    signInRequests: 5,
  };
  return {
    ...kind,
    signIn: async (connection, client, user) => {
      const begun = expect(await connection.send("GET", authorizePath(kind, client), html), 303, "authorize");
      const browser = cookies(begun);
      const login = header(begun, "location");
      const loginPage = await connection.send("GET", login, withCookies(browser));
      const picked = `csrf=${csrfIn(loginPage)}&username=${username(user)}&pick=1`;
      const signedIn = await connection.send("POST", login, withCookies(browser) + posted, picked);
      const consent = header(expect(signedIn, 303, "login"), "location");
      const cookie = `${browser}; ${cookies(signedIn)}`;
      // Granted before: only where a flow is made ready.
      if (!consent.endsWith("/consent")) return { code: codeIn(kind, signedIn), cookie };
      const consentPage = await connection.send("GET", consent, withCookies(cookie));
      // Granted meanwhile, in another sign-in of this user.
      if (consentPage.status === kind.redirectStatus) return { code: codeIn(kind, consentPage), cookie };
      const allowed = `csrf=${csrfIn(consentPage)}&decision=allow&scope=openid&scope=profile&scope=email`;
      const answer = await connection.send("POST", consent, withCookies(cookie) + posted, allowed);
      return { code: codeIn(kind, answer), cookie };
    },
  };
}

/** The cookies of a browser after an answer that sets some; one without a value is gone. */
function merge(kept: string, set: string): string {
  const jar = new Map<string, string>();
  for (const pair of `${kept}; ${set}`.split("; ")) {
    const at = pair.indexOf("=");
    if (at < 0) continue;
    if (at === pair.length - 1) jar.delete(pair.slice(0, at));
    else jar.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ");
}

/** node-oidc-provider: each page leads back to its authorization endpoint. */
export function oidcProvider(): Kind {
  const kind = {
    authorize: "/auth",
    token: "/token",
    userinfo: "/me",
    introspect: "/token/introspection",
    encode: form,
    redirectStatus: 303,
    signInRequests: 7,
  };
  return {
    ...kind,
    signIn: async (connection, client, user) => {
      let cookie = "";
      const go = async (method: "GET" | "POST", path: string, body = ""): Promise<Answer> => {
        const headers = withCookies(cookie) + (body === "" ? "" : asForm);
        const answer = await connection.send(method, path, headers, body);
        cookie = merge(cookie, cookies(answer));
        return answer;
      };
      const next = (answer: Answer, what: string): string =>
        header(expect(answer, 303, what), "location").replace(/^http:\/\/localhost:\d+/, "");
      const login = next(await go("GET", authorizePath(kind, client)), "authorize");
      expect(await go("GET", login), 200, "login page");
      const resumed = next(await go("POST", login, `username=${username(user)}`), "login");
      const consent = next(await go("GET", resumed), "resume");
      expect(await go("GET", consent), 200, "consent page");
      const done = next(await go("POST", consent, "decision=allow"), "consent");
      return { code: codeIn(kind, await go("GET", done)), cookie };
    },
  };
}
