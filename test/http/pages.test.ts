import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { elementsOf, unescapeHtml } from "../helpers/html.ts";
import { oneOfEachKind, samples, type Sample } from "../helpers/sample-views.ts";

/** What holds for every page. */

const renderer = createRenderer();

const htmlOf = ({ render, view }: Sample): string => render(renderer, view).html;

const payload = `"'><img src=x onerror=alert(1)></title></main><script>alert(1)</script><%= 7 %><%~ it %>**x**\`{client}`;

/** The view with more text in every value that may come from a client, a user or a request; the words of our own that choose the page stay. */
function addTo(value: unknown, more: string, name = ""): unknown {
  const ours = [
    "state",
    "status",
    "kind",
    "why",
    "asked",
    "instead",
    "factors",
    "stays",
    "step",
    "lang",
    "key",
    "since",
    "lastUsed",
    "at",
    "from",
    "now",
    "to",
    "signedInAt",
    "expiresAt",
    "savedAt",
    "stopped",
    "expirable",
    "before",
    "usableUntil",
    "theme",
    "keptQuery",
    "chosenTheme",
    "languages",
    "language",
  ];
  // The fields of a form: none of them is from outside. Brands: see attacks/brand.test.ts.
  if (["groups", "presets", "brand"].includes(name)) return value;
  if (typeof value === "string") return value === "" || ours.includes(name) ? value : value + more;
  if (Array.isArray(value)) return value.map((item) => addTo(item, more, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, addTo(item, more, key)]));
}

/** The elements of a page with the names of their attributes: all that a value could break out into. */
const structureOf = (html: string): string[] =>
  elementsOf(html).map(({ tag, attributes }) => [tag, ...Object.keys(attributes)].join(" "));

describe.each(oneOfEachKind)("$name", (sample) => {
  test("is a whole page: language, page, state, title, skip link, strip, one main, one h1, footer", () => {
    const html = htmlOf(sample);
    const elements = elementsOf(html);
    const count = (tag: string): number => elements.filter((element) => element.tag === tag).length;
    const root = elements.find(({ tag }) => tag === "html")?.attributes ?? {};
    expect(root["lang"]).toBe("en");
    expect(sample.name.startsWith(root["data-page"] ?? "?")).toBe(true);
    expect(root["data-state"]).toMatch(/^[a-z-]+$/);
    expect(/<title>(.+) &#183; idp<\/title>/.exec(html)?.[1]).toMatch(/\S/);
    expect([count("main"), count("h1"), count("header"), count("footer")]).toEqual([1, 1, 1, 1]);
    expect(elements.find(({ tag }) => tag === "a")?.attributes["href"]).toBe("#main");
    expect(html).toContain("Test identity provider.");
    expect(html).toContain("Do not type a real password.");
  });

  test("fetches only its stylesheet, runs no foreign script, and focuses nothing", () => {
    const elements = elementsOf(htmlOf(sample));
    for (const { tag, attributes } of elements) {
      expect(["style", "iframe", "object", "img", "base"]).not.toContain(tag);
      const names = Object.keys(attributes);
      const isOurs =
        tag === "script" && /^\/_idp\/assets\/(inspector|passkey|copy)\.js\?v=/.test(attributes["src"] ?? "");
      expect(names.filter((name) => /^on|^style$|^autofocus$|^src|^http-equiv$/.test(name))).toEqual(
        isOurs ? ["src"] : [],
      );
      if (tag === "link") expect(attributes["href"]).toMatch(/^(data:image\/svg\+xml,|\/_idp\/assets\/style\.css\?v=)/);
    }
  });

  test("has the same string as id and data-testid, each once, and every reference leads somewhere", () => {
    const elements = elementsOf(htmlOf(sample));
    const ids = elements.flatMap(({ attributes }) => attributes["id"] ?? []);
    expect(elements.filter(({ attributes }) => attributes["id"] !== attributes["data-testid"])).toEqual([]);
    expect(ids).toEqual([...new Set(ids)]);
    for (const { attributes } of elements) {
      for (const name of ["for", "aria-labelledby", "aria-describedby"]) {
        for (const id of attributes[name]?.split(" ") ?? []) expect(ids).toContain(id);
      }
    }
  });

  test("labels every field, and every form that posts to us carries the csrf value", () => {
    const html = htmlOf(sample);
    const elements = elementsOf(html);
    const labeled = elements.flatMap(({ tag, attributes }) => (tag === "label" ? attributes["for"] : []));
    const fields = elements.filter(
      ({ tag, attributes }) => tag === "select" || (tag === "input" && attributes["type"] !== "hidden"),
    );
    for (const { attributes } of fields) expect(labeled).toContain(attributes["id"]);
    const posting = html.split("<form").filter((part) => part.includes('method="post"'));
    for (const form of posting) {
      const fieldsOfForm = elementsOf(`<form${form.split("</form>")[0] ?? ""}`);
      const isOurs = fieldsOfForm[0]?.attributes["action"]?.startsWith("/") === true;
      expect(fieldsOfForm.filter(({ attributes }) => attributes["name"] === "csrf")).toHaveLength(isOurs ? 1 : 0);
    }
  });

  test("is sent with headers that let the browser say where its forms come from, and run what it has to", () => {
    const { html, headers } = sample.render(renderer, sample.view);
    const [script] = /(?<=<script>)[^<]*/.exec(html) ?? [];
    const policy = headers["Content-Security-Policy"] ?? "";
    if (html.includes("passkey.js")) expect(policy).toContain("script-src 'self'; img-src");
    else if (html.includes("<script src=")) expect(policy).toContain("script-src 'self';");
    else if (script === undefined) expect(policy).not.toContain("script-src");
    else expect(policy).toContain(`script-src 'sha256-${createHash("sha256").update(script).digest("base64")}';`);
    expect(headers["Referrer-Policy"] === "no-referrer").toBe(!html.includes('method="post"'));
  });
});

test("every page shows what clients and users chose as text, whatever it holds", () => {
  for (const sample of samples) {
    const htmlWith = (more: string): string => sample.render(renderer, addTo(sample.view, more) as object).html;
    const html = htmlWith(payload);
    expect(structureOf(html), sample.name).toEqual(structureOf(htmlWith("harmless")));
    // These show nothing that anybody chose.
    const isSilent = /^(device-(done|denied))$/.test(sample.name);
    expect(unescapeHtml(html).includes(payload), sample.name).toBe(!isSilent);
  }
});

test("a page of each kind shows every element that any page shows", () => {
  const partsOf = (those: readonly Sample[]): string[] =>
    those.flatMap((sample) => {
      const elements = elementsOf(htmlOf(sample));
      const page = elements[0]?.attributes["data-page"] ?? "";
      return elements.map(({ tag, attributes }) =>
        [page, tag, attributes["class"], attributes["data-testid"]?.replace(/\d+$/, "")].join(" "),
      );
    });
  const shown = new Set(partsOf(oneOfEachKind));
  expect(partsOf(samples).filter((part) => !shown.has(part))).toEqual([]);
});

test("the pages have exactly these hooks: removing one breaks users' tests", () => {
  const hooks = new Map<string, Set<string>>();
  for (const sample of samples) {
    const elements = elementsOf(htmlOf(sample));
    const page = elements[0]?.attributes["data-page"] ?? "";
    const found = elements.flatMap(({ attributes }) => attributes["data-testid"] ?? []);
    hooks.set(page, new Set([...(hooks.get(page) ?? []), ...found]));
  }
  const named = Object.fromEntries([...hooks].map(([page, found]) => [page, [...found].sort().join(" ")]));
  expect(named).toMatchInlineSnapshot(`
    {
      "account": "account-app-bare account-app-demo-app account-app-reports account-apps account-data account-factor-otp account-factor-passkey account-factors account-language account-passkey-add account-passkey-remove-cred-1 account-preferences account-revoke-bare account-revoke-cancel account-revoke-confirm account-revoke-demo-app account-revoke-reports account-save account-session-1 account-session-2 account-session-end-2 account-sessions account-signout account-signout-all account-status account-theme account-user main",
      "consent": "consent-again consent-allow consent-always consent-client consent-client-host consent-deny consent-error consent-form consent-granted consent-loopback consent-new-host consent-policy consent-redirect-host consent-scope-address consent-scope-claim:given_name consent-scope-details consent-scope-email consent-scope-offline_access consent-scope-openid consent-scope-orders:read consent-scope-phone consent-scope-profile consent-scope-social consent-switch-user consent-terms consent-user ended-fix main request-details",
      "device": "device-allow device-client-host device-code device-deny device-done device-error device-form device-hint device-shown-code device-submit main",
      "error": "error-advice error-code error-developer error-fix error-inspect error-message error-reload main",
      "factor": "ended-fix factor-again factor-cancel factor-code factor-error factor-form factor-instead factor-otp factor-passkey factor-passkey-button factor-submit main request-details",
      "form-post": "form-post-continue main",
      "home": "home-account home-discovery home-elsewhere home-issuer home-try main",
      "inspector": "add-redirect-uri-demo-app add-redirect-uri-demo-service add-redirect-uri-demo-spa add-redirect-uri-value-demo-app add-redirect-uri-value-demo-service add-redirect-uri-value-demo-spa add-user-new advance-clock advance-value-clock ban-alice ban-bob ban-erin claims-alice claims-bob claims-carol claims-dave claims-erin clear-faults-faults create-client-shop curl-r1 curl-r10 curl-r11 curl-r12 curl-r13 curl-r14 curl-r15 curl-r2 curl-r3 curl-r4 curl-r5 curl-r6 curl-r7 curl-r8 curl-r9 curl-r98 curl-r99 displayName-alice displayName-bob displayName-carol displayName-dave displayName-erin edit-user-alice edit-user-bob edit-user-carol edit-user-dave edit-user-erin email-alice email-bob email-carol email-dave email-erin end-session-s_7yQ2mXk0aLw3 expire-all expire-client expire-kind expire-user factor-otp-alice factor-otp-bob factor-otp-carol factor-otp-dave factor-otp-erin factor-passkey-alice factor-passkey-bob factor-passkey-carol factor-passkey-dave factor-passkey-erin fault-add fault-after fault-after-hint fault-always fault-always-hint fault-body fault-client fault-content_type fault-content_type-hint fault-delay fault-delay-hint fault-description fault-drop fault-drop-hint fault-drop_after fault-drop_after-hint fault-endpoint fault-error fault-flaw fault-grant_type fault-header fault-header-hint fault-header-problem fault-method fault-skip fault-skip-hint fault-status fault-status-problem fault-times fault-times-hint fault-user filter-client filter-client-list filter-group filter-group-list filter-role filter-role-list filter-status filter-user filter-user-list flaw-alg_none flaw-audience_contains flaw-bad_signature flaw-crit flaw-expired flaw-expired_10m flaw-issuer_prefix flaw-issuer_slash flaw-missing_audience flaw-missing_expiry flaw-missing_issuer flaw-not_yet_valid flaw-unknown_kid flaw-wrong_audience flaw-wrong_issuer flaw-wrong_type freeze-clock inspector-add-fault inspector-add-user inspector-again inspector-back inspector-banner inspector-clock inspector-command inspector-done inspector-expire inspector-faults inspector-fix inspector-fixed inspector-fresh inspector-go-on inspector-grants inspector-issuers inspector-live inspector-losses inspector-lost inspector-made inspector-nav inspector-new-token inspector-next inspector-no-problems inspector-not-sure inspector-other-fault inspector-outcome inspector-pause inspector-previous inspector-problems inspector-question inspector-refresh inspector-refusals inspector-refused inspector-reset inspector-search inspector-sessions inspector-show-all inspector-snapshots inspector-stale inspector-sure inspector-tab-clients inspector-tab-fixtures inspector-tab-grants inspector-tab-sign-ins inspector-tab-testing inspector-tab-tokens inspector-tab-users inspector-token inspector-token-hint inspector-verify made-token main metadata-demo-app metadata-demo-service metadata-demo-spa metadata-https://agent.example/client.json new-displayName new-email new-password new-roles new-username open-issuer- open-issuer-w1 password-alice password-bob password-carol password-dave password-erin preset-keys-rotated preset-lost-tokens preset-nonce-wrong preset-signature-wrong preset-state-wrong preset-token-503 preset-userinfo-slow remove-fault-f17 remove-fault-f18 remove-fault-f19 remove-user-alice remove-user-bob remove-user-erin request-r1 request-r10 request-r11 request-r12 request-r13 request-r14 request-r15 request-r2 request-r3 request-r4 request-r5 request-r6 request-r7 request-r8 request-r9 request-r98 request-r99 reset-all reset-clock-clock restore-carol restore-dave restore-snapshot-signed-in revoke-g_8fK2aQxYz01b roles-alice roles-bob roles-carol roles-dave roles-erin row-client-demo-app row-client-demo-service row-client-demo-spa row-client-https://agent.example/client.json row-fault-f17 row-fault-f18 row-fault-f19 row-flow-f11 row-flow-f12 row-flow-f13 row-flow-f14 row-grant-g_7yQ2mXk0aLw3 row-grant-g_8fK2aQxYz01b row-request-r1 row-request-r10 row-request-r11 row-request-r12 row-request-r13 row-request-r14 row-request-r15 row-request-r2 row-request-r3 row-request-r4 row-request-r5 row-request-r6 row-request-r7 row-request-r8 row-request-r9 row-request-r98 row-request-r99 row-session-s_7yQ2mXk0aLw3 row-snapshot-signed-in row-user-alice row-user-bob row-user-carol row-user-dave row-user-erin save-snapshot-new save-snapshot-value-new set-clock-clock set-clock-value-clock sign-in-alice sign-in-bob sign-in-carol sign-in-dave suspend-alice suspend-bob suspend-erin token-audience token-client token-client-names token-expires_in token-flaws token-kind token-make token-scope token-user",
      "login": "login-again login-as-alice login-as-bob login-as-carol login-as-dave login-as-user13 login-as-user14 login-as-user15 login-as-user16 login-as-user17 login-as-user18 login-as-user19 login-as-user20 login-as-user21 login-as-user22 login-as-user23 login-as-user24 login-cancel login-error login-fix login-form login-next login-notice login-password login-picker login-picker-title login-policy login-previous login-search login-submit login-switch-user login-terms login-username main request-details",
      "logout": "logout-confirm logout-stay main request-details",
      "saml-post": "logout-not-told main saml-form saml-submit",
      "signed-out": "main signedout-message signedout-reason signedout-return signedout-signin",
      "try-it": "main try-it-again try-it-call try-it-claims try-it-error try-it-home try-it-id-token try-it-message try-it-remove try-it-status try-it-userinfo",
    }
  `);
});
