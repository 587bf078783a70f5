import { describe, expect, it } from "vitest";
import {
  checkHttpHost,
  httpHostProblem,
  checkRedirectUri,
  hasOpenPort,
  matchRedirectUri,
} from "../../src/core/records/redirect-uri.ts";

describe("a redirect URI that may be registered", () => {
  it.each([
    "https://app.example.com/callback",
    "https://app.example.com",
    "https://app.example.com:8443/cb?tenant=a&x=%20",
    "https://192.0.2.1/cb",
    "https://[2001:db8::1]/cb",
    "http://localhost:3000/callback",
    "http://localhost/callback",
    "http://app.localhost:3000/callback",
    "http://my_app.test.localhost/callback",
    "http://127.0.0.1:8080/",
    "http://127.1.2.3/cb",
    "http://[::1]:3000/cb",
    "http://127.0.0.1:*/callback",
    "http://[::1]:*/callback",
    "http://localhost:*",
    "com.example.app:/callback",
    "com.example.app://callback?x=1",
    "myapp://callback",
    "myapp:/callback",
    "msal-app+1://auth",
    "http://127.0.0.1/callback",
    "http://app:3000/callback",
    "https://app.example.com/..a/b.",
  ])("%s", (uri) => {
    expect(checkRedirectUri(uri)).toBeNull();
  });
});

describe("a redirect URI that cannot be registered", () => {
  it.each([
    ["", "is empty"],
    ["/callback", "not absolute"],
    ["localhost:3000/callback", "not absolute"],
    ["app.example.com:8443", "not absolute"],
    ["//localhost:3000/callback", "not absolute"],
    ["https://app.example.com/cb#x", "fragment"],
    ["https://app.example.com/cb#", "fragment"],
    ["com.example.app:/cb#x", "fragment"],
    ["https://user@app.example.com/cb", "user info"],
    ["https://user:secret@app.example.com/cb", "user info"],
    ["http://localhost@evil.example/cb", "user info"],
    ["http:localhost:3000/cb", "of the form"],
    ["http:/localhost:3000/cb", "of the form"],
    ["https:///cb", "of the form"],
    ["https://", "of the form"],
    ["https://*.example.com/cb", "wildcard"],
    ["https://app.example.com:*/cb", "leaves the port open"],
    ["https://localhost:*/cb", "leaves the port open"],
    ["http://localhost:0/cb", "a port is a number"],
    ["http://localhost:/cb", "a port is a number"],
    ["http://localhost:65536/cb", "a port is a number"],
    ["http://localhost:3x/cb", "a port is a number"],
    ["http://127.0.0.999/cb", "not a valid URL"],
    ["http://localhost:3000/x/../cb", "browsers rewrite"],
    ["http://localhost:3000/x/%2E%2e/cb", "browsers rewrite"],
    ["http://localhost:3000/.", "browsers rewrite"],
    ["http://localhost:3000/ cb", "a character"],
    ["http://localhost:3000\\cb", "a character"],
    ["http://localhost:3000/çağrı", "a character"],
    ["http://localhost:3000/％", "a character"],
    ["http://localhost:3000/cb\n", "a character"],
    ["http://localhost:3000/%zz", "a character"],
    ["javascript:alert(1)", "private-use scheme"],
    ["data:text/html,x", "private-use scheme"],
    ["JavaScript://localhost/%0aalert(1)", "private-use scheme"],
    ["vbscript:x", "private-use scheme"],
    ["file:///etc/passwd", "private-use scheme"],
    ["blob:http://localhost/1", "private-use scheme"],
    ["view-source:http://localhost/", "private-use scheme"],
    ["intent://x#Intent;end", "fragment"],
    ["intent://x", "private-use scheme"],
    ["urn:ietf:wg:oauth:2.0:oob", "private-use scheme"],
    ["myapp://*", "wildcard"],
    ["myapp:", "nothing after its scheme"],
    ["com.example.app:", "nothing after its scheme"],
  ])("%j: %s", (uri, why) => {
    expect(checkRedirectUri(uri)).toContain(why);
  });
});

describe("plain http", () => {
  const hosts = { http_redirect_hosts: ["app", "Web.Internal", "*.dev.internal", "10.0.0.5"] };
  it.each([
    "http://localhost:3000/cb",
    "http://a.localhost/cb",
    "http://127.1.2.3/cb",
    "http://[::1]:*/cb",
    "http://app:3000/cb",
    "http://APP/cb",
    "http://web.internal",
    "http://x.y.dev.internal/cb",
    "http://10.0.0.5:3000/cb",
    "https://anywhere.test/cb",
    "myapp://anywhere",
  ])("%s may be registered where it is loopback or listed", (uri) => {
    expect(checkHttpHost(uri, hosts)).toBeNull();
  });

  it.each([
    ["http://app.example.com/cb", "app.example.com"],
    ["http://localhost.evil.example/cb", "localhost.evil.example"],
    ["http://127.0.0.1.evil.example/cb", "127.0.0.1.evil.example"],
    ["http://192.168.1.5/cb", "192.168.1.5"],
    ["http://[::2]/cb", "[::2]"],
    ["http://app2/cb", "app2"],
    ["http://xapp/cb", "xapp"],
    ["http://x.app/cb", "x.app"],
    ["http://dev.internal/cb", "dev.internal"],
    ["http://xdev.internal/cb", "xdev.internal"],
    ["http://x.dev.internal.evil.test/cb", "x.dev.internal.evil.test"],
  ])("%s may not, and the sentence names the setting", (uri, host) => {
    expect(checkHttpHost(uri, hosts)).toContain(`not loopback`);
    expect(checkHttpHost(uri, hosts)).toContain(`list "${host}" in the setting http_redirect_hosts`);
  });

  it.each(["app", "app.internal", "my_app-1", "*.dev.internal", "10.0.0.5"])("%s can be listed", (host) => {
    expect(httpHostProblem(host)).toBeNull();
  });

  it.each([
    ["*", "would allow every host"],
    ["*.", "would allow every host"],
    ["*.com", "top-level domain"],
    ["http://app", "is not a host name"],
    ["app:3000", "is not a host name"],
    ["app/", "is not a host name"],
    ["a.*.b", "is not a host name"],
    ["*app.internal", "is not a host name"],
    ["app,web", "is not a host name"],
    [".app.internal", "is not a host name"],
    ["", "is not a host name"],
  ])("%j cannot be listed", (host, why) => {
    expect(httpHostProblem(host)).toContain(why);
  });
});

describe("matching", () => {
  it.each([
    ["http://localhost:3000/callback", "http://localhost:3000/callback", true],
    ["http://localhost:3000/callback", "http://localhost:3000/callback/", false],
    ["http://localhost:3000/callback", "http://localhost:3000/Callback", false],
    ["http://localhost:3000/callback", "http://LOCALHOST:3000/callback", false],
    ["http://localhost:3000/callback", "http:localhost:3000/callback", false],
    ["http://localhost:3000/callback", "http://localhost:3000/x/../callback", false],
    ["http://localhost:3000/callback", "http://localhost:3000/callback?x=1", false],
    ["http://localhost:3000/callback", "http://localhost:3001/callback", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:51004/callback", true],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1/callback", true],
    ["http://[::1]:*/callback", "http://[::1]:51004/callback", true],
    ["http://localhost:*", "http://localhost:51004", true],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:*/callback", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:/callback", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:0/callback", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:65536/callback", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:5100", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:51004/callback2", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:51004/x/callback", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1:1@evil.example/callback", false],
    ["http://127.0.0.1:*/callback", "http://127.0.0.1.evil.example/callback", false],
    ["http://127.0.0.1:*/callback", "https://127.0.0.1:51004/callback", false],
    ["http://127.0.0.1:*/callback", "http://localhost:51004/callback", false],
    ["http://127.0.0.1/callback", "http://127.0.0.1/callback", true],
    ["http://127.0.0.1/callback", "http://127.0.0.1:51004/callback", true],
    ["http://[::1]", "http://[::1]:51004", true],
    ["http://127.0.0.1/callback", "http://127.0.0.1:51004/callback2", false],
    ["http://127.0.0.1/callback", "http://127.0.0.1.evil.example/callback", false],
    ["http://127.0.0.1/callback", "http://127.0.0.1@evil.example/callback", false],
    ["http://localhost/callback", "http://localhost:51004/callback", false],
    ["http://127.0.0.1:80/callback", "http://127.0.0.1:81/callback", false],
    ["https://127.0.0.1/callback", "https://127.0.0.1:81/callback", false],
  ])("registered %s, asked %s: %s for a public client", (registered, asked, matches) => {
    expect(matchRedirectUri(registered, asked, "open")).toBe(matches);
  });

  it("every: also a loopback address with another port, localhost without a port, and nothing else", () => {
    const matches = (registered: string, asked: string): boolean => matchRedirectUri(registered, asked, "every");
    expect(matches("http://127.0.0.1:80/callback", "http://127.0.0.1:81/callback")).toBe(true);
    expect(matches("http://[::1]:80/callback", "http://[::1]/callback")).toBe(true);
    expect(matches("http://127.0.0.1:80/callback", "http://127.0.0.1:81/other")).toBe(false);
    expect(matches("http://127.0.0.1:80/callback", "http://127.0.0.2:81/callback")).toBe(false);
    expect(matches("http://127.0.0.1:80/callback", "http://127.0.0.1:81@evil.example/callback")).toBe(false);
    expect(matches("http://localhost/callback", "http://localhost:3118/callback")).toBe(true);
    expect(matches("http://localhost/callback", "http://localhost/callback")).toBe(true);
    for (const asked of [
      "http://localhost:3118/other",
      "http://localhost:3118@evil.example/callback",
      "http://localhost.evil.example/callback",
      "http://localhost:/callback",
      "http://localhost:0/callback",
      "http://localhost:x/callback",
      "https://localhost:3118/callback",
      "http://127.0.0.1:3118/callback",
    ]) {
      expect(matches("http://localhost/callback", asked), asked).toBe(false);
    }
    expect(matchRedirectUri("http://localhost/callback", "http://localhost:3118/callback", "open")).toBe(false);
    expect(matches("http://app.localhost/callback", "http://app.localhost:81/callback")).toBe(false);
    expect(matches("https://localhost/callback", "https://localhost:81/callback")).toBe(false);
    expect(matches("http://localhost:80/callback", "http://localhost:81/callback")).toBe(false);
    expect(matches("https://127.0.0.1:80/callback", "https://127.0.0.1:81/callback")).toBe(false);
  });

  it("leaves the port open to public clients only", () => {
    expect(matchRedirectUri("http://127.0.0.1:*/callback", "http://127.0.0.1:51004/callback", "none")).toBe(false);
    expect(matchRedirectUri("http://127.0.0.1:1/callback", "http://127.0.0.1:1/callback", "none")).toBe(true);
    expect(matchRedirectUri("http://127.0.0.1/callback", "http://127.0.0.1/callback", "none")).toBe(true);
    expect(matchRedirectUri("http://127.0.0.1/callback", "http://127.0.0.1:1/callback", "none")).toBe(false);
  });

  it("tells an open port", () => {
    expect(hasOpenPort("http://127.0.0.1:*/callback")).toBe(true);
    expect(hasOpenPort("http://127.0.0.1:3000/*")).toBe(false);
  });
});
