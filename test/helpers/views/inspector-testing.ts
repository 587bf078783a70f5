import { faultFormWith, faultPresets } from "../../../src/http/inspector/fault-form.ts";
import type { ConfirmView } from "../../../src/http/inspector/change.ts";
import type { TestingView } from "../../../src/http/inspector/testing.ts";
import type { ChangeName } from "../../../src/http/inspector/changes.ts";
import { done, tab } from "./inspector.ts";

/** The tab for testing, and the page that asks whether to change something. */

const change = (kind: ChangeName, target: string, command: string) => ({
  kind,
  allowed: true,
  action: `/_idp/change?change=${kind}`,
  target,
  command: `npx dev-idp ${command}`,
  beside: null,
});

const testing: TestingView = {
  ...tab,
  clock: { now: "2026-11-20T12:04:31.000Z", offset: 0, frozen: false },
  advance: change("advance", "clock", "clock advance 31m"),
  set: change("set-clock", "clock", "clock set 2027-01-01T00:00:00Z"),
  freeze: change("freeze", "clock", "clock freeze"),
  reset: null,
  faults: [],
  clear: null,
  add: change("add-fault", "faults", "faults add token --status 503"),
  expire: change("expire", "all", "expire --user USERNAME"),
  expireTokens: "npx dev-idp expire",
  expirable: ["access", "refresh", "sessions", "codes"],
  snapshots: [
    {
      ...{ name: "signed-in", savedAt: "2026-11-20T12:04:31.000Z" },
      restore: change("restore-snapshot", "signed-in", "snapshots restore signed-in"),
    },
  ],
  save: change("save-snapshot", "new", "snapshots save NAME"),
  resetAll: change("reset", "all", "reset --yes"),
  presets: faultPresets.map(({ name, fields }) => ({
    ...{ name, fields: Object.entries(fields) },
    command: `npx dev-idp faults add ${name}`,
    beside: null,
  })),
  isOpen: false,
  ...{ users: ["alice", "bob"], clients: ["demo-app"] },
  groups: faultFormWith(null, []),
};
const doneHere = (kind: ChangeName, target: string, command: string, value = ""): TestingView => ({
  ...testing,
  done: done(kind, target, command, { value }),
});

export const testingViews = {
  "inspector-testing-refused": {
    ...testing,
    keptQuery: null,
    isOpen: true,
    groups: faultFormWith({ endpoint: "token", header: "Retry After 2", after: "1", status: "9" }, [
      { path: "header", message: "is not a header that can be set" },
      { path: "status", message: "must be a status" },
    ]),
    refused: { message: "the fault is not valid", problems: ["header is not a header"], fix: null },
  },
  "inspector-testing-expired": doneHere("expire", "all", "expire --all"),
  "inspector-testing-saved": doneHere("save-snapshot", "new", "snapshots save before", "before"),
  "inspector-testing-restored": doneHere("restore-snapshot", "signed-in", "snapshots restore signed-in"),
  "inspector-testing-reset-all": doneHere("reset", "all", "reset --yes"),
  "inspector-testing": testing,
  "inspector-testing-moved": {
    ...testing,
    clock: { ...testing.clock, offset: 1860, frozen: true },
    freeze: null,
    reset: change("reset-clock", "clock", "clock reset"),
    faults: [
      {
        id: "f17",
        endpoint: "token",
        effects: [{ key: null, value: "503 temporarily_unavailable" }],
        filter: "demo-app, refresh_token",
        left: 7,
        remove: change("remove-fault", "f17", "faults remove f17"),
      },
      {
        ...{
          id: "f18",
          endpoint: "userinfo",
          effects: [{ key: "inspector.fault-field-delay", value: "5 s" }],
          filter: "",
          left: 1,
        },
        remove: change("remove-fault", "f18", "faults remove f18"),
      },
      {
        ...{
          id: "f19",
          endpoint: "jwks",
          effects: [{ key: "inspector.fault-field-flaw", value: "keys-empty" }],
          filter: "",
          left: null,
        },
        remove: change("remove-fault", "f19", "faults remove f19"),
      },
    ],
    clear: change("clear-faults", "faults", "faults clear"),
  },
  "inspector-testing-behind": { ...testing, clock: { ...testing.clock, offset: -7200 } },
  "inspector-testing-advance": doneHere("advance", "clock", "clock advance 31m", "31 minutes"),
  "inspector-testing-set": doneHere("set-clock", "clock", "clock set 2027-01-01T00:00:00Z", "1 Jan 2027, 00:00 UTC"),
  "inspector-testing-freeze": doneHere("freeze", "clock", "clock freeze"),
  "inspector-testing-reset": doneHere("reset-clock", "clock", "clock reset"),
  "inspector-testing-add": doneHere("add-fault", "faults", "faults add token --status 503"),
  "inspector-testing-remove": doneHere("remove-fault", "f17", "faults remove f17"),
  "inspector-testing-clear": doneHere("clear-faults", "faults", "faults clear"),
} satisfies Record<string, TestingView>;

const question = (
  kind: ChangeName,
  title: string,
  losses: ConfirmView["question"]["losses"],
  command: string,
): ConfirmView => ({
  ...tab,
  keptQuery: null,
  ...{ tab: ["reset", "expire", "restore-snapshot"].includes(kind) ? "testing" : "users", kind },
  question: { title: { key: `inspector.sure-${title}`, values: { target: "dave" } }, losses },
  action: `/_idp/change?change=${kind}`,
  fields: [
    ["change", kind],
    ["target", "dave"],
    ["sure", "1"],
  ],
  backHref: "/_idp/users",
  ...{ command: `npx dev-idp ${command}`, beside: null },
});
const loss = (what: string, values: Readonly<Record<string, string | number>> = {}) => ({
  key: `inspector.lose-${what}`,
  values,
});

export const confirmViews = {
  "inspector-confirm-ban": question(
    ...(["ban", "ban"] as const),
    [loss("sessions", { count: 1200 }), loss("grants", { count: 3 }), loss("for-good")],
    "users ban dave",
  ),
  "inspector-confirm-remove": question("remove-user", "remove-user", [loss("user-tokens")], "users remove dave"),
  "inspector-confirm-restore": question(
    ...(["restore-snapshot", "restore-snapshot"] as const),
    [loss("now-sessions", { count: 1200 }), loss("now-grants", { count: 3 }), loss("restored")],
    "snapshots restore dave",
  ),
  "inspector-confirm-reset": question(
    ...(["reset", "reset"] as const),
    [
      loss("added", { names: "erin, zoe" }),
      loss("changed", { names: "bob" }),
      loss("missing", { names: "carol" }),
      loss("all-tokens"),
    ],
    "reset --yes",
  ),
  ...Object.fromEntries(
    ["access", "refresh", "sessions", "codes"].map((kind) => [
      `inspector-confirm-expire-${kind}`,
      question("expire", `expire-${kind}`, [loss("issued")], `expire --all --${kind}`),
    ]),
  ),
} satisfies Record<string, ConfirmView>;
