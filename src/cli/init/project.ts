import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../../core/json-object.ts";
import type { AppType } from "../program/app-types.ts";

/** What a project's package.json says of the app: for proposals, never for more. */

export interface Project {
  /** A client_id made of its name. */
  readonly clientId: string;
  /** The package that gave the type and the address away; null: none that is known. */
  readonly framework: string | null;
  readonly type: AppType | null;
  readonly redirectUri: string;
}

type Known = readonly [dependency: string, type: AppType, redirectUri: string];

/** Where each is served in development, and the path that its own documentation returns to. The first that is found counts. */
const known: readonly Known[] = [
  ["next-auth", "confidential", "http://localhost:3000/api/auth/callback/idp"],
  ["@auth/sveltekit", "confidential", "http://localhost:5173/auth/callback/idp"],
  ["@auth/express", "confidential", "http://localhost:3000/auth/callback/idp"],
  ["express-openid-connect", "confidential", "http://localhost:3000/callback"],
  ["passport-openidconnect", "confidential", "http://localhost:3000/oauth2/redirect"],
  ["next", "confidential", "http://localhost:3000/callback"],
  ["nuxt", "confidential", "http://localhost:3000/callback"],
  ["@sveltejs/kit", "confidential", "http://localhost:5173/callback"],
  ["astro", "confidential", "http://localhost:4321/callback"],
  ["express", "confidential", "http://localhost:3000/callback"],
  ["fastify", "confidential", "http://localhost:3000/callback"],
  ["@angular/core", "public", "http://localhost:4200/callback"],
  ["react-scripts", "public", "http://localhost:3000/callback"],
  ["@vue/cli-service", "public", "http://localhost:8080/callback"],
  ["vite", "public", "http://localhost:5173/callback"],
];

/** Of a project about which nothing is known. */
export const usual = { clientId: "app", redirectUri: "http://localhost:3000/callback" };

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return isObject(manifest) ? manifest : {};
  } catch {
    // There is none, or it is npm's to complain about.
    return {};
  }
}

/** All dependencies of a project, with the ranges of their versions. */
function dependenciesOf({ dependencies, devDependencies }: Readonly<Record<string, unknown>>) {
  return { ...(isObject(dependencies) && dependencies), ...(isObject(devDependencies) && devDependencies) };
}

/**
 * The major version of a package of a project: the one that is installed, here or in a folder above (a workspace), else the one that
 * package.json asks for; null: neither says.
 */
export function installedMajor(folder: string, name: string): number | null {
  const installed = manifestOf(join(folder, "node_modules", name))["version"];
  const range = installed ?? dependenciesOf(manifestOf(folder))[name];
  const major = /\d+/.exec(typeof range === "string" ? range : "")?.[0];
  if (major !== undefined) return Number(major);
  const above = dirname(folder);
  return above === folder ? null : installedMajor(above, name);
}

/** What can be proposed for the project in a folder. */
export function projectOf(folder: string): Project {
  const manifest = manifestOf(folder);
  const { name } = manifest;
  const all = dependenciesOf(manifest);
  const [framework = null, type = null, redirectUri = usual.redirectUri] =
    known.find(([dependency]) => Object.hasOwn(all, dependency)) ?? [];
  const clientId = (typeof name === "string" ? name : "").replace(/^@[^/]*\//, "").replace(/[^A-Za-z0-9._-]/g, "-");
  return { clientId: /[A-Za-z0-9]/.test(clientId) ? clientId : usual.clientId, framework, type, redirectUri };
}
