import type { RawParameters } from "../../core/authorize/parameters.ts";
import type { Context } from "../../core/context.ts";
import { commandOn, flagWith } from "../../core/hint.ts";
import { durationOf } from "../../core/time.ts";
import { operations, type OperationInput } from "../../core/operations/table.ts";
import { formatDuration, formatTime, timeZoneHere } from "../pages/templates/texts.ts";
import { faultCommand, faultIn, faultOf } from "./fault-form.ts";
import { addUserCommand, claimsIn, expireCommand, expiryIn, newUserIn, objectIn } from "./forms.ts";
import type { Tab } from "./tabs.ts";

/** The changes that the forms of the inspector make: one row each, with the command that does the same. */

interface Change {
  /** The tab that has the form. */
  readonly tab: Tab;
  /** @param target a username, a client id, … @param value what was typed, where the form has a field */
  readonly run: (ctx: Context, target: string, value: string) => Promise<unknown>;
  readonly command: (target: string, value: string) => readonly string[];
  /** Whether the sign-ins under way may feel it, so that the inspector shows it between their requests. */
  readonly isAct?: true;
  /** Whether fixtures say it too, so that a reset goes back to what they say. */
  readonly isOfFixtures?: true;
  /** The value in words, for the sentence that says what was done. */
  readonly words?: (value: string, lang: string) => string;
  /** The value of a form with several fields. */
  readonly read?: (body: RawParameters) => string;
}

/** No operation of the inspector needs to know the process. */
export const runner = { server: null };

const act = { isAct: true } as const;

const ofUser = (name: "suspend" | "ban" | "restore"): Change => ({
  ...act,
  tab: "users",
  run: (ctx, username) => operations[`users.${name}`].run(ctx, { username }, runner),
  command: (username) => commandOn(["idp", "users", name], username),
});

const table = {
  suspend: ofUser("suspend"),
  ban: ofUser("ban"),
  restore: ofUser("restore"),
  "add-redirect-uri": {
    isOfFixtures: true,
    tab: "clients",
    async run(ctx, client_id, uri) {
      const { redirect_uris } = await operations["clients.show"].run(ctx, { client_id }, runner);
      const added = [...new Set([...redirect_uris, uri])];
      await operations["clients.edit"].run(ctx, { client_id, redirect_uris: added }, runner);
    },
    command: (clientId, uri) => commandOn(["idp", "clients", "edit"], clientId, flagWith("--add-redirect-uri", uri)),
  },
  "create-client": {
    isOfFixtures: true,
    tab: "clients",
    // A public client has to use PKCE (RFC 9700 2.1.1).
    run: (ctx, client_id, uri) =>
      operations["clients.add"].run(
        ctx,
        { client_id, redirect_uris: [uri], token_endpoint_auth_method: "none" },
        runner,
      ),
    command: (clientId, uri) =>
      commandOn(["idp", "clients", "add"], clientId, ["--public", ...flagWith("--redirect-uri", uri)]),
  },
  "add-user": {
    isOfFixtures: true,
    tab: "users",
    read: newUserIn,
    run: (ctx, _, user) => operations["users.add"].run(ctx, objectIn(user) as OperationInput<"users.add">, runner),
    command: (_, user) => addUserCommand(objectIn(user)),
  },
  "edit-claims": {
    isOfFixtures: true,
    tab: "users",
    read: claimsIn,
    run: (ctx, username, claims) => operations["users.edit"].run(ctx, { username, claims: objectIn(claims) }, runner),
    command: (username, claims) => commandOn(["idp", "users", "edit"], username, ["--set", `claims=${claims}`]),
  },
  revoke: {
    ...act,
    tab: "grants",
    run: (ctx, id) => operations["grants.revoke"].run(ctx, { id }, runner),
    command: (id) => commandOn(["idp", "grants", "revoke"], id),
  },
  "end-session": {
    ...act,
    tab: "grants",
    run: (ctx, id) => operations["sessions.end"].run(ctx, { id }, runner),
    command: (id) => commandOn(["idp", "sessions", "end"], id),
  },
  expire: {
    ...act,
    tab: "testing",
    read: expiryIn,
    run: (ctx, _, expiry) => operations.expire.run(ctx, objectIn(expiry), runner),
    command: (_, expiry) => expireCommand(objectIn(expiry)),
  },
  "save-snapshot": {
    tab: "testing",
    run: (ctx, _, name) => operations["snapshots.save"].run(ctx, { name }, runner),
    command: (_, name) => commandOn(["idp", "snapshots", "save"], name),
  },
  "restore-snapshot": {
    ...act,
    tab: "testing",
    run: (ctx, name) => operations["snapshots.restore"].run(ctx, { name }, runner),
    command: (name) => commandOn(["idp", "snapshots", "restore"], name),
  },
  reset: {
    ...act,
    tab: "testing",
    run: (ctx) => operations.reset.run(ctx, {}, runner),
    command: () => ["idp", "reset", "--yes"],
  },
  advance: {
    ...act,
    tab: "testing",
    run: (ctx, _, by) => operations["clock.advance"].run(ctx, { by }, runner),
    words: (by, lang) => (by.startsWith("-") ? "-" : "") + formatDuration(durationOf(by), lang),
    command: (_, by) => ["idp", "clock", "advance", by],
  },
  "set-clock": {
    ...act,
    tab: "testing",
    run: (ctx, _, to) => operations["clock.set"].run(ctx, { to }, runner),
    words: (to, lang) => formatTime(to, lang, timeZoneHere()),
    command: (_, to) => ["idp", "clock", "set", to],
  },
  freeze: {
    ...act,
    tab: "testing",
    run: (ctx) => operations["clock.freeze"].run(ctx, {}, runner),
    command: () => ["idp", "clock", "freeze"],
  },
  "reset-clock": {
    ...act,
    tab: "testing",
    run: (ctx) => operations["clock.reset"].run(ctx, {}, runner),
    command: () => ["idp", "clock", "reset"],
  },
  "add-fault": {
    ...act,
    tab: "testing",
    read: faultIn,
    run: (ctx, _, fault) => operations["faults.add"].run(ctx, faultOf(fault), runner),
    command: (_, fault) => faultCommand(fault),
  },
  "remove-fault": {
    ...act,
    tab: "testing",
    run: (ctx, id) => operations["faults.remove"].run(ctx, { id }, runner),
    command: (id) => ["idp", "faults", "remove", id],
  },
  "clear-faults": {
    ...act,
    tab: "testing",
    run: (ctx) => operations["faults.clear"].run(ctx, {}, runner),
    command: () => ["idp", "faults", "clear"],
  },
} as const satisfies Readonly<Record<string, Change>>;

export type ChangeName = keyof typeof table;

/** Null: there is no change of this name. */
export const changeNamed = (name: string): Change | null =>
  Object.hasOwn(table, name) ? table[name as ChangeName] : null;

export const commandFor = (name: ChangeName, target: string, value = ""): readonly string[] =>
  table[name].command(target, value);
