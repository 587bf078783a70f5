import { load } from "js-yaml";
import { expect } from "vitest";
import { problemText } from "../../src/core/base/errors.ts";
import type { ToolName } from "../../src/migrate/tool-names.ts";
import { readFrom } from "../../src/migrate/tools.ts";
import { fixtureText } from "../../src/migrate/draft.ts";
import { problemsOf } from "./fixtures.ts";

interface Text {
  readonly name: string;
  readonly text: string;
}

interface Made {
  readonly users: readonly Record<string, unknown>[];
  readonly clients: readonly Record<string, unknown>[];
  readonly settings: Record<string, unknown>;
  readonly leftOut: readonly string[];
  readonly text: string;
}

/** The fixtures that files of another tool give, once they are checked. */
export async function made(tool: ToolName, ...files: readonly (Text | string | object)[]): Promise<Made> {
  const given = files.map((file, index): Text => {
    if (typeof file === "object" && "name" in file && "text" in file) return file;
    return { name: `file${index}`, text: typeof file === "string" ? file : JSON.stringify(file, null, 1) };
  });
  const { draft, leftOut } = await readFrom(tool, given);
  const loginClient = { client_id: "idp-cli", redirect_uris: ["http://127.0.0.1:*/callback"] };
  const lines = leftOut.map(problemText);
  const text = fixtureText(draft, lines, { command: "idp init", schema: null, loginClient });
  expect(await problemsOf({ name: "idp.fixtures.yaml", text })).toEqual([]);
  return { ...(load(text) as Made), leftOut: lines, text };
}

/** A client and a realm of Keycloak. */
export const redirectUris = ["http://localhost:3000/callback"];
export const web = { clientId: "web", publicClient: true, redirectUris };
export const realm = (fields: object) => ({ realm: "shop", enabled: true, clients: [web], ...fields });
