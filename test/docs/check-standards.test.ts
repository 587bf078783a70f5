import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { allCases as api } from "../../src/check/api/cases/list.ts";
import { allCases as client } from "../../src/check/client/cases/list.ts";
import type { CaseText } from "../../src/check/frame/verdict.ts";
import { allCases as leaver } from "../../src/check/leaver/cases/list.ts";
import { allCases as scim } from "../../src/check/scim/cases/list.ts";
import { allCases as sp } from "../../src/check/sp/cases/list.ts";

/** `docs/check-standards.md`: each case that it names exists, and each case that names a line is on it. */

const checks: Readonly<Record<string, readonly CaseText[]>> = { client, api, sp, scim, leaver };
const page = readFileSync(new URL("../../docs/check-standards.md", import.meta.url), "utf8");

interface Row {
  readonly standard: "ASVS 5.0" | "RFC 9700";
  readonly line: string;
  /** "client: pkce" */
  readonly cases: readonly string[];
  readonly text: string;
}

const rows: readonly Row[] = page.split("\n## ").flatMap((section) =>
  [...section.replaceAll("\n  ", " ").matchAll(/^- ([\d.]+): [^.]+\. (.+)\.$/gm)].map(
    ([, line = "", text = ""]): Row => {
      const parts = text.split("; ").flatMap((part) => {
        const [check = "", list = ""] = part.split(": ");
        return check in checks ? [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => `${check}: ${String(name)}`) : [];
      });
      return { standard: section.startsWith("RFC 9700") ? "RFC 9700" : "ASVS 5.0", line, cases: parts, text };
    },
  ),
);

/** The lines that a paragraph names. */
function linesIn(paragraph: string, standard: Row["standard"]): readonly string[] {
  const numbers = standard === "RFC 9700" ? String.raw`\d+(?:\.\d+)*` : String.raw`\d+\.\d+\.\d+`;
  const found = new RegExp(`${standard.replaceAll(".", "\\.")} (${numbers}(?:, ${numbers})*)`).exec(paragraph)?.[1];
  return found?.split(", ") ?? [];
}

test("every case that it names exists", () => {
  const known = Object.entries(checks).flatMap(([check, cases]) => cases.map(({ name }) => `${check}: ${name}`));
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.flatMap(({ cases }) => cases).filter((one) => !known.includes(one))).toEqual([]);
});

test("every case whose paragraph names a line is on that line", () => {
  const missing = Object.entries(checks).flatMap(([check, cases]) =>
    cases.flatMap(({ name, paragraph }) =>
      (["ASVS 5.0", "RFC 9700"] as const).flatMap((standard) =>
        linesIn(paragraph, standard)
          .filter((line) => {
            const row = rows.find((one) => one.standard === standard && one.line === line);
            return row?.cases.includes(`${check}: ${name}`) !== true;
          })
          .map((line) => `${standard} ${line}: ${check}: ${name}`),
      ),
    ),
  );
  expect(missing).toEqual([]);
});

test("it has every line of chapter 10 that is about an app, and each has a case or says why not", () => {
  const sections = { "10.1": 2, "10.2": 3, "10.3": 5, "10.5": 5 };
  const lines = Object.entries(sections).flatMap(([section, count]) =>
    Array.from({ length: count }, (_none, at) => `${section}.${at + 1}`),
  );
  const found = rows.filter(({ standard, line }) => standard === "ASVS 5.0" && line.startsWith("10."));
  expect(found.map(({ line }) => line)).toEqual(lines);
  for (const { cases, text } of rows) if (cases.length === 0) expect(text).toMatch(/^Not seen from outside/);
});
