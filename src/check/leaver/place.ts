import { OperationError } from "../../core/base/errors.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { Client } from "../../store/store.ts";
import type { PlaceFlags } from "../frame/flags.ts";
import { checkAddresses } from "../frame/near.ts";
import { anotherUser, otherThan } from "../frame/people.ts";
import { appPlace, type CheckPlace } from "../frame/place.ts";
import { jwksUriOf, withPublishedKeys } from "../shared/tokens.ts";
import type { Session } from "../frame/check.ts";

/** The issuer of the app whose users leave: the tokens of its API are for the published keys. */

/** @throws {OperationError} no_server, usage, not_found, conflict */
export async function leaverPlace(session: Session, flags: PlaceFlags): Promise<CheckPlace> {
  const settings = { access_token_alg: "RS256" };
  const place = await appPlace(session, flags, { change: withPublishedKeys, settings });
  await requireRealTime(place.server);
  if (session.command === null) return place;
  const { audience } = place.client;
  const env = {
    ...place.env,
    OIDC_JWKS_URI: await jwksUriOf(place.issuer),
    OIDC_AUDIENCE: typeof audience === "string" ? audience : place.issuer,
  };
  return { ...place, env };
}

/** Times are measured by the real clock, and tokens expire by the server's. @throws {OperationError} conflict */
async function requireRealTime(server: Server): Promise<void> {
  const { offset, frozen } = await callServer(server, "clock.show", {});
  if (offset === 0 && !frozen) return;
  throw new OperationError("conflict", `the clock of the server is ${frozen ? "frozen" : `off by ${offset} s`}`, {
    hint: { text: "The check measures real time. Set it right", command: ["idp", "clock", "reset"] },
  });
}

/** Who stays signed in, where the signals have no users of their own. @throws {OperationError} not_found */
export async function otherStays(server: Server, user: string): Promise<string> {
  const other = await otherThan(server, user);
  if (other !== null) return other;
  throw new OperationError("not_found", `there is no active user but ${user}, who could stay signed in`, {
    hint: anotherUser,
  });
}

/** The client with the token of its SCIM server. Its addresses are sent signals by this command, too. @throws {OperationError} usage */
export async function clientOf(
  { server, client: { client_id } }: CheckPlace,
  allowRemote: true | undefined,
): Promise<Client> {
  const client = (await callServer(server, "clients.show", { client_id, secrets: true })) as unknown as Client;
  const { scim, global_token_revocation: revocation } = client;
  const named = {
    [`scim.url of client "${client_id}"`]: scim?.url,
    [`global_token_revocation.uri of client "${client_id}"`]: revocation?.uri,
  };
  await checkAddresses(named, allowRemote);
  return client;
}
