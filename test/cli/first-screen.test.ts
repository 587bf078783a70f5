import { Chalk } from "chalk";
import { expect, test } from "vitest";
import { firstScreen, type Screen } from "../../src/cli/commands/start/first-screen.ts";

/** The first screen of `idp start`, to the letter. */

const plain = new Chalk({ level: 0 });

const user = (username: string, more: Partial<Screen["users"]["first"][number]> = {}) => ({
  username,
  email: `${username}@example.com`,
  status: "active" as const,
  password: null,
  ...more,
});

const screen: Screen = {
  version: "0.1.0",
  took: 151.4,
  issuer: "http://localhost:4370",
  hasKeys: true,
  users: { first: [user("alice", { password: "alice" }), user("carol", { status: "suspended" })], all: 2 },
  clients: {
    first: [
      {
        id: "service",
        isPublic: false,
        secret: "s",
        redirectUris: [],
        grantTypes: ["client_credentials"],
      },
      {
        id: "web",
        isPublic: false,
        secret: "web-secret",
        redirectUris: ["http://127.0.0.1:*/cb", "http://localhost:3000/cb"],
        grantTypes: [],
      },
    ],
    all: 9,
  },
  isInEnvFile: false,
  app: {
    id: "web",
    isPublic: false,
    secret: "web-secret",
    redirectUris: ["http://127.0.0.1:*/cb", "http://localhost:3000/cb"],
    grantTypes: [],
  },
  hasLogin: true,
  issuers: { first: [["w1", "http://localhost:4370/i/w1"]], all: 8 },
  listens: null,
  data: [".idp/data.json, kept between runs"],
  fixtures: ["built-in demo", "users 2 added"],
};

test("the first screen", () => {
  expect(firstScreen(screen, plain)).toMatchSnapshot();
});

test("the first screen asks for no secret where a client has none", () => {
  const app = {
    id: "deploy",
    isPublic: false,
    hasSecret: false,
    secret: null,
    redirectUris: [],
    grantTypes: [],
  } as const;
  const shown = firstScreen({ ...screen, clients: { first: [app], all: 1 }, app }, plain);
  expect(shown).toContain("deploy  no secret");
  expect(shown).not.toContain("OIDC_CLIENT_SECRET");
});

test("the first screen says SAML beside a service provider", () => {
  const app = { id: "urn:sp", isPublic: true, isSaml: true, secret: null, redirectUris: [], grantTypes: [] } as const;
  const shown = firstScreen({ ...screen, clients: { first: [app], all: 1 }, app: null }, plain);
  expect(shown).toContain("urn:sp  SAML");
});

test("a redirect URI with any port is shown with one, so that it can be used as it is", () => {
  const app = { id: "cli", isPublic: true, secret: null, redirectUris: ["http://127.0.0.1:*/cb"], grantTypes: [] };
  expect(firstScreen({ ...screen, app }, plain)).toContain("OIDC_REDIRECT_URI=http://127.0.0.1:3000/cb\n");
});

test("the first screen says that .env.local has the values already", () => {
  expect(firstScreen({ ...screen, isInEnvFile: true }, plain)).toContain(
    "\n  Already in .env.local:\n\n  OIDC_ISSUER=",
  );
});

test("the first screen of a server without users and clients, that took a while", () => {
  const empty = {
    ...screen,
    took: 7578,
    users: { first: [], all: 0 },
    clients: { first: [], all: 0 },
    app: null,
    issuers: { first: [], all: 0 },
    hasLogin: false,
  };
  expect(firstScreen(empty, plain)).toMatchSnapshot();
});

test("the first screen with a long address: the lines of the others stay as they are", () => {
  const long = `${"name.".repeat(14)}@example.com`;
  const users = [user("alice", { password: "alice" }), user("erin", { email: long, status: "banned" })];
  expect(firstScreen({ ...screen, users: { first: users, all: 2 } }, plain)).toMatchSnapshot();
});
