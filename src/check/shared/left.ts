/** What a check made in an app by SCIM, and could not remove there. */

export interface Left {
  readonly kind: "user" | "group";
  readonly name: string;
  readonly state: "deactivated" | "active" | "kept";
}

/** Why users and groups are in the app, by their state there. */
const reasons: readonly (readonly [Left["kind"] | null, Left["state"], string])[] = [
  ["user", "deactivated", "deactivated, since it does not remove users"],
  ["user", "active", "active, since it neither removes nor deactivates users"],
  ["group", "active", "since it does not remove groups"],
  [null, "kept", "as --keep says"],
];

/** A sentence for each state. */
export const leftTexts = (left: readonly Left[]): readonly string[] =>
  reasons.flatMap(([kind, state, why]) => {
    const names = left
      .filter((one) => one.state === state && (kind === null || one.kind === kind))
      .map(({ name }) => name);
    return names.length === 0 ? [] : [`Left in the app, ${why}: ${names.join(", ")}.`];
  });

/** The same in the document of a check; nothing where nobody is left. */
export const leftFields = (left: readonly Left[]): { readonly left?: readonly object[] } =>
  left.length === 0
    ? {}
    : { left: left.map(({ kind, name, state }) => ({ [kind === "user" ? "username" : "group"]: name, state })) };
