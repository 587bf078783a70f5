import type { AuthorizationResponse } from "../../../../client/app/visit.ts";
import { Problem } from "../../../../client/check.ts";
import type { Asked, SpControl, Way } from "../../../../check/sp/control.ts";
import type { ClientView } from "../../../../core/clients/admin.ts";
import type { OperationName } from "../../../../core/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../../../../core/operations/table.ts";
import { spaces } from "../../../../core/service-providers/names.ts";
import { samlOf, serviceProvider, type ServiceProvider } from "../../../../core/service-providers/provider.ts";
import type { SamlFields } from "../../../../core/service-providers/schema.ts";
import { childOf, parseXml, textIn, XmlProblem } from "../../../../core/xml/parse.ts";
import type { Client } from "../../../../store/store.ts";
import { isObject } from "../../../../text/json.ts";
import { RemoteError } from "../../../../core/errors.ts";
import { callServer, type Server } from "../../../../serve/remote.ts";
import { faultsOn } from "../opened.ts";
import { logoutRequestOf } from "./logout-request.ts";
import { signedAgain } from "./sign-again.ts";

/** Connects the cases of `idp check sp` to a server. */

/** The name of the snapshot from before the key was rotated. */
const beforeRotation = "check-sp-keys";

/** What applies to a client that is a service provider; null: it is not one. */
export const providerAt = (client: ClientView): Promise<ServiceProvider | null> =>
  serviceProvider(client as unknown as Client);

export function spControlOf(
  server: Server,
  about: Pick<SpControl, "issuer" | "isOwn" | "user" | "attacker">,
  client: ClientView,
  provider: ServiceProvider,
): SpControl & { readonly close: () => Promise<void> } {
  const { client_id: id } = client;
  const faults = faultsOn(server);
  const fields: SamlFields = samlOf({ saml: client["saml"] }) ?? {};
  let acs = provider.acs;
  let way: Way = { sign: provider.sign, encrypt: fields.encrypt ?? false };
  let isRotated = false;
  const call = <N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> =>
    callServer(server, name, input);

  /** What the server refuses is a reason why the case says nothing. */
  async function asProblem<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof RemoteError) throw new Problem(error.problems[0]?.message ?? error.message);
      throw error;
    }
  }

  async function restoreKeys(): Promise<void> {
    if (!isRotated) return;
    isRotated = false;
    await call("snapshots.restore", { name: beforeRotation });
    await call("snapshots.remove", { name: beforeRotation, replace: true });
  }

  /** Changes the client, and keeps what it was where the server refuses that. */
  async function edit(next: { readonly acs?: typeof acs; readonly way?: Way }): Promise<void> {
    const { acs: all = acs, way: made = way } = next;
    const listed = all.map(({ url, index }) => (index === null ? url : { url, index }));
    await asProblem(call("clients.edit", { client_id: id, saml: { ...fields, ...made, acs: listed } }));
    [acs, way] = [all, made];
  }

  return {
    ...about,
    ...{ client: id, way, hasLogout: provider.slo !== null },
    acs: () => acs,
    addAcs: (url) => edit({ acs: [...acs, { url, index: null }] }),
    addFault: (fault) => asProblem(faults.add(fault)),
    removeFaults: () => faults.removeAll(),
    async close() {
      await faults.close();
      await restoreKeys();
    },
    async requests(since) {
      const all = await call("requests.list", since === undefined ? {} : { since });
      return all.filter((record) => record.client === id || record.client === null);
    },
    asked: (records) =>
      records.flatMap(({ endpoint, parameters }) => (endpoint === "saml_sso" ? askedIn(parameters) : [])),
    async issue(relayState) {
      const issued = await asProblem(
        call("issue.saml", {
          ...{ user: about.user.username, client: id },
          ...(relayState !== undefined && { relay_state: relayState }),
        }),
      );
      const parameters = new URLSearchParams({ SAMLResponse: issued.SAMLResponse });
      if (issued.RelayState !== null) parameters.set("RelayState", issued.RelayState);
      return { redirectUri: issued.acs, mode: "form_post", parameters } satisfies AuthorizationResponse;
    },
    async setWay(next) {
      if (next.sign !== way.sign || next.encrypt !== way.encrypt) await edit({ way: next });
    },
    async rotateKeys() {
      await call("snapshots.save", { name: beforeRotation, replace: true });
      isRotated = true;
      await call("keys.rotate", { saml: true });
    },
    restoreKeys,
    signAgain: (response, change) => signedAgain(server, way.sign, response, change),
    logoutRequest: (response, message) => logoutRequestOf(server, provider.slo?.url ?? "", response, message),
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
