import type { ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { readJws } from "../keys/jws.ts";
import { isDefined } from "../scopes/scopes.ts";
import type { JsonObject } from "../../text/json.ts";
import { isOpen } from "./places.ts";
import { basicIn, valuesIn, type Sent } from "./redactor.ts";
import { decoded, textsIn } from "./values.ts";

/** At most so many texts of a request are looked up. */
const maxTexts = 200;

/** A URI and its parts, each of which may be shown alone. */
const partsOf = (uri: string): readonly string[] => [uri, ...uri.split(/[/?&#=;:]/), ...uri.split(/[/?&#=;:.]/)];

const ofClient = (tx: ReadTx, id: string): readonly string[] => {
  const client = tx.get("clients", id);
  if (client === undefined) return [];
  const uris = [...client.redirect_uris, ...(client.post_logout_redirect_uris ?? [])];
  return [id, ...uris.flatMap(partsOf)];
};

/** Tokens that name a client, in place of `client_id`. As that one, they are not verified: whoever sends a URI knows it. */
const naming = [
  ["id_token_hint", "aud"],
  ["client_assertion", "sub"],
] as const;

const namedByTokens = (values: JsonObject): readonly string[] =>
  naming.flatMap(([name, claim]) => {
    const token = values[name];
    const id = typeof token === "string" ? readJws(token)?.payload[claim] : undefined;
    return typeof id === "string" ? [id] : [];
  });

const isName = (tx: ReadTx, text: string): boolean =>
  isDefined(tx, text) ||
  tx.find("users", "username", text) !== undefined ||
  tx.has("users", "email", text.toLowerCase());

/**
 * Which texts of a refused request are registered: client IDs with their redirect URIs, usernames, e-mail addresses, scopes, and the parts of
 * this issuer's own addresses. They are looked up by key; secrets are not looked at.
 * @param open addresses that count as registered
 */
export async function registeredIn(
  ctx: Context,
  sent: Sent,
  open: readonly string[] = [],
): Promise<ReadonlySet<string>> {
  const all = valuesIn(sent);
  const values = Object.entries(all).flatMap(([name, value]) => (isOpen(name) ? textsIn(value) : []));
  const basic = basicIn(sent.authorization);
  const texts = [
    ...sent.url.replace(/\?.*$/s, "").split("/").map(decoded),
    ...(basic === null ? [] : [basic.id]),
    ...namedByTokens(all),
    ...values.flatMap((value) => [value, ...value.split(" ", maxTexts)]),
  ];
  const asked = [...new Set(texts)].filter((text) => text !== "").slice(0, maxTexts);
  const own = [...open, ctx.issuer, ctx.address, ...Object.values(ctx.layout.paths)].flatMap(partsOf);
  return ctx.store.read(
    (tx) => new Set([...own, ...asked.flatMap((text) => [...ofClient(tx, text), ...(isName(tx, text) ? [text] : [])])]),
  );
}
