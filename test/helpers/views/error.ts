import type { ErrorView } from "../../../src/http/pages/error-views.ts";
import { common } from "./shared.ts";

/** A view of the error page for each kind of error. */

const error: ErrorView = {
  ...common,
  inspect: "npx dev-idp open f3",
  kind: "redirect-uri",
  code: "invalid_request",
  message: 'redirect_uri "http://localhost:3001/callback" is not registered for client "demo-app"',
  advice: "Send redirect_uri http://localhost:3000/callback in your app. To register the other one too:",
  fix: "idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback",
  rule: "RFC 6749 3.1.2.3",
  mismatch: {
    parameter: "redirect_uri",
    sent: "http://localhost:3001/callback",
    registered: ["https://app.example.test/callback", "http://localhost:3000/callback"],
  },
  status: 400,
  retryAfter: null,
  otherUser: null,
  formHref: null,
};

const bareError = { mismatch: null, advice: null, fix: null, rule: null };

export const errorViews = {
  "error-redirect-uri": error,
  "error-redirect-uri-slash": {
    ...error,
    mismatch: {
      parameter: "redirect_uri",
      sent: "http://localhost:3000/callback/",
      registered: ["http://localhost:3000/callback"],
    },
  },
  "error-sign-out": {
    ...error,
    mismatch: {
      parameter: "post_logout_redirect_uri",
      sent: "http://localhost:3000/",
      registered: ["http://localhost:3000"],
    },
  },
  "error-redirect-uri-short": {
    ...error,
    mismatch: {
      parameter: "redirect_uri",
      sent: "http://localhost:3000/",
      registered: ["http://localhost:3000/callback"],
    },
  },
  "error-redirect-uri-none": {
    ...error,
    mismatch: { parameter: "redirect_uri", sent: "http://localhost:1/", registered: [] },
  },
  "error-client": {
    ...error,
    ...bareError,
    kind: "client",
    code: "invalid_client",
    message: 'client_id "demo-ap" is not registered here; did you mean "demo-app"? (RFC 6749 2.2)',
    fix: "idp clients add demo-ap --public --redirect-uri http://localhost:3000/callback",
    mismatch: { parameter: "client_id", sent: "demo-ap", registered: ["demo-app"] },
    rule: "RFC 6749 2.2",
  },
  "error-document": {
    ...error,
    ...bareError,
    kind: "document",
    code: "invalid_client",
    message:
      'the metadata document of client "https://shelf.example/client.json" is not accepted: it has no client_name',
  },
  "error-client-new": {
    ...error,
    ...bareError,
    kind: "client",
    code: "invalid_client",
    message: 'client_id "shop" is not registered here (RFC 6749 2.2)',
    fix: "idp clients add shop --public --redirect-uri http://localhost:8080/callback",
  },
  "error-request": { ...error, ...bareError, kind: "request", message: "client_id was sent twice" },
  "error-form": {
    ...error,
    ...bareError,
    kind: "form",
    message: "the form did not come from this server's own page",
    rule: "RFC 6749 10.12",
    formHref: "/account/preferences",
    status: 403,
  },
  "error-other-user": {
    ...error,
    ...bareError,
    kind: "other-user",
    message: "bob signed in in another tab. Reload this page",
    status: 403,
    otherUser: { username: "bob" },
    formHref: "/account",
  },
  "error-not-found": {
    ...error,
    ...bareError,
    kind: "not-found",
    code: "not_found",
    message:
      "there is nothing at /acount. Did you mean /account? All endpoints are listed at /.well-known/openid-configuration",
    rule: "RFC 9110 15.5.5",
    status: 404,
  },
  "error-method": {
    ...error,
    ...bareError,
    kind: "method",
    code: "method_not_allowed",
    message: "/account takes GET and POST, not PUT",
    rule: "RFC 9110 15.5.6",
    status: 405,
  },
  "error-too-large": {
    ...error,
    ...bareError,
    kind: "too-large",
    code: "too_large",
    message: "a body may have 102400 bytes",
    rule: "RFC 9110 15.5.14",
    status: 413,
  },
  "error-too-many": {
    ...error,
    ...bareError,
    kind: "too-many",
    code: "too_many_requests",
    message: 'too many wrong passwords for "alice" from here: try again in 9 s',
    rule: "RFC 6585 4",
    status: 429,
    retryAfter: 9,
  },
  "error-host": {
    ...error,
    ...bareError,
    kind: "host",
    code: "misdirected_request",
    message: 'Host "evil.test" is not served',
    fix: "idp start --allow-host evil.test",
    rule: "RFC 9110 15.5.20",
    status: 421,
  },
  "error-server": {
    ...error,
    ...bareError,
    kind: "server",
    code: "server_error",
    message: "see the log",
    status: 500,
  },
  "error-unavailable": {
    ...error,
    ...bareError,
    kind: "unavailable",
    code: "temporarily_unavailable",
    message: "the data could not be written: the disk is full",
    status: 503,
  },
} satisfies Record<string, ErrorView>;
