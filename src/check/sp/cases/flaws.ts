import { noticed, notReached, notRequired, unnoticed, works, type Case, type Finding } from "../../frame/verdict.ts";
import type { Browser, Visit } from "../../../client/app/visit.ts";
import { Problem } from "../../../client/check.ts";
import { samlFlaws } from "../../../core/testing/controls/faults/flaws/saml.ts";
import type { Attempt } from "../attempt.ts";
import { refusal } from "../../frame/app.ts";
import { judgeForged, nameOf, signedInBy, spoiledVisit } from "../judge.ts";

/** A case for each flaw of a response. All are judged here. */

type Row = (typeof samlFlaws)[number];

/** Why an app may let a flaw in; null: it may not. */
const mayPass: Readonly<Record<string, (attempt: Attempt) => string | null>> = {
  "audience-missing": () => "SAML Core 2.5.1.4: only an audience that is there is compared",
  "destination-wrong": ({ known }) =>
    known.way.sign === "assertion" ? "SAML Bindings 3.5.5.2: required where the response itself is signed" : null,
  "algorithm-sha1": () => "SAML Core 5.4 does not forbid RSA-SHA1",
};

/** Encrypts assertions for the app, until the case ends. @returns why it cannot; null: it does */
async function whyNotEncrypted(attempt: Attempt): Promise<Finding | null> {
  const { control, known } = attempt;
  if (!control.isOwn) return notReached("it would reach everybody who uses this client: use -- CMD");
  try {
    await attempt.setWay({ ...known.way, encrypt: true });
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return notReached(`nothing can be encrypted for the app: saml.encrypt ${error.message}`);
  }
}

/** The app may do with it what it likes, but should not fail. */
async function judgeAllowed(attempt: Attempt, browser: Browser, visit: Visit): Promise<Finding> {
  const { end } = visit;
  if (end.kind === "page" && end.status >= 500) {
    return notRequired(`failed: it answered ${end.status}`, "no paragraph of SAML says how a response is refused");
  }
  const found = await signedInBy(attempt, browser, visit);
  if (found === null) return noticed(refusal(visit));
  return found === "in" ? works(`signed in ${await nameOf(attempt, browser)}`) : found;
}

async function run(row: Row, attempt: Attempt): Promise<Finding> {
  const { control, known } = attempt;
  if (row.carries === "forged" && known.whoUnknown !== null) return notReached(known.whoUnknown);
  if (row.isPlain === true && known.way.encrypt !== false) {
    return notReached("the app takes only encrypted assertions, and a response with this flaw is not encrypted");
  }
  const isEncrypted = row.name === "encrypted-unsigned" || row.name === "encrypted-forged";
  if (isEncrypted && known.way.encrypt === false) {
    const why = await whyNotEncrypted(attempt);
    if (why !== null) return why;
  }
  const isOwn = row.carries === "said";
  const spoiledOne = await spoiledVisit(attempt, {
    flaw: row.name,
    signer: isOwn ? control.user : control.attacker,
    ...(!isOwn && { forges: control.user }),
  });
  if ("verdict" in spoiledOne) return spoiledOne;
  const { browser, visit } = spoiledOne;
  if (row.carries === "forged") return judgeForged(attempt, browser, visit);
  if (row.must === "either") return judgeAllowed(attempt, browser, visit);
  const found = await signedInBy(attempt, browser, visit);
  if (found === null) return noticed(refusal(visit));
  if (found !== "in") return found;
  const did = `signed in ${await nameOf(attempt, browser)}`;
  const why = mayPass[row.name]?.(attempt) ?? null;
  return why === null ? unnoticed(did) : notRequired(did, why);
}

export const flawCases: readonly Case<Attempt>[] = samlFlaws.map((row) => ({
  ...{ name: row.name, mustNot: row.mustNot, should: row.should, paragraph: row.rule, fix: row.fix },
  run: (attempt) => run(row, attempt),
}));
