import { describe, expect, it } from "vitest";
import { OperationError } from "../../src/core/base/errors.ts";
import { decodeFixture } from "../../src/core/base/fixture-files/source.ts";
import { problemsOf } from "../helpers/fixtures.ts";

/** Where problems are said to be: the line and column at which an editor shows the value, or the key where that is wrong. */

const yaml = (text: string): Promise<string[]> => problemsOf({ name: "team.yaml", text });
const json = (text: string): Promise<string[]> => problemsOf({ name: "team.json", text });

/** `file:line:column path`, without the sentence. */
const places = (lines: readonly string[]): string[] => lines.map((line) => line.split(" ").slice(0, 2).join(" "));

describe("JSON", () => {
  it("points at values, and at keys that are wrong themselves", async () => {
    const text = `{
  "users": [
    { "username": "alice", "email": "x" },
    {
      "username": "bob",
      "emial": "bob@example.com",
      "avatar": { "color": "red" },
      "socialLinks": [{ "platform": "x" }]
    }
  ]
}`;
    expect(places(await json(text))).toEqual([
      "team.json:3:37 users[0].email",
      "team.json:6:7 users[1].emial",
      "team.json:7:28 users[1].avatar.color",
      "team.json:8:23 users[1].socialLinks[0].url",
      "team.json:8:23 users[1].socialLinks[0].label",
    ]);
  });

  it("with comments", async () => {
    const text = `// "users" of the team
{
  /* two
     lines */ "users": [{ "username": 5 /* no */, "website": "http://x.test//a" }], // "x": 1
  "settings": { "code_ttl": 0 }
}`;
    expect(places(await json(text))).toEqual(["team.json:4:39 users[0].username", "team.json:5:29 settings.code_ttl"]);
  });

  it("counts columns behind Turkish letters as an editor does", async () => {
    expect(places(await json('{"users":[{"username":"x","displayName":"Çağrı Şık","email":"İ"}]}'))).toEqual([
      "team.json:1:61 users[0].email",
    ]);
  });

  it.each([
    ["CR LF", '{\r\n "users": [\r\n  {"username": 1}]}', "team.json:3:16 users[0].username"],
    ["CR", '{\r "users": [\r  {"username": 1}]}', "team.json:3:16 users[0].username"],
    ["a byte order mark", '\ufeff{"users": [{"username": 1}]}', "team.json:1:25 users[0].username"],
    ["keys with quotes and backslashes", '{"a\\"b": 1, "users": [{"username": 1}]}', 'team.json:1:2 ["a\\"b"]'],
  ])("%s", async (_, text, place) => {
    expect(places(await json(text))[0]).toBe(place);
  });

  it.each([
    ["{", "1:2 $ a } is missing"],
    ['{"users": [}', "1:12 $ a value is expected; remove a comma before ]"],
    ['{"users": [],}', "1:14 $ a field name in double quotes is expected; remove a comma before }"],
    ['{"users" []}', "1:10 $ a colon is expected after the field name"],
    ['{"users": []\n "clients": []}', "2:2 $ a comma or a closing bracket is expected"],
    ["{'users': []}", "1:2 $ this is not a JSON value: write text in double quotes"],
    ['{"users": nil}', "1:11 $ this is not a JSON value"],
    ['{"a": "x', "1:7 $ a text does not end: its closing quote is missing"],
    ['{"a": "x\ty"}', "1:7 $ a text holds a control character"],
    ['{"a": "\\x"}', "1:7 $ this escape is not one of"],
    ['{"a": 1 /* x', "1:9 $ a comment does not end"],
    ['{"a": 1}}', "1:9 $ there is more text after the end of the value"],
    ["[".repeat(100_000), "1:1 $ the file is nested too deep to be read"],
    [`{"users":${"[".repeat(200)}${"]".repeat(200)}}`, "1:12 users[0][0] contains something nested more than 64 deep"],
  ])("syntax %s", async (text, line) => {
    expect(await json(text)).toEqual([expect.stringContaining(`team.json:${line}`)]);
  });

  it.each([
    ['{"users": [{"username": "a", "id": 007}]}', "1:36 $ a number does not begin with 0"],
    ['{"users": [{"username": "a", "claims": {"n": -01}}]}', "1:46 $ a number does not begin with 0"],
    ['{"users": [{"username": "a", "claims": {"n": 00}}]}', "1:46 $ a number does not begin with 0"],
    ['{"users": [{"username": "a", "claims": {"n": [1, 01.5 ]}}]}', "1:50 $ a number does not begin with 0"],
  ])("%s: the zero would be lost", async (text, line) => {
    expect(await json(text)).toEqual([`team.json:${line}: put it in quotes`]);
  });

  it("finds fields that stand twice, beside everything else", async () => {
    const text = '{\n "users": [\n  {"username": "a", "email": "x",\n   "username": "b"}],\n "users": []\n}';
    expect(await json(text)).toEqual([
      "team.json:4:4 users[0].username occurs twice in its object; first on line 3",
      "team.json:5:2 users occurs twice in its object; first on line 2",
    ]);
    expect(await json('{"users": [{"username": "a", "username": "b", "email": "x"}]}')).toEqual([
      "team.json:1:30 users[0].username occurs twice in its object; first on line 1",
      'team.json:1:56 users[0].email "x" is not an e-mail address',
    ]);
  });

  it("does not take colons and quotes within text for fields", async () => {
    expect(await json('{"users": [{"username": "a", "about": "x: \\"y\\": {\\\\", "displayName": "b:c"}]}')).toEqual(
      [],
    );
  });

  it("refuses __proto__", async () => {
    expect(await json('{"__proto__": {}, "users": [{"username": "a", "__proto__": {"status": "banned"}}]}')).toEqual([
      "team.json:1:2 __proto__ cannot be the name of a field",
      "team.json:1:47 users[0].__proto__ cannot be the name of a field",
    ]);
  });
});

describe("YAML", () => {
  it("points at values, and at keys that are wrong themselves", async () => {
    const text = `# the team
users:
  - username: alice
    email: 'x'
    avatar: { color: red, "colour": "#fff" }
  - username: bob
    emial: bob@example.com
    about:
    phone: +905551112233
    socialLinks:
      - platform: x
        url: |
          nowhere
clients: []
settings:
  code_ttl: 0
`;
    expect(places(await yaml(text))).toEqual([
      "team.yaml:4:12 users[0].email",
      "team.yaml:5:22 users[0].avatar.color",
      "team.yaml:5:27 users[0].avatar.colour",
      "team.yaml:7:5 users[1].emial",
      "team.yaml:8:5 users[1].about",
      "team.yaml:9:12 users[1].phone",
      "team.yaml:11:9 users[1].socialLinks[0].label",
      "team.yaml:13:1 users[1].socialLinks[0].url",
      "team.yaml:16:13 settings.code_ttl",
    ]);
  });

  it("accepts anchors and merges, and points at the text", async () => {
    const text = `users:
  - &base { username: alice, theme: dark, status: active }
  - { <<: *base, username: bob }
  - <<: *base
    username: carol
    status: gone
  - *base
`;
    expect(await yaml(text)).toEqual([
      'team.yaml:6:13 users[2].status "gone" is not one of active, suspended, banned',
      'team.yaml:7:5 users[3].username "alice" is taken by users[0]',
    ]);
  });

  it.each([
    ["users: [1\n", "2:1 $ this is not YAML: "],
    ["users:\n  - a\n b: c\n", "3:2 $ this is not YAML: "],
    ["users:\n\t- a\n", "2:1 $ this is not YAML: "],
    ["users: []\nusers: []\n", "2:1 users occurs twice in its object; first on line 1"],
    ["users: *nobody\n", '1:9 $ this is not YAML: unidentified alias "nobody"'],
    ["users: !!js/function x\n", "1:8 $ this is not YAML: unknown scalar tag"],
    ["users: []\n---\nusers: []\n", "1:1 $ the file holds 2 YAML documents; put all into one"],
    ["# nothing\n", "1:1 $ the file is empty; write {} for no fixtures"],
    ["- a\n", "1:1 $ a fixture file is an object with users"],
    [`users: ${"[".repeat(200)}`, "this is not YAML: nesting exceeded"],
    ["users: &a [*a]\n", "contains something nested more than 64 deep"],
    ["users: [{username: a, claims: {n: .inf}}]\n", "1:35 users[0].claims.n is Infinity, which JSON does not have"],
    [
      "users:\n  - username: a\n    about: Hello: b\n",
      '3:17 $ this is not YAML: the text has a colon, so put it in quotes: about: "Hello: b"',
    ],
  ])("syntax %j", async (text, line) => {
    expect((await yaml(text))[0]).toContain(line);
  });

  it("finds all problems in one run, also beside a field that occurs twice", async () => {
    const text = `x-defaults: &d { password: test }
users:
  - <<: *d
    username: erin
    username: frank
    claims: { zip: 01234, employee: -007, article: 1.10, share: 0.5, no: no, day: 2024-01-01, code: "007" }
settings: { code_ttl: 5m, login: pikcer }
`;
    const zero = "is a number that would lose a zero: put it in quotes";
    expect(await yaml(text)).toEqual([
      "team.yaml:5:5 users[0].username occurs twice in its object; first on line 4",
      `team.yaml:6:20 users[0].claims.zip ${zero}`,
      `team.yaml:6:37 users[0].claims.employee ${zero}`,
      `team.yaml:6:52 users[0].claims.article ${zero}`,
      'team.yaml:7:34 settings.login "pikcer" must be one of picker, password, auto:<username>',
    ]);
  });

  it("refuses aliases that blow up", async () => {
    const levels = Array.from(
      { length: 10 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(10)}]`,
    );
    expect(await yaml(["l0: &l0 [x]", ...levels].join("\n"))).toEqual([
      "team.yaml:1:1 $ its aliases and merge keys stand for more than 10,000 values: write them out, or use fewer",
    ]);
  });

  it("keeps what people write without quotes: on, dates, names of months", async () => {
    const text =
      "users: [{username: a, birthDate: 1990-05-17, createdAt: 2024-01-15T09:30:00Z}]\nsettings: {refresh_rotation: on}\n";
    expect(await yaml(text)).toEqual([]);
  });
});

describe("several files", () => {
  it("all problems, by file and then by line, and what is taken by another file", async () => {
    const lines = await problemsOf(
      { name: "b.yaml", text: "users:\n  - username: alice\n  - username: a b\n" },
      { name: "a.json", text: '{"users": [{"username": "bob", "id": "x"},\n {"username": "alice"}]' },
      {
        name: "c.yml",
        text: "clients: 5\nusers:\n  - username: alice\ngrants:\n  - {user: nobody, client: demo, scope: openid}\n",
      },
      { name: "d.yaml", text: "" },
    );
    expect(lines).toEqual([
      expect.stringMatching(/^b\.yaml:3:15 users\[1\]\.username /),
      expect.stringMatching(/^a\.json:2:24 \$ /),
      "c.yml:1:10 clients must be a list, not a number",
      'c.yml:3:15 users[0].username "alice" is taken by users[0] of b.yaml',
      'c.yml:5:12 grants[0].user names no user that exists: "nobody"',
      'c.yml:5:28 grants[0].client names no client that exists: "demo"',
      "d.yaml:1:1 $ the file is empty; write {} for no fixtures",
    ]);
  });

  it("may name each other's users, clients and scopes", async () => {
    const lines = await problemsOf(
      {
        name: "grants.yaml",
        text: "grants: [{user: alice, client: app, scope: openid orders:read}]\nsettings: {login: auto:alice}\n",
      },
      { name: "users.json", text: '{"users": [{"username": "alice"}], "scopes": {"orders:read": {}}}' },
      { name: "clients.yaml", text: 'clients: [{client_id: app, redirect_uris: ["http://localhost/"]}]' },
    );
    expect(lines).toEqual([]);
  });
});

describe("bytes", () => {
  const problemOf = (bytes: Uint8Array): unknown => {
    try {
      return decodeFixture("latin.yaml", bytes);
    } catch (error) {
      return error instanceof OperationError ? error.problems[0] : error;
    }
  };

  it("that are not UTF-8 are refused with their place", () => {
    const problem = { file: "latin.yaml", line: 2, path: "$", message: "this is not UTF-8; save the file in UTF-8" };
    expect(problemOf(Buffer.from("users:\n  - username: \xe7", "latin1"))).toEqual({ ...problem, column: 15 });
    expect(problemOf(Buffer.concat([Buffer.from("# \ufffd\n# "), Buffer.from([0xe7])]))).toEqual({
      ...problem,
      column: 3,
    });
    expect(problemOf(Buffer.concat([Buffer.from("\ufeff# \ufffd\nç "), Buffer.from([0xff])]))).toEqual({
      ...problem,
      column: 3,
    });
  });

  it("of UTF-8 are taken with and without a byte order mark", async () => {
    const text = decodeFixture("a.json", Buffer.from('\ufeff{"users": [{"username": "a", "about": "\ufffd ığ"}]}'));
    expect(await json(text)).toEqual([]);
  });
});
