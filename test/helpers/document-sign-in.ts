import type { Idp } from "../../src/index.ts";
import { authorizeUrl, pkce } from "./client.ts";
import type { testClock } from "./clock.ts";
import { redirectUri, type DocumentServer } from "./document-server.ts";

/** Sign-ins that begin with the URL of a metadata document as `client_id`. */

/** How the authorization endpoint answered. */
interface Begun {
  readonly status: number;
  readonly page: string;
  /** The error that the ledger has: its code and its description. */
  readonly error: string;
  /** The paths that the request made the server read. */
  readonly reads: readonly string[];
}

type Begin = (
  idp: Pick<Idp, "issuer" | "call">,
  client_id: string,
  change?: Readonly<Record<string, string>>,
) => Promise<Begun>;

/** @param servers those whose reads are counted */
export function documentSignIns(
  clock: ReturnType<typeof testClock>,
  servers: readonly DocumentServer[],
): {
  /** Begins a sign-in once what was read before is forgotten. */
  readonly attempt: Begin;
  /** Begins one without moving the clock. */
  readonly again: Begin;
} {
  const again: Begin = async (idp, client_id, change = {}) => {
    const before = servers.map(({ reads }) => reads.length);
    const url = authorizeUrl(idp, {
      client_id,
      redirect_uri: redirectUri,
      code_challenge: pkce().challenge,
      code_challenge_method: "S256",
      ...change,
    });
    const response = await fetch(url, { redirect: "manual", headers: { accept: "text/html", cookie: "idp=mine" } });
    const record = (await idp.call("requests.list", { endpoint: "authorize" })).at(-1);
    return {
      status: response.status,
      page: (await response.text()).replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
      error: record?.error ?? "",
      reads: servers.flatMap(({ reads }, index) => reads.slice(before[index])),
    };
  };
  return {
    again,
    attempt: (...asked) => {
      clock.pass(61);
      return again(...asked);
    },
  };
}
