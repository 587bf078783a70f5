/** Opens the data as a command, counts up by one and closes it, as often as its argument says. */
import { openFolderStore } from "../open.ts";

const [dir = "", times = ""] = process.argv.slice(2);
for (let i = 0; i < Number(times); i++) {
  const store = await openFolderStore({
    dir,
    now: Date.now,
    kind: "command",
    version: "0.0.0",
    log: () => undefined,
    waitMs: 30_000,
  });
  await store.transaction((tx) =>
    tx.put("meta", { id: "settings", value: Number(tx.get("meta", "settings")?.value ?? 0) + 1 }),
  );
  await store.close();
}
