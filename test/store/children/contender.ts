/** Each `take` on stdin: tries to open the data as a server, and prints `won` or `locked <pid of the holder>`. `release` closes it. */
import { createInterface } from "node:readline";
import { openFolderStore, type FolderStore } from "../open.ts";
import { LockedError } from "../../../src/store/store.ts";

const [dir = ""] = process.argv.slice(2);
let store: FolderStore | undefined;

console.log("ready");
for await (const order of createInterface(process.stdin)) {
  if (order === "release") {
    await store?.close();
    console.log("released");
    continue;
  }
  try {
    store = await openFolderStore({ dir, now: Date.now, kind: "server", version: "0.0.0", log: () => undefined });
    console.log("won");
  } catch (error) {
    console.log(error instanceof LockedError ? `locked ${error.holder.pid}` : String(error));
  }
}
