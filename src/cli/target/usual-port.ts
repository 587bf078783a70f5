import { defaultPort } from "../../core/base/endpoints.ts";
import { issuerAt } from "../../serve/remote.ts";
import { isServiceLink } from "../flags/variables.ts";

/** The server on the usual port of this machine. */

/** The port that `idp start` uses; null if it uses a free one. */
export function usualPort({ IDP_PORT: port = String(defaultPort) }: NodeJS.ProcessEnv): number | null {
  if (isServiceLink("IDP_PORT", port)) return defaultPort;
  return /^\d{1,5}$/.test(port) && Number(port) > 0 ? Number(port) : null;
}

/** The issuer of the idp on a port of this machine; null if there is none, or it does not answer within 5 s, even on a busy machine. */
export async function issuerOnPort(port: number): Promise<string | null> {
  const asked = ["http", "https"].map((scheme) => issuerAt(`${scheme}://localhost:${port}`, 5000));
  return (await Promise.all(asked)).find((issuer) => issuer !== null) ?? null;
}
