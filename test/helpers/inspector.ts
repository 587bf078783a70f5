import type { Idp } from "../../src/index.ts";
import { Browser, type Visit } from "./browser.ts";
import { unescapeHtml } from "./html.ts";

interface Opened {
  readonly browser: Browser;
  /** The page that it was led to. */
  readonly first: Visit;
  /** The address of a page below the inspector. */
  readonly at: (path?: string) => string;
}

/** A browser that is in the inspector. @param flow the sign-in that is opened */
export async function openInspector(idp: Idp, flow?: string): Promise<Opened> {
  const { url } = await idp.call("inspector.open", { flow });
  const browser = new Browser(idp.issuer);
  const [place = ""] = url.split("?");
  return { browser, first: await browser.open(url), at: (path = "") => place + path };
}

/** The value of the forms of a page. */
export const csrfOf = ({ body }: Pick<Visit, "body">): string => /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? "";

/** The words of a page, with single spaces between them. */
export const textOf = ({ body }: Pick<Visit, "body">): string =>
  unescapeHtml(body.replace(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");
