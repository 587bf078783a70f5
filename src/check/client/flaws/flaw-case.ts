import { ending, spoiledBy, whyNotBegun, wrote, type AppStanding, standingUnknown } from "../../frame/app.ts";
import type { Attempt } from "../attempt.ts";
import type { Browser, Visit } from "../../../client/app/visit.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Case, type Finding } from "../../frame/verdict.ts";
import type { Recorded } from "../../frame/idp.ts";
import type { Verdicts } from "../../frame/run.ts";
import { flawList } from "../../../core/testing/controls/faults/flaw-list.ts";
import type { FlawRow } from "../../../core/testing/controls/faults/flaws/flaw.ts";

/** A case for each flaw that a response can have. All are judged here. */

/** Milliseconds. Many libraries wait between two fetches of the keys, at most 30 s. */
export const betweenFetches = 31_000;

/** The response that has the flaws, and how a case spoils it. */
interface CasePlace {
  readonly prefix: FlawRow["place"];
  /** The request names the client, so the fault can be limited to it. */
  readonly ofClient: boolean;
  readonly grantType?: string;
  /** The app keeps what it fetched, so it is started again. */
  readonly restarts: boolean;
  /** Why no response had the flaw, if everything else went as usual. */
  readonly absent: (attempt: Attempt, row: FlawRow, visit: Visit) => Finding;
  /** Every such response has the flaw; otherwise only the first. */
  readonly repeats?: true;
  /** Judges, in place of the usual rule, an app that signed the user in. Null: the usual rule. */
  readonly judge?: (seen: Seen) => Promise<Finding | null>;
}

/** What a case has seen. */
export interface Seen {
  readonly flaw: string;
  readonly attempt: Attempt;
  readonly browser: Browser;
  /** The requests that idp received. */
  readonly records: readonly Recorded[];
  /** The one of them whose response had the flaw. */
  readonly spoiled: Recorded;
}

/** A case for each flaw of this place. */
export const flawCases = (place: CasePlace): readonly Case<Attempt>[] =>
  flawList
    .filter((row) => row.place === place.prefix && row.hasOwnCase !== true)
    .map((row: FlawRow) => ({
      name: `${place.prefix}.${row.name}`,
      mustNot: row.mustNot ?? `${row.wrong} signs a user in`,
      should: row.should,
      paragraph: row.rule,
      fix: row.fix,
      ...(place.restarts && { restarts: true as const }),
      ...(place.prefix === "keys" && { waits: betweenFetches }),
      reads: afterwards[`${place.prefix}.${row.name}`]?.reads ?? [],
      run: (attempt) => runFlaw(place, row, attempt),
    }));

/** The case that says whether the app reads the ID token at all. */
export const notRead = "id-token.not-read";

/** A flaw whose finding depends on other cases of the same run. */
interface Afterwards {
  readonly reads: readonly string[];
  /** Why it says nothing; null: it runs. */
  readonly skip?: (verdicts: Verdicts) => string | null;
  /** Why the app need not refuse it, with the paragraph; null: it must. */
  readonly excuse?: (verdicts: Verdicts, attempt: Attempt) => readonly [why: string, paragraph: string] | null;
}

/** A hole that another case tells already. */
const partOf = (whole: string): Afterwards => ({
  reads: [whole],
  skip: (verdicts) => (verdicts.get(whole) === "unnoticed" ? `it is the same hole as ${whole}` : null),
});

/** An app that verifies no signature takes any. */
const signature: Afterwards = {
  reads: ["id-token.signature-wrong"],
  excuse: (verdicts) =>
    verdicts.get("id-token.signature-wrong") === "not-required"
      ? ["it is the same hole as id-token.signature-wrong", "OpenID Connect Core 3.1.3.7 (6): TLS may take its place"]
      : null,
};

/** An app with one issuer has nobody to mix it up with. */
const oneIssuer: Afterwards = {
  reads: [],
  excuse: (_verdicts, { second }) =>
    second === null ? ["the app has one issuer", "RFC 9700 4.4.2: only a client of several issuers needs it"] : null,
};

/** An app that compares state takes no response of somebody else. */
const comparedState: Afterwards = {
  reads: ["response.state-missing", "response.state-wrong"],
  excuse: (verdicts) =>
    ["response.state-missing", "response.state-wrong"].every((name) => verdicts.get(name) === "noticed")
      ? ["the app compares state", "RFC 6749 10.12"]
      : null,
};

/** The app does not read the ID token, so it has no `sub` to compare with. That finding stands alone. */
const noOtherSub: Afterwards = {
  reads: [notRead],
  excuse: (verdicts) =>
    verdicts.get(notRead) === "not-required"
      ? [
          `the app does not read the ID token (see ${notRead})`,
          "OpenID Connect Core 5.3.2: it is compared with the ID token",
        ]
      : null,
};

const afterwards: Readonly<Record<string, Afterwards>> = {
  "response.iss-missing": oneIssuer,
  "response.iss-wrong": oneIssuer,
  "response.code-twice": comparedState,
  "response.error-and-code": comparedState,
  "id-token.alg-none": signature,
  "id-token.alg-hs256-public": signature,
  "id-token.iss-prefix": partOf("id-token.iss-wrong"),
  "id-token.aud-contains": partOf("id-token.aud-wrong"),
  "userinfo.sub-wrong": noOtherSub,
};

async function runFlaw(place: CasePlace, row: FlawRow, attempt: Attempt): Promise<Finding> {
  const { skip, excuse } = afterwards[`${place.prefix}.${row.name}`] ?? {};
  const isRead = place.prefix !== "id-token" || attempt.verdicts.get(notRead) !== "not-required";
  const why = isRead ? (skip?.(attempt.verdicts) ?? null) : `the app does not read the ID token (see ${notRead})`;
  if (why !== null) return notReached(why);
  const found = await spoiledSignIn(place, row, attempt);
  const excused = found.verdict === "unnoticed" ? (excuse?.(attempt.verdicts, attempt) ?? null) : null;
  return excused === null ? found : notRequired(`${found.did}: ${excused[0]}`, excused[1]);
}

async function spoiledSignIn(place: CasePlace, row: FlawRow, attempt: Attempt): Promise<Finding> {
  const { control } = attempt;
  if (!place.ofClient && !control.isOwn) {
    return notReached(`the ${place.prefix} of this issuer are those of every client: use -- CMD`);
  }
  const fault = await attempt.arm({
    ...{ endpoint: row.endpoint, flaw: row.name },
    ...(place.ofClient && { client: control.client }),
    ...(place.grantType !== undefined && { grant_type: place.grantType }),
    // A second request for a document would get a correct one, which the app may accept. A flaw that must work is sent once.
    ...((place.repeats ?? (!place.ofClient && row.must !== "work")) && { always: true }),
  });
  if (attempt.startFailure !== null) return didNotStart(row, attempt, fault);
  const browser = await attempt.newBrowser();
  const visit = await attempt.signIn(browser);
  let standing = await attempt.standing(browser);
  const records = await attempt.requests();
  const spoiled = spoiledBy(records, fault);
  if (spoiled === undefined) return notSpoiled(place, row, attempt, visit);
  if (visit.response !== null && visit.end.kind === "stuck") return notReached(`the app ${ending(visit)}`);
  if (standing === "broken") return standingUnknown;
  if (row.must === "work" && standing === "out" && place.prefix === "keys") {
    standing = (await signInLater(attempt)) ? "in" : standing;
  }
  const flaw = row.name;
  const other = standing === "in" ? await place.judge?.({ flaw, attempt, browser, records, spoiled }) : null;
  return judged(place, row, visit, standing, records, other ?? null);
}

/** An app that refuses a document may refuse to start. The control shows that it starts otherwise. */
async function didNotStart(row: FlawRow, attempt: Attempt, fault: string): Promise<Finding> {
  if (spoiledBy(await attempt.requests(), fault) === undefined) return notReached(attempt.startFailure ?? "");
  return row.must === "work" ? unnoticed("did not start") : noticed("did not start");
}

async function notSpoiled(place: CasePlace, row: FlawRow, attempt: Attempt, visit: Visit): Promise<Finding> {
  const why = whyNotBegun(visit);
  return why === null ? place.absent(attempt, row, visit) : notReached(why);
}

function judged(
  { prefix }: CasePlace,
  row: FlawRow,
  visit: Visit,
  standing: AppStanding,
  records: readonly Recorded[],
  other: Finding | null,
): Finding {
  if (standing === "in") {
    if (row.must === "work" || row.must === "either") return works("signed the user in");
    if (other !== null) return other;
    return row.must === "optional" ? notRequired("signed the user in") : unnoticed("signed the user in");
  }
  const did = ending(visit);
  if (row.must === "work") return unnoticed(did + wrote(visit));
  const exchanged = prefix === "response" && records.some(({ endpoint }) => endpoint === "token");
  return noticed(exchanged ? `${did}, after it had sent the code to the token endpoint` : did);
}

/** Signs in once more, after the time that a library waits to fetch the keys again. @returns whether it signed in */
export async function signInLater(attempt: Attempt): Promise<boolean> {
  const { control, now, wait } = attempt;
  const last = (await control.requests()).filter(({ endpoint }) => endpoint === "jwks").at(-1);
  if (last === undefined) return false;
  await wait(Math.max(0, Date.parse(last.time) + betweenFetches - now()));
  const browser = await attempt.newBrowser();
  await attempt.signIn(browser);
  return (await attempt.standing(browser)) === "in";
}
