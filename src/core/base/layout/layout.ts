/*
 * core/base/layout: which paths an issuer has (the setting `endpoints`). presets.ts is the table of the vendors' paths, check-endpoints.ts
 * checks what a fixture says.
 */
import { baseOf, endpoints, samlEndpoints, type EndpointName, type SamlEndpoint } from "../endpoints.ts";
import { presets, type Preset, type PresetName } from "./presets.ts";

/** The setting: the name of a vendor, or paths by the names of endpoints. */
export type EndpointsSetting = PresetName | Readonly<Partial<Record<EndpointName, string>>>;

/** The paths of an issuer. */
export interface Layout extends Omit<Preset, "also" | "firstName" | "sharesFirstName" | "paths" | "saml" | "settings"> {
  /** The realm, tenant or server in its paths; "" where there is none. */
  readonly name: string;
  /** The path of the issuer itself, below the address that everything is served under: "", "/" or "/realms/idp". */
  readonly issuer: string;
  /** Below that address. */
  readonly paths: Readonly<Record<EndpointName, string>>;
  /** The paths of SAML, below the issuer itself. */
  readonly saml: Readonly<Record<SamlEndpoint, string>>;
}

/**
 * The layouts of an issuer: one, or two for a vendor that has two issuers on the same data.
 * @param name of the issuer; null: it is the first one @param given the issuer or its address, as it was given
 */
export function layoutsOf(
  setting: EndpointsSetting,
  name: string | null,
  given: string,
): readonly [Layout, ...Layout[]] {
  if (typeof setting !== "string")
    return [{ issuer: "", name: "", paths: { ...endpoints, ...setting }, saml: samlEndpoints }];
  const preset: Preset = presets[setting];
  const { also, firstName, sharesFirstName = false } = preset;
  if (name === null) {
    const own = nameIn(given, preset.issuer) ?? nameIn(given, preset.shortIssuer) ?? firstName;
    return [layout(preset, own), ...(also === undefined ? [] : [layout({ ...preset, ...also }, own)])];
  }
  const own = sharesFirstName ? firstName : name;
  // Its address may end with its name.
  const { shortIssuer: _, ...other } = preset;
  return [layout(other, own), ...(also === undefined ? [] : [layout({ ...other, ...also }, own)])];
}

/** The name in an issuer that ends with the vendor's path: `shop` in `http://localhost:4370/realms/shop`. */
function nameIn(issuer: string, path = ""): string | undefined {
  const [before = "", after] = path.split("NAME");
  if (after === undefined) return undefined;
  const form = new RegExp(
    `^https?://[^/]+(?:/.*)?${before}([A-Za-z0-9_-][A-Za-z0-9._-]*)${after.replace(".", "\\.")}$`,
  );
  return form.exec(baseOf(issuer))?.[1];
}

function layout(preset: Preset, name: string): Layout {
  const named = (path: string): string => path.replace("/NAME", `/${name}`);
  const paths = Object.entries(preset.paths).map(([endpoint, path]) => [endpoint, named(path)] as const);
  const frames = Object.entries(preset.frames ?? {}).map(([path, message]) => [named(path), message] as const);
  return {
    ...preset,
    name,
    issuer: named(preset.issuer),
    ...(preset.shortIssuer !== undefined && { shortIssuer: named(preset.shortIssuer) }),
    paths: { ...endpoints, ...Object.fromEntries(paths) },
    saml: { ...samlEndpoints, ...preset.saml },
    frames: Object.fromEntries(frames),
  };
}

/** The addresses of the endpoints. */
export function endpointsOf(at: { readonly address: string; readonly layout: Layout }): Layout["paths"] {
  const paths = Object.entries(at.layout.paths).map(([name, path]) => [name, baseOf(at.address) + path] as const);
  return Object.fromEntries(paths) as Layout["paths"];
}

/** The issuer that is served under an address. Without a vendor's path the address is used exactly as given. */
export const issuerOf = (address: string, layout: Pick<Layout, "issuer">): string =>
  layout.issuer === "" ? address : baseOf(address) + layout.issuer;

/** The address that an issuer is served under. @param issuer or already the address */
export function addressBefore(issuer: string, { issuer: path, shortIssuer = path }: Layout): string {
  if (path === "") return issuer;
  const before = [issuer, baseOf(issuer)].flatMap((given) =>
    [path, shortIssuer].filter((end) => given.endsWith(end)).map((end) => given.slice(0, -end.length)),
  );
  // A host may have the name of a tenant.
  return before.find((address) => /^https?:\/\/[^/]/.test(address)) ?? issuer;
}
