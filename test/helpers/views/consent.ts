import type { ConsentView } from "../../../src/http/pages/consent.ts";
import { login } from "./login.ts";
import { openid, email, address, profile, details, phone, social, orders, givenName, offline } from "./scopes.ts";
import { common, demoApp, alice } from "./shared.ts";

/** A view of the consent page in every state. */

const consent: ConsentView = {
  ...common,
  state: "default",
  action: "/interaction/f7Q2/consent",
  csrf: "c5rf",
  client: demoApp,
  policyUri: null,
  tosUri: null,
  returnTo: "localhost:3000",
  returnsToApp: false,
  isNewHost: false,
  document: null,
  user: alice,
  scopes: { fresh: [openid, profile, email, details, phone, social, orders, givenName, offline], granted: [] },
  always: [],
  switchUserAction: "/interaction/f7Q2/switch",
  details: login.details,
  notes: [{ key: "note.unknown-scopes", values: { scopes: "mail:read" } }],
};

/** Every field of the two forms of UserInfo, as a page is given it. */
const allFields = [
  "id sub username displayName avatar avatar.baseUrl avatar.path avatar.color about language theme createdAt",
  "email emailVerified email.username email.domain email.isVerified website location birthDate phone",
  "socialLinks socialLinks[0].platform socialLinks[1].url socialLinks[12].label",
  "middle_name nickname profile gender zoneinfo",
  "name given_name family_name preferred_username picture locale birthdate updated_at email_verified phone_number",
  "phone_number_verified address address.formatted address.street_address address.locality address.region",
  "address.postal_code address.country",
]
  .join(" ")
  .split(" ")
  .map((name) => ({ name, value: `the ${name}` }));

export const consentViews = {
  "consent-default": consent,
  "consent-document": {
    ...consent,
    client: { id: "https://shelf.example/client.json", name: "Shelf" },
    returnTo: "127.0.0.1:51004",
    document: { host: "shelf.example", loopback: true },
  },
  "consent-app": {
    ...consent,
    client: { id: "notes", name: "Notes" },
    returnTo: "com.example.notes.for.desktop://accounts.example.com/signed-in/with/a-long-address",
    returnsToApp: true,
  },
  "consent-new-host": {
    ...consent,
    state: "again",
    isNewHost: true,
    returnTo: "demo-pull-request-1234-of-the-team.preview.example.com",
    scopes: { fresh: [], granted: [openid, email] },
  },
  "consent-incremental": {
    ...consent,
    state: "incremental",
    scopes: { fresh: [phone, orders], granted: [openid, email] },
  },
  "consent-every-field": {
    ...consent,
    always: openid.values,
    scopes: { fresh: [{ ...profile, values: allFields }, address], granted: [] },
    details: [],
    notes: [],
  },
  "consent-again": {
    ...consent,
    state: "again",
    policyUri: "https://app.example.test/privacy",
    tosUri: "https://app.example.test/terms",
    scopes: { fresh: [], granted: [openid, email] },
    details: [],
    notes: [],
  },
} satisfies Record<string, ConsentView>;
