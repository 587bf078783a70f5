import { metadataPath } from "../core/endpoints.ts";
import { pathOfName } from "../core/issuers/issuer-view.ts";

/**
 * The name of the issuer that a request is for; null for the first one. The cost does not depend on how many issuers there are.
 * @param base the path of the first issuer
 */
export function issuerOfPath(base: string, path: string): string | null {
  const own = path.startsWith(`${metadataPath}/`) ? path.slice(metadataPath.length) : path;
  const below = base + pathOfName("");
  return own.startsWith(below) ? (own.slice(below.length).split("/", 1)[0] ?? null) : null;
}
