import type { JsonObject } from "../../../text/json.ts";
import { Problem } from "../../../client/check.ts";
import { jsonOf } from "../../../client/http.ts";
import { noticed, notReached, unnoticed, type Case, type Finding, isFinding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { challengesOf } from "../judge.ts";

/** Only with `--mcp`: the metadata of a protected resource (RFC 9728), which MCP clients read first. */

/** The document that the challenge names; a finding where there is none. */
async function documentOf(attempt: Attempt): Promise<{ readonly at: string; readonly json: JsonObject } | Finding> {
  const reply = await attempt.send(null);
  const at = challengesOf(reply).flatMap(({ parameters }) => parameters.get("resource_metadata") ?? [])[0];
  if (at === undefined) return unnoticed("sent no resource_metadata in WWW-Authenticate");
  if (!/^https?:/i.test(at) || !URL.canParse(at)) return unnoticed(`named ${JSON.stringify(at)}, which is not a URL`);
  try {
    const found = await attempt.read(at);
    return found.status === 200 ? { at, json: jsonOf(found) } : unnoticed(`answered ${found.status} at ${at}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return unnoticed(error.message);
  }
}

const base = (name: string, mustNot: string, should: string, paragraph: string, fix: string) => ({
  ...{ name, mustNot, should, paragraph, fix },
});

const metadata: Case<Attempt> = {
  ...base(
    "metadata",
    "a client cannot find out which issuer the server trusts",
    "name its metadata document in the challenge",
    "RFC 9728 5.1, MCP authorization",
    'WWW-Authenticate: Bearer resource_metadata="https://…/.well-known/oauth-protected-resource"',
  ),
  async run(attempt) {
    const found = await documentOf(attempt);
    return isFinding(found) ? found : noticed(`named ${found.at} in the challenge`);
  },
};

const metadataResource: Case<Attempt> = {
  ...base(
    "metadata-resource",
    "the document is not that of this server",
    "have the URL of the server in resource",
    "RFC 9728 3.3",
    "resource must equal the URL that clients use, to the letter",
  ),
  async run(attempt) {
    const found = await documentOf(attempt);
    if (isFinding(found)) return notReached(`there is no document: ${found.did}`);
    const { resource } = found.json;
    const { url } = attempt.api;
    // An address without a path may end in a slash.
    const isSame =
      typeof resource === "string" && (resource === url || `${resource}/` === url || resource === `${url}/`);
    if (isSame) return noticed(`has resource ${url}`);
    return unnoticed(
      resource === undefined ? "has no resource" : `has resource ${JSON.stringify(resource)}, not ${url}`,
    );
  },
};

const metadataIssuer: Case<Attempt> = {
  ...base(
    "metadata-issuer",
    "the document does not list the issuer",
    "list the issuer in authorization_servers",
    "RFC 9728 2",
    "authorization_servers: [issuer], exactly as the issuer's own metadata has it",
  ),
  async run(attempt) {
    const found = await documentOf(attempt);
    if (isFinding(found)) return notReached(`there is no document: ${found.did}`);
    const { authorization_servers: servers } = found.json;
    const { issuer } = attempt.control;
    return Array.isArray(servers) && servers.includes(issuer)
      ? noticed(`lists ${issuer}`)
      : unnoticed(servers === undefined ? "lists none" : `lists ${JSON.stringify(servers)}, not ${issuer}`);
  },
};

export const mcpCases: readonly Case<Attempt>[] = [metadata, metadataResource, metadataIssuer];
