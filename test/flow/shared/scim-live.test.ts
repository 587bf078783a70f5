import { afterAll, expect, test } from "vitest";
import { call, startInstances } from "../../helpers/instances.ts";
import { scimServer, type Json } from "../../helpers/scim-server.ts";

/** `live: on` at two instances: one of them sends what changes at either, in the order of the changes. */

const app = await scimServer();
const scim = { url: app.url, token: app.token, profile: "okta", live: "on" };
const shared = await startInstances(
  2,
  {
    users: ["alice", "bob", "carol"].map((username) => ({ username })),
    clients: [{ client_id: "app", grant_types: [], scim }],
  },
  { atEnd: afterAll },
);
const push = await call(shared, "POST", "/scim/push", { client: "app" });

const changeAt = async (index: number, change: "suspend" | "restore", username: string): Promise<void> => {
  expect((await call(shared.at(index), "POST", `/users/${username}/${change}`)).status).toBe(200);
};

/** What was sent about whether a user is active: "bob false". */
const sent = (): string[] =>
  app.seen.flatMap(({ method, path, body }) => {
    if (method !== "PATCH") return [];
    const [{ value }] = body?.["Operations"] as [Json];
    return [
      `${String(app.users.get(path.slice("/Users/".length))?.["userName"]).split("@")[0]} ${String(value?.active)}`,
    ];
  });

test("one sends what changes at both, once and in order, though nobody asks it anything", async () => {
  expect(push.status).toBe(200);
  await changeAt(0, "suspend", "carol");
  await changeAt(1, "suspend", "alice");
  await changeAt(1, "restore", "carol");
  await changeAt(0, "restore", "alice");
  await changeAt(1, "suspend", "bob");
  await expect.poll(sent).toContain("bob false");
  expect(sent()).toEqual(["carol false", "alice false", "carol true", "alice true", "bob false"]);
});

test("when the one that sends is killed, the other one goes on with what it left, and with nothing that a leave overtook", async () => {
  app.seen.length = 0;
  // It started first, so it sends: it gets no answer now.
  let [answer, isHeld] = [(): void => undefined, false];
  const answered = new Promise<void>((resolve) => (answer = resolve));
  app.hook = ({ method }) => {
    if (method !== "PATCH" || isHeld) return null;
    isHeld = true;
    return answered.then(() => ({ status: 500 }));
  };
  await changeAt(1, "suspend", "alice");
  await expect.poll(sent).toContain("alice false");
  // Waits behind the change of Alice.
  expect((await call(shared.at(1), "PATCH", "/users/carol", { displayName: "Carol Other" })).status).toBe(200);
  expect((await call(shared.at(1), "POST", "/users/carol/leave")).status).toBe(200);
  shared.at(0).child.kill("SIGKILL");
  expect(await shared.at(0).ended).toEqual({ code: null, signal: "SIGKILL" });
  app.seen.length = 0;
  app.hook = () => null;
  answer();
  await changeAt(1, "restore", "bob");
  await expect.poll(sent).toContain("bob true");
  expect(app.named("alice@example.com")).toMatchObject({ active: false });
  expect(app.named("carol@example.com")).toMatchObject({ active: false });
});
