import { expect, test } from "vitest";
import { authorizeCases } from "./authorize.ts";
import { pageCases } from "./pages.ts";
import { clockCases, signedCases } from "./signed.ts";
import { clientCases, grantCases } from "./token.ts";
import { startWorld } from "./world.ts";

/**
 * The table of refusals, kept in table.txt: what the ledger says of each, with the paragraph that requires it and the next step.
 * `npx vitest run refusals -u` writes it.
 */

/** No standard requires these; each says what does. */
const withoutRule: Readonly<Record<string, string>> = {
  "authorize: too long": "a limit of this server",
  "authorize: nonce too long": "a limit of this server",
  "token: parameter not text": "JSON bodies are an extension of this server",
  "token: body not an object": "JSON bodies are an extension of this server",
  "page: sign-in unknown": "how long the page of a sign-in can be opened is this server's affair",
  "page: finished": "how long the page of a sign-in can be opened is this server's affair",
};

const world = await startWorld();
const ofClock = await startWorld();
const cases = [
  ...[authorizeCases, clientCases, grantCases, signedCases, pageCases].flatMap((some) =>
    Object.entries(some(world)).map(([name, send]) => [name, world, send] as const),
  ),
  ...Object.entries(clockCases(ofClock)).map(([name, send]) => [name, ofClock, send] as const),
];

/** The same in each run: the port, what is random, and how long it took. */
const stable = (text: string): string =>
  text.replaceAll(world.idp.issuer, "http://localhost:PORT").replaceAll(ofClock.idp.issuer, "http://localhost:PORT");

const rows: string[] = [];

test.each(cases)("%s", async (name, { idp }, send) => {
  await idp.call("requests.clear", {});
  await send();
  const refused = (await idp.call("requests.list", {})).filter(({ error }) => error !== null).at(-1);
  if (refused === undefined) throw new Error(`${name}: nothing was refused`);
  const { endpoint, status, error, rule, fix } = refused;
  const why = withoutRule[name];
  // Either of them, never both.
  expect([rule === null, fix]).toEqual([why !== undefined, expect.stringMatching(/./)]);
  rows.push(
    [
      `${name}: ${endpoint} ${status}`,
      `  ${error ?? ""}`,
      `  rule: ${rule ?? `none (${why ?? ""})`}`,
      `  next: ${fix ?? "none"}`,
    ]
      .map(stable)
      .join("\n"),
  );
});

test("the table is as it is kept", async () => {
  expect(rows.length).toBe(cases.length);
  await expect(`${rows.join("\n\n")}\n`).toMatchFileSnapshot("table.txt");
});
