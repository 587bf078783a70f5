import { describe, expect, it } from "vitest";
import { checkRedirectUri, hasOpenPort, matchRedirectUri } from "../../src/core/clients/redirect-uri.ts";

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
    "https://app.example.com/..a/b.",
  ])("%s", (uri) => {
    expect(checkRedirectUri(uri)).toBeNull();
  });
});

describe("a redirect URI that cannot be registered", () => {
  it.each([
    ["", "is empty"],
    ["/callback", "not absolute"],
    ["localhost:3000/callback", 'the scheme "localhost"'],
    ["//localhost:3000/callback", "not absolute"],
    ["https://app.example.com/cb#x", "fragment"],
    ["https://app.example.com/cb#", "fragment"],
    ["com.example.app:/cb#x", "fragment"],
    ["https://user@app.example.com/cb", "user info"],
    ["https://user:secret@app.example.com/cb", "user info"],
    ["http://localhost@evil.example/cb", "user info"],
    ["http://app.example.com/cb", "not loopback"],
    ["http://localhost.evil.example/cb", "not loopback"],
    ["http://127.0.0.1.evil.example/cb", "not loopback"],
    ["http://192.168.1.5/cb", "not loopback"],
    ["http://[::2]/cb", "not loopback"],
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
    ["myapp://callback", "private-use scheme"],
    ["com.example.app:", "nothing after its scheme"],
  ])("%j: %s", (uri, why) => {
    expect(checkRedirectUri(uri)).toContain(why);
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
  ])("registered %s, asked %s: %s for a public client", (registered, asked, matches) => {
    expect(matchRedirectUri(registered, asked, true)).toBe(matches);
  });

  it("leaves the port open to public clients only", () => {
    expect(matchRedirectUri("http://127.0.0.1:*/callback", "http://127.0.0.1:51004/callback", false)).toBe(false);
    expect(matchRedirectUri("http://127.0.0.1:1/callback", "http://127.0.0.1:1/callback", false)).toBe(true);
  });

  it("tells an open port", () => {
    expect(hasOpenPort("http://127.0.0.1:*/callback")).toBe(true);
    expect(hasOpenPort("http://127.0.0.1:3000/*")).toBe(false);
  });
});
