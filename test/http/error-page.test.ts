import { expect, test } from "vitest";
import { renderError } from "../../src/http/pages.ts";
import { createRenderer } from "../../src/http/render.ts";
import type { ErrorView } from "../../src/http/views.ts";
import { wordsOf } from "../helpers/html.ts";
import { errorViews } from "../helpers/sample-views.ts";

const renderer = createRenderer();

const error = async (changes: Partial<ErrorView>): Promise<string> =>
  (await renderError(renderer, { ...errorViews["error-redirect-uri"], ...changes })).html;
const compared = async (sent: string, ...registered: string[]): Promise<string> =>
  error({ comparison: { name: "redirect_uri", sent, registered } });
const marks = (html: string): (string | undefined)[] => [...html.matchAll(/<mark>([^<]*)</g)].map((match) => match[1]);

test("speaks to the person first, then to the developer: code, message, fix", async () => {
  const html = await error({});
  expect(html.indexOf("Nothing was shared")).toBeLessThan(html.indexOf("For developers"));
  expect(html).toContain('<code id="error-code" data-testid="error-code">invalid_request</code>');
  expect(wordsOf(html)).toContain('redirect_uri "http://localhost:3001/callback" is not registered');
  expect(html).toContain("idp clients edit demo-app --redirect-uri http://localhost:3001/callback");
  expect(html).toContain("<title>Error: ");
});

test("marks what differs, the nearest registered address first, and says it in words", async () => {
  const html = await compared("http://localhost:3001/cb", "https://other.test/", "http://localhost:3000/cb");
  expect(marks(html)).toEqual(["1", "0", "s://other.test/"]);
  expect(html).toContain("“1” was sent where “0” is registered.");
});

test("says what was sent too much, and what is missing", async () => {
  expect(await compared("http://localhost/cb/", "http://localhost/cb")).toContain(
    "“/” was sent, but is not registered.",
  );
  expect(await compared("http://localhost/", "http://localhost/cb")).toContain("“cb” is registered, but was not sent.");
});

test("shows no fix and no comparison where there is none", async () => {
  const html = await error({ fix: null, comparison: null });
  expect(html).not.toContain("error-fix");
  expect(html).not.toContain("registered</dt>");
});
