import { expect, test } from "vitest";
import type { PushReport } from "../../src/core/scim/push.ts";
import { lookUpGroup, lookUpUser, profileNames, readUser } from "../../src/scim/profiles.ts";
import { underAttack } from "../helpers/attack.ts";
import { callback } from "../helpers/client.ts";
import { idpHere } from "../helpers/command.ts";
import { scimServer } from "../helpers/scim-server.ts";

/** Apps that attack the provisioning client, and names that would change what it asks. */

const lines: string[] = [];
const log = (line: string): void => void lines.push(line);
const idp = await underAttack({
  log,
  onRequest: (event) => lines.push(JSON.stringify(event)),
  fixtures: { users: [{ username: "alice", claims: { groups: ["all"] } }, { username: "bob" }] },
});
const secret = "the-token-that-opens-the-app";

const names = [
  'o"brien',
  'x" or userName pr or userName eq "y',
  "50%25 off%",
  "line\r\nbreak: yes",
  "Şükrü Öztürk 日本",
  "back\\slash",
  "a&count=1#x",
];

test.each(names)("a name is a value of the filter, whatever it has: %j", (name) => {
  for (const profile of profileNames) {
    for (const request of [lookUpUser(profile, name), lookUpGroup(profile, name)]) {
      const url = new URL(`http://app.test/scim${request.path}`);
      const [, value = ""] = /^\w+ eq (.*)$/s.exec(url.searchParams.get("filter") ?? "") ?? [];
      expect(JSON.parse(value)).toBe(name);
      expect(url.hash).toBe("");
      expect([...url.searchParams.keys()].filter((key) => key === "count").length).toBeLessThan(2);
    }
  }
  expect(new URL(`http://app.test/scim${readUser(name).path}`).pathname.split("/")).toHaveLength(4);
});

test("groups with such names are one group each", async () => {
  const app = await scimServer();
  await idp.call("seed", {
    users: [{ username: "names", claims: { groups: names } }],
    clients: [{ client_id: "names", redirect_uris: [callback], scim: { url: app.url, token: app.token } }],
  });
  for (let round = 0; round < 2; round++) {
    const report = (await idp.scim.push({ client: "names", full: round === 1 })) as PushReport;
    expect(report.inSync).toBe(true);
  }
  expect([...app.groups.values()].map(({ displayName }) => String(displayName)).sort()).toEqual(
    [...names, "all"].sort(),
  );
});

test.each([
  ["a bearer token", secret, secret],
  ["a password", { basic: `idp:${secret}` }, secret],
])("%s is nowhere, also where the app repeats it", async (_name, token, hidden) => {
  const app = await scimServer();
  app.hook = ({ authorization = "" }) => {
    const given = authorization.replace(/^\w+ /, "");
    const said = `${authorization} ${hidden} ${given}`;
    return {
      status: 400,
      headers: { "x-token": given },
      body: { detail: said, scimType: hidden, [hidden]: { [given]: [said] } },
    };
  };
  const scim = { url: app.url, token, profile: "entra" as const };
  await idp.call("seed", { clients: [{ client_id: "loud", redirect_uris: [callback], scim }] });
  const command = async (words: string) => {
    const { stdout, stderr } = await idpHere([...words.split(" "), "--url", idp.issuer], "", {
      IDP_ADMIN_TOKEN: idp.adminToken,
    });
    return stdout + stderr;
  };
  const shown = [
    JSON.stringify(await idp.scim.push({ client: "loud" })),
    JSON.stringify(await idp.scim.push({ client: "loud", dry_run: true })),
    JSON.stringify(await idp.scim.test({ client: "loud" })),
    JSON.stringify(await idp.leave("bob")),
    JSON.stringify(await idp.call("users.restore", { username: "bob" })),
    JSON.stringify(await idp.scim.status()),
    JSON.stringify(await idp.requests.list()),
    JSON.stringify(await idp.call("export", { as: "fixtures" })),
    await command("scim push --client loud"),
    await command("scim status --verbose"),
    await command("requests list --endpoint scim --json"),
    ...lines,
  ].join("\n");
  expect(app.seen.length).toBeGreaterThan(3);
  expect(shown).not.toContain(hidden);
  expect(shown).not.toContain(Buffer.from(`idp:${hidden}`).toString("base64"));
  await idp.call("clients.remove", { client_id: "loud" });
});

test("an answer without end is cut off", async () => {
  const app = await scimServer();
  app.hook = () => ({ status: 200, body: { Resources: ["x".repeat(1_200_000)] } });
  await idp.call("seed", { clients: [{ client_id: "large", redirect_uris: [callback], scim: { url: app.url } }] });
  expect(await idp.scim.test({ client: "large" })).toMatchObject({
    ok: false,
    status: null,
    error: expect.stringContaining("larger than") as unknown,
  });
});
