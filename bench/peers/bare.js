// The yardstick: node:http, Maps, and the signatures. It answers the requests of each flow in the same number, signs one RS256 and two
// HS256 tokens for a token response and checks one HS256 signature for UserInfo, refresh and introspection; and does nothing else.
import { Buffer } from "node:buffer";
import { createHmac, createPrivateKey, createSecretKey, randomBytes, sign, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { URLSearchParams } from "node:url";

const [port, keyFile] = process.argv.slice(2);
const issuer = `http://localhost:${port}`;
const { privateKey: pem, secret: text } = JSON.parse(readFileSync(keyFile, "utf8"));
const privateKey = createPrivateKey(pem);
const secret = createSecretKey(Buffer.from(text, "base64url"));

const interactions = new Map();
const sessions = new Map();
const codes = new Map();

const random = () => randomBytes(16).toString("base64url");
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const head = {
  access: encode({ alg: "HS256", typ: "at+jwt", kid: "secret" }),
  refresh: encode({ alg: "HS256", typ: "rt+jwt", kid: "secret" }),
  id: encode({ alg: "RS256", typ: "JWT", kid: "key" }),
};
const hmac = (input) => createHmac("sha256", secret).update(input);

function signHs256(kind, claims) {
  const input = `${head[kind]}.${encode(claims)}`;
  return `${input}.${hmac(input).digest("base64url")}`;
}

function signRs256(claims) {
  const input = `${head.id}.${encode(claims)}`;
  return `${input}.${sign("sha256", Buffer.from(input), privateKey).toString("base64url")}`;
}

function verifyHs256(kind, token) {
  const [header, payload, signature] = token.split(".");
  const given = Buffer.from(signature, "base64url");
  const wanted = hmac(`${header}.${payload}`).digest();
  if (header !== head[kind] || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  return claims.exp * 1000 > Date.now() ? claims : undefined;
}

function tokens({ user, client, scope, nonce }) {
  const now = Math.floor(Date.now() / 1000);
  const common = { iss: issuer, sub: user, client_id: client, scope, iat: now };
  const access = { ...common, email: `${user}@example.test`, aud: issuer, exp: now + 1800, jti: random() };
  const id = { iss: issuer, sub: user, aud: client, iat: now, exp: now + 1800, nonce, name: user, email: access.email };
  return {
    access_token: signHs256("access", access),
    token_type: "Bearer",
    expires_in: 1800,
    refresh_token: signHs256("refresh", { ...common, exp: now + 604800, jti: random() }),
    id_token: signRs256(id),
    scope,
  };
}

function cookie(request, name) {
  for (const part of (request.headers.cookie ?? "").split("; ")) {
    if (part.startsWith(`${name}=`)) return part.slice(name.length + 1);
  }
  return undefined;
}

async function body(request) {
  let read = "";
  for await (const chunk of request) read += chunk;
  return request.headers["content-type"] === "application/json"
    ? JSON.parse(read)
    : Object.fromEntries(new URLSearchParams(read));
}

const send = (response, status, type, content) =>
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(content) }).end(content);
const json = (response, value) => send(response, 200, "application/json", JSON.stringify(value));
const page = (response, csrf) =>
  send(response, 200, "text/html", `<form method="post"><input name="csrf" value="${csrf}"></form>`);
const redirect = (response, location, set) =>
  response.writeHead(303, { Location: location, "Content-Length": 0, ...(set && { "Set-Cookie": set }) }).end();

function finish(response, request, user, set) {
  const code = random();
  codes.set(code, { ...request, user });
  redirect(response, `${request.redirectUri}?code=${code}&state=${request.state}`, set);
}

function authorize(request, response, query) {
  const asked = {
    client: query.get("client_id"),
    redirectUri: query.get("redirect_uri"),
    scope: query.get("scope"),
    state: query.get("state"),
    nonce: query.get("nonce"),
  };
  const user = sessions.get(cookie(request, "session"));
  if (user !== undefined) return finish(response, asked, user);
  const uid = random();
  interactions.set(uid, { asked, csrf: random() });
  redirect(response, `/interaction/${uid}/login`, `browser=${random()}; Path=/; HttpOnly; SameSite=Lax`);
}

async function interaction(request, response, path) {
  const [, , uid, step] = path.split("/");
  const { asked, csrf } = interactions.get(uid);
  if (request.method === "GET") return page(response, csrf);
  const form = await body(request);
  if (form.csrf !== csrf) return send(response, 403, "text/plain", "csrf");
  if (step === "login") {
    const session = random();
    sessions.set(session, form.username);
    redirect(response, `/interaction/${uid}/consent`, `session=${session}; Path=/; HttpOnly; SameSite=Lax`);
    return;
  }
  interactions.delete(uid);
  finish(response, asked, sessions.get(cookie(request, "session")));
}

async function token(request, response) {
  const form = await body(request);
  if (form.client_secret !== "bench-secret") return send(response, 401, "text/plain", "client");
  if (form.grant_type === "refresh_token") {
    const { sub, client_id: client, scope } = verifyHs256("refresh", form.refresh_token);
    return json(response, tokens({ user: sub, client, scope }));
  }
  const issued = codes.get(form.code);
  codes.delete(form.code);
  json(response, tokens(issued));
}

async function introspect(request, response) {
  const form = await body(request);
  if (form.client_secret !== "bench-secret") return send(response, 401, "text/plain", "client");
  const claims = verifyHs256("access", form.token);
  json(response, claims === undefined ? { active: false } : { active: true, ...claims });
}

function userinfo(request, response) {
  const claims = verifyHs256("access", (request.headers.authorization ?? "").slice("Bearer ".length));
  if (claims === undefined) return send(response, 401, "text/plain", "token");
  const { sub, email } = claims;
  json(response, { sub, id: sub, user: { displayName: sub, username: sub, email }, language: "en", theme: null });
}

createServer((request, response) => {
  const { url } = request;
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  if (path === "/api/v2/oauth/authorize") authorize(request, response, new URLSearchParams(url.slice(mark + 1)));
  else if (path === "/api/v2/oauth/token") void token(request, response);
  else if (path === "/api/v2/oauth/userinfo") userinfo(request, response);
  else if (path === "/api/v2/oauth/introspect") void introspect(request, response);
  else if (path.startsWith("/interaction/")) void interaction(request, response, path);
  else json(response, { status: "ok" });
}).listen(Number(port), "127.0.0.1");
