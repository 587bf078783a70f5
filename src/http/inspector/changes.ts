import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import type { Context } from "../../core/context.ts";
import { commandOn, flagWith } from "../../core/base/hint.ts";
import { durationOf } from "../../text/time.ts";
import type { OperationName } from "../../core/admin/operations/routes.ts";
import { run as runNamed, type OperationInput, type OperationOutput } from "../../core/admin/operations/table.ts";
import { formatDuration, formatTime, timeZoneHere } from "../pages/templates/texts.ts";
import type { Tab } from "./access.ts";
import { faultCommand, faultIn, faultOf } from "./fault-form.ts";
import {
  addUserCommand,
  editIn,
  editUserCommand,
  expireCommand,
  expiryIn,
  newUserIn,
  objectIn,
  withoutPassword,
} from "./forms.ts";

/** The changes that the forms of the inspector make: one row each, with the command that does the same. */

export interface Change {
  /** The tab that has the form. */
  readonly tab: Tab;
  /** @param target a username, a client id, … @param value what was typed, where the form has a field */
  readonly run: (run: Run, target: string, value: string) => Promise<unknown>;
  /** The operation that it is. */
  readonly operation: OperationName;
  readonly command: (target: string, value: string) => readonly string[];
  /** Whether fixtures say it too, so that a reset goes back to what they say. */
  readonly isOfFixtures?: true;
  /** The value in words, for the sentence that says what was done. */
  readonly words?: (value: string, lang: string) => string;
  /** The value of a form with several fields. */
  readonly read?: (body: RawParameters, ctx: Context, target: string) => string | Promise<string>;
  /** The value as an address and a page may have it. */
  readonly withoutSecrets?: (value: string) => string;
}

/** Runs an operation for the person who asks. */
type Run = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>;

/** What the pages read, whoever asks: no operation of the inspector needs to know the process. */
export const runner = { server: null };

const ofUser = (name: "suspend" | "ban" | "restore"): Change => ({
  tab: "users",
  operation: `users.${name}`,
  run: (run, username) => run(`users.${name}`, { username }),
  command: (username) => commandOn(["idp", "users", name], username),
});

const table = {
  suspend: ofUser("suspend"),
  ban: ofUser("ban"),
  restore: ofUser("restore"),
  "add-redirect-uri": {
    operation: "clients.edit",
    isOfFixtures: true,
    tab: "clients",
    async run(run, client_id, uri) {
      const { redirect_uris } = await run("clients.show", { client_id });
      const added = [...new Set([...redirect_uris, uri])];
      await run("clients.edit", { client_id, redirect_uris: added });
    },
    command: (clientId, uri) => commandOn(["idp", "clients", "edit"], clientId, flagWith("--add-redirect-uri", uri)),
  },
  "create-client": {
    operation: "clients.add",
    isOfFixtures: true,
    tab: "clients",
    // A public client has to use PKCE (RFC 9700 2.1.1).
    run: (run, client_id, uri) =>
      run("clients.add", { client_id, redirect_uris: [uri], token_endpoint_auth_method: "none" }),
    command: (clientId, uri) =>
      commandOn(["idp", "clients", "add"], clientId, ["--public", ...flagWith("--redirect-uri", uri)]),
  },
  "add-user": {
    operation: "users.add",
    isOfFixtures: true,
    tab: "users",
    read: newUserIn,
    withoutSecrets: withoutPassword,
    run: (run, _, user) => run("users.add", objectIn(user) as OperationInput<"users.add">),
    command: (_, user) => addUserCommand(objectIn(user)),
  },
  "edit-user": {
    operation: "users.edit",
    isOfFixtures: true,
    tab: "users",
    read: async (body, ctx, username) => editIn(body, await runNamed(ctx, "users.show", { username }, runner)),
    withoutSecrets: withoutPassword,
    run: (run, username, fields) => run("users.edit", { username, ...objectIn(fields) }),
    command: (username, fields) => editUserCommand(username, objectIn(fields)),
  },
  "remove-user": {
    operation: "users.remove",
    isOfFixtures: true,
    tab: "users",
    run: (run, username) => run("users.remove", { username }),
    command: (username) => commandOn(["idp", "users", "remove"], username),
  },
  revoke: {
    operation: "grants.revoke",
    tab: "grants",
    run: (run, id) => run("grants.revoke", { id }),
    command: (id) => commandOn(["idp", "grants", "revoke"], id),
  },
  "end-session": {
    operation: "sessions.end",
    tab: "grants",
    run: (run, id) => run("sessions.end", { id }),
    command: (id) => commandOn(["idp", "sessions", "end"], id),
  },
  expire: {
    operation: "expire",
    tab: "testing",
    read: expiryIn,
    run: (run, _, expiry) => run("expire", objectIn(expiry)),
    command: (_, expiry) => expireCommand(objectIn(expiry)),
  },
  "save-snapshot": {
    operation: "snapshots.save",
    tab: "testing",
    run: (run, _, name) => run("snapshots.save", { name }),
    command: (_, name) => commandOn(["idp", "snapshots", "save"], name),
  },
  "restore-snapshot": {
    operation: "snapshots.restore",
    tab: "testing",
    run: (run, name) => run("snapshots.restore", { name }),
    command: (name) => commandOn(["idp", "snapshots", "restore"], name),
  },
  reset: {
    operation: "reset",
    tab: "testing",
    run: (run) => run("reset", {}),
    command: () => ["idp", "reset", "--yes"],
  },
  advance: {
    operation: "clock.advance",
    tab: "testing",
    run: (run, _, by) => run("clock.advance", { by }),
    words: (by, lang) => (by.startsWith("-") ? "-" : "") + formatDuration(durationOf(by), lang),
    command: (_, by) => ["idp", "clock", "advance", by],
  },
  "set-clock": {
    operation: "clock.set",
    tab: "testing",
    run: (run, _, to) => run("clock.set", { to }),
    words: (to, lang) => formatTime(to, lang, timeZoneHere()),
    command: (_, to) => ["idp", "clock", "set", to],
  },
  freeze: {
    operation: "clock.freeze",
    tab: "testing",
    run: (run) => run("clock.freeze", {}),
    command: () => ["idp", "clock", "freeze"],
  },
  "reset-clock": {
    operation: "clock.reset",
    tab: "testing",
    run: (run) => run("clock.reset", {}),
    command: () => ["idp", "clock", "reset"],
  },
  "add-fault": {
    operation: "faults.add",
    tab: "testing",
    read: faultIn,
    run: (run, _, fault) => run("faults.add", faultOf(fault)),
    command: (_, fault) => faultCommand(fault),
  },
  "remove-fault": {
    operation: "faults.remove",
    tab: "testing",
    run: (run, id) => run("faults.remove", { id }),
    command: (id) => ["idp", "faults", "remove", id],
  },
  "clear-faults": {
    operation: "faults.clear",
    tab: "testing",
    run: (run) => run("faults.clear", {}),
    command: () => ["idp", "faults", "clear"],
  },
} as const satisfies Readonly<Record<string, Change>>;

export type ChangeName = keyof typeof table;

/** Null: there is no change of this name. */
export const changeNamed = (name: string): Change | null =>
  Object.hasOwn(table, name) ? table[name as ChangeName] : null;

export const commandFor = (name: ChangeName, target: string, value = ""): readonly string[] =>
  table[name].command(target, value);

export const operationOf = (name: ChangeName): OperationName => table[name].operation;
