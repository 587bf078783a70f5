import type { AuthorizationResponse } from "../../client/app/visit.ts";
import type { ClientView } from "../../core/records/clients/admin.ts";
import { spaces } from "../../core/records/service-providers/names.ts";
import { samlOf, serviceProvider, type ServiceProvider } from "../../core/records/service-providers/provider.ts";
import type { SamlFields } from "../../core/records/service-providers/schema.ts";
import { childOf, parseXml, textIn, XmlProblem } from "../../core/base/xml/parse.ts";
import type { Server } from "../../serve/remote.ts";
import type { Client } from "../../store/store.ts";
import { isObject } from "../../text/json.ts";
import { idpAt, type Recorded } from "../frame/idp.ts";
import type { Opened } from "../frame/opened.ts";
import { logoutRequestOf } from "./logout-request.ts";
import type { Asked, LogoutMessage, Person, Way } from "./messages.ts";
import { signedAgain } from "./sign-again.ts";

/** What the cases may do at the issuer: responses of all kinds, how they are made, its keys, and what the app asked. */

interface About {
  readonly issuer: string;
  /** Nobody else uses this issuer, so its keys and the client may be changed. */
  readonly isOwn: boolean;
  readonly user: Person;
  readonly attacker: Person;
}

/** The name of the snapshot from before the key was rotated. */
const beforeRotation = "check-sp-keys";

/** What applies to a client that is a service provider; null: it is not one. */
export const providerAt = (client: ClientView): Promise<ServiceProvider | null> =>
  serviceProvider(client as unknown as Client);

export type SpControl = ReturnType<typeof spControlOf>;

export function spControlOf(
  server: Server,
  about: About,
  client: ClientView,
  provider: ServiceProvider,
  opened: Opened,
) {
  const { client_id: id } = client;
  const idp = idpAt(server, opened);
  const { call, tried, addFault, removeFaults } = idp;
  const fields: SamlFields = samlOf({ saml: client["saml"] }) ?? {};
  let acs = provider.acs;
  let way: Way = { sign: provider.sign, encrypt: fields.encrypt ?? false };
  let isRotated = false;

  async function restoreKeys(): Promise<void> {
    if (!isRotated) return;
    isRotated = false;
    await call("snapshots.restore", { name: beforeRotation });
    await call("snapshots.remove", { name: beforeRotation, replace: true });
  }

  /** Changes the client, and keeps what it was where the server refuses that. @throws {Problem} */
  async function edit(next: { readonly acs?: typeof acs; readonly way?: Way }): Promise<void> {
    const { acs: all = acs, way: made = way } = next;
    const listed = all.map(({ url, index }) => (index === null ? url : { url, index }));
    await tried("clients.edit", { client_id: id, saml: { ...fields, ...made, acs: listed } });
    [acs, way] = [all, made];
  }

  return {
    ...{ ...about, addFault, removeFaults, restoreKeys },
    /** The entityID. */
    client: id,
    /** The client's own choice. */
    way,
    /** The app has an address for LogoutRequests. */
    hasLogout: provider.slo !== null,
    /** The registered addresses, the default first. */
    acs: (): readonly { readonly url: string; readonly index: number | null }[] => acs,
    /** Registers one more. @throws {Problem} it may not be registered */
    addAcs: (url: string): Promise<void> => edit({ acs: [...acs, { url, index: null }] }),
    /** The requests of the client, and those that name no client. @param since the id of a request: only later ones */
    requests: (since?: string) => idp.requestsOf(id, since),
    /** The AuthnRequests among them. */
    asked: (records: readonly Recorded[]): readonly Asked[] =>
      records.flatMap(({ endpoint, parameters }) => (endpoint === "saml_sso" ? askedIn(parameters) : [])),
    /** A response that answers no request. */
    async issue(relayState?: string): Promise<AuthorizationResponse> {
      const issued = await tried("issue.saml", {
        ...{ user: about.user.username, client: id },
        ...(relayState !== undefined && { relay_state: relayState }),
      });
      const parameters = new URLSearchParams({ SAMLResponse: issued.SAMLResponse });
      if (issued.RelayState !== null) parameters.set("RelayState", issued.RelayState);
      return { redirectUri: issued.acs, mode: "form_post", parameters };
    },
    /** Changes how the client's responses are made. @throws {Problem} the client cannot have them like this */
    async setWay(next: Way): Promise<void> {
      if (next.sign !== way.sign || next.encrypt !== way.encrypt) await edit({ way: next });
    },
    /** Signs with a new key until `restoreKeys`. */
    async rotateKeys(): Promise<void> {
      await opened.adds(async () => {
        await call("snapshots.save", { name: beforeRotation, replace: true });
        isRotated = true;
      }, restoreKeys);
      await call("keys.rotate", { saml: true });
    },
    /**
     * The same response, changed before it is signed.
     * @param change of its text without signatures @throws {Problem} it is encrypted, or cannot be signed here
     */
    signAgain: (response: AuthorizationResponse, change: (text: string) => string): Promise<AuthorizationResponse> =>
      signedAgain(server, way.sign, response, change),
    /**
     * A LogoutRequest for the session that a response began.
     * @returns where it goes, and its parameters @throws {Problem} the response does not say which session that is
     */
    logoutRequest: (response: AuthorizationResponse, message: LogoutMessage) =>
      logoutRequestOf(server, provider.slo?.url ?? "", response, message),
  };
}

/** The AuthnRequest in the parameters of a record. */
function askedIn(parameters: Readonly<Record<string, unknown>>): readonly Asked[] {
  const { SAMLRequest: sent } = parameters;
  if (!isObject(sent) || typeof sent["message"] !== "string") return [];
  try {
    const message = parseXml(sent["message"]);
    const issuer = childOf(message, spaces.assertion, "Issuer");
    const {
      ID: id = "",
      AssertionConsumerServiceURL: acs = null,
      AssertionConsumerServiceIndex: acsIndex = null,
    } = message.attributes;
    return [{ id, issuer: issuer === undefined ? "" : textIn(issuer), acs, acsIndex }];
  } catch (error) {
    if (error instanceof XmlProblem) return [];
    throw error;
  }
}
