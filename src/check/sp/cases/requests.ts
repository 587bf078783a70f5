import { whyNotBegun } from "../../frame/app.ts";
import { whyGuessable } from "../../shared/guessable.ts";
import { noticed, notReached, unnoticed, type Case, type Finding, isFinding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import type { Asked } from "../messages.ts";

/** What the app asks for. */

/** Enough to tell a counter from a random value. */
const samples = 4;

/** Some requests of the app, each from its own browser; a finding says why there are none. */
async function askSome(attempt: Attempt): Promise<readonly Asked[] | Finding> {
  const all = attempt.known.samples;
  while (all.length < samples) {
    const mark = await attempt.mark();
    const visit = await attempt.signIn(await attempt.newBrowser(), "hold");
    const [asked] = attempt.control.asked(await attempt.requests(mark));
    if (visit.response === null || asked === undefined) {
      return notReached(whyNotBegun(visit) ?? "the app sent no AuthnRequest");
    }
    all.push(asked);
  }
  return all;
}

const requestFresh: Case<Attempt> = {
  name: "request-fresh",
  mustNot: "the ID of a request can be guessed, or is used for two requests",
  should: "send a new random ID each time",
  paragraph: "SAML Core 1.3.4",
  fix: "make the ID of at least 16 random bytes in the handler that redirects",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    const why = whyGuessable(
      "request ID",
      all.map(({ id }) => id),
    );
    return why === null ? noticed("sent a new random ID each time") : unnoticed(why);
  },
};

const requestAcs: Case<Attempt> = {
  name: "request-acs",
  mustNot: "a request names another entityID, or another address than the registered ones",
  should: "name what is registered: its entityID, and an AssertionConsumerService or none",
  paragraph: "SAML Profiles 4.1.4.1",
  fix: "use SAML_SP_ENTITY_ID and SAML_ACS_URL, or register the address that the app uses",
  async run(attempt) {
    const { control, known } = attempt;
    if (known.strangeAcs !== null) return unnoticed(`asked for ${known.strangeAcs}, which was not registered`);
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    const registered = control.acs();
    for (const { issuer, acs, acsIndex } of all) {
      if (issuer !== control.client) return unnoticed(`called itself ${issuer}`);
      if (acs !== null && registered.every(({ url }) => url !== acs)) return unnoticed(`asked for ${acs}`);
      if (acsIndex !== null && registered.every(({ index }) => String(index) !== acsIndex))
        return unnoticed(`asked for the address with the index ${acsIndex}`);
    }
    const [first] = all;
    return noticed(first?.acs == null ? "named no address" : `asked for ${first.acs}`);
  },
};

export const requestCases: readonly Case<Attempt>[] = [requestFresh, requestAcs];
