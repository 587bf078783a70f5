/* idp with its data on disk and short lives, so that much expires within minutes. Asked over IPC, it says what it holds. */
import { createIdp } from "../../dist/index.js";

const [data, fixtures] = process.argv.slice(2);
const idp = await createIdp({
  data,
  fixtures,
  port: 0,
  settings: { code_ttl: 10, access_token_ttl: 30, refresh_token_ttl: 60, session_ttl: 60 },
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
