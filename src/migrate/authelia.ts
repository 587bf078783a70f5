import { isObject } from "../text/json.ts";
import { addClient, grantsOf, leaveResponseTypes } from "./draft-clients.ts";
import { addUser } from "./draft-users.ts";
import { addSetting, switchOf, textOf, type PlacedValue, type Draft, type SourcePlace } from "./draft.ts";
import { sourceRecordOf, type SourceRecord } from "./entry.ts";

/** Authelia: the configuration, with its OpenID Connect clients, and the file of users that it names. */

const isUsers = (root: unknown): boolean =>
  isObject(root) &&
  isObject(root["users"]) &&
  Object.values(root["users"]).some((user) => isObject(user) && "displayname" in user);

const isConfiguration = (root: unknown): boolean =>
  isObject(root) &&
  ((isObject(root["identity_providers"]) && "oidc" in root["identity_providers"]) ||
    ("authentication_backend" in root && "session" in root));

export const isAuthelia = (root: unknown): boolean => isUsers(root) || isConfiguration(root);

export function readAuthelia(draft: Draft, root: unknown, place: SourcePlace): void {
  const file = sourceRecordOf(draft, place, root);
  const users = file.below("users");
  for (const name of Object.keys(users.value)) readUser(draft, users.below(name), [name, users.carry(name)[1]]);
  const oidc = file.below("identity_providers").below("oidc");
  for (const client of oidc.list("clients")) readClient(draft, client);
  const lifespans = oidc.below("lifespans");
  addSetting(draft, "access_token_ttl", seconds(lifespans.carry("access_token")));
  addSetting(draft, "refresh_token_ttl", seconds(lifespans.carry("refresh_token")));
  addSetting(draft, "code_ttl", seconds(lifespans.carry("authorize_code")));
  // Authelia's own keys.
  oidc.ignore("hmac_secret issuer_private_key issuer_certificate_chain issuer_private_keys jwks");
  file.noteUnread();
}

/** The seconds of a duration, as `1h`, `90 minutes` or a number. */
function seconds([duration, place]: PlacedValue): PlacedValue {
  const units: Readonly<Record<string, number>> = {
    y: 31_536_000,
    M: 2_592_000,
    w: 604_800,
    d: 86_400,
    h: 3600,
    m: 60,
    s: 1,
  };
  const parts = [...(textOf(duration) ?? "").matchAll(/(\d{1,15})\s*(?:(month)|([yMwdhms]))/g)];
  if (parts.length === 0) return [duration, place];
  return [
    parts.reduce((sum, [, number, month, unit = "s"]) => sum + Number(number) * (units[month ? "M" : unit] ?? 1), 0),
    place,
  ];
}

function readUser(draft: Draft, user: SourceRecord, name: PlacedValue): void {
  const { carry } = user;
  const [email = carry("email")] = user.each("email");
  const isE164 = /^\+[1-9]\d{1,14}$/.test(user.text("phone_number") ?? "");
  addUser(draft, {
    place: user.place,
    names: [name],
    fields: {
      displayName: carry("displayname"),
      email,
      // To Authelia, every address of its users is verified.
      emailVerified: [email[0] === undefined ? undefined : true, email[1]],
      status: user.when("disabled", true, "suspended"),
      website: carry("website"),
      ...(isE164 && { phone: carry("phone_number") }),
    },
    claims: {
      ...user.pick(
        "groups given_name middle_name family_name nickname gender birthdate profile picture zoneinfo locale",
      ),
      ...user.pick("address phone_extension"),
      ...user.below("extra").pickAll(),
    },
    password: carry("password"),
  });
  user.noteUnread();
}

function readClient(draft: Draft, client: SourceRecord): void {
  const { carry, each, place } = client;
  const isPublic = client.on("public") === true || client.get("token_endpoint_auth_method") === "none";
  const scopes = each("scopes");
  addClient(draft, {
    place,
    id: carry(client.has("client_id") ? "client_id" : "id"),
    isPublic,
    secret: client.as(client.has("client_secret") ? "client_secret" : "secret", (given) =>
      typeof given === "string" ? given.replace(/^\$plaintext\$/, "") : given,
    ),
    redirectUris: each("redirect_uris"),
    grantTypes: grantsOf(draft, each("grant_types"), ["authorization_code"]),
    scopes:
      scopes.length === 0 ? ["openid", "groups", "profile", "email"].map((one): PlacedValue => [one, place]) : scopes,
    fields: {
      client_name: carry(client.has("client_name") ? "client_name" : "description"),
      ...client.pick(
        "token_endpoint_auth_method token_endpoint_auth_signing_alg sector_identifier_uri audience jwks_uri",
      ),
      ...client.pick("id_token_signed_response_alg require_pushed_authorization_requests"),
      require_pkce: client.as("require_pkce", (pkce) => (switchOf(pkce) === true && !isPublic ? true : undefined)),
      // Every other mode asks, some of them only from time to time.
      skip_consent: client.when("consent_mode", "implicit", true),
    },
  });
  leaveResponseTypes(draft, each("response_types"));
  if (client.get("pkce_challenge_method") === "S256") client.ignore("pkce_challenge_method");
  client.noteField("authorization_policy", "there are no policies here: whoever signs in may use the client");
  client.noteUnread();
}
