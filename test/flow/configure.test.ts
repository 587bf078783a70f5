import { ExpressAuth } from "@auth/express";
import express, { type Express, type RequestHandler } from "express";
import openid, { type ConfigParams } from "express-openid-connect";
import session from "express-session";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { load } from "js-yaml";
import * as client from "openid-client";
import { Passport } from "passport";
import { Strategy } from "passport-openidconnect";
import { afterAll, expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { startRelyingParty } from "../helpers/relying-party.ts";

/** "Snippets" of docs/libraries.md: what `idp env --for` prints is what the guide shows, and the libraries take it as it stands. */

const heading = "Snippets";
const [fixtures = "", spring = ""] = blocks(heading, "yaml");
const [authjs = "", passport = "", expressOpenidConnect = ""] = blocks(heading, "js");
const [oauth2Proxy = ""] = blocks(heading, "toml");

const { app, url } = await startRelyingParty();
let current: Express = express();
app.use((req, res, next) => {
  current(req, res, next);
});

/** The guide's app has a fixed port, this one a free one. */
const here = (text: string): string =>
  text
    .replaceAll("http://localhost:3000/callback", `${url}/callback`)
    .replaceAll("http://localhost:3000/auth/", `${url}/auth/`);

const cwd = newFolder(afterAll);
writeFileSync(join(cwd, "idp.fixtures.yaml"), here(fixtures));
const { issuer } = await startIdp([], { cwd }, afterAll);

/** What is printed for a library; as the guide has it, but for the addresses and secrets that are drawn. */
async function printed(library: string, shown: string): Promise<string> {
  const { code, stdout, stderr } = await idp(["env", "--for", library], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const drawn = /"[\w-]{43}"/g;
  const asShown = stdout
    .replaceAll(issuer, "http://localhost:4370")
    .replaceAll(url, "http://localhost:3000")
    .replace(drawn, '"made-anew-each-time"');
  expect(asShown).toBe(`${shown}\n`);
  return stdout;
}

async function config<T>(library: string, shown: string): Promise<T> {
  const file = join(cwd, `${library}.mjs`);
  writeFileSync(file, await printed(library, shown));
  const { config: found } = (await import(pathToFileURL(file).href)) as { readonly config: T };
  return found;
}

test("Auth.js signs a user in", async () => {
  current = express();
  current.use("/auth", ExpressAuth(await config<Parameters<typeof ExpressAuth>[0]>("authjs", authjs)));
  const browser = new Browser(issuer, url);
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).body) as { readonly csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: `${url}/auth/session` });
  const visit = await browser.open(`${url}/auth/signin/idp`, { method: "POST", body, headers: { origin: url } });
  const signedIn = await approve(browser, visit, "erin");
  expect(JSON.parse(signedIn.body)).toMatchObject({ user: { email: "erin@example.com" } });
});

test("express-openid-connect signs a user in", async () => {
  current = express();
  current.use(openid.auth(await config<ConfigParams>("express-openid-connect", expressOpenidConnect)));
  current.get("/", (req, res) => {
    res.json(req.oidc.user ?? null);
  });
  const browser = new Browser(issuer, url);
  const home = await approve(browser, await browser.open(`${url}/`), "erin");
  expect(JSON.parse(home.body)).toMatchObject({ email: "erin@example.com" });
});

test("passport signs a user in", async () => {
  const authenticator = new Passport();
  const options = await config<ConstructorParameters<typeof Strategy>[0]>("passport", passport);
  authenticator.use(
    new Strategy(options, (_issuer: string, profile: Express.User, done: (error: null, user: Express.User) => void) => {
      done(null, profile);
    }),
  );
  const authenticate = authenticator.authenticate("openidconnect", { session: false }) as RequestHandler;
  current = express();
  current.use(session({ secret: "of the test", resave: false, saveUninitialized: false }));
  current.get("/login", authenticate);
  current.get("/callback", authenticate, (req, res) => {
    res.json(req.user);
  });
  const browser = new Browser(issuer, url);
  const signedIn = await approve(browser, await browser.open(`${url}/login`), "erin");
  expect(JSON.parse(signedIn.body)).toMatchObject({ username: "erin", emails: [{ value: "erin@example.com" }] });
});

test("openid-client signs a user in", async () => {
  const { stdout } = await idp(["env", "--for", "openid-client"], { cwd });
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"));
  const file = join(cwd, "openid-client.mjs");
  writeFileSync(file, stdout);
  const { config, parameters } = (await import(pathToFileURL(file).href)) as {
    readonly config: client.Configuration;
    readonly parameters: Record<string, string>;
  };
  const verifier = client.randomPKCECodeVerifier();
  const address = client.buildAuthorizationUrl(config, {
    ...parameters,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const browser = new Browser(issuer);
  const { left } = await approve(browser, await browser.open(address.href), "erin");
  const tokens = await client.authorizationCodeGrant(config, new URL(left ?? ""), { pkceCodeVerifier: verifier });
  expect(tokens.claims()).toMatchObject({ email: "erin@example.com" });
});

/** Whether the server takes the address and scopes that a library would send. */
async function asks(redirectUri: string, scope: string): Promise<string> {
  const query = { response_type: "code", client_id: "shop", redirect_uri: redirectUri, scope };
  return (await new Browser(issuer).open(`/api/v2/oauth/authorize?${new URLSearchParams(query).toString()}`)).page;
}

test("Spring Security: the properties of its documentation, and addresses that hold", async () => {
  const read = load(await printed("spring", spring)) as {
    spring: { security: { oauth2: { client: { registration: { idp: Record<string, string> } } } } };
  };
  const { registration } = read.spring.security.oauth2.client;
  expect(read.spring.security.oauth2.client).toEqual({
    registration: {
      idp: {
        "client-id": "shop",
        "client-secret": "shop-secret",
        "authorization-grant-type": "authorization_code",
        "redirect-uri": "http://localhost:8080/login/oauth2/code/idp",
        scope: "openid,profile,email",
      },
    },
    provider: { idp: { "issuer-uri": issuer, "user-name-attribute": "sub" } },
  });
  const { "redirect-uri": redirectUri = "", scope = "" } = registration.idp;
  expect(await asks(redirectUri, scope.replaceAll(",", " "))).toBe("login");
});

test("oauth2-proxy: the options of its documentation, and addresses that hold", async () => {
  const lines = (await printed("oauth2-proxy", oauth2Proxy)).trimEnd().split("\n").slice(1);
  const options = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(" = ")),
      JSON.parse(line.slice(line.indexOf(" = ") + 3)) as unknown,
    ]),
  );
  expect(options).toEqual({
    provider: "oidc",
    oidc_issuer_url: issuer,
    client_id: "shop",
    client_secret: "shop-secret",
    redirect_url: "http://localhost:4180/oauth2/callback",
    scope: "openid profile email",
    code_challenge_method: "S256",
    email_domains: ["*"],
    insecure_oidc_allow_unverified_email: true,
    // 32 bytes, which is one of the three lengths that it takes.
    cookie_secret: expect.stringMatching(/^[\w-]{43}$/),
    cookie_secure: false,
    http_address: "localhost:4180",
    upstreams: [`${url}/`],
  });
  expect(await asks(String(options["redirect_url"]), String(options["scope"]))).toBe("login");
});
