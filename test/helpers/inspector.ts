import type { Idp } from "../../src/index.ts";
import { Browser, type Visit } from "./browser.ts";

/** A browser that is in the inspector, and the page that it was led to. */
export async function openInspector(idp: Idp): Promise<{ readonly browser: Browser; readonly first: Visit }> {
  const { url } = await idp.call("inspector.open", {});
  const browser = new Browser(idp.issuer);
  return { browser, first: await browser.open(url) };
}

/** The value of the forms of a page. */
export const csrfOf = ({ body }: Visit): string => /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? "";
