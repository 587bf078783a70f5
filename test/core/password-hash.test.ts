import { scryptSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashPassword, matchesHash } from "../../src/core/records/users/passwords.ts";
import { seedWorld } from "../helpers/seed-context.ts";

const random = (bytes: number): string => Buffer.alloc(bytes, 7).toString("base64url");

describe("a stored hash", () => {
  it("names its parameters and its salt, and never holds the password", async () => {
    const kept = await hashPassword("alice", random);
    expect(kept).toMatch(/^scrypt\$16384\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(kept).not.toContain("alice");
  });

  it("differs for another salt", async () => {
    const { random: drawn } = seedWorld();
    expect(await hashPassword("alice", drawn)).not.toBe(await hashPassword("alice", drawn));
  });

  it.each([
    ["the same password", "pässword ığ", "pässword ığ", true],
    ["the same letters, put together otherwise", "s\u0327ifre", "\u015fifre", true],
    ["another case", "alice", "Alice", false],
    ["a part", "alice", "alic", false],
    ["nothing", "alice", "", false],
  ])("fits %s: %s, %s: %s", async (_, password, typed, fits) => {
    expect(await matchesHash(typed, await hashPassword(password, random))).toBe(fits);
  });

  it("that is missing matches no password", async () => {
    expect(await matchesHash("", null)).toBe(false);
    expect(await matchesHash("alice", null)).toBe(false);
  });

  it("of other parameters is computed with those", async () => {
    const salt = Buffer.alloc(16, 1);
    const hash = scryptSync("alice", salt, 32, { N: 1024, r: 4, p: 2 }).toString("base64url");
    expect(await matchesHash("alice", `scrypt$1024$4$2$${salt.toString("base64url")}$${hash}`)).toBe(true);
  });

  it.each([
    ["nothing", ""],
    ["the password itself", "alice"],
    ["another function", "bcrypt$16384$8$1$SALT$HASH"],
    ["no hash", "scrypt$16384$8$1$SALT"],
    ["an empty hash", "scrypt$16384$8$1$SALT$"],
    ["a short salt", "scrypt$16384$8$1$AAAA$HASH"],
    ["an N that is no power of two", "scrypt$16383$8$1$SALT$HASH"],
    ["an N of 1", "scrypt$1$8$1$SALT$HASH"],
    ["an N of 0", "scrypt$0$8$1$SALT$HASH"],
    ["an N that takes a gigabyte", "scrypt$1048576$8$1$SALT$HASH"],
    ["an N without end", "scrypt$99999999999999999999$8$1$SALT$HASH"],
    ["an r of 0", "scrypt$16384$0$1$SALT$HASH"],
    ["an r that takes too much", "scrypt$16384$99$1$SALT$HASH"],
    ["a p of 0", "scrypt$16384$8$0$SALT$HASH"],
  ])("that was tampered with matches nothing and does not throw: %s", async (_, tampered) => {
    const [, , , , salt = "", hash = ""] = (await hashPassword("alice", random)).split("$");
    expect(await matchesHash("alice", tampered.replace("SALT", salt).replace("HASH", hash))).toBe(false);
  });

  it("that asks for more rounds than ours is not computed", async () => {
    const salt = Buffer.alloc(16, 1);
    const hash = scryptSync("alice", salt, 32, { N: 16, r: 1, p: 50 }).toString("base64url");
    expect(await matchesHash("alice", `scrypt$16$1$50$${salt.toString("base64url")}$${hash}`)).toBe(false);
  });
});
