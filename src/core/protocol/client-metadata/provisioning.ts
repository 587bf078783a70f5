import * as z from "zod";
import { profileNames } from "../../../scim/profiles.ts";
import { hasOtherQuery } from "../../../scim/sending.ts";
import { endpointUrl, nonEmptyText, textOf } from "../../records/fields.ts";

/** Where the app of a client learns about users: its SCIM server, and its endpoint of Global Token Revocation. */

/** Attributes that fixtures cannot map: idp sets them, the app decides them, or nobody sends them. */
const ownAttributes =
  '(?:(?:userName|externalId|active|password|id|meta|schemas|groups|emails)(?:\\.|$)|emails\\[type eq "[Ww]ork"\\]\\.value$)';

const attributeForm = "[A-Za-z$][A-Za-z0-9_$-]{0,100}";

/** A value of a filter: a text or a truth value, as JSON (RFC 7644 3.4.2.2). */
const filterForm = `\\[${attributeForm} eq (?:"[^"\\\\\\p{Cc}]{1,100}"|true|false)\\]`;

/**
 * `title`, `name.middleName`, `phoneNumbers[type eq "mobile"].value`, `enterprise:department`, or the same with the whole URN of a schema
 * (RFC 7643 3.3, RFC 7644 3.5.2).
 */
const attributeName = textOf(
  new RegExp(
    `^(?!(?:urn:ietf:params:scim:schemas:core:2\\.0:User:)?${ownAttributes})(?:enterprise:|urn:[A-Za-z0-9._:-]{1,200}:)?${attributeForm}(?:(?:${filterForm})?\\.${attributeForm})?$`,
    "u",
  ),
  (given) =>
    new RegExp(`^${ownAttributes}`).test(given)
      ? `"${given}" cannot be set here: idp sends it itself, or never`
      : `"${given}" must be a SCIM attribute, such as title, name.middleName, phoneNumbers[type eq "mobile"].value or enterprise:department`,
);

/** A header takes visible ASCII. No message repeats it. */
const headerText = z.string().regex(/^[!-~](?:[ -~]{0,4000}[!-~])?$/, {
  error: "must be visible ASCII, as an HTTP header takes it",
});

const onOff = z.union([z.enum(["on", "off"]), z.boolean()], { error: 'is neither "on" nor "off"' });

export const scimSchema = z
  .strictObject({
    url: endpointUrl
      .refine((given) => !hasOtherQuery(given), {
        error:
          "must have no query but ?aadOptscim062020, which means profile: entra-compliant: idp adds /Users and /Groups to it",
      })
      .describe("The base address of the app's SCIM server"),
    token: z
      .union(
        [
          headerText,
          z.strictObject({
            basic: z.string().regex(/^[^:\p{Cc}]+:\P{Cc}+$/u, { error: "must be user:password" }),
          }),
        ],
        { error: 'must be the bearer token, or { basic: "user:password" }' },
      )
      .optional()
      .describe("The bearer token, or { basic: user:password }; absent: none is sent"),
    profile: z.enum(profileNames).optional().describe("Whose requests are sent; absent: standard"),
    users: z.enum(["all", "granted"]).optional().describe("granted: users with an active grant; absent: all"),
    groups: z
      .union([z.enum(["all", "none"]), z.array(nonEmptyText)], { error: "must be all, none, or a list of names" })
      .optional()
      .describe("Which values of the users' claim groups are groups; absent: all"),
    user_name: z.enum(["email", "username"]).optional().describe("userName; absent: the e-mail, else the username"),
    attributes: z
      .record(attributeName, nonEmptyText)
      .optional()
      .describe(
        "More SCIM attributes, with their claims; that of enterprise:manager is a username, sent as the manager's id in the app",
      ),
    live: onOff.optional().describe("on: each change is sent when it is made; absent: off"),
  })
  .describe("The app's SCIM server, to which idp sends users and groups (RFC 7643, RFC 7644)");

export const globalTokenRevocationSchema = z
  .strictObject({
    uri: endpointUrl.describe("Where idp posts when a user leaves"),
    subject: z.enum(["email", "iss_sub"]).optional().describe("How the user is named; absent: email"),
  })
  .describe("The app's endpoint of Global Token Revocation (draft-parecki-oauth-global-token-revocation)");
