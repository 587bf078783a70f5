import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { OperationError } from "../../src/core/base/errors.ts";
import { decodeFixture } from "../../src/core/base/fixture-files/source.ts";
import { checkFixtures } from "../../src/core/admin/seed/seed.ts";
import { DataFileError } from "../../src/store/store.ts";
import { serve } from "../helpers/app.ts";
import { longRuns, timeLimit } from "../helpers/runs.ts";
import { dataOf, journalOf, newFolder, openAt } from "../store/folder.ts";

/** Files of noise and nearly correct files: accepted or refused as a whole, each refusal with a reason. */

/** Changes to bytes as an editor, a copy or a disk makes them: some overwritten, cut out, put in. */
const damages = fc.array(
  fc.record({
    at: fc.nat(1_000_000).map((millionths) => millionths / 1_000_000),
    cut: fc.nat(6),
    put: fc.uint8Array({ maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 3 },
);
type Damage = typeof damages extends fc.Arbitrary<infer D> ? D : never;

const damaged = (bytes: Buffer, all: Damage): Buffer =>
  all.reduce((now, { at, cut, put }) => {
    const place = Math.floor(at * now.length);
    return Buffer.concat([now.subarray(0, place), put, now.subarray(place + cut)]);
  }, bytes);

const nearly = `# people
users:
  - username: alice
    password: "a: b"
    claims: { roles: [admin, *x] }
  - &x { username: bob, createdAt: "2024-01-15T09:30:00.000Z", socialLinks: [] }
clients:
  - client_id: app
    redirect_uris: ["http://localhost:3000/callback"]
scopes: { "orders:read": { description: { en: See your orders } } }
grants: [{ user: alice, client: app, scope: openid }]
settings: { code_ttl: 60 }
`;
const nearlyJson = JSON.stringify(
  {
    users: [{ username: "alice", avatar: { color: "#4f46e5" } }],
    clients: [{ client_id: "app", redirect_uris: ["http://localhost:3000/callback"], scope: "openid email" }],
    grants: [{ user: "alice", client: "app", scope: "openid" }],
  },
  null,
  1,
);

const keys = fc.constantFrom(
  ..."users clients scopes grants settings username id password claims status client_id client_secret redirect_uris".split(
    " ",
  ),
  ..."scope user client code_ttl login description en __proto__ constructor jwks keys avatar socialLinks".split(" "),
);
const structure = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(
      "alice",
      "app",
      "openid",
      "demo-secret",
      "http://localhost:3000/callback",
      "",
      null,
      true,
      -1,
      1e300,
      60,
    ),
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
  ),
})).value;

async function outcome(work: Promise<unknown>): Promise<"taken" | "refused"> {
  try {
    await work;
    return "taken";
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    expect(error.code).toBe("invalid");
    // A file of another tool has nothing wrong in it: its refusal names the command that converts it.
    if (error.hint?.command?.includes("--from") !== true) expect(error.problems.length).toBeGreaterThan(0);
    for (const { message } of error.problems) expect(message).toMatch(/\S/);
    return "refused";
  }
}

test(
  "fixture files of noise, and damaged ones: read, or refused with what is wrong",
  { timeout: timeLimit },
  async () => {
    const file = fc.record({
      name: fc.constantFrom("a.yaml", "a.json"),
      bytes: fc.oneof(
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
        damages.map((all) => damaged(Buffer.from(nearly), all)),
        damages.map((all) => damaged(Buffer.from(nearlyJson), all)),
        structure.map((value) => Buffer.from(JSON.stringify(value))),
      ),
    });
    await fc.assert(
      fc.asyncProperty(file, async ({ name, bytes }) => {
        await outcome((async () => checkFixtures([{ name, text: decodeFixture(name, bytes) }]))());
      }),
      { numRuns: longRuns(200) },
    );
  },
);

test(
  "structures handed to a running server: applied whole, or refused and nothing changed",
  { timeout: timeLimit },
  async () => {
    const idp = await serve();
    const fixtures = fc.dictionary(fc.constantFrom("users", "clients", "scopes", "grants", "settings"), structure, {
      maxKeys: 3,
    });
    const state = async (): Promise<string> => JSON.stringify(await idp.call("export", {}));
    let before = await state();
    await fc.assert(
      fc.asyncProperty(fixtures, async (value) => {
        const ended = await outcome(idp.call("seed", value));
        const after = await state();
        if (ended === "refused") expect(after).toBe(before);
        before = after;
        // Whatever was applied can be exported, and taken in again.
        if (ended === "taken") await idp.call("import", JSON.parse(after) as Readonly<Record<string, unknown>>);
      }),
      { numRuns: longRuns(50, 10) },
    );
  },
);

/** No damage makes one name of another. */
const scope = (index: number) => ({ name: `scope-${String(index).repeat(20)}`, description: {}, claims: [] });

/** Data of ten scopes; the last five of them in the journal. */
async function data(): Promise<{ readonly file: Buffer; readonly journal: Buffer }> {
  const dir = newFolder();
  const add = (store: Awaited<ReturnType<typeof openAt>>, from: number) =>
    Promise.all(
      Array.from({ length: 5 }, (_, index) => store.transaction((tx) => tx.insert("scopes", scope(from + index)))),
    );
  const first = await openAt(dir);
  await add(first, 0);
  await first.close();
  const second = await openAt(dir);
  for (let index = 5; index < 10; index += 1) await second.transaction((tx) => tx.insert("scopes", scope(index)));
  const kept = { file: Buffer.from(dataOf(dir)), journal: Buffer.from(journalOf(dir)) };
  await second.close();
  return kept;
}

test(
  "damaged data: refused and left to the letter, or every record is there but a torn last one",
  { timeout: timeLimit },
  async () => {
    const whole = await data();
    const lastLine = whole.journal.lastIndexOf("\n", whole.journal.length - 2) + 1;
    const lineBefore = whole.journal.subarray(whole.journal.lastIndexOf("\n", lastLine - 2) + 1, lastLine);
    const seen = { refused: 0, taken: 0 };
    const where = fc.constantFrom("file", "journal");
    await fc.assert(
      fc.asyncProperty(where, damages, async (which, all) => {
        const dir = newFolder();
        mkdirSync(dir);
        const parts = { ...whole, [which]: damaged(whole[which], all) };
        writeFileSync(join(dir, "data.json"), parts.file);
        writeFileSync(join(dir, "data.journal"), parts.journal);
        const opened = await openAt(dir).catch((error: unknown) => error);
        if (opened instanceof Error) {
          expect(opened).toBeInstanceOf(DataFileError);
          expect((opened as DataFileError).hint).toMatch(/\S/);
          expect(readFileSync(join(dir, "data.json")).equals(parts.file)).toBe(true);
          expect(readFileSync(join(dir, "data.journal")).equals(parts.journal)).toBe(true);
          expect(readdirSync(dir).sort()).toEqual(["data.journal", "data.json"]);
          seen.refused += 1;
          return;
        }
        const store = opened as Awaited<ReturnType<typeof openAt>>;
        const count = await store.read((tx) => tx.count("scopes"));
        await store.close();
        seen.taken += 1;
        // Only the last line can be torn by a crash; a damage before it may change a letter, and takes no record away.
        const last = Math.max(...all.map(({ at }) => Math.floor(at * whole.journal.length)));
        // Where two became one, they are refused: but for a line without an end, or with a zero, as a crash leaves one.
        const isJoined = !parts.journal.includes(lineBefore);
        const looksTorn = parts.journal.at(-1) !== 0x0a || parts.journal.includes(0);
        const least = isJoined && looksTorn ? 8 : 9;
        expect(count).toBeGreaterThanOrEqual(which === "journal" && last >= lastLine - 24 ? least : 10);
      }),
      { numRuns: longRuns(75, 10) },
    );
    expect(seen.refused).toBeGreaterThan(seen.taken);
  },
);
