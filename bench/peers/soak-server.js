/* idp with its data on disk, whose clock goes sixty times as fast: what lives an hour lives a minute. Asked over IPC, it says what it holds. */
import { createIdp } from "../../dist/index.js";

const [data, fixtures] = process.argv.slice(2);
const began = Date.now();
const idp = await createIdp({
  data,
  fixtures,
  port: 0,
  now: () => began + 60 * (Date.now() - began),
  settings: { code_ttl: 600, refresh_token_ttl: 3600, session_ttl: 3600 },
});

process.on("message", async (order) => {
  if (order === "stop") {
    await idp.close();
    process.exit(0);
  }
  // Twice: what finalizers of the first let go of is taken by the second.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, rss } = process.memoryUsage();
  const { sessions, families, deadTokens, grants } = await idp.call("export", {});
  const records = { sessions, families, deadTokens, grants };
  const counts = Object.fromEntries(Object.entries(records).map(([name, all]) => [name, all.length]));
  process.send({ heapUsed, rss, counts });
});
process.on("disconnect", () => process.exit(1));
process.send({ port: idp.port });
