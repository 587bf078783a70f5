import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { jwtPart, userinfo } from "../helpers/client.ts";

/** The pictures that this server makes for users who have none. */

const names = ["Alice Adams", "İpek", "<b> &", "\ud800 x", "日本 語", "-"];
const idp = await serve({
  fixtures: {
    users: [
      ...names.map((displayName, at) => ({ username: `u${at}`, displayName, avatar: { color: "#4F46E5" } })),
      { username: "own", avatar: { baseUrl: "https://cdn.example.test", path: "/own.png" } },
      { username: "none", avatar: { path: "" } },
    ],
    clients: [{ client_id: "app", client_secret: "secret", redirect_uris: ["http://localhost:3000/cb"] }],
  },
});
const pictureOf = async (user: string) => {
  const tokens = await idp.issueTokens({ user, client: "app", scope: "openid profile" });
  const { json } = await userinfo(idp, tokens.access_token);
  const { avatar } = json["user"] as { avatar: { baseUrl: string; path: string; color: string } };
  const { picture } = jwtPart(tokens.id_token, 1);
  if (picture !== undefined) expect(avatar.baseUrl + avatar.path).toBe(picture);
  return picture as string | undefined;
};

test.each(names.map((name, at) => [name, `u${at}`]))(
  "%j: an SVG of the initials, which runs and loads nothing",
  async (_name, user) => {
    const url = await pictureOf(user);
    expect(url?.startsWith(`${idp.issuer}/avatars/`)).toBe(true);
    const response = await fetch(url ?? "");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const svg = await response.text();
    expect(svg).toContain('fill="#4f46e5"');
    expect(svg.replaceAll(/<\/?(?:svg|rect|text)[^<>]*>/g, "")).not.toMatch(/[<>]/);
  },
);

test("the initials are those of the name", async () => {
  expect(await pictureOf("u0")).toBe(`${idp.issuer}/avatars/AA-4f46e5.svg`);
  expect(await (await fetch((await pictureOf("u2")) ?? "")).text()).toContain(">&#60;&#38;</text>");
});

test("a picture of the fixtures stays, and an empty path is no picture", async () => {
  expect(await pictureOf("own")).toBe("https://cdn.example.test/own.png");
  expect(await pictureOf("none")).toBeUndefined();
});

test.each([
  "AA-red.svg",
  "AAA-4f46e5.svg",
  "A-4f46e5.png",
  "%0A-4f46e5.svg",
  "alice",
  "A%20-4f46e5.svg",
  "..%2F-4f46e5.svg",
])("%s is not a picture: 404", async (file) => {
  expect((await fetch(`${idp.issuer}/avatars/${file}`)).status).toBe(404);
});
