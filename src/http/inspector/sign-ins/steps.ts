import { isObject, type JsonObject } from "../../../text/json.ts";
import { isProvisioning } from "../../../core/testing/ledger/filter.ts";
import type { KeptRequest } from "../../../core/testing/ledger/ledger.ts";
import { quoteWord } from "../../../text/terminal.ts";
import type { Text } from "../../pages/templates/texts.ts";
import { isBad, outcomeOf, type Flow } from "./flows.ts";
import type { Hint } from "../../../core/base/hint.ts";
import type { FixParts } from "../../pages/commands.ts";

/**
 * The requests of a sign-in as steps of its sequence, between browser, app and idp. The checks of a step compare its values with those of earlier
 * requests: equal values have equal fingerprints. They show a person what the app did; the server makes its own checks, and its refusal says
 * which one failed.
 */

export interface CheckView {
  readonly name: string;
  readonly ok: boolean;
  /** A text without a key is that of a refusal, and English. */
  readonly detail: Text;
}

const valuesIn = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** A value that can be compared: itself, or its fingerprint. */
function mark(value: unknown): string | null {
  if (typeof value === "string") return value;
  const { fingerprint } = valuesIn(value);
  return typeof fingerprint === "string" ? fingerprint : null;
}

/** What a check says, in the language of the page. */
const said = (what: string): Text => ({ key: `inspector.check-${what}`, values: {} });

const sentBack = ({ response }: KeptRequest): JsonObject => valuesIn(response?.["parameters"]);
const issued = ({ response }: KeptRequest): JsonObject => valuesIn(response?.["body"]);

/** Compares two values, if both are there. `same` and `differs` are what the check says. */
const compared = (name: string, one: unknown, other: unknown, same: Text, differs: Text): readonly CheckView[] => {
  const [left, right] = [mark(one), mark(other)];
  if (left === null || right === null) return [];
  return [{ name, ok: left === right, detail: left === right ? same : differs }];
};

/** What a kept message of SAML says; "" without one. */
function messageOf(value: unknown): string {
  const { message } = valuesIn(value);
  return typeof message === "string" ? message : "";
}

/** The value of an attribute of the first element of a message, which the writer of this server and the reader of requests have checked. */
const attributeOf = (message: string, name: string): string | null =>
  new RegExp(`^[^>]*\\s${name}="([^"]*)"`).exec(message.replace(/^\s*<\?[^>]*>/, ""))?.[1] ?? null;

/** SAML 2.0 Core 3.2.2, Bindings 3.4.3. */
function ofSaml(asked: JsonObject, answer: JsonObject): readonly CheckView[] {
  const [request, response] = [messageOf(asked["SAMLRequest"]), messageOf(answer["SAMLResponse"])];
  return [
    ...compared(
      "InResponseTo",
      attributeOf(request, "ID"),
      attributeOf(response, "InResponseTo"),
      said("same"),
      said("differs"),
    ),
    ...compared("RelayState", asked["RelayState"], answer["RelayState"], said("unchanged"), said("differs")),
  ];
}

function ofRedirect(asked: JsonObject, record: KeptRequest): readonly CheckView[] {
  const answer = sentBack(record);
  if (answer["SAMLResponse"] !== undefined) return ofSaml(asked, answer);
  const location = record.response?.["location"];
  if (typeof location !== "string" || location.startsWith("/")) return [];
  const state = mark(asked["state"]) === null ? [{ name: "state", ok: false, detail: said("state-none") }] : [];
  return [...state, ...compared("state", asked["state"], answer["state"], said("unchanged"), said("differs"))];
}

/** RFC 7636. A sign-in without PKCE has nothing to compare. */
function ofPkce(asked: JsonObject, { parameters, refusal }: KeptRequest): readonly CheckView[] {
  const hasChallenge = mark(asked["code_challenge"]) !== null;
  const hasVerifier = mark(parameters["code_verifier"]) !== null;
  if (!hasChallenge && !hasVerifier) return [];
  const check = (ok: boolean, detail: Text): readonly CheckView[] => [{ name: "PKCE", ok, detail }];
  if (!hasVerifier) return check(false, said("no-verifier"));
  if (!hasChallenge) return check(false, said("no-challenge"));
  if (refusal?.parameter === "code_verifier") return check(false, said("unfit"));
  return check(true, said("both"));
}

/** RFC 6749 2.3. */
const ofClient = ({ refusal }: KeptRequest): readonly CheckView[] =>
  refusal?.code === "invalid_client" ? [{ name: "client", ok: false, detail: said("secret") }] : [];

function ofCode(asked: JsonObject, code: unknown, record: KeptRequest): readonly CheckView[] {
  const { parameters } = record;
  // Status 0: the app did not get the response.
  const idToken = record.status === 0 ? {} : valuesIn(valuesIn(issued(record)["id_token"])["claims"]);
  return [
    ...ofClient(record),
    ...compared("code", code, parameters["code"], said("own-code"), said("other-code")),
    ...compared("redirect_uri", asked["redirect_uri"], parameters["redirect_uri"], said("same"), said("differs")),
    ...ofPkce(asked, record),
    ...compared("nonce", asked["nonce"], idToken["nonce"], said("nonce"), said("nonce-differs")),
  ];
}

/**
 * The parameters of an authorization request as the server used them: those of a pushed request are the ones that were pushed (RFC 9126 4).
 * @param earlier the requests of the sign-in before it
 */
function askedBy({ parameters }: KeptRequest, earlier: readonly KeptRequest[]): JsonObject {
  if (parameters["request_uri"] === undefined) return parameters;
  return earlier.findLast(({ endpoint, status }) => endpoint === "par" && status < 400)?.parameters ?? parameters;
}

/** The refusal, in the words of the response, unless a comparison says the same. */
function ofRefusal({ status, refusal }: KeptRequest, others: readonly CheckView[]): readonly CheckView[] {
  const isTold = others.some(({ ok }) => !ok) || (status > 0 && status < 400);
  return isTold || refusal?.code == null ? [] : [{ name: refusal.code, ok: false, detail: refusal.message }];
}

/** @param earlier the requests of the sign-in before this one */
function checksOf(record: KeptRequest, earlier: readonly KeptRequest[]): readonly CheckView[] {
  const compared = comparisonsOf(record, earlier);
  return [...compared, ...ofRefusal(record, compared)];
}

/** The endpoints where a sign-in begins. */
const begins: readonly string[] = ["authorize", "saml_sso"];

function comparisonsOf(record: KeptRequest, earlier: readonly KeptRequest[]): readonly CheckView[] {
  const at = earlier.findLastIndex(({ endpoint }) => begins.includes(endpoint));
  const request = earlier[at];
  const asked = request === undefined ? {} : askedBy(request, earlier.slice(0, at));
  if (begins.includes(record.endpoint)) return ofRedirect(askedBy(record, earlier), record);
  if (record.endpoint === "consent" || record.endpoint === "login") return ofRedirect(asked, record);
  const last = (of: (record: KeptRequest) => unknown): unknown =>
    earlier.map(of).findLast((value) => mark(value) !== null);
  if (record.endpoint === "userinfo") {
    const token = last((one) => issued(one)["access_token"]);
    const given = record.parameters["authorization"] ?? record.parameters["access_token"];
    return compared("access token", token, given, said("newest"), said("earlier"));
  }
  if (record.endpoint !== "token") return [];
  if (record.grant_type === "authorization_code") {
    return ofCode(
      asked,
      last((one) => sentBack(one)["code"]),
      record,
    );
  }
  if (record.grant_type !== "refresh_token") return [];
  const refresh = last((one) => issued(one)["refresh_token"]);
  const given = record.parameters["refresh_token"];
  return [...ofClient(record), ...compared("refresh token", refresh, given, said("newest"), said("used"))];
}

/** The endpoints that apps call. Back-channel logout and SCIM are sent by idp; all others are opened in a browser. */
const calledByApps: readonly string[] = [
  "token",
  "userinfo",
  "introspect",
  "revoke",
  "par",
  "device_authorization",
  "register",
  "jwks",
  "discovery",
];

type Party = "browser" | "app" | "idp";

const senderOf = ({ endpoint }: KeptRequest): Party => {
  if (endpoint === "backchannel_logout" || isProvisioning(endpoint)) return "idp";
  return calledByApps.includes(endpoint) ? "app" : "browser";
};

/** Who received the response in the end: a redirect to another server gives it to the app. */
const receiverOf = (record: KeptRequest): Party => {
  const location = record.response?.["location"];
  return typeof location === "string" && !location.startsWith("/") ? "app" : senderOf(record);
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A parameter as the ledger keeps it: its value, or the fingerprint of a secret and, for a JWT, its claims. */
function valueView(name: string, value: unknown) {
  if (!isObject(value) || !Object.hasOwn(value, "fingerprint")) {
    return { name, text: typeof value === "string" ? value : pretty(value), fingerprint: null, decoded: null };
  }
  const { fingerprint, header, claims, scheme, message } = value;
  const xml = typeof message === "string" ? message.replaceAll("><", ">\n<") : null;
  return {
    name,
    text: typeof scheme === "string" ? scheme : "",
    /** Shown in place of a secret. "": not even a fingerprint is kept. Null: the text is the value. */
    fingerprint: typeof fingerprint === "string" ? fingerprint : "",
    decoded: claims === undefined ? xml : pretty({ header, claims }),
  };
}

const valueViews = (values: unknown) =>
  isObject(values) ? Object.entries(values).map(([name, value]) => valueView(name, value)) : [];

/** The placeholder for a value of which the ledger keeps only a fingerprint: its name in capitals. */
const blank = (name: string): string => name.replaceAll(/[^a-z0-9]+/gi, "_").toUpperCase();

/** The request as a command, with a placeholder for each secret. @param origin of the issuer */
function curlOf({ endpoint, method, path, parameters }: KeptRequest, origin: string): string {
  const { authorization, dpop, ...fields } = parameters;
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one: unknown) => `${name}=${typeof one === "string" ? encodeURIComponent(one) : blank(name)}`),
  );
  const scheme = isObject(authorization) ? authorization["scheme"] : undefined;
  const credentials =
    typeof scheme !== "string"
      ? []
      : scheme === "Basic"
        ? ["-u", "CLIENT_ID:CLIENT_SECRET"]
        : ["-H", `Authorization: ${scheme} ACCESS_TOKEN`];
  const proof = dpop === undefined ? [] : ["-H", "DPoP: DPOP_PROOF"];
  if (isProvisioning(endpoint) && method !== "GET") {
    const type = ["-H", "Content-Type: application/scim+json"];
    const json = Object.keys(fields).length === 0 ? [] : [...type, "-d", JSON.stringify(fields)];
    return ["curl", "-i", "-X", method, "-H", "Authorization: Bearer TOKEN", ...json, path].map(quoteWord).join(" ");
  }
  const isForm = method === "POST" || method === "PUT" || method === "PATCH";
  const query = isForm || pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  const body = isForm ? pairs.flatMap((pair) => ["-d", pair]) : [];
  const verb = method === "GET" || (method === "POST" && body.length > 0) ? [] : ["-X", method];
  const words = [
    "curl",
    "-i",
    ...verb,
    ...credentials,
    ...proof,
    ...body,
    `${path.startsWith("/") ? origin : ""}${path}${query}`,
  ];
  return words.map(quoteWord).join(" ");
}

/** @param origin of the issuer @param fixParts writes a hint for the page */
export const stepsOf = ({ records }: Flow, origin: string, fixParts: (hint: Hint | null) => FixParts) =>
  records.map((record, at) => {
    const { id, time, method, endpoint, status, ms, refusal, clock, response } = record;
    const location = response?.["location"];
    return {
      ...{ id, at: time, method, endpoint, path: record.path, ms, rule: refusal?.rule ?? null, clock },
      ...fixParts(refusal?.hint ?? null),
      status,
      from: senderOf(record),
      to: receiverOf(record),
      bad: isBad(record),
      /** The response did not arrive. */
      lost: status === 0,
      outcome: outcomeOf(record),
      location: typeof location === "string" ? location : null,
      parameters: valueViews(record.parameters),
      response: valueViews(location === undefined ? response?.["body"] : response?.["parameters"]),
      checks: checksOf(record, records.slice(0, at)),
      curl: curlOf(record, origin),
    };
  });
