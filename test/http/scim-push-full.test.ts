import { expect, test } from "vitest";
import { profileNames } from "../../src/scim/profiles.ts";
import { actions, pushedApp } from "../helpers/pushed-app.ts";

/** `scim push --full`: the app has everything again, whatever it did meanwhile. */

test.each(profileNames)("%s: a user is active again, and a group has exactly the members of idp", async (profile) => {
  const { app, push } = await pushedApp({ profile });
  await push();
  const [alice] = [...app.users.values()];
  const [group] = [...app.groups.values()];
  const members = app.memberNames(String(group?.["displayName"]));
  app.users.set(alice?.["id"] as string, { ...alice, active: false, displayName: "Somebody" });
  const foreign = { id: "foreign", userName: "foreign@elsewhere.example", active: true, tenant: "one" };
  app.users.set("foreign", foreign);
  const joined = [...(group?.["members"] as object[]), { value: "foreign" }];
  app.groups.set(group?.["id"] as string, { ...group, members: joined });
  const report = await push({ full: true });
  expect(report.inSync).toBe(true);
  expect(app.users.get(alice?.["id"] as string)).toMatchObject({ active: true, displayName: alice?.["displayName"] });
  expect(app.memberNames(String(group?.["displayName"]))).toEqual(members);
});

test.each(profileNames)("%s: a user and a group that the app lost are looked up, then created", async (profile) => {
  const { app, push } = await pushedApp({ profile });
  await push();
  const [alice] = [...app.users.values()];
  const [group] = [...app.groups.values()];
  app.users.delete(alice?.["id"] as string);
  app.groups.delete(group?.["id"] as string);
  const report = await push({ full: true });
  expect(actions(report)).toEqual(
    expect.arrayContaining(["created alice", `created ${String(group?.["displayName"])}`]),
  );
  expect(app.named(alice?.["userName"] as string)).toMatchObject({ active: true });
  expect(app.memberNames(String(group?.["displayName"]))).toContain(alice?.["userName"]);
});

test("Entra ID's flag in the address means entra-compliant, and is in no request", async () => {
  const { app, idp, push } = await pushedApp({ profile: "entra" });
  await idp.call("clients.edit", { client_id: "app", scim: { url: `${app.url}?aadOptscim062020`, token: app.token } });
  const { profile, inSync } = await push();
  expect([profile, inSync]).toEqual(["entra-compliant", true]);
  expect(app.seen.filter(({ path, query }) => path.includes("?") || query.has("aadOptscim062020"))).toEqual([]);
});

test.each(["http://169.254.169.254/scim", "http://[fe80::1]/scim", "http://[::ffff:169.254.169.254]/scim"])(
  "%s, to which nothing is ever sent, is a problem of the fixture",
  async (url) => {
    const { idp } = await pushedApp();
    const own = { client_id: "cloud", redirect_uris: ["http://localhost:1/cb"] };
    for (const more of [{ scim: { url } }, { global_token_revocation: { uri: url } }])
      await expect(idp.call("seed", { clients: [{ ...own, ...more }] })).rejects.toMatchObject({
        problems: [{ message: expect.stringContaining("which no client may have") as unknown }],
      });
  },
);
