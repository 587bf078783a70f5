import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { OperationError } from "../../../core/base/errors.ts";
import type { Hint } from "../../../core/base/hint.ts";
import { isObject } from "../../../text/json.ts";
import { cannotBeWritten } from "../../output/put-file.ts";
import { requireInProject, writeNewFile } from "./place.ts";

/** The entry of `idp mcp-server` in the file in which a project names the tools of its coding agents. It holds no secret. */

const file = ".mcp.json";
const name = "dev-idp";
const entry = { command: "npx", args: ["dev-idp", "mcp-server"] };
const whole = { mcpServers: { [name]: entry } };

const byHand = { text: `Nothing was changed. Add this to it: ${JSON.stringify(whole)}` };

/** What the file has now; null: there is none. @throws {OperationError} invalid for one that cannot be read, which may be somebody's work */
export function readMcpConfig(): { readonly text: string; readonly hasEntry: boolean } | null {
  requireInProject(file);
  if (!existsSync(file)) return null;
  let text: string;
  let value: unknown;
  try {
    text = readFileSync(file, "utf8");
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    throw new OperationError("invalid", `${file} ${why}`, { hint: byHand });
  }
  const servers = isObject(value) ? (value["mcpServers"] ?? {}) : null;
  if (!isObject(servers)) {
    throw new OperationError("invalid", `${file} has no object mcpServers`, { hint: byHand });
  }
  return { text, hasEntry: Object.hasOwn(servers, name) };
}

/** Writes the entry, beside those that are there. @returns whether it was missing */
export async function writeMcpConfig(): Promise<boolean> {
  const found = readMcpConfig();
  if (found === null) {
    writeNewFile(file, `${JSON.stringify(whole, null, 2)}\n`);
    return true;
  }
  if (found.hasEntry) return false;
  const { applyEdits, modify } = await import("jsonc-parser");
  const formattingOptions = { insertSpaces: !/^\t/m.test(found.text), tabSize: 2 };
  const text = applyEdits(found.text, modify(found.text, ["mcpServers", name], entry, { formattingOptions }));
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw cannotBeWritten(file, error);
  }
  return true;
}

/** What the person reads of it. @param isNew null: the entry was not asked for */
export function mcpNote(isNew: boolean | null): string | Hint {
  if (isNew === null) {
    return {
      text: `For coding agents, add ${JSON.stringify(whole)} to ${file}, or run`,
      command: ["idp", "init", "--mcp-config"],
    };
  }
  return isNew
    ? `Wrote the entry ${name} into ${file}: coding agents have the tools of idp in this project`
    : `${file} has the entry ${name} already; nothing was changed`;
}
