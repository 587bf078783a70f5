import { isObject, type JsonObject } from "../text/json.ts";
import { addClient, grantsOf, originsOf } from "./draft-clients.ts";
import { addUser } from "./draft-users.ts";
import {
  addSetting,
  listOf,
  numberOf,
  textOf,
  textsOf,
  type PlacedValue,
  type Draft,
  type SourcePlace,
} from "./draft.ts";
import { sourceRecordOf, type SourceRecord } from "./entry.ts";

/** A kickstart of FusionAuth: requests to its API, of which those that make applications and users count here. */

export const isFusionAuth = (root: unknown): boolean =>
  isObject(root) &&
  listOf(root["requests"]).some(
    (one) => isObject(one) && typeof one["url"] === "string" && one["url"].startsWith("/api/"),
  );

export function readFusionAuth(draft: Draft, root: unknown, place: SourcePlace): void {
  const file = sourceRecordOf(draft, place, root);
  // The same places, with the values of variables.
  const filled = fill(root, variablesOf(file.below("variables").value, draft.literals), draft.literals);
  const users: { user: SourceRecord; ids: readonly string[]; registrations: SourceRecord[] }[] = [];
  const requests = sourceRecordOf(draft, place, filled).list("requests");
  for (const request of requests) {
    const url = request.text("url") ?? "a request";
    const [, kind, id] = /^\/api\/(application|user\/registration|user)(?:\/([^/]+))?\/?$/.exec(url) ?? [];
    if (kind === undefined) {
      request.note(`${url} is not carried over`);
      request.ignoreAll();
      continue;
    }
    const body = request.below("body");
    request.ignore("method url tenantId when");
    body.ignore("applicationId sendSetPasswordEmail skipVerification skipRegistrationVerification");
    if (kind === "application") readApplication(draft, body, id);
    else {
      const user = body.below("user");
      const ids = [id, ...["id", "email", "username"].map(user.text)].filter((one) => one !== undefined);
      const registrations = [
        ...body.list("registrations"),
        ...(body.has("registration") ? [body.below("registration")] : []),
      ];
      const known = users.find((one) => one.ids.some((name) => ids.includes(name)));
      if (known !== undefined) known.registrations.push(...registrations);
      else if (body.has("user")) users.push({ user, ids, registrations });
      else body.note("registers a user whom this file does not make");
    }
  }
  for (const { user, ids, registrations } of users) readUser(draft, user, ids[0], registrations);
  for (const request of requests) request.noteUnread();
  file.ignore("requests licenseId license");
  file.noteField("apiKeys", "keys of FusionAuth's API are not carried over: idp has one admin token");
  file.noteField("settings");
}

/** The values of the variables, each with those above it filled in. One that FusionAuth makes when it starts (`#{UUID()}`) is none. */
function variablesOf(given: JsonObject, literals: Set<string>): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    const text = fillText(typeof value === "boolean" ? String(value) : (textOf(value) ?? ""), variables, literals);
    if (text !== null) variables.set(name, text);
  }
  return variables;
}

const reference = /(\\?)#\{([^{}]+)\}/g;

/** A text with its variables filled in; `\#{name}` is text. Null if one of them is not known. */
function fillText(text: string, variables: ReadonlyMap<string, string>, literals: Set<string>): string | null {
  const values = [...text.matchAll(reference)].map(([whole, slash, name = ""]) =>
    slash === "" ? variables.get(name) : whole.slice(1),
  );
  if (values.includes(undefined)) return null;
  const left = [...values];
  const filled = text.replaceAll(reference, () => left.shift() ?? "");
  if (values.some((value) => value?.includes("#{") === true)) literals.add(filled);
  return filled;
}

/** A value with all its variables. A text that has one that is not known stays as it is. */
function fill(value: unknown, variables: ReadonlyMap<string, string>, literals: Set<string>): unknown {
  if (typeof value === "string") return fillText(value, variables, literals) ?? value;
  if (Array.isArray(value)) return value.map((item) => fill(item, variables, literals));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one, variables, literals)]));
}

function readApplication(draft: Draft, body: SourceRecord, idInUrl: string | undefined): void {
  const app = body.below("application");
  const oauth = app.below("oauthConfiguration");
  const { carry, each } = oauth;
  const asked = each("enabledGrants").map(([name, at]): PlacedValue => [
    name === "device_code" ? "urn:ietf:params:oauth:grant-type:device_code" : name,
    at,
  ]);
  const policy = oauth.text("clientAuthenticationPolicy");
  const isPublic = policy === undefined ? oauth.on("requireClientAuthentication") === false : policy === "NotRequired";
  const jwt = app.below("jwtConfiguration");
  if (jwt.on("enabled") !== false) addSetting(draft, "access_token_ttl", jwt.carry("timeToLiveInSeconds"));
  const refreshLife = jwt.as("refreshTokenTimeToLiveInMinutes", (given) => {
    const minutes = numberOf(given);
    return minutes === undefined ? given : minutes * 60;
  });
  addSetting(draft, "refresh_token_ttl", refreshLife);
  const isPkce = String(oauth.get("proofKeyForCodeExchangePolicy")) === "Required";
  addClient(draft, {
    place: app.place,
    id: oauth.has("clientId") ? carry("clientId") : app.has("id") ? app.carry("id") : [idInUrl, app.place],
    isPublic,
    secret: carry("clientSecret"),
    redirectUris: each("authorizedRedirectURLs"),
    logoutUris: each("logoutURL"),
    grantTypes: grantsOf(draft, asked, ["authorization_code", "refresh_token"]),
    fields: {
      client_name: app.carry("name"),
      require_pkce: [isPkce && !isPublic ? true : undefined, app.place],
      allowed_origins: originsOf(each("authorizedOriginURLs")),
      skip_consent: [true, app.place],
    },
  });
  // Users name their roles in registrations.
  app.ignore("roles tenantId active");
  oauth.ignore("generateRefreshTokens");
  jwt.ignore("enabled");
}

function readUser(
  draft: Draft,
  user: SourceRecord,
  first: string | undefined,
  registrations: readonly SourceRecord[],
): void {
  const { carry, place } = user;
  const roles = registrations.flatMap((one) => textsOf(one.get("roles")));
  for (const registration of registrations) {
    registration.ignore("applicationId id verified username");
    registration.noteUnread();
  }
  addUser(draft, {
    place,
    names: [carry("username"), carry("email"), ...registrations.map((one) => one.carry("username"))],
    fields: {
      id: user.has("id")
        ? carry("id")
        : [first === user.get("email") || first === user.get("username") ? undefined : first, place],
      displayName: user.has("fullName")
        ? carry("fullName")
        : user.as("firstName", () => user.joined("firstName lastName")),
      email: carry("email"),
      emailVerified: [user.has("email") ? (user.get("verified") ?? true) : undefined, place],
      birthDate: carry("birthDate"),
      phone: carry(user.has("phoneNumber") ? "phoneNumber" : "mobilePhone"),
      status: user.when("active", false, "suspended"),
    },
    claims: {
      given_name: carry("firstName"),
      family_name: carry("lastName"),
      middle_name: carry("middleName"),
      picture: carry("imageUrl"),
      zoneinfo: carry("timezone"),
      ...(roles.length > 0 && { roles: [roles, registrations[0]?.place ?? place] as const }),
      ...user.below("data").pickAll(),
    },
    password: carry("password"),
  });
}
