import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { bin, newFolder } from "../helpers/cli.ts";

/** What V8 made of the command line is kept beside it, and never stands in its way. */

const repository = dirname(dirname(bin));

/** A copy of the package in which nothing is kept yet. */
function install() {
  const root = newFolder();
  for (const name of ["package.json", "bin", "dist"])
    cpSync(join(repository, name), join(root, name), { recursive: true });
  const kept = join(root, "dist/cli/.compiled");
  rmSync(kept, { recursive: true, force: true });
  return {
    main: join(root, "dist/cli/main.cjs"),
    kept,
    run: (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin/idp.js"), ...args], {
        cwd: root,
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    },
    /** By their names. */
    files: () => {
      const paths = readdirSync(kept, { recursive: true, encoding: "utf8" }).map((name) => join(kept, name));
      return new Map(
        paths.filter((path) => statSync(path).isFile()).map((path) => [path, readFileSync(path)] as const),
      );
    },
  };
}

const version = { status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: "" };

test("the first run of a command keeps what was compiled for it, the next one makes nothing anew", () => {
  const { run, files } = install();
  expect(run("--version")).toEqual(version);
  const first = files();
  expect([...first.keys()].some((path) => path.endsWith("main.cjs"))).toBe(true);
  // What is written anew is another file under the same name.
  const written = [...first.keys()].map((path) => statSync(path).ino);
  expect(run("--version")).toEqual(version);
  expect([...files().keys()].map((path) => statSync(path).ino)).toEqual(written);
});

test("what was compiled of another source of the same length is not run", () => {
  const { main, run } = install();
  expect(run("--help").stdout).toContain("for your own machine");
  writeFileSync(main, readFileSync(main, "utf8").replace("for your own machine", "FOR YOUR OWN MACHINE"));
  expect(run("--help").stdout).toContain("FOR YOUR OWN MACHINE");
});

test("what is cut off, empty or of something else is not run, and replaced", () => {
  const { run, files } = install();
  expect(run("--version")).toEqual(version);
  const whole = files();
  for (const spoil of [
    (bytes: Buffer) => bytes.subarray(0, 1000),
    () => Buffer.alloc(0),
    () => Buffer.alloc(5000, "x"),
  ]) {
    for (const [path, bytes] of whole) writeFileSync(path, spoil(bytes));
    expect(run("--version")).toEqual(version);
    expect([...files()].map(([path, { length }]) => [path, length > 1000 && length !== 5000])).toEqual(
      [...whole.keys()].map((path) => [path, true]),
    );
  }
});

test("where nothing can be kept, commands do what they do", () => {
  const { run, kept } = install();
  writeFileSync(kept, "a file where a folder should be");
  expect(run("--version")).toEqual(version);
  expect(run("--version")).toEqual(version);
});

test("what was compiled under other flags is kept apart", () => {
  const { run, kept } = install();
  mkdirSync(kept);
  expect(run("--version")).toEqual(version);
  process.env["NODE_OPTIONS"] = "--interpreted-frames-native-stack";
  try {
    expect(run("--version")).toEqual(version);
  } finally {
    delete process.env["NODE_OPTIONS"];
  }
  expect(readdirSync(kept).length).toBe(2);
});

test("no file that is kept imports a module: V8 would not know how", () => {
  const folder = join(repository, "dist/cli");
  const files = readdirSync(folder).filter((name) => name.endsWith(".cjs") && name !== "compiled.cjs");
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((name) => /[^\w.$]import\(/.test(readFileSync(join(folder, name), "utf8")))).toEqual([]);
});
