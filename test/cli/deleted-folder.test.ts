import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { bin, environment, newFolder } from "../helpers/cli.ts";

/** Commands in a terminal whose folder was deleted. */

test.each(["start --port auto", "seed", "init"])("idp %s in a folder that was deleted says so", async (line) => {
  const child = spawn(
    "sh",
    ["-c", `mkdir gone && cd gone && rmdir ../gone && exec "$@"`, "sh", process.execPath, bin, ...line.split(" ")],
    {
      cwd: newFolder(),
      env: environment({}),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  child.stderr.on("data", (text: Buffer) => (said += text.toString()));
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(said).toBe("Error: the folder you are in was deleted\n  Change to an existing folder (cd), then try again.\n");
  expect(code).toBe(3);
});
