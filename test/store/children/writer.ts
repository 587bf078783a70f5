/**
 * Counts as fast as it can in several records at once, and prints each step only when the store has answered for it:
 * `<counter> <value>`. The records are large, so that the journal is folded many times.
 */
import { openFolderStore } from "../open.ts";

const [dir = ""] = process.argv.slice(2);
const store = await openFolderStore({ dir, now: Date.now, kind: "server", version: "0.0.0", log: () => undefined });
const ballast = "x".repeat(8000);

async function count(counter: number): Promise<never> {
  for (;;) {
    const value = await store.transaction((tx) => {
      const before = tx.get("scopes", `counter-${counter}`)?.claims[0] ?? "0";
      const next = String(Number(before) + 1);
      tx.put("scopes", { name: `counter-${counter}`, description: { ballast }, claims: [next] });
      tx.remove("appliedFixtures", `${counter}/${before}`);
      tx.insert("appliedFixtures", { id: `${counter}/${next}`, digest: "" });
      return next;
    });
    process.stdout.write(`${counter} ${value}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, counter) => count(counter)));
