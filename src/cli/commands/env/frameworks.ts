import type { ClientView } from "../../../core/records/clients/admin.ts";
import type { AppType } from "../init/app-types.ts";
import type { Variables } from "./libraries/expressions.ts";
import { dependenciesOf, manifestOf } from "./manifest.ts";

/** The frameworks that apps are made with, by the npm packages of a project. */

/** What serves the app in development. */
export interface Framework {
  readonly type: Extract<AppType, "public" | "confidential">;
  readonly origin: string;
  /** How code in the browser reads a variable of `.env.local`; absent if it cannot. */
  readonly inBrowser?: Pick<Variables, "from" | "prefix">;
  /** Where code on its server finds variables, if that is not `process.env`: the import, and the code before a name. */
  readonly onServer?: { readonly imports?: string; readonly from: string };
  /** Its server reads `.env.local`. */
  readonly readsFile?: true;
}

const server = (port: number): Framework => ({ type: "confidential", origin: `http://localhost:${port}` });
const browser = (port: number): Framework => ({ type: "public", origin: `http://localhost:${port}` });
const vite = { from: "import.meta.env.", prefix: "VITE_" };

/** By npm package. The first one found counts. */
const frameworks: Readonly<Record<string, Framework>> = {
  next: { ...server(3000), inBrowser: { from: "process.env.", prefix: "NEXT_PUBLIC_" }, readsFile: true },
  nuxt: server(3000),
  // Its projects do not have the types of Node.js, so svelte-check does not know process.env.
  "@sveltejs/kit": {
    ...server(5173),
    inBrowser: vite,
    onServer: { imports: 'import { env } from "$env/dynamic/private";', from: "env." },
    readsFile: true,
  },
  astro: {
    ...server(4321),
    inBrowser: { from: "import.meta.env.", prefix: "PUBLIC_" },
    onServer: { from: "import.meta.env." },
    readsFile: true,
  },
  // Their servers run within Vite, but for the older Remix.
  "@react-router/dev": { ...server(5173), inBrowser: vite },
  "@remix-run/dev": { ...server(5173), inBrowser: vite },
  "@nestjs/core": server(3000),
  hono: server(3000),
  express: server(3000),
  fastify: server(3000),
  koa: server(3000),
  elysia: server(3000),
  "@angular/core": browser(4200),
  "react-scripts": { ...browser(3000), inBrowser: { from: "process.env.", prefix: "REACT_APP_" } },
  "@vue/cli-service": { ...browser(8080), inBrowser: { from: "process.env.", prefix: "VUE_APP_" } },
  vite: { ...browser(5173), inBrowser: vite },
};

/** The framework among the dependencies of a project. */
export const frameworkAmong = (packages: object): readonly [name: string, framework: Framework] | undefined =>
  Object.entries(frameworks).find(([name]) => Object.hasOwn(packages, name));

/** The prefix of the variables that the code of a public client in this folder can read; null if there is none. */
export function browserPrefix(folder: string, client: Pick<ClientView, "public"> | undefined): string | null {
  if (client?.public !== true) return null;
  const [, framework] = frameworkAmong(dependenciesOf(manifestOf(folder))) ?? [];
  return framework?.inBrowser?.prefix ?? null;
}
