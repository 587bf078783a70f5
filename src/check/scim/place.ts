import type { ClientView } from "../../core/records/clients/admin.ts";
import { OperationError } from "../../core/base/errors.ts";
import { createIdp } from "../../index.ts";
import { findFixtures } from "../../serve/fixture-files.ts";
import { callServer } from "../../serve/remote.ts";
import type { Client } from "../../store/store.ts";
import type { Subject } from "../frame/subject.ts";
import { noClient } from "../frame/place.ts";
import type { Session } from "../frame/check.ts";
import type { ScimApp } from "../shared/scim-server.ts";

/** The SCIM server that is checked: the one of `--url`, or of a client of a server. */

interface PlaceFlags {
  readonly url?: string;
  readonly tokenEnv?: string;
  readonly client?: string;
}

interface ScimPlace {
  readonly app: ScimApp;
  /** The client; null: the address was given. */
  readonly client: string | null;
  /** The environment of the app that is started. */
  readonly env: NodeJS.ProcessEnv;
}

/** The token that a variable holds. @throws {OperationError} usage */
export function tokenIn(env: NodeJS.ProcessEnv, flag: string, name: string): string {
  const token = env[name]?.trim() ?? "";
  if (token !== "") return token;
  throw new OperationError("usage", `${flag} ${name}: the environment has no such variable, or an empty one`, {
    hint: { text: "Put the token into it, and keep it out of the command line", command: ["export", `${name}=…`] },
  });
}

/** @throws {OperationError} usage, not_found, no_server */
export async function scimPlace({ host, check, command, opened }: Session, flags: PlaceFlags): Promise<ScimPlace> {
  const { url, tokenEnv, client } = flags;
  if (url !== undefined) {
    if (tokenEnv === undefined) {
      throw new OperationError("usage", "--url needs --token-env: the variable that holds the token of the app", {
        hint: { text: "For example", command: ["idp", "check", "scim", "--url", url, "--token-env", "SCIM_TOKEN"] },
      });
    }
    return { app: { url, token: tokenIn(host.env, "--token-env", tokenEnv) }, client: null, env: host.childEnv };
  }
  if (command === null) {
    const { server } = await host.runningServer(true);
    return { ...placeOf(check, await callServer(server, "clients.list", { secrets: true }), client), env: host.env };
  }
  const { sources } = findFixtures(await host.fixtures(), host.cwd);
  const idp = await createIdp({ port: 0, fixtures: sources });
  await opened.add(() => idp.close());
  const place = placeOf(check, await idp.call("clients.list", { secrets: true }), client);
  return { ...place, env: await host.environmentOf(idp, place.client) };
}

/** @throws {OperationError} not_found for an unknown client, and one without `scim`; usage where several have it */
function placeOf(check: Subject, clients: readonly ClientView[], wanted: string | undefined) {
  const known = clients.map(({ client_id: id }) => id);
  if (wanted !== undefined && !known.includes(wanted)) throw noClient(check, wanted, clients);
  const all = clients.flatMap((one) => {
    const { client_id: id, scim } = one as unknown as Client;
    return scim !== undefined && (wanted === undefined || id === wanted) ? [{ id, scim }] : [];
  });
  const [first, ...others] = all;
  if (first === undefined) {
    const message = wanted === undefined ? "no client has scim" : `client "${wanted}" has no scim`;
    throw new OperationError("not_found", message, {
      hint: {
        text: "To give it the address of its SCIM server",
        command: [
          ...["idp", "clients", "edit", wanted ?? known[0] ?? "CLIENT_ID"],
          ...["--set", 'scim={"url":"http://localhost:3000/scim/v2"}'],
        ],
      },
    });
  }
  if (others.length > 0) {
    const ids = all.map(({ id }) => id);
    throw new OperationError("usage", `several clients have scim: ${ids.join(", ")}`, {
      hint: { text: "Choose one", command: ["idp", "check", "scim", "--client", ids[0] ?? ""] },
    });
  }
  const { url, token } = first.scim;
  return { app: { url, ...(token !== undefined && { token }) }, client: first.id };
}
