import dns, { type LookupAddress } from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Names resolve as given, one answer after the other, for this process. */
export function resolve(names: Readonly<Record<string, readonly (readonly string[])[]>>): {
  readonly asked: Readonly<Record<string, number>>;
} {
  const original = dns.lookup;
  const asked: Record<string, number> = {};
  dns.lookup = ((name: string, settings: object, callback: (...results: unknown[]) => void) => {
    const answers = names[name];
    if (answers === undefined) {
      original(name, settings as never, callback as never);
      return;
    }
    const count = (asked[name] = (asked[name] ?? 0) + 1);
    const found = answers[Math.min(count, answers.length) - 1] ?? [];
    callback(
      null,
      found.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  }) as typeof dns.lookup;
  syncBuiltinESMExports();
  onTestFinished(() => {
    dns.lookup = original;
    syncBuiltinESMExports();
  });
  return { asked };
}
