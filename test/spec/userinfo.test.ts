import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { userinfo } from "../helpers/client.ts";

/** The spec's tables of the UserInfo response, a test a row: for a user with every field set, and for one with none. */

const idp = await serve();
const everyScope = "openid profile email details phone social";

/** The value at a path of dots. */
const at = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], body);

async function bodyFor(user: string, scope: string): Promise<unknown> {
  const app = await register(idp);
  const { status, json } = await userinfo(idp, (await app.tokens({ user, scope })).access_token);
  expect(status).toBe(200);
  return json;
}

const full = await bodyFor("alice", everyScope);
const bare = await bodyFor(await enroll(idp, { username: "bare" }), everyScope);
const without = await bodyFor("alice", "openid");

const snowflake = expect.stringMatching(/^\d{15,20}$/) as unknown;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const hexColor = expect.stringMatching(/^#[0-9a-f]{6}$/i) as unknown;

describe("UserInfo response: base fields, always present", () => {
  test.each<[path: string, whenSet: unknown, whenNot: unknown]>([
    ["id", "7123456789012345678", snowflake],
    ["user.displayName", "Alice Adams", "bare"],
    ["user.username", "alice", "bare"],
    ["user.avatar.baseUrl", "https://cdn.example.test", expect.stringMatching(/^https?:\/\//)],
    ["user.avatar.path", "/avatars/alice.png", expect.stringMatching(/^\/./)],
    ["user.avatar.color", "#4f46e5", hexColor],
    ["user.about", "Has every field set, so that an app can show each of them.", ""],
    ["language", "en", "en"],
    ["theme", "dark", null],
    ["createdAt", "2024-01-15T09:30:00.000Z", time],
  ])("`%s`", (path, whenSet, whenNot) => {
    expect(at(full, path)).toEqual(whenSet);
    expect(at(bare, path)).toEqual(whenNot);
    expect(at(without, path)).toEqual(whenSet);
  });

  test.each(["light", "dark", "system", null] as const)("`theme` is one of these or null: %s", async (theme) => {
    expect(at(await bodyFor(await enroll(idp, { theme }), "openid"), "theme")).toBe(theme);
  });

  test("`language` is the user's own, two letters", async () => {
    expect(at(await bodyFor(await enroll(idp, { language: "tr" }), "openid"), "language")).toBe("tr");
  });

  test("`createdAt` is ISO 8601 in UTC, however the fixture wrote it", async () => {
    const user = await enroll(idp, { createdAt: "2024-01-15T12:30:00+03:00" });
    expect(at(await bodyFor(user, "openid"), "createdAt")).toBe("2024-01-15T09:30:00.000Z");
  });
});

describe.each<[scope: string, rows: [path: string, whenSet: unknown, whenNot: unknown][]]>([
  [
    "email",
    [
      ["user.email.username", "alice", "bare"],
      ["user.email.domain", "example.com", "example.com"],
      ["user.email.isVerified", true, false],
    ],
  ],
  [
    "details",
    [
      ["user.website", "https://alice.example.test", null],
      ["user.location", "İzmir, Türkiye", null],
      ["user.birthDate", "1990-05-17", null],
    ],
  ],
  ["phone", [["user.phone", "+905551112233", null]]],
  [
    "social",
    [
      [
        "user.socialLinks",
        [
          { platform: "github", url: "https://github.com/alice", label: "GitHub" },
          { platform: "x", url: "https://x.com/alice", label: "X" },
        ],
        [],
      ],
    ],
  ],
])("UserInfo response: scope `%s` adds", (scope, rows) => {
  test.each(rows)("`%s`", (path, whenSet, whenNot) => {
    expect(at(full, path)).toEqual(whenSet);
    expect(at(bare, path)).toEqual(whenNot);
  });

  test("and nothing of any other scope", async () => {
    const added = new Set(rows.map(([path]) => path.split(".")[1]));
    const { user } = (await bodyFor("alice", `openid ${scope}`)) as { user: object };
    expect(new Set(Object.keys(user))).toEqual(new Set(["displayName", "username", "avatar", "about", ...added]));
  });
});

describe("UserInfo response: scope `social`, each link", () => {
  test.each([
    ["platform", "github"],
    ["url", "https://github.com/alice"],
    ["label", "GitHub"],
  ])("`user.socialLinks[].%s`", (name, value) => {
    expect(at(full, `user.socialLinks.0.${name}`)).toBe(value);
  });
});

describe("UserInfo response: filtering rule", () => {
  test("fields of a scope that was not granted are absent, as keys", () => {
    // Beside the claims of OpenID Connect, each by its scope, and the user's own.
    const { sub, roles, ...body } = without as Record<string, unknown>;
    expect([sub, roles]).toEqual(["7123456789012345678", ["admin"]]);
    expect(body).toEqual({
      id: "7123456789012345678",
      user: {
        displayName: "Alice Adams",
        username: "alice",
        avatar: { baseUrl: "https://cdn.example.test", path: "/avatars/alice.png", color: "#4f46e5" },
        about: "Has every field set, so that an app can show each of them.",
      },
      language: "en",
      theme: "dark",
      createdAt: "2024-01-15T09:30:00.000Z",
    });
  });

  test("fields of a granted scope are present, null where unset", () => {
    const { user } = bare as { user: Record<string, unknown> };
    expect(Object.keys(user)).toEqual([
      ...["displayName", "username", "avatar", "about"],
      ...["email", "website", "location", "birthDate", "phone", "socialLinks"],
    ]);
  });
});
