import { personOf, unbranded, type PersonView } from "../../../src/http/pages/views.ts";

/** What the sample views of all pages share: the frame, the people, the app. */

export const common = { lang: "en", theme: "system", base: "", brand: unbranded, keptQuery: "" } as const;

export const demoApp = { id: "demo-app", name: "Demo App" };

export const person = (
  username: string,
  displayName: string,
  email: string,
  color: string,
  status: PersonView["status"],
) =>
  personOf({ username, displayName, email, status, avatar: { baseUrl: "", path: "", color }, claims: {}, note: null });

export const alice = {
  ...person("alice", "Alice Adams", "alice@example.com", "#4f46e5", "active"),
  badges: ["admin"],
};

export const bob = person("bob", "Bob", "bob@example.com", "#fbbf24", "active");

export const carol = person("carol", "Carol Çelik", "carol@example.com", "#0f766e", "suspended");

export const dave = {
  ...person("dave", "Dave Doe", "dave@example.com", "#be123c", "banned"),
  badges: ["editor", "release-manager", "support"],
};
