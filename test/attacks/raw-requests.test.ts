import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import { connect } from "node:net";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { listenForCallback } from "../../src/client/callback-listener.ts";
import { listen } from "../../src/http/listen.ts";
import { innards, underAttack } from "../helpers/attack.ts";
import { rawRequest } from "../helpers/raw-http.ts";

/** Request targets, framing and headers that no client would send: refused, and the response reveals nothing about the program. */

const adminToken = "an-admin-token-of-these-tests";
const idp = await underAttack({ adminToken, dynamicRegistration: true });
const host = `Host: localhost:${idp.port}`;
const close = "Connection: close";
const json = "Content-Type: application/json";
const token = "/api/v2/oauth/token";
const admin = `Authorization: Bearer ${adminToken}`;
const basic = (text: string): string => `Authorization: Basic ${Buffer.from(text).toString("base64")}`;
const request = (line: string, headers: readonly string[] = [], body = ""): string =>
  `${line} HTTP/1.1\r\n${[host, close, ...headers].join("\r\n")}\r\n\r\n${body}`;
const post = (headers: readonly string[], body: string): string =>
  request(`POST ${token}`, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], body);

test.each<[name: string, bytes: string, ...statuses: number[]]>([
  ["a URL that cannot be parsed", request("GET http://[/account"), 421],
  ["a URL without a host", request("GET http:///account"), 421],
  ["a URL of another host under our Host", request("GET http://evil.test/account"), 421],
  ["a URL with user info", request("GET http://a@localhost/account"), 421],
  ["a URL without a path", request("GET http://localhost?x"), 200],
  ["OPTIONS *", request("OPTIONS *"), 404],
  ["no path at all", request("GET ?a"), 400],
  ["a script as target", request("GET javascript:alert(1)"), 400],
  ["raw bytes in the path", request("GET /\x9b31m"), 400],
  ["a double slash", request("GET //_idp/health"), 404],
  ["dot segments", request("GET /x/../_idp/health"), 404],
  ["an encoded slash", request("GET /_idp%2fhealth"), 404],
  ["a slash at the end", request("GET /_idp/health/"), 404],
  ["other case", request("GET /_idp/Health"), 404],
  ["a backslash", request("GET /_idp\\health"), 404],
  ["half an escape", request("GET /interaction/%/login", ["Accept: text/html"]), 400],
  ["bytes that are no UTF-8", request("GET /account/apps/%E0%A4%A/remove", ["Accept: text/html"]), 400],
  ["half an escape in the control API", request("GET /_idp/api/users/%", [admin]), 400],
  ["half an escape in a registration", request("GET /api/v2/oauth/register/%"), 400],
  ["TRACE", request("TRACE /_idp/health"), 405],
  ["PROPFIND", request(`PROPFIND ${token}`), 405],
  ["CONNECT", request("CONNECT evil.test:1"), 0],
  ["a method that nobody knows", request("FOO /"), 400],
  ["an upgrade", `GET /_idp/health HTTP/1.1\r\n${host}\r\nConnection: close, Upgrade\r\nUpgrade: h2c\r\n\r\n`, 200],
  ["two Hosts", request("GET /_idp/health", ["Host: evil.test"]), 400],
  ["two Hosts that agree", request("GET /_idp/health", [host]), 400],
  ["two Authorizations", request("GET /_idp/api/users", ["Authorization: Bearer x", admin]), 400],
  ["no Host", `GET /_idp/health HTTP/1.1\r\n${close}\r\n\r\n`, 400],
  ["HTTP/1.0 without Host", "GET /_idp/health HTTP/1.0\r\n\r\n", 200],
  ["two lengths", request(`POST ${token}`, ["Content-Length: 4", "Content-Length: 5"], "abcde"), 400],
  [
    "a length and chunks",
    request(`POST ${token}`, ["Content-Length: 4", "Transfer-Encoding: chunked"], "0\r\n\r\n"),
    400,
  ],
  ["chunks that are not last", request(`POST ${token}`, ["Transfer-Encoding: chunked, identity"], "0\r\n\r\n"), 400],
  ["a blank before the colon", request(`POST ${token}`, ["Transfer-Encoding : chunked"], "0\r\n\r\n"), 400],
  ["a length with a sign", request(`POST ${token}`, ["Content-Length: +4"], "abcd"), 400],
  ["bare line feeds", `GET /_idp/health HTTP/1.1\nHost: localhost\n${close}\n\n`, 400],
  ["a folded header", request("GET /_idp/health", ["X: a", " b"]), 400],
  ["a header of 60,000 bytes", request("GET /_idp/health", [`X: ${"a".repeat(60_000)}`]), 200],
  ["a header of 70,000 bytes", request("GET /_idp/health", [`X: ${"a".repeat(70_000)}`]), 431],
  ["an expectation", request(`POST ${token}`, ["Expect: foo", "Content-Length: 0"]), 417],
  ["not gzip", post([json, "Content-Encoding: gzip"], "abc"), 400],
  ["not brotli", post([json, "Content-Encoding: br"], "abc"), 400],
  ["an unknown encoding", post([json, "Content-Encoding: foo"], "abc"), 415],
  ["an unknown charset", post(["Content-Type: application/x-www-form-urlencoded; charset=foo"], "a=b"), 415],
  ["a media type of semicolons", post(["Content-Type: ;;;"], "{}"), 415],
  ["JSON null", post([json], "null"), 400],
  ["a JSON text", post([json], '"a"'), 400],
  ["half of JSON", post([json], '{"a'), 400],
  ["deep JSON", post([json], `{"client_id":${"[".repeat(50_000)}${"]".repeat(50_000)}}`), 400],
  ["Basic that is no base64", post(["Authorization: Basic %%%"], ""), 401],
  ["Basic with half an escape", post([basic("a%:b")], ""), 401],
  ["Basic of __proto__", post([basic("__proto__:b")], ""), 401],
  ["Basic with bytes of no text", post([basic("\0\x7f\u{ffff}:\0")], ""), 401],
  ["preferences of no language", request("GET /nope", ["Accept: ;;q=,", "Accept-Language: ;q=zz,*,%,__proto__"]), 404],
  [
    "cookies of no form",
    request("GET /account", [`Cookie: idp_${idp.port}_session=%; __proto__=1; idp_${idp.port}_language=%ff.; a`]),
    303,
  ],
  ["languages named like members", request("GET /nope?lang=__proto__&theme=constructor", ["Accept: text/html"]), 404],
])("%s", async (_name, bytes, status) => {
  const answer = await rawRequest(idp.port, bytes);
  expect(answer).toMatchObject({ status });
  expect(answer.head + answer.body).not.toMatch(innards);
  // What Express answers by itself carries none of our headers.
  expect(answer.body).not.toContain("Cannot GET");
});

test("a response that is being sent is cut off, not mixed with the refusal of the next request", async () => {
  const server = await listen(
    express().use((_req, res) => void res.write("half of an answer")),
    "localhost",
    0,
  );
  onTestFinished(() => server.close());
  server.serve();
  const socket = connect(server.port, "127.0.0.1").setEncoding("latin1");
  let answer = "";
  socket
    .on("error", () => undefined)
    .on("data", (text: string) => {
      if (answer === "") socket.write("FOO /\r\n\r\n");
      answer += text;
    });
  socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await new Promise((resolve) => socket.on("close", resolve));
  expect(answer).toContain("half of an answer");
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test("a Host with markup is shown as text", async () => {
  const bytes = `GET / HTTP/1.1\r\nHost: "><script>alert(1)</script>\r\nAccept: text/html\r\n${close}\r\n\r\n`;
  const { status, body } = await rawRequest(idp.port, bytes);
  expect(status).toBe(421);
  expect(body).not.toContain("<script>alert");
});

test("1,000 idle or half-sent connections do not block others", async () => {
  const halves = [
    "",
    "GET /_idp/health HTTP/1.1\r\nHost: local",
    `POST ${token} HTTP/1.1\r\n${host}\r\nContent-Length: 9\r\n\r\n{`,
  ];
  const sockets = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => {
      const socket = connect(idp.port, "127.0.0.1");
      socket.on("error", () => undefined);
      return new Promise<typeof socket>((resolve) =>
        socket.on("connect", () => {
          socket.write(halves[index % halves.length] ?? "", () => {
            resolve(socket);
          });
        }),
      );
    }),
  );
  expect((await rawRequest(idp.port, request("GET /_idp/health"))).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

/** The server that gets the next request. */
const nextServer = (): Promise<Server> =>
  new Promise((resolve) => {
    const take = (message: unknown): void => {
      unsubscribe("http.server.request.start", take);
      resolve((message as { readonly server: Server }).server);
    };
    subscribe("http.server.request.start", take);
  });

test("connections that cannot be accepted do not end the process", async () => {
  const listener = await listenForCallback(0);
  onTestFinished(() => listener.close());
  for (const url of [`http://localhost:${idp.port}/_idp/health`, `${listener.redirectUri}/other`]) {
    const asked = nextServer();
    const before = (await fetch(url)).status;
    const server = await asked;
    // What Node.js emits where the system is out of files.
    for (let count = 0; count < 2; count += 1) server.emit("error", new Error("accept ENFILE"));
    expect((await fetch(url)).status).toBe(before);
  }
});
