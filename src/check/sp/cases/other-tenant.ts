import { recognizes, accountOf, judgeIntruder } from "../../frame/account/recognize.ts";
import { ending, whyNotBegun, whyNotSignedIn } from "../../frame/app.ts";
import { notReached, type Case, type Finding } from "../../frame/verdict.ts";
import type { AuthorizationResponse } from "../../../client/app/visit.ts";
import type { Attempt } from "../attempt.ts";
import type { Second } from "../second.ts";
import { heldIn } from "../judge.ts";

/** Whether a tenant's identity provider opens accounts of its own tenant alone: it may name anybody. */

/** The values of a response: its names and attributes. */
const valuesIn = ({ parameters }: AuthorizationResponse): readonly string[] =>
  [
    ...Buffer.from(parameters.get("SAMLResponse") ?? "", "base64")
      .toString()
      .matchAll(/>([^<>]+)</g),
  ].map(([, value = ""]) => value);

/** Signs somebody in at the second connection, with a response that names the user of the first one. */
async function intrude(attempt: Attempt, second: Second, username: string) {
  const like = await heldIn(attempt, await attempt.newBrowser());
  if ("verdict" in like) return like;
  const browser = await attempt.newBrowser({ person: { username }, at: "second" });
  const begun = await browser.signIn(second.start, "hold");
  if (begun.request === null && begun.response === null) {
    return notReached(`--second-start does not lead to ${second.issuer}: the app ${ending(begun)}`);
  }
  if (begun.response === null) return notReached(whyNotBegun(begun) ?? "the second connection began no sign-in");
  return { browser, visit: await browser.deliver(await second.naming(begun.response, username, like)) };
}

/** Whether the second connection works at all: one that is broken refuses everybody. */
async function whySecondFails(attempt: Attempt, second: Second, username: string): Promise<string | null> {
  const browser = await attempt.newBrowser({ person: { username }, at: "second" });
  return whyNotSignedIn(await browser.signIn(second.start), await attempt.standing(browser));
}

export const otherTenant: Case<Attempt> = {
  name: "other-tenant",
  mustNot: "a response of another tenant's identity provider opens the account of a user whom it names",
  should: "open an account of that tenant, or refuse: an account is the identity provider and the name that it gives",
  paragraph: "SAML Core 8.3, ASVS 5.0 6.8.1",
  fix: "find users by (entityID of the identity provider, NameID), never by NameID or e-mail alone",
  async run(attempt): Promise<Finding> {
    const { second, control, known } = attempt;
    if (second === null) return notReached("the app has one connection: name another one with --second-start URL");
    const { user, attacker } = control;
    const claims = (visit: { readonly response: AuthorizationResponse | null }) =>
      Promise.resolve(visit.response === null ? [] : valuesIn(visit.response));
    const probe = await recognizes(attempt, user.username, claims, async () => ({
      ...{ username: attacker.username, isNew: attacker.isNew === true },
      browser: await attempt.newBrowser({ person: attacker }),
    }));
    if (typeof probe === "string") return notReached(probe);
    const wanted = await accountOf(attempt, probe, user.username);
    if ("verdict" in wanted) return wanted;
    await second.setWay({ ...known.way, encrypt: false });
    const username = await second.addUser();
    const intruded = await intrude(attempt, second, username);
    if ("verdict" in intruded) return intruded;
    const who = `somebody of another tenant, whom its identity provider calls ${user.username},`;
    const found = await judgeIntruder(attempt, probe, wanted, intruded, { username, who });
    if (found.verdict === "unnoticed" || (await attempt.standing(intruded.browser)) === "in") return found;
    const why = await whySecondFails(attempt, second, username);
    return why === null ? found : notReached(`the second connection signs nobody in: ${why}`);
  },
};
