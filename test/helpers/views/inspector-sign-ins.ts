import { hintText, type Hint } from "../../../src/core/base/hint.ts";
import type { KeptRequest } from "../../../src/core/testing/ledger/ledger.ts";
import { failureOf, flowsOf, rowOf } from "../../../src/http/inspector/sign-ins/flows.ts";
import type { SignInView } from "../../../src/http/inspector/sign-ins/sign-in.ts";
import type { SignInsView } from "../../../src/http/inspector/sign-ins/sign-ins.ts";
import { stepsOf } from "../../../src/http/inspector/sign-ins/steps.ts";
import type { FixParts } from "../../../src/http/pages/commands.ts";
import { otherRecords, passedRecords, refusedRecords } from "../sample-flows.ts";
import { done, list, tab } from "./inspector.ts";

/** The list of sign-ins, and the sequence of one. */

const flowOf = (records: readonly KeptRequest[]) => flowsOf(records)[0] ?? { id: "", records };
const rows = (...all: (readonly KeptRequest[])[]): SignInsView["flows"] =>
  flowsOf(all.flat()).map((flow) => rowOf(flow, "/_idp/sign-ins/"));

const signIns: SignInsView = {
  ...tab,
  ...list("", {}, ["status", "client", "user"]),
  lost: 0,
  streamHref: "/_idp/stream",
  command: "npx dev-idp login",
  flows: rows(passedRecords, refusedRecords, otherRecords),
};

export const signInsViews = {
  "inspector-sign-ins": { ...signIns, ...list("", { page: 2, total: 900 }, ["status", "client", "user"]), lost: 12 },
  "inspector-sign-ins-no-match": { ...signIns, ...list("nobody"), flows: [] },
  "inspector-sign-ins-none-fit": { ...signIns, isFiltered: true, flows: [] },
  "inspector-sign-ins-banner": { ...signIns, banner: { offset: 7200, frozen: true, faults: 2 } },
  "inspector-sign-ins-none": { ...signIns, flows: [] },
} satisfies Record<string, SignInsView>;

const fixParts = (hint: Hint | null): FixParts => ({
  advice: null,
  fix: hint && hintText(hint, ([, ...words]) => ["npx", "dev-idp", ...words].join(" ")),
});

function signInView(records: readonly KeptRequest[]): SignInView {
  const flow = flowOf(records);
  const failure = failureOf(flow);
  return {
    ...tab,
    streamHref: "/_idp/stream",
    backHref: "/_idp/",
    faultsHref: "/_idp/testing",
    flow: rowOf(flow, "/_idp/sign-ins/"),
    failed: failure && {
      ...{ id: failure.id, rule: failure.refusal?.rule ?? null, clock: failure.clock },
      ...fixParts(failure.refusal?.hint ?? null),
    },
    fix: null,
    isFixed: false,
    acts: records.slice(-1).flatMap(({ time, id }) =>
      [null, "qa"].map((by) => ({
        at: time,
        command: "npx dev-idp revoke --client VALUE",
        beside: "VALUE is a&b",
        by,
        before: id,
      })),
    ),
    steps: stepsOf(flow, "http://localhost:4370", fixParts),
  };
}

export const signInViews = {
  "inspector-sign-in-passed": signInView(passedRecords),
  "inspector-sign-in-refused": signInView(refusedRecords),
  "inspector-sign-in-fix": {
    ...signInView(refusedRecords),
    fix: {
      change: {
        kind: "add-redirect-uri",
        allowed: true,
        action: "/_idp/change?change=add-redirect-uri",
        target: "demo-app",
        command: "npx dev-idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback",
        beside: null,
      },
      uri: "http://localhost:3001/callback",
    },
  },
  "inspector-sign-in-fixed": { ...signInView(refusedRecords), isFixed: true },
  "inspector-sign-in-again": signInView([
    ...refusedRecords,
    ...refusedRecords.slice(-1).map((record) => ({ ...record, id: "r98" })),
  ]),
  "inspector-sign-in-create": {
    ...signInView(refusedRecords),
    done: done("create-client", "shop", "clients add shop --public --redirect-uri http://localhost:3001/callback"),
    fix: {
      change: {
        kind: "create-client",
        allowed: true,
        action: "/_idp/change?change=create-client",
        target: "shop",
        command: "npx dev-idp clients add shop --public --redirect-uri http://localhost:3001/callback",
        beside: null,
      },
      uri: "http://localhost:3001/callback",
    },
  },
  "inspector-sign-in-unfinished": signInView(passedRecords.slice(0, 2)),
  "inspector-sign-in-signed-out": signInView([
    ...passedRecords,
    ...passedRecords
      .slice(-1)
      .map((record) => ({ ...record, id: "r99", endpoint: "backchannel_logout", method: "POST" })),
  ]),
  "inspector-sign-in-unknown": signInView(otherRecords.slice(0, 1)),
  "inspector-sign-in-fault": signInView(otherRecords.slice(1)),
} satisfies Record<string, SignInView>;
