import type { Browser } from "../../client/app/visit.ts";
import { Problem } from "../../client/check.ts";
import type { Outgoing } from "../../client/http.ts";
import { scriptHeaders } from "../frame/account/probe.ts";

/** A key that the app gives a user for its API. Its value is in no finding, and in no report: only whose it is. */

/** How a key is asked for. */
export type CredentialRequest = Pick<Outgoing, "method" | "url" | "content">;

/** How a key is sent: a header, with `{key}` in its value. */
export interface CredentialHeader {
  readonly name: string;
  readonly value: string;
}

export interface CredentialPlace {
  readonly request: CredentialRequest;
  readonly header: CredentialHeader;
}

export const usualHeader: CredentialHeader = { name: "authorization", value: "Bearer {key}" };

/** `URL`, or `POST URL {json}`. @returns the request; a text says what is wrong with it */
export function credentialOf(text: string): CredentialRequest | string {
  const [, method = "GET", url = text.trim(), json] = /^([A-Z]+)\s+(\S+)(?:\s+(\S.*))?$/s.exec(text.trim()) ?? [];
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return `${url} is not an http or https URL`;
  if (json === undefined) return { method, url };
  try {
    JSON.parse(json);
  } catch {
    return "what follows the address is not JSON";
  }
  return { method, url, content: { type: "application/json", text: json } };
}

/** `NAME: VALUE` with `{key}`. @returns the header; a text says what is wrong with it */
export function credentialHeaderOf(text: string): CredentialHeader | string {
  const [, name, value = ""] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined) return "is not a name and a value, such as 'X-API-Key: {key}'";
  return value.includes("{key}")
    ? { name: name.toLowerCase(), value }
    : "does not say where the key goes: its value has no {key}";
}

const members = ["key", "token", "api_key", "apiKey", "secret", "value"];

/** What a header can have (RFC 9110 5.5). */
const isKey = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]{1,4096}$/.test(value);

/** The key in an answer: a member of the JSON, else the whole text; null: there is none. */
function keyIn(text: string): string | null {
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    const whole = text.trim();
    return isKey(whole) ? whole : null;
  }
  if (isKey(json)) return json;
  const found = members.map((name) => (Object(json) as Readonly<Record<string, unknown>>)[name]).find(isKey);
  return found ?? null;
}

/** Lets the app give the user of a browser a key. @throws {Problem} it gives none */
export async function keyFor(browser: Browser, { request }: CredentialPlace, signedIn: string): Promise<string> {
  const headers = { accept: "application/json, */*;q=0.5", ...(await scriptHeaders(browser, request.url, signedIn)) };
  const reply = await browser.request({ ...request, headers }, null);
  if (reply.status < 200 || reply.status >= 300) {
    throw new Problem(`--credential gives the user no key: the app answered ${reply.status}`);
  }
  const key = keyIn(reply.text);
  if (key === null) throw new Problem("--credential gives the user no key: none is in the answer");
  return key;
}

/** The header that a key is sent in. */
export const headersWith = ({ header: { name, value } }: CredentialPlace, key: string): Record<string, string> => ({
  [name]: value.replaceAll("{key}", () => key),
});
