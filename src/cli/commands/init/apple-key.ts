import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { Variables } from "../env/format.ts";

/** The key by which an app signs its client secrets for Apple. */

export interface AppleKey {
  /** The public key, as the fixtures have it. */
  readonly jwk: { readonly kid: string; readonly x: string; readonly y: string };
  readonly team: string;
  readonly variables: Variables;
}

const isP256 = (pem: string): boolean => {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === "prime256v1";
  } catch {
    return false;
  }
};

/** A new key, as Apple's .p8 files are, unless the app has one already. @param env its variables from an earlier run */
export function appleKeyOf(env: Readonly<Record<string, string>>): AppleKey {
  const { APPLE_TEAM_ID: team = "TEAM123456", APPLE_KEY_ID: kid = "KEY1234567", APPLE_PRIVATE_KEY: kept = "" } = env;
  const pem = isP256(kept)
    ? kept
    : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const { x = "", y = "" } = createPublicKey(pem).export({ format: "jwk" });
  return {
    jwk: { kid, x, y },
    team,
    variables: [
      ["APPLE_TEAM_ID", team],
      ["APPLE_KEY_ID", kid],
      ["APPLE_PRIVATE_KEY", pem],
    ],
  };
}
