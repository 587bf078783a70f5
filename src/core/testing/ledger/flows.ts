import type { Redactor, Token } from "./redact-record.ts";

/** Groups requests into sign-ins, by the codes, tokens and page addresses that one request returns and a later one sends. */

/** A request and its response, with secrets as they were sent. */
export interface LinkableRequest {
  readonly endpoint: string;
  /** Path and query. */
  readonly url: string;
  readonly sent: Readonly<Record<string, unknown>>;
  /** The access token of the Authorization header. */
  readonly bearer: Token | null;
  readonly read: Redactor["read"];
  readonly location: string | null;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Requests that begin a new flow if they belong to none. */
const begins = ["authorize", "par", "device_authorization", "token", "saml_sso", "saml_start"];

const codes = ["code", "device_code", "user_code", "request_uri"];
const tokens = ["access_token", "refresh_token", "id_token", "token", "subject_token", "id_token_hint"];

/** Paths that no sign-in asks for, and calls of an operator: what they send says nothing about a sign-in. */
const outside = ["none", "root", "api", "scim", "global_token_revocation"];

/** How many names of flows are remembered for each request that the ledger holds. */
const namesPerRequest = 10;

/** How many values of one name count: anybody may send thousands. */
const maxValues = 3;

/** What links a request to others: fingerprints, so that they may leave the process. */
export interface Links {
  readonly isBeginning: boolean;
  /** The name of its address, which an earlier request may have led to. */
  readonly here: string;
  /** The names of the codes, tokens and pages that it sent and got. */
  readonly names: readonly string[];
  /** The names of the session that began with it, and of the one that it ended. */
  readonly began: readonly string[];
  readonly ended: readonly string[];
  /** The name of the address that it led to; null: it led to none of ours. */
  readonly next: string | null;
}

export interface Flows {
  /**
   * The flow that a request belongs to; null: none.
   * @param own the flow where none of its links is known; null: a new one, if the request begins one
   */
  join(links: Links | null, own: string | null): string | null;
  /** Remembers that these links belong to a flow, whatever was known of them. */
  learn(links: Links, flow: string): void;
}

/** @param size how many requests the ledger holds @param newName a name that no flow has */
export function createFlows(size: () => number, newName: () => string): Flows {
  /** The flow of each code, token and address, the oldest first. */
  const flows = new Map<string, string>();

  const remember = (name: string, flow: string): void => {
    flows.delete(name);
    flows.set(name, flow);
    if (flows.size <= namesPerRequest * size()) return;
    const [oldest] = flows.keys();
    if (oldest !== undefined) flows.delete(oldest);
  };
  const learn = ({ names, began }: Links, flow: string): void => {
    for (const name of [...names, ...began]) remember(name, flow);
  };

  return {
    learn,
    join(links, own) {
      if (links === null) return own;
      const { isBeginning, here, names, ended, next } = links;
      const known = [here, ...names, ...ended].find((name) => flows.has(name));
      if (known === undefined && own === null && names.length === 0 && !isBeginning) return null;
      const flow = (known === undefined ? own : flows.get(known)) ?? newName();
      learn(links, flow);
      // The same address may begin another sign-in later.
      flows.delete(here);
      // The browser repeats a POST as GET, with its cookies.
      if (next !== null) remember(next, flow);
      return flow;
    },
  };
}

/** Finds what links a request to others; null: it belongs to no sign-in. */
export function linksBy(fingerprint: (value: string) => string): (request: LinkableRequest) => Links | null {
  /** Every token of one authorization has the same family. */
  const tokenName = (token: Token): string => {
    const family = token.parts?.claims["family"];
    return typeof family === "string" && family.length < 100 ? `family ${family}` : token.fingerprint;
  };
  const nameOf = (read: LinkableRequest["read"], key: string, value: string): string => {
    if (tokens.includes(key)) return tokenName(read(value));
    // People type user codes in upper or lower case, with or without the hyphen.
    return fingerprint(key === "user_code" ? value.toUpperCase().replaceAll(/[^A-Z0-9]/g, "") : value);
  };
  const sessionName = (read: LinkableRequest["read"], token: unknown): readonly string[] => {
    const { sid, aud } = (typeof token === "string" ? read(token).parts?.claims : undefined) ?? {};
    return typeof sid === "string" && typeof aud === "string" ? [fingerprint(`session ${sid} ${aud}`)] : [];
  };
  const namesIn = (
    read: LinkableRequest["read"],
    values: LinkableRequest["sent"],
    keys: readonly string[],
  ): readonly string[] =>
    keys
      .filter((key) => values[key] !== undefined)
      .flatMap((key) =>
        [values[key]]
          .flat()
          .slice(0, maxValues)
          .flatMap((value) => (typeof value === "string" && value !== "" ? [nameOf(read, key, value)] : [])),
      );
  const pageName = (url: string): readonly string[] => {
    const uid = /^[^?#]*\/interaction\/([\w-]{1,100})\//.exec(url)?.[1];
    return uid === undefined ? [] : [`page ${uid}`];
  };
  const repeatedName = (url: string): string => `again ${fingerprint(url)}`;

  return ({ endpoint, url, sent, bearer, read, location, answer }) => {
    if (outside.includes(endpoint)) return null;
    // An id_token_hint comes from an earlier sign-in.
    const isNew = ["authorize", "par", "saml_sso", "saml_start"].includes(endpoint);
    return {
      isBeginning: begins.includes(endpoint),
      here: repeatedName(url),
      names: [
        ...pageName(url),
        ...namesIn(read, sent, isNew ? codes : [...codes, ...tokens]),
        ...(bearer === null ? [] : [tokenName(bearer)]),
        ...(location === null ? [] : [...pageName(location), ...namesIn(read, parametersOf(location), codes)]),
        ...namesIn(read, answer, [...codes, ...tokens]),
      ],
      // A logout token belongs to the sign-in whose ID token has its session and client.
      began: sessionName(read, answer["id_token"]),
      ended: sessionName(read, sent["logout_token"]),
      next: location?.startsWith("/") === true ? repeatedName(location) : null,
    };
  };
}

/** Parameters by their names; one that is there twice is a list. */
export function byName(pairs: Iterable<readonly [string, string]>): Readonly<Record<string, string | string[]>> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(values);
}

/** The parameters of an address: of its query, and of its fragment. */
export function parametersOf(location: string): Readonly<Record<string, string | string[]>> {
  const [, query = "", fragment = ""] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(location) ?? [];
  return byName([...new URLSearchParams(query), ...new URLSearchParams(fragment)]);
}
