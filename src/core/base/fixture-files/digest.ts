import { createHmac, hash } from "node:crypto";
import type { Reach } from "../../../net/address.ts";
import type { ReadTx } from "../../../store/store.ts";
import { canonical } from "../../../text/json.ts";
import type { AnyFixtures } from "./source.ts";

/**
 * Digests of fixtures, which show the next start what changed. They are keyed, because an entry may have a password, which could be guessed
 * from a plain fast hash.
 */

/** The settings that count beside those of the fixtures. */
export interface CheckedWith {
  readonly http_redirect_hosts?: readonly string[] | null;
  readonly any_loopback_port?: boolean;
  readonly login?: string;
  /** Where the clients of a tester may be. */
  readonly reach?: Reach | undefined;
}

/** The record of the key. */
export const keyId = "key";

/** The key of the digests; undefined if nothing was ever applied. */
export const digestKey = (tx: ReadTx): string | undefined => tx.get("appliedFixtures", keyId)?.digest;

/**
 * 128 bits of a keyed SHA-256 of a value that was read from a source.
 * @param key 256 random bits. Before the text they are as good as HMAC, because nobody sees a digest that could be extended.
 */
export const digestOf = (key: string, value: unknown): string =>
  hash("sha256", key + canonical(value), "base64url").slice(0, 22);

/**
 * The digest of whole files, without parsing them, and of the settings that they were checked with.
 * @returns null if not only files were given
 */
export function digestOfSources(
  key: string,
  sources: readonly AnyFixtures[],
  { http_redirect_hosts: hosts = [], any_loopback_port: anyPort = false, login, reach }: CheckedWith,
): string | null {
  const settings = [hosts, anyPort, login === "password", ...(reach === undefined ? [] : [reach])];
  const hmac = createHmac("sha256", key).update(canonical(settings));
  for (const source of sources) {
    if ("text" in source) {
      hmac.update(`${source.name}\n${source.text.length}\n`).update(source.text);
      for (const files of [source.logos, source.metadata]) if (files !== undefined) hmac.update(canonical(files));
    } else if ("builtIn" in source) hmac.update(canonical(source.value));
    else return null;
  }
  return hmac.digest("base64url").slice(0, 22);
}
