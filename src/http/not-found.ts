import type { RequestHandler } from "express";
import { devicePath, metadataPath } from "../core/base/endpoints.ts";
import { metadataAddress } from "../core/protocol/discovery.ts";
import { issuerName } from "../core/base/identifiers.ts";
import { pathOfName } from "../core/records/issuers/issuer-view.ts";
import { nearest } from "../core/base/nearest.ts";
import { HttpError } from "./answer/error-answers.ts";
import { isBehindScenes, offersRegistration, type Web } from "./web.ts";

const lastName = (path: string): string => path.split("/").findLast((name) => name !== "") ?? "";

/** A 404 that suggests a path. Other services have the same endpoints elsewhere, so the last part of a path shows which one is meant. */
export function notFound(web: Web): RequestHandler {
  const { base, name, ctx } = web;
  return (req) => {
    const [path = ""] = req.originalUrl.split("?");
    // The inspector is at a path that only this command gives.
    if (isBehindScenes(web, path)) {
      const command = ["idp", "open"];
      const message = `there is nothing at ${path}; the inspector opens with: ${web.commandLine(command)}`;
      throw new HttpError(404, message, { fix: { text: "", command } });
    }
    const slashes = issuerWithSlash(web, path);
    if (slashes !== null) throw new HttpError(404, slashes, { fix: `give the app the issuer ${ctx.issuer}` });
    const { register, ...others } = ctx.layout.paths;
    const paths = Object.entries({ ...others, ...(offersRegistration(web) && { register }) });
    const pages = [devicePath, "/account"].map((path) => [lastName(path), path] as const);
    // The last part of one of our paths goes before that of a vendor's path.
    const known = [...paths.map(([, path]) => [lastName(path), path] as const), ...paths, ...pages];
    const byName = new Map(known.map(([name, path]) => [name, base + path]));
    const fix = { text: "", command: ["curl", metadataAddress(ctx)] };
    const issuer = name === null ? issuerOfPath(base, path) : null;
    if (issuer !== null) {
      throw new HttpError(404, `there is no issuer "${issuer}", and nothing at ${path}`, {
        fix: issuerName.test(issuer) ? { text: "", command: ["idp", "issuers", "add", issuer] } : fix,
        // A command that was given the address of such an issuer knows it by this. The name may be a secret.
        extra: { unknown_issuer: true },
      });
    }
    const meant = byName.get(nearest(lastName(path), byName.keys()) ?? "");
    const question = meant === undefined || meant === path ? "" : ` Did you mean ${meant}?`;
    const list = `All endpoints are listed at ${new URL(metadataAddress(ctx)).pathname}`;
    throw new HttpError(404, `there is nothing at ${path}.${question} ${list}`, { fix });
  };
}

/** An app puts the path of discovery behind its issuer (OpenID Connect Discovery 4.1). @returns the message; null: the path has no slash too many */
function issuerWithSlash({ ctx }: Web, path: string): string | null {
  if (ctx.issuer.endsWith("/") || !/\/\/+\.well-known\//.test(path)) return null;
  return `there is nothing at ${path}: the issuer in your app ends with a slash too many. It is ${ctx.issuer}, without a slash at its end`;
}

/**
 * The name of the issuer that a request is for; null for the first one. The cost does not depend on how many issuers there are.
 * @param base the path of the first issuer
 */
export function issuerOfPath(base: string, path: string): string | null {
  const own = path.startsWith(`${metadataPath}/`) ? path.slice(metadataPath.length) : path;
  const below = base + pathOfName("");
  return own.startsWith(below) ? (own.slice(below.length).split("/", 1)[0] ?? null) : null;
}
