import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { pidNamespace } from "../../src/files/process.ts";
import { readLock, type Lock } from "../../src/store/json/lock.ts";
import { program, startChild } from "./child.ts";
import { newFolder, openAt } from "./folder.ts";

let dir: string;
beforeEach(() => {
  dir = newFolder();
  mkdirSync(dir);
});

/** Of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

function writeLock(fields: Partial<Lock>): void {
  const lock: Lock = {
    id: "0123456789ab",
    pid: process.pid,
    host: hostname(),
    processStart: null,
    pidNamespace: pidNamespace(),
    kind: "server",
    version: "0.0.0",
    startedAt: "2024-01-15T09:30:00.000Z",
    url: null,
    adminToken: null,
    ...fields,
  };
  writeFileSync(join(dir, "lock.json"), JSON.stringify(lock));
}

describe("the lock of the data", () => {
  test("says who holds it, is the owner's only, and goes on close", async () => {
    const store = await openAt(dir, { version: "1.2.3" });
    expect(statSync(join(dir, "lock.json")).mode & 0o777).toBe(0o600);
    expect(readLock(dir)).toMatchObject({
      pid: process.pid,
      host: hostname(),
      kind: "server",
      version: "1.2.3",
      url: null,
      adminToken: null,
      state: "alive",
    });
    store.updateLock({ url: "http://localhost:4370", adminToken: "secret-of-the-test" });
    expect(readLock(dir)).toMatchObject({
      url: "http://localhost:4370",
      adminToken: "secret-of-the-test",
      state: "alive",
    });
    expect(statSync(join(dir, "lock.json")).mode & 0o777).toBe(0o600);
    await store.close();
    expect(readLock(dir)).toBeNull();
    expect(readLock(join(dir, "missing"))).toBeNull();
  });

  test.each(["server", "command"] as const)(
    "held by a server, a %s is refused at once, with where it runs",
    async (kind) => {
      const store = await openAt(dir);
      const starting = openAt(dir, { kind });
      await expect(starting).rejects.toMatchObject({ name: "LockedError", holder: { pid: process.pid, url: null } });
      await expect(starting).rejects.toThrow("by an idp that is starting");
      store.updateLock({ url: "http://localhost:4370", adminToken: "secret-of-the-test" });
      const error = await openAt(dir, { kind }).catch((error: unknown) => error as Error & { holder: object });
      expect((error as Error).message).toContain(
        `by the idp that runs at http://localhost:4370 (process ${process.pid}, since `,
      );
      expect(Object.keys((error as { holder: object }).holder).sort()).toEqual(["pid", "startedAt", "url"]);
      await store.transaction((tx) => tx.insert("scopes", { name: "still", description: {}, claims: [] }));
      await store.close();
    },
  );

  test.each(["server", "command"] as const)("held by a command, a %s waits for it", async (kind) => {
    const first = await openAt(dir, { kind: "command" });
    const second = openAt(dir, { kind });
    await first.transaction((tx) => tx.insert("scopes", { name: "first", description: {}, claims: [] }));
    await first.close();
    const store = await second;
    expect(await store.read((tx) => tx.count("scopes"))).toBe(1);
    await store.close();
  });

  test("a command that does not end is waited for so long and no longer", async () => {
    const store = await openAt(dir, { kind: "command" });
    await expect(openAt(dir, { kind: "command", waitMs: 20 })).rejects.toThrow(
      /another idp command .* has not ended within 20 ms/,
    );
    await store.close();
  });

  const dead: Record<string, () => Partial<Lock>> = {
    "of a process that was killed": () => ({ pid: deadPid() }),
    "of a command that was killed": () => ({ pid: deadPid(), kind: "command" }),
    "that names no process": () => ({ pid: 0 }),
  };
  test.each(Object.entries(dead))("one %s is taken over, with a note", async (_, fields) => {
    writeLock(fields());
    expect(readLock(dir)?.state).toBe("dead");
    const notes: string[] = [];
    const store = await openAt(dir, { log: (note) => notes.push(note) });
    expect(notes).toEqual([expect.stringMatching(/^took over the lock of process \d+, which was killed or crashed/)]);
    expect(readLock(dir)?.pid).toBe(process.pid);
    await store.close();
  });

  test("the guard of a process that died while it took a lock over holds nobody up for long", async () => {
    writeLock({ pid: deadPid() });
    const guard = join(dir, "lock.json.0123456789ab");
    writeFileSync(guard, "");
    const longAgo = new Date(Date.now() - 11_000);
    utimesSync(guard, longAgo, longAgo);
    const store = await openAt(dir);
    expect(readdirSync(dir).sort()).toEqual(["data.json", "lock.json"]);
    await store.close();
  });

  test("one whose process ended, and whose pid was reused, is taken over if the system tells when a process began", async () => {
    writeLock({ processStart: "another boot 1" });
    expect(readLock(dir)?.state).toBe(process.platform === "linux" ? "dead" : "alive");
  });

  test("one of another machine is refused with how to remove it, and left", async () => {
    writeLock({ host: "elsewhere.example", pid: 1, url: "http://localhost:1" });
    const before = readFileSync(join(dir, "lock.json"), "utf8");
    expect(readLock(dir)?.state).toBe("elsewhere");
    const refusal = openAt(dir, { kind: "command" });
    await expect(refusal).rejects.toMatchObject({ name: "LockedError", holder: { pid: 1, url: "http://localhost:1" } });
    await expect(refusal).rejects.toThrow(/on the machine "elsewhere\.example".*remove .*lock\.json/);
    expect(readFileSync(join(dir, "lock.json"), "utf8")).toBe(before);
  });

  describe("one of another container under the same host name", () => {
    const file = () => join(dir, "lock.json");
    const theirs = (pid: number) =>
      writeLock({ pid, pidNamespace: "pid:[1]", processStart: "this boot 1", url: "http://localhost:1" });

    test.each([
      ["whose pid is nobody's here", deadPid],
      ["whose pid is this process's here", () => process.pid],
    ])("that is touched, %s, is refused and left", async (_, pid) => {
      theirs(pid());
      const before = readFileSync(file(), "utf8");
      const touching = setInterval(() => utimesSync(file(), Date.now() / 1000, Date.now() / 1000), 50);
      onTestFinished(() => clearInterval(touching));
      expect(readLock(dir)?.state).toBe("elsewhere");
      const refusal = openAt(dir);
      await expect(refusal).rejects.toMatchObject({ name: "LockedError", isRemote: true });
      await expect(refusal).rejects.toThrow(/runs in another container of this machine.* at http:\/\/localhost:1\)/);
      expect(readFileSync(file(), "utf8")).toBe(before);
    });

    test("that was left alone is taken over", async () => {
      theirs(process.pid);
      const longAgo = new Date(Date.now() - 11_000);
      utimesSync(file(), longAgo, longAgo);
      expect(readLock(dir)?.state).toBe("dead");
      await (await openAt(dir)).close();
    });
  });

  test("an owner touches its lock", async () => {
    const store = await openAt(dir);
    onTestFinished(() => store.close());
    const longAgo = new Date(Date.now() - 11_000);
    utimesSync(join(dir, "lock.json"), longAgo, longAgo);
    await expect.poll(() => statSync(join(dir, "lock.json")).mtimeMs).toBeGreaterThan(Date.now() - 8000);
  });

  test("one that a killed process of this container left is taken over", async () => {
    const store = await openAt(dir);
    const written = readLock(dir)?.pidNamespace ?? null;
    await store.close();
    expect(written).toEqual(process.platform === "linux" ? expect.stringMatching(/^pid:\[\d+\]$/) : null);
    writeLock({ pid: deadPid(), pidNamespace: written });
    await (await openAt(dir)).close();
  });

  test.each(["", "\0\0\0\0"])("one that a loss of power emptied (%j) is taken over", async (content) => {
    writeFileSync(join(dir, "lock.json"), content);
    await (await openAt(dir)).close();
    expect(existsSync(join(dir, "lock.json"))).toBe(false);
  });

  test.each(["{", '{"name":"mine"}', "null"])(
    "a lock.json that is something else (%s) is refused and left",
    async (content) => {
      writeFileSync(join(dir, "lock.json"), content);
      await expect(openAt(dir)).rejects.toMatchObject({
        name: "DataFileError",
        hint: "Remove it if no idp is running on this folder.",
      });
      expect(() => readLock(dir)).toThrow("is not a lock file of idp");
      expect(readdirSync(dir)).toEqual(["lock.json"]);
      expect(readFileSync(join(dir, "lock.json"), "utf8")).toBe(content);
    },
  );

  test("data that is refused leaves no lock behind", async () => {
    writeFileSync(join(dir, "data.json"), "[]");
    await expect(openAt(dir)).rejects.toMatchObject({ name: "DataFileError" });
    expect(readLock(dir)).toBeNull();
  });
});

describe("several processes", async () => {
  const [contender, command] = [await program("contender"), await program("commands")];

  test("four processes take over a dead lock at once: one wins, each time", async () => {
    const contenders = Array.from({ length: 4 }, () => startChild(contender, [dir]));
    await Promise.all(contenders.map(({ line }) => line()));
    const pid = deadPid();
    for (let round = 0; round < 25; round++) {
      writeLock({ pid, id: `dead${round}` });
      for (const { process } of contenders) process.stdin.write("take\n");
      const answers = await Promise.all(contenders.map(({ line }) => line()));
      expect(answers.map((answer) => answer.split(" ")[0]).sort()).toEqual(["locked", "locked", "locked", "won"]);
      const winner = contenders[answers.findIndex((answer) => answer === "won")];
      expect(answers.filter((answer) => answer === `locked ${winner?.process.pid}`)).toHaveLength(3);
      winner?.process.stdin.write("release\n");
      expect(await winner?.line()).toBe("released");
      expect(readdirSync(dir)).toEqual([]);
    }
  });

  test("three that run many commands at once lose none of them", async () => {
    const commands = Array.from({ length: 3 }, () => startChild(command, [dir, "40"]));
    for (const { end } of commands) expect((await end()).code).toBe(0);
    const store = await openAt(dir);
    expect(await store.read((tx) => tx.get("meta", "settings")?.value)).toBe(120);
    await store.close();
  });
});
