import { textOf } from "../fields.ts";
import { presets, type Preset } from "../layout/presets.ts";
import { grantTypeMeant, grantTypeNames } from "../tokens/grant-types/list.ts";

/** The field `grant_type` of faults and of filters: a name that no request can have would make a test pass that checks nothing. */

const ofVendors = Object.values<Preset>(presets).flatMap(({ grantTypes = {} }) => Object.keys(grantTypes));

/** Those of this server and of vendors' SDKs, "password" (RFC 6749 4.3), and URIs, as others may be (RFC 6749 4.5). */
const form = new RegExp(
  `^(?:${[...grantTypeNames, ...ofVendors, "password"].join("|")}|(?!urn:ietf:params:oauth:grant-type:)[a-z][a-z0-9+.-]*:.+)$`,
);

export const grantTypeText = textOf(form, (given) => {
  const meant = grantTypeMeant(given);
  const next = meant === undefined ? `; there are ${grantTypeNames.join(", ")}` : `. Did you mean ${meant}?`;
  return `"${given}" is not a grant type${next}`;
});
