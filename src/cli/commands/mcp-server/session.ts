import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPort } from "../../../core/base/endpoints.ts";
import { createIdp, type Idp } from "../../../index.ts";
import type { OperationName } from "../../../core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../../../core/admin/operations/table.ts";
import { readFixtures } from "../../../serve/fixture-files.ts";
import { callServer, issuerAt } from "../../../serve/remote.ts";
import type { Invocation } from "../../invocation.ts";
import { commandLine } from "../../output/command-line.ts";
import { leaveNotice } from "../../target/memory-servers.ts";
import { findServer, findTarget } from "../../target/target.ts";
import { usualPort } from "../../target/usual-port.ts";
import type { Session } from "./tool.ts";

/** What the tools work on: the server that a command would find at each call, and after `start` the one that it made. */

export interface OpenSession extends Session {
  /** Ends the server that was started here, and removes all files. */
  readonly close: () => Promise<void>;
}

/** How many milliseconds a server has to say which issuer it is. */
const timeoutMs = 5000;

/** @param onStart called when `start` made a server */
export function openSession(
  base: Invocation,
  { allowRemote, onStart }: { readonly allowRemote: boolean; readonly onStart: () => void },
): OpenSession {
  // Nobody reads what a command would print beside its answer.
  const cli: Invocation = { ...base, stdin: base.stdin, quiet: true, interactive: false, animated: false };
  let own: Idp | null = null;
  let removeNotice: (() => void) | null = null;
  let folder: string | null = null;
  let starting: Promise<{ readonly issuer: string; readonly isNew: boolean }> | null = null;

  const now = (): Invocation =>
    own === null
      ? cli
      : { ...cli, url: own.issuer, adminTokenFile: null, env: { ...cli.env, IDP_ADMIN_TOKEN: own.adminToken } };
  async function call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> {
    if (own !== null) return callServer({ url: own.issuer, adminToken: own.adminToken }, name, input);
    return (await findTarget(cli)).call(name, input);
  }
  const line = commandLine(cli);

  async function running(): Promise<string | null> {
    const url = own?.issuer ?? cli.url ?? (await findServer(cli))?.url ?? null;
    return url === null ? null : issuerAt(url, timeoutMs);
  }

  async function begin(port: number): Promise<{ readonly issuer: string; readonly isNew: boolean }> {
    const there = await running();
    if (there !== null) return { issuer: there, isNew: false };
    const { sources } = await readFixtures([], process.cwd());
    own = await createIdp({ port, fixtures: sources, commandLine: line, log: () => undefined });
    removeNotice = leaveNotice(cli, { localUrl: own.issuer, adminToken: own.adminToken });
    onStart();
    return { issuer: own.issuer, isNew: true };
  }

  return {
    cli: now,
    ...{ allowRemote, call, line },
    // Two calls at once make one server.
    start: (port = usualPort(cli.env) ?? defaultPort) => {
      starting ??= begin(port).finally(() => {
        starting = null;
      });
      return starting;
    },
    folder: () => (folder ??= mkdtempSync(join(tmpdir(), "dev-idp-mcp-"))),
    close: async () => {
      removeNotice?.();
      if (folder !== null) rmSync(folder, { recursive: true, force: true });
      await starting?.catch(() => undefined);
      await own?.close();
    },
  };
}
