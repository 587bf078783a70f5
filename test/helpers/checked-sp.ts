import type { Browser, Places } from "../../src/client/app/visit.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import type { App, Attempt } from "../../src/check/sp/attempt.ts";
import { runSp } from "../../src/check/sp/check.ts";
import type { Case } from "../../src/check/frame/verdict.ts";
import type { RunResult } from "../../src/check/frame/run.ts";
import { nearLookup } from "../../src/check/frame/near.ts";
import { Opened } from "../../src/check/frame/opened.ts";
import { providerAt, spControlOf } from "../../src/check/sp/control.ts";
import { spPeople } from "../../src/check/sp/place.ts";
import type { SamlFields } from "../../src/core/records/service-providers/schema.ts";
import { createIdp } from "../../src/index.ts";
import { atEnd } from "./at-end.ts";
import { checkRun } from "./check-run.ts";
import { CarefulSp, type SpConfig } from "./careful-sp.ts";
import { serveApp } from "./serve-app.ts";

/** What makes the service provider under test. */
type MakeSp = (config: SpConfig) => Pick<CarefulSp, "handle">;

interface Setting extends Partial<Omit<SpConfig, "idp">> {
  /** Absent: the one by hand. */
  readonly make?: MakeSp;
  readonly saml?: SamlFields;
  readonly app?: Partial<Pick<App, "noUnsolicited" | "signedInText" | "who">>;
  readonly attacker?: string;
  /** Absent: one without scripts. */
  readonly newBrowser?: (places: Places) => Promise<Browser>;
}

/** A server and an address for service providers, and what runs `idp check sp` on one; for the tests of one file. */
export async function checkedSp(): Promise<(cases: readonly Case<Attempt>[], setting?: Setting) => Promise<RunResult>> {
  let sp: Pick<CarefulSp, "handle"> | null = null;
  const { url, close } = await serveApp(0, () => sp);
  atEnd(close);
  const entityId = `${url}/metadata`;
  const acs = `${url}/acs`;
  const idp = await createIdp({ port: 0, fixtures: { users: [{ username: "alice" }, { username: "bob" }] } });
  atEnd(() => idp.close());
  const server = { url: idp.issuer, adminToken: idp.adminToken };

  return async (cases, setting = {}) => {
    const { make = (config: SpConfig) => new CarefulSp(config), saml = {}, app = {}, attacker, ...config } = setting;
    const { newBrowser = (places: Places) => Promise.resolve(smallBrowser(places)) } = setting;
    await idp.call("reset", {});
    await idp.call("seed", { clients: [{ client_id: entityId, saml: { acs: [acs], slo: `${url}/slo`, ...saml } }] });
    const { certificate, entity_id, sso_url } = await idp.call("saml.show", {});
    sp = make({ entityId, acs, idp: { entityId: entity_id, sso: sso_url, certificate }, ...config });
    const client = await idp.call("clients.show", { client_id: entityId });
    const provider = await providerAt(client);
    if (provider === null) throw new Error("the client is not a service provider");
    const opened = new Opened();
    const given = { user: "alice", issuer: idp.issuer, provider, named: attacker };
    const people = await spPeople(server, given, opened);
    const control = spControlOf(server, { issuer: idp.issuer, isOwn: true, ...people }, client, provider, opened);
    const lookup = nearLookup(undefined);
    try {
      return await runSp(
        {
          app: {
            ...{ start: `${url}/login`, signedIn: `${url}/me`, signedInText: null, who: `${url}/me` },
            ...{ noUnsolicited: false, lookup, ...app },
          },
          ...{ ...checkRun, control, closeLimit: 100, account: null, second: null },
          newBrowser: ({ person = people.user, cancels = false }) =>
            newBrowser({
              ...{ issuer: idp.issuer, redirectUris: control.acs().map((one) => one.url) },
              origins: [url, ...control.acs().map((one) => new URL(one.url).origin)],
              ...{ user: person.username, cancels, lookup },
            }),
        },
        cases,
      );
    } finally {
      await opened.close();
    }
  };
}
