import type { Visit } from "./visit.ts";

/** Finds the refused request of a sign-in in the ledger of idp. */

/** The members of a record of the ledger that are used here. */
export interface RecordOfRequest {
  readonly id: string;
  readonly flow: string | null;
  readonly endpoint: string;
  readonly path: string;
  readonly status: number;
  readonly client: string | null;
  readonly user: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly error: string | null;
  readonly rule: string | null;
  readonly fix: string | null;
  readonly reason?: { readonly message: string; readonly parameter?: string };
}

interface Refused {
  /** "the token request was refused" */
  readonly what: string;
  readonly rule: string;
  readonly given: string | null;
  readonly fix: string | null;
  readonly flow: string;
}

const kinds: Readonly<Record<string, string>> = {
  authorize: "authorization request",
  par: "pushed authorization request",
  userinfo: "UserInfo request",
  saml_sso: "AuthnRequest",
};

/** Where a sign-in begins that no page of idp has shown yet. */
const first = ["authorize", "par", "saml_sso", "saml_start"];

/** "token request", "AuthnRequest". */
export const requestName = (endpoint: string): string => kinds[endpoint] ?? `${endpoint.replaceAll("_", " ")} request`;

export const isRefused = ({ endpoint, error, status }: RecordOfRequest): boolean =>
  endpoint !== "none" && (error !== null || status >= 400);

/** Whether this browser sent it: a page has an address of its own, and a first request its parameters. */
function isOfVisit({ endpoint, path, parameters }: RecordOfRequest, visit: Visit): boolean {
  return visit.steps.some(({ url, isApp }) => {
    if (isApp || url.pathname !== path) return false;
    if (!first.includes(endpoint)) return true;
    return ["client_id", "state", "redirect_uri"].every(
      (name) => typeof parameters[name] !== "string" || isShownAs(url.searchParams.get(name), parameters[name]),
    );
  });
}

/** The ledger cuts what is long, and hides what is secret. */
const isShownAs = (sent: string | null, recorded: string): boolean =>
  sent === null || recorded === sent || recorded.includes("…") || recorded.startsWith("sha256");

/**
 * What idp refused of a sign-in, the last of it; and the users whom it signed in there.
 * @param records of the time of the sign-in: those of others too
 */
export function refusedIn(
  records: readonly RecordOfRequest[],
  visit: Visit,
): { readonly refused: Refused | null; readonly users: readonly string[] } {
  const own = records.filter((record) => isOfVisit(record, visit));
  const flows = new Set(own.map(({ flow, id }) => flow ?? id));
  const ofFlow = records.filter(({ flow, id }) => flows.has(flow ?? id));
  const users = [...new Set(ofFlow.filter(({ status }) => status < 400).flatMap(({ user }) => user ?? []))];
  // A request that the app itself pushes comes before the browser is sent anywhere.
  const pushed = visit.request === null ? records.filter(({ endpoint }) => endpoint === "par") : [];
  const last = [...ofFlow, ...pushed].findLast(isRefused);
  return { refused: last === undefined ? null : refusedBy(last), users };
}

function refusedBy({ endpoint, reason, rule, fix, status, flow, id, parameters }: RecordOfRequest): Refused {
  const { message = `the answer was ${status}`, parameter = "" } = reason ?? {};
  const given = parameters[parameter];
  return {
    what: `the ${requestName(endpoint)} was refused`,
    rule: rule === null ? message : `${message} (${rule})`,
    given: typeof given === "string" ? `${parameter}=${given}` : null,
    fix,
    flow: flow ?? id,
  };
}
