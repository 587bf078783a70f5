import fc from "fast-check";

/** What can happen, drawn at random. Whom and what a step is about is an index: steps can be left out and the others still mean something. */

export const scopeNames = ["email", "phone", "social", "details"] as const;

/** Mostly the first, so that steps meet. */
const first = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) });
const who = fc.record({ user: first, client: first });
const some = fc.subarray([...scopeNames]);
const scopes = some.map((names) => ["openid", ...names]);
/** Of what was issued: 0 is the newest. */
const which = fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 5);

/** None of these adds up to the lifetime of a code, so its last instant is not tested. */
const times = [26, 61, 1741, 86_401, 691_200] as const;

const named = <const N extends string, T>(weight: number, does: N, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => ({
  weight,
  arbitrary: fc.record(fields).map((drawn) => ({ does, ...drawn })),
});

const step = fc.oneof(
  named(5, "approve", { who, scopes }),
  named(1, "consent", { who, scopes, ticked: some }),
  named(1, "deny", { who, scopes }),
  named(3, "issue tokens", { who, scopes }),
  named(8, "exchange", { which: first, twice: fc.nat(4).map((dice) => dice === 0) }),
  named(9, "refresh", { which, narrow: fc.option(some) }),
  named(2, "revoke token", { which, own: fc.nat(3).map((dice) => dice > 0) }),
  named(2, "revoke grant", { who }),
  named(1, "narrow grant", { who, ticked: some }),
  named(3, "set status", {
    user: first,
    to: fc.constantFrom("active", "active", "active", "suspended", "suspended", "banned"),
  }),
  named(4, "time passes", { seconds: fc.constantFrom(...times) }),
  named(6, "move the clock", { by: fc.constantFrom(...times.flatMap((seconds) => [seconds, -seconds])) }),
  named(1, "reset the clock", {}),
  named(2, "expire", {
    who,
    of: fc.constantFrom("user", "client", "both"),
    kinds: fc.constantFrom(["access"], ["refresh"], ["access", "refresh"]),
  }),
  named(1, "restart", {}),
);

export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Most begin with tokens: without any, little can go wrong. */
const opening = fc.oneof(
  fc.record({ who, scopes }).map((drawn): Step[] => [
    { does: "approve", ...drawn },
    { does: "exchange", which: 0, twice: false },
  ]),
  fc.record({ who, scopes }).map((drawn): Step[] => [{ does: "issue tokens", ...drawn }]),
  fc.constant<Step[]>([]),
);

export const sequence = fc
  .tuple(opening, fc.array(step, { minLength: 4, maxLength: 14, size: "max" }))
  .map(([first, rest]) => [...first, ...rest]);
