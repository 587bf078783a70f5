import { isObject } from "../../../text/json.ts";
import { isProvisioning } from "../../../core/ledger/filter.ts";
import type { RequestRecord } from "../../../core/ledger/record.ts";
import { quoteWord } from "../../../text/terminal.ts";
import { checksOf } from "./checks.ts";
import { isBad, outcomeOf, type Flow } from "./flows.ts";
import type { StepView, ValueView } from "./sign-in-views.ts";

/** The requests of a sign-in as steps of its sequence, between browser, app and idp. */

/** The endpoints that apps call. All others are opened in a browser. */
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

const senderOf = ({ endpoint }: RequestRecord): StepView["from"] => {
  if (endpoint === "backchannel_logout" || isProvisioning(endpoint)) return "idp";
  return calledByApps.includes(endpoint) ? "app" : "browser";
};

/** A redirect to another server gives the response to the app. */
const receiverOf = (record: RequestRecord): StepView["to"] => {
  const location = record.response?.["location"];
  return typeof location === "string" && !location.startsWith("/") ? "app" : senderOf(record);
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A kept value: itself, or its fingerprint and, for a JWT, its claims. */
function valueView(name: string, value: unknown): ValueView {
  if (!isObject(value) || !Object.hasOwn(value, "fingerprint")) {
    return { name, text: typeof value === "string" ? value : pretty(value), fingerprint: null, decoded: null };
  }
  const { fingerprint, header, claims, scheme } = value;
  return {
    name,
    text: typeof scheme === "string" ? scheme : "",
    fingerprint: typeof fingerprint === "string" ? fingerprint : "",
    decoded: claims === undefined ? null : pretty({ header, claims }),
  };
}

const valueViews = (values: unknown): readonly ValueView[] =>
  isObject(values) ? Object.entries(values).map(([name, value]) => valueView(name, value)) : [];

/** The placeholder for a value of which the ledger keeps only a fingerprint: its name in capitals. */
const blank = (name: string): string => name.replaceAll(/[^a-z0-9]+/gi, "_").toUpperCase();

/** The request as a command, with a placeholder for each secret. @param origin of the issuer */
function curlOf({ endpoint, method, path, parameters }: RequestRecord, origin: string): string {
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

/** @param origin of the issuer */
export const stepsOf = ({ records }: Flow, origin: string): readonly StepView[] =>
  records.map((record, at) => {
    const { id, time, method, endpoint, status, ms, rule, fix, clock, response } = record;
    const location = response?.["location"];
    return {
      ...{ id, at: time, method, endpoint, path: record.path, ms, rule, fix, clock },
      status,
      from: senderOf(record),
      to: receiverOf(record),
      bad: isBad(record),
      lost: status === 0,
      outcome: outcomeOf(record),
      location: typeof location === "string" ? location : null,
      parameters: valueViews(record.parameters),
      response: valueViews(location === undefined ? response?.["body"] : response?.["parameters"]),
      checks: checksOf(record, records.slice(0, at)),
      curl: curlOf(record, origin),
    };
  });
