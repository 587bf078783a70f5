import express from "express";
import request from "supertest";
import { expect, test } from "vitest";
import { renderLogin } from "../../src/http/pages/login.ts";
import { renderError } from "../../src/http/pages/pages.ts";
import { sendPage, type Page } from "../../src/http/pages/page-writer.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { apiHeaders, privateApiHeaders, assetHeaders } from "../../src/http/answer/security-headers.ts";
import { errorViews } from "../helpers/views/error.ts";
import { loginViews } from "../helpers/views/login.ts";

const renderer = createRenderer();

async function headersOf(page: Page): Promise<Record<string, string>> {
  const app = express();
  app.get("/", (_request, response) => {
    sendPage(response, 400, page);
  });
  const answer = await request(app).get("/").expect(400).expect("Content-Type", "text/html; charset=utf-8");
  return answer.headers;
}

const form = (): Page => renderLogin(renderer, loginViews["login-default"]);
const plain = (): Page => renderError(renderer, errorViews["error-client"]);

test("a page loads only its stylesheet, and cannot be framed", async () => {
  const headers = await headersOf(form());
  expect(headers["content-security-policy"]).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
  );
  expect(headers["x-frame-options"]).toBe("DENY");
  expect(headers["x-content-type-options"]).toBe("nosniff");
});

test("pages are not cached", async () => {
  expect((await headersOf(form()))["cache-control"]).toBe("no-store");
  expect((await headersOf(plain()))["cache-control"]).toBe("no-store");
});

test("a page with a form sends its address to this server, any other page sends no referrer", async () => {
  expect((await headersOf(form()))["referrer-policy"]).toBe("same-origin");
  expect((await headersOf(plain()))["referrer-policy"]).toBe("no-referrer");
});

test("no header breaks the redirect to the app, a sign-in in a popup, or plain http", async () => {
  const answers = [await headersOf(form()), await headersOf(plain()), apiHeaders, privateApiHeaders, assetHeaders];
  for (const headers of answers) {
    const text = Object.entries(headers).join("\n").toLowerCase();
    expect(text).not.toMatch(
      /form-action|cross-origin-opener-policy|strict-transport-security|upgrade-insecure-requests/,
    );
  }
});

test("an API response can be read by other origins, but not framed", () => {
  expect(apiHeaders).toEqual({
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  });
  expect(privateApiHeaders).toEqual({ ...apiHeaders, "Cache-Control": "no-store" });
});
