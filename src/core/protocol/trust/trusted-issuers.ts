import type { Reach } from "../../../net/address.ts";
import type { Context, Settings } from "../../context.ts";
import { baseOf } from "../../base/endpoints.ts";
import type { Issuers } from "../../records/issuers/issuer-view.ts";
import { isObject } from "../../../text/json.ts";
import { JwtProblem } from "../../records/keys/jws.ts";
import type { JwkSet } from "../../records/keys/keys.ts";
import { issuerOf } from "../../base/layout/layout.ts";
import { findWorkload, workloadJwks } from "../workloads/workloads.ts";
import { isUrl, type TrustedIssuers, type TrustedIssuerSetting } from "./trust.ts";

/** Milliseconds for which fetched keys are kept. A token that names another key makes this server fetch them again. */
const keptFor = 300_000;

const identifiers = ({ address, layouts }: Pick<Context, "address" | "layouts">): readonly string[] =>
  layouts.map((layout) => issuerOf(address, layout));

const isJwkSet = (value: unknown): value is JwkSet =>
  isObject(value) && Array.isArray(value["keys"]) && value["keys"].every(isObject);

export function createTrustedIssuers({
  store,
  issuers,
  settings,
  fetchedKeys,
  reach,
}: Pick<Context, "store" | "fetchedKeys"> & {
  readonly issuers: Issuers<Context>;
  readonly settings: () => Settings;
  /** Where keys may be fetched. */
  readonly reach: () => Reach;
}): TrustedIssuers {
  const ofKeys = {
    rule: "RFC 7517 5",
    fix: "serve the keys of the issuer at its jwks_uri, where this server can reach it",
  } as const;

  async function fetchKeys(uri: string, kid: unknown): Promise<JwkSet> {
    const has = (keys: unknown): boolean =>
      isJwkSet(keys) && (kid === undefined || keys.keys.some((key) => key["kid"] === kid));
    const keys = await fetchedKeys
      .read(uri, reach(), (known, age) => age < keptFor && has(known))
      .catch((error: unknown) => {
        throw new JwtProblem((error as Error).message, ofKeys, error);
      });
    fetchedKeys.tried(uri, reach(), has(keys));
    if (!isJwkSet(keys)) throw new JwtProblem(`${uri} gave no JWK Set`, ofKeys);
    return keys;
  }

  async function keysAt({ issuer, jwks, jwks_uri: uri }: TrustedIssuerSetting, kid: unknown): Promise<JwkSet> {
    if (jwks !== undefined) return jwks;
    if (uri !== undefined) return fetchKeys(uri, kid);
    const message = `${issuer} is not a workload of this process, and its entry in trusted_issuers has no keys`;
    throw new JwtProblem(message, { rule: "RFC 7523 3", fix: "add jwks or jwks_uri to the entry" });
  }

  /** The issuer of the process with this name. */
  const named = async (name: string): Promise<Context | undefined> =>
    name === "/" ? [...issuers.open()].find((one) => one.name === null)?.ctx : (await issuers.look(name))?.ctx;

  const isOwn = (iss: string): boolean =>
    [...issuers.open()].some(({ ctx }) => ctx.store === store && identifiers(ctx).includes(iss));

  function workloadKeys(iss: string): (() => Promise<JwkSet>) | null {
    for (const { ctx } of issuers.open()) {
      const base = `${baseOf(ctx.address)}/w/`;
      const workload = iss.startsWith(base) ? findWorkload(ctx, iss.slice(base.length)) : null;
      if (workload !== null) return () => workloadJwks(ctx, workload.name);
    }
    return null;
  }

  return {
    async find(iss, kind) {
      if (typeof iss !== "string") return null;
      const ofWorkload = kind === "workload" ? workloadKeys(iss) : null;
      for (const entry of settings().trusted_issuers) {
        if ((entry.accepts ?? "id-jag") !== kind) continue;
        if (isUrl(entry.issuer)) {
          if (entry.issuer !== iss || isOwn(iss)) continue;
          return { entry, keys: ofWorkload ?? ((kid) => keysAt(entry, kid)) };
        }
        const other = await named(entry.issuer);
        if (other === undefined || other.store === store || !identifiers(other).includes(iss)) continue;
        return { entry, keys: () => other.keys.jwks() };
      }
      return ofWorkload && { entry: null, keys: ofWorkload };
    },
    async identifiersOf(name) {
      if (isUrl(name)) return [name];
      const issuer = await named(name);
      return issuer === undefined ? [] : identifiers(issuer);
    },
  };
}
