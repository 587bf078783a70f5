import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../../helpers/app.ts";
import { newDatabase } from "../../helpers/postgres.ts";

/** What another instance wrote cannot be read here: nothing old is answered, and nothing is written, until it can be read. */

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const append = (entry: string): string =>
  `with moved as (update idp_issuers set head = head + 1, head_id = 'other' where name = '/' returning head)
   insert into idp_journal (issuer, seq, id, entry) select '/', head, 'other', '${entry}' from moved`;
const takeBack = "delete from idp_journal where id = 'other'";

test.each([
  ["no JSON", append("{"), /holds something that is not idp's: entry \d+ of the journal/, takeBack],
  ["a collection of a newer idp", append('[{"put":"factors","record":{}}]'), /entry \d+ of the journal/, takeBack],
  ["a record that fits no collection", append('[{"put":"users","record":{}}]'), /cannot be read/, takeBack],
  [
    "a newer schema",
    "update idp_schema set version = 99",
    /has schema version 99; this idp reads version 3/,
    "update idp_schema set version = 2",
  ],
  [
    "a newer schema that lacks a table",
    "update idp_schema set version = 99; alter table idp_journal rename to idp_entries",
    /idp_journal/,
    "alter table idp_entries rename to idp_journal; update idp_schema set version = 2",
  ],
] as const)("%s", async (_what, spoil, reason, repair) => {
  const url = await newDatabase();
  const idp = await serve({ store: url });
  onTestFinished(() => idp.close());
  const { access_token: token } = await idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid" });
  const headers = { authorization: `Bearer ${token}` };
  const end = async () => (await query(url, "select head, head_id from idp_issuers where name = '/'"))[0];
  const before = await end();
  await query(url, spoil);
  const spoiled = await end();
  const admin = { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" };
  const requests = [
    fetch(`${idp.issuer}/api/v2/oauth/userinfo`, { headers }),
    fetch(`${idp.issuer}/api/v2/oauth/jwks`),
    fetch(`${idp.issuer}/_idp/api/users`, { method: "POST", headers: admin, body: '{"username":"new"}' }),
    fetch(`${idp.issuer}/_idp/api/issuers`, { method: "POST", headers: admin, body: '{"name":"new"}' }),
    fetch(`${idp.issuer}/_idp/health`),
  ];
  for (const answer of await Promise.all(requests)) {
    const json = (await answer.json()) as Record<string, string>;
    expect([answer.status, answer.headers.get("retry-after")], answer.url).toEqual([503, "1"]);
    expect(json["error_description"]).toMatch(reason);
    expect(json["error_description"]).not.toContain("postgres://");
  }
  expect(await end()).toEqual(spoiled);
  if (spoil.includes("rename")) return;
  await query(url, repair);
  if (repair === takeBack) {
    await query(
      url,
      `update idp_issuers set head = ${String(before?.["head"])}, head_id = '${String(before?.["head_id"])}'`,
    );
  }
  expect((await fetch(`${idp.issuer}/_idp/health`)).status).toBe(200);
  expect((await fetch(`${idp.issuer}/api/v2/oauth/userinfo`, { headers })).status).toBe(200);
});
