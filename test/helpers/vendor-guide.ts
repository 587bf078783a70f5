import { symlinkSync, writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, vi } from "vitest";
import { configurationOf } from "../../src/cli/commands/env/libraries.ts";
import type { ServedStatus } from "../../src/cli/commands/env/libraries/form.ts";
import type { Idp } from "../../src/index.ts";
import { serve } from "./app.ts";
import { approve, Browser, formsOf } from "./browser.ts";
import { newFolder } from "./cli.ts";
import { repository } from "./readme.ts";
import { client, users } from "./vendor-app.ts";

/** Runs the examples of docs/vendors.md for apps with a vendor built in, with the variables that `idp env` gives, and what `idp env --for` prints. */

const document = readFileSync(join(repository, "docs/vendors.md"), "utf8");

type Vendor = "google" | "github" | "apple" | "cognito";

/** Where the lines of a library are from. */
export const sources = ["docs/vendors.md", "idp env --for"] as const;
type Source = (typeof sources)[number];

/** The libraries by the packages that they are imported from. */
const libraries = {
  arctic: "arctic",
  "apple-signin-auth": "apple-signin-auth",
  "better-auth": "better-auth",
  "@auth/express": "authjs",
  "next-auth": "next-auth",
} as const;

/** For one file of tests. */
export function vendorGuide() {
  const folder = newFolder(afterAll);
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  /** The module of the example below a heading that uses this package. */
  async function example<T>(heading: string, library: string): Promise<T> {
    const section = document.split(/^## /m).find((each) => each.startsWith(heading)) ?? "";
    const codes = Array.from(section.matchAll(/^```js\n(.*?)^```/gms), ([, code = ""]) => code);
    const code = codes.find((each) => each.includes(`from "${library}`));
    if (code === undefined) throw new Error(`no example of ${library} below ${heading}`);
    return imported<T>(`${heading}-${library}`, code);
  }

  let files = 0;
  /** A new file each time: a module reads the variables once. */
  async function imported<T>(name: string, code: string): Promise<T> {
    const file = join(folder, `${name.replaceAll(/\W/g, "-")}-${String(files++)}.mjs`);
    writeFileSync(file, code);
    return (await import(pathToFileURL(file).href)) as T;
  }

  /** The module with the lines of a library, which the guide has and the command prints. */
  async function lines<T>(source: Source, idp: Idp, heading: string, from: keyof typeof libraries): Promise<T> {
    if (source === "docs/vendors.md") return example(heading, from);
    const served = (await idp.call("status", {})) as unknown as ServedStatus;
    const shown = await idp.call("clients.show", { client_id: "shop", secrets: true });
    const { text } = configurationOf(libraries[from], served, shown, newFolder());
    return imported(`printed-${heading}-${from}`, text);
  }

  /** A server for the app, and the variables of `idp env`. @param redirectUri of the app */
  async function serveFor(vendor: Vendor, redirectUri: string): Promise<Idp> {
    const clients = [{ ...client(vendor), redirect_uris: [redirectUri] }];
    const idp = await serve({ fixtures: [{ users, clients, settings: { endpoints: vendor } }] });
    const { endpoints } = (await idp.call("status", {})) as unknown as { readonly endpoints: Record<string, string> };
    const variables = {
      OIDC_CLIENT_ID: "shop",
      OIDC_CLIENT_SECRET: "the-secret-of-the-shop",
      OIDC_REDIRECT_URI: redirectUri,
      ...(vendor !== "github" && { OIDC_ISSUER: idp.issuer }),
      AUTHORIZATION_URL: endpoints["authorize"] ?? "",
      TOKEN_URL: endpoints["token"] ?? "",
      ...(vendor !== "apple" && { USERINFO_URL: endpoints["userinfo"] ?? "" }),
    };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    return idp;
  }
  return { example, lines, serveFor };
}

/** What the browser brings back to the app at its redirect URI. */
export async function answerOf(address: string | URL, user = "alice"): Promise<Readonly<Record<string, string>>> {
  const browser = new Browser(String(address));
  const last = await approve(browser, await browser.open(String(address)), user);
  return Object.fromEntries(last.left?.searchParams ?? formsOf(last.body)[0]?.fields ?? []);
}

/** Goes on from a page of the app to its end. @param visit which led to the sign-in */
export async function through(browser: Browser, begun: Awaited<ReturnType<Browser["open"]>>, user = "alice") {
  const last = await approve(browser, begun, user);
  const [form] = formsOf(last.body);
  // A page whose form the browser sends by itself.
  if (last.left !== null || form === undefined || last.page !== "form-post") return last;
  return browser.open(form.action, {
    method: "POST",
    body: new URLSearchParams([...form.fields].map(([a, b]) => [a, b])),
  });
}
