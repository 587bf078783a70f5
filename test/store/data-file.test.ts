/** A data.json that is not read: each is refused with its place and with what to do, and left as it is. */
import { constants } from "node:buffer";
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newFolder, openAt, scopesIn } from "./folder.ts";
import { user } from "./records.ts";

const head = '"schemaVersion":1,"generation":"g","after":null';
const users = (...records: unknown[]) =>
  `{${head},\n"users":[\n${records.map((record) => JSON.stringify(record)).join(",\n")}\n]}`;
const without = (field: string) => Object.fromEntries(Object.entries(user("bob")).filter(([name]) => name !== field));

const cases: Record<string, [content: string | Uint8Array, message: RegExp]> = {
  "an empty file": ["", /data\.json is empty/],
  "an array": ["[]", /data\.json:1:1 is not a data file of idp/],
  "a number": ["5", /data\.json:1:1 is not a data file of idp/],
  "no JSON": [`{${head},\n  "users": oops}`, /data\.json:2:12 is not JSON/],
  "a truncated file": [users(user("alice")).slice(0, -8), /data\.json:3:\d+ is not JSON/],
  "a comment": [`{${head}}\n// mine`, /data\.json:2:1 is not JSON/],
  "bytes that are no text": [Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
  "somebody else's object": ['{"posts":[]}', /is not a data file of idp: its "schemaVersion" is missing/],
  "an invalid schema version": ['{"schemaVersion":"1"}', /its "schemaVersion" is "1"/],
  "a schema version before the first": ['{"schemaVersion":0}', /its "schemaVersion" is 0/],
  "a newer schema": ['{"schemaVersion":2,"users":{}}', /has schema version 2; this idp reads version 1/],
  "no generation": ['{"schemaVersion":1,"after":null}', /has no "generation"/],
  "no place in the journal": ['{"schemaVersion":1,"generation":"g"}', /has no usable "after"/],
  "an unknown collection": [
    `{${head},\n"posts":[]}`,
    /data\.json:2:9 posts is not a collection of this idp: it was written by a newer version/,
  ],
  "a collection that is not kept": [`{${head},"codes":[]}`, /codes is not a collection/],
  "a collection that is no array": [`{${head},\n"users":{}}`, /data\.json:2:9 users must be an array/],
  "a record that is no object": [users(user("alice"), 7), /data\.json:4:1 users\[1\] is not a record/],
  "a record without its key": [users(user("alice"), without("id")), /data\.json:4:1 users\[1\] .* has no id/],
  "a record that no index can take": [users(user("alice"), without("email")), /users\[1\] .* has no usable email/],
  "a key twice": [
    users(user("alice"), user("bob"), user("carol", { id: "id-alice" })),
    /data\.json:5:1 users\[2\] .* id "id-alice" is taken/,
  ],
  "a unique value twice": [
    users(user("alice"), user("alice", { id: "2" })),
    /data\.json:4:1 users\[1\] .* username "alice" is taken/,
  ],
};

describe("a data file that is not read", () => {
  test.each(Object.entries(cases))("%s is refused, and left as it is", async (_, [content, message]) => {
    const dir = newFolder();
    const file = join(dir, "data.json");
    mkdirSync(dir);
    writeFileSync(file, content);
    const refusal = await openAt(dir).catch((error: unknown) => error as Error & { file: string; hint: string });
    expect(refusal).toMatchObject({ name: "DataFileError", file });
    expect((refusal as Error).message).toMatch(message);
    expect((refusal as { hint: string }).hint).toContain("another folder with --data");
    expect(readFileSync(file).equals(Buffer.from(content))).toBe(true);
    expect(readdirSync(dir)).toEqual(["data.json"]);
  });

  test("the refusal quotes nothing of the file: it holds secrets", async () => {
    const dir = newFolder();
    mkdirSync(dir);
    writeFileSync(join(dir, "data.json"), `{${head},"clients":[{"client_secret":"hush" "x":1}]}`);
    await expect(openAt(dir)).rejects.toThrow(/^(?!.*hush).*is not JSON/);
  });

  test("a folder in its place is refused", async () => {
    const dir = newFolder();
    mkdirSync(join(dir, "data.json"), { recursive: true });
    await expect(openAt(dir)).rejects.toMatchObject({
      message: `${join(dir, "data.json")} cannot be read: it is a folder`,
      hint: "Move it away, or use another folder with --data",
    });
  });

  test("one that is too long for a string is refused", async () => {
    const dir = newFolder();
    mkdirSync(dir);
    writeFileSync(join(dir, "data.json"), "{");
    // It has no blocks on the disk.
    truncateSync(join(dir, "data.json"), constants.MAX_STRING_LENGTH + 1);
    await expect(openAt(dir)).rejects.toThrow("data.json is larger than half a gigabyte, the most that idp reads");
  });

  test("one that a person wrote, in any layout and with some collections only, is read", async () => {
    const dir = newFolder();
    mkdirSync(dir);
    const scopes = [{ name: "orders:read", description: {}, claims: [] }];
    writeFileSync(
      join(dir, "data.json"),
      JSON.stringify({ schemaVersion: 1, generation: "mine", after: null, scopes }, null, 4),
    );
    expect(await scopesIn(dir)).toEqual(["orders:read"]);
  });
});
