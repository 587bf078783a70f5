import type { Library } from "../env/choices.ts";
import type { BuiltInVendor } from "../env/app-client.ts";
import { forms, usualAt, type AppCode } from "../env/libraries.ts";
import { installedMajor } from "../env/manifest.ts";
import { choose } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import type { AppType } from "./app-types.ts";
import { usual, type FoundLibrary, type Project } from "./project.ts";

/** Which library signs the app's users in, and what follows from it. */

/** The type of app that uses a library. */
export const typeFor = (library: Library): AppType => (forms[library].clients === "public" ? "public" : "confidential");

/** Whether an app of a type can use a library. */
export const suits = (type: AppType, library: Library): boolean => {
  const { clients } = forms[library];
  return (type === "public" || type === "confidential") && (clients === "any" || clients === type);
};

export const namedLibrary = (project: Project, library: Library): FoundLibrary =>
  project.libraries.find((found) => found.library === library) ?? { library, package: null, title: library };

/**
 * The library that was found.
 * @param asks whether to ask a person if there are several
 * @param type the type that was named; undefined for any
 */
export async function foundLibrary(
  cli: Invocation,
  project: Project,
  asks: boolean,
  type: AppType | undefined,
): Promise<{ readonly found: FoundLibrary | null; readonly note: string | null }> {
  const all = project.libraries.filter(({ library }) => type === undefined || typeFor(library) === type);
  const [first = null, ...others] = all;
  if (others.length === 0 || first === null) return { found: first, note: null };
  if (asks) {
    const choices = all.map(({ library, title }) => ({ value: library, name: title }));
    const chosen = await choose(cli, "Which library signs users in?", choices, ["--for", "LIBRARY"]);
    return { found: all.find(({ library }) => library === chosen) ?? first, note: null };
  }
  const rest = others.map(({ library }) => `--for ${library}`).join(" or ");
  return {
    found: first,
    note: `Found ${all.map(({ title }) => title).join(" and ")}: took the first. Instead: ${rest}`,
  };
}

/** Asks for the library of an app in which none was found; null for another one, or none yet. */
export async function askLibrary(cli: Invocation, project: Project, type: AppType): Promise<FoundLibrary | null> {
  const suiting = (Object.keys(forms) as Library[]).filter((library) => suits(type, library));
  if (suiting.length === 0) return null;
  const choices = [
    { value: "", name: "Another one, or none yet" },
    ...suiting.map((library) => ({ value: library, name: library })),
  ];
  const chosen = await choose(cli, "Which library signs users in?", choices, ["--for", "LIBRARY"]);
  const library = suiting.find((one) => one === chosen);
  return library === undefined ? null : namedLibrary(project, library);
}

/** The vendor whose provider the app has, where the library has lines for it; null for none. */
export function vendorFor({ vendors }: Project, { library, package: name }: FoundLibrary): BuiltInVendor | null {
  const form = forms[library];
  const major = form.package === undefined ? null : installedMajor(process.cwd(), form.package);
  const known = form.vendors?.({ major }, name) ?? {};
  return vendors.find(({ vendor }) => known[vendor] !== undefined)?.vendor ?? form.vendor ?? null;
}

/** The app's address in development, with the path that the library returns to. */
export function redirectUriFor(project: Project, found: FoundLibrary | null, type: AppType): string {
  const { framework } = project;
  if (found === null) return `${framework?.type === type ? framework.origin : usual.origin}/callback`;
  const { usual: path, origin, packages = {} } = forms[found.library];
  const name = found.package ?? Object.keys(packages)[0] ?? "";
  const vendor = vendorFor(project, found);
  const usualPath = packages[name] ?? path;
  return new URL(vendor === null ? usualPath : usualAt(usualPath, vendor), origin ?? framework?.origin ?? usual.origin)
    .href;
}

/** How the app's code reads its variables; null if the values are in the code. */
export function variablesFor({ framework, isTypeScript }: Project, library: Library): AppCode["variables"] {
  const { packages, clients } = forms[library];
  if (packages === undefined) return null;
  const after = isTypeScript ? "!" : "";
  if (clients !== "public") {
    const { onServer, readsFile } = framework ?? {};
    const load = readsFile !== true;
    if (onServer === undefined) return { from: "process.env.", prefix: "", after, load };
    return { ...onServer, prefix: "", after: isTypeScript ? "!" : ' ?? ""', load };
  }
  const { inBrowser } = framework ?? {};
  if (inBrowser === undefined) return null;
  // Vite gives each of its variables a type that allows everything.
  return { ...inBrowser, after: inBrowser.from === "process.env." ? after : "", load: false };
}
