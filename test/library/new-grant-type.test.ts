import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { environment, newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";

/** What CONTRIBUTING promises of a new grant type: a file, and a line in the list. */

const name = "urn:example:grant-type:ticket-for-a-concert";

/** The file. */
const declaration = `
import { OAuthError } from "../../../base/errors.ts";
import { settleAccessToken } from "../settle.ts";
import { planForClient } from "./client-credentials.ts";
import { grantType } from "./grant-type.ts";

export const ticket = grantType({
  name: "${name}",
  parameters: { ticket: "secret", event_name_of_the_ticket: "open" },
  needs: { what: "authentication", rule: "Example 1" },
  grant: (ctx, authenticated, { ticket, event_name_of_the_ticket: scope }, jkt) => {
    if (ticket === undefined) throw new OAuthError("invalid_request", "ticket is missing", { rule: null, fix: "send a ticket" });
    const asked = { scope, resources: [], jkt };
    return settleAccessToken(ctx, authenticated, (tx, client) => ({
      subject: planForClient(tx, ctx, client, asked),
      authentication: null,
    }));
  },
});
`;

/** Uses the sources with it, and prints what came of it. */
const program = `
import { createIdp } from "./src/index.ts";
const known = { redirect_uris: [], grant_types: ["${name}"] };
const idp = await createIdp({
  port: 0,
  fixtures: {
    scopes: { "a-concert-in-the-park": { description: "A concert" } },
    clients: [{ ...known, client_id: "gate", client_secret: "of the gate" }, { client_id: "other", client_secret: "other", redirect_uris: ["http://localhost/cb"] }],
  },
});
const post = async (body) => {
  const response = await fetch(idp.issuer + "/api/v2/oauth/token", { method: "POST", body: new URLSearchParams({ grant_type: "${name}", ...body }) });
  return { status: response.status, ...(await response.json()) };
};
const gate = { client_id: "gate", client_secret: "of the gate", event_name_of_the_ticket: "a-concert-in-the-park" };
const sent = { ...gate, ticket: "a secret ticket with a long number" };
const granted = await post(sent);
const lacking = await post(gate);
const refused = await post({ ...sent, client_id: "other", client_secret: "other" });
const metadata = await (await fetch(idp.issuer + "/.well-known/openid-configuration")).json();
const [{ grant_type, parameters }] = await idp.call("requests.list", { endpoint: "token" });
const unfit = await idp.call("clients.add", { ...known, client_id: "page", token_endpoint_auth_method: "none" }).catch((error) => error.message);
const { active } = await idp.call("token.introspect", { token: granted.access_token });
await idp.call("expire", { all: true });
const later = await idp.call("token.introspect", { token: granted.access_token });
await idp.close();
console.log(JSON.stringify({ granted, lacking, refused, metadata, grant_type, parameters, unfit, active, later }));
`;

test("a grant type is a file and a line: it is served, described, registered, recorded, and its tokens end as others do", async () => {
  const folder = newFolder();
  for (const own of ["src", "fixtures", "package.json"])
    cpSync(join(repository, own), join(folder, own), { recursive: true });
  for (const shared of ["node_modules", "templates"]) symlinkSync(join(repository, shared), join(folder, shared));
  const types = join(folder, "src", "core", "protocol", "tokens", "grant-types");
  writeFileSync(join(types, "ticket.ts"), declaration);
  const list = readFileSync(join(types, "list.ts"), "utf8");
  const added = list.replace(/(const all = \[[^\]]*)\]/, "$1, ticket]");
  expect(added).not.toBe(list);
  writeFileSync(join(types, "list.ts"), `import { ticket } from "./ticket.ts";\n${added}`);
  writeFileSync(join(folder, "program.ts"), program);

  const options = { cwd: folder, env: environment({}), timeout: 25_000 };
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", "program.ts"], options);
  expect(JSON.parse(stdout)).toMatchObject({
    granted: { status: 200, token_type: "Bearer", scope: "a-concert-in-the-park" },
    lacking: { status: 400, error: "invalid_request", error_description: "ticket is missing" },
    refused: { status: 400, error: "unauthorized_client" },
    metadata: { grant_types_supported: expect.arrayContaining([name]) as string[] },
    // The ledger shows its name, and what is declared to be open, and no secret.
    grant_type: name,
    parameters: {
      grant_type: name,
      event_name_of_the_ticket: "a-concert-in-the-park",
      ticket: { fingerprint: expect.any(String) as string },
    },
    unfit: expect.stringContaining("has ticket-for-a-concert, which needs a client that can prove who it is") as string,
    active: true,
    later: { active: false },
  });
});
