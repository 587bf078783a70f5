import type { RequestEvent } from "../../src/core/testing/ledger/request-json.ts";
import { underAttack } from "./attack.ts";

/** An inspector under attack, and requests to it without a cookie. */
export async function attackedInspector() {
  const events: RequestEvent[] = [];
  const idp = await underAttack({ onRequest: (event) => events.push(event), allowHosts: ["*"] });
  const { origin, host } = new URL(idp.issuer);
  const newKey = async (): Promise<string> => (await idp.call("inspector.open", {})).url;
  const place = new URL(await newKey()).pathname;
  const at = (path: string): string => place + path;

  /** @returns the response, and its text */
  async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
    const response = await fetch(new URL(path, origin), {
      method,
      headers: { accept: "text/html", ...headers },
      redirect: "manual",
    });
    return { response, body: await response.text(), cookies: response.headers.getSetCookie() };
  }

  return { idp, events, origin, host, newKey, place, at, get };
}

/** A name, an address, a client: something that only the inside of the inspector shows. */
export const inside = /alice|demo-app|localhost:3000|name="csrf"/;
