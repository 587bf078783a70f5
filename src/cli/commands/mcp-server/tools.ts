import type { ExpectResult } from "../../../core/testing/ledger/expect.ts";
import type { RequestRecord } from "../../../core/testing/ledger/request-json.ts";
import type { OperationName } from "../../../core/admin/operations/routes.ts";
import { OperationError } from "../../../core/base/errors.ts";
import type { OperationOutput } from "../../../core/admin/operations/table.ts";
import type { JsonObject } from "../../../text/json.ts";
import { count } from "../../output/words.ts";
import type { Answer } from "./answer.ts";
import { checkTool } from "./check-tool.ts";
import { decodeTool } from "./decode-tool.ts";
import { recordApart, said, warning } from "./from-request.ts";
import { requireNear } from "./near.ts";
import { answerOf, choiceOf, toolOf } from "./of-operations.ts";
import { signInTool } from "./sign-in-tool.ts";
import { startTool } from "./start-tool.ts";
import type { Session, Tool } from "./tool.ts";
import { whyRefused } from "./why-refused.ts";

/** The tools, in the order in which an agent needs them. */

/** How many requests have their parameters in a list. */
const maxWhole = 5;

function requestsAnswer(records: readonly RequestRecord[]): Answer {
  const isShort = records.length > maxWhole;
  const lines = [
    `${count(records.length, "request")}, the oldest first.`,
    ...(isShort
      ? [`Parameters and responses are given of at most ${maxWhole}: narrow the list with flow or since.`]
      : []),
    ...(records.length > 0 ? [warning] : []),
  ];
  return { lines, data: { requests: records.map((one) => recordApart(one, isShort)) }, list: "requests", keep: "last" };
}

function expectAnswer({ nearest, met, count: found, ...rest }: ExpectResult): Answer {
  const lines = [met ? "Met." : `Not met: ${found} ${found === 1 ? "request matches" : "requests match"}.`];
  const shown = nearest.map(({ request, differs }) => {
    const { from_request, ...ours } = recordApart(request);
    return { ...ours, from_request: { differs: said(differs), ...from_request } };
  });
  return {
    lines: [...lines, ...(shown.length > 0 ? [warning] : [])],
    data: { met, count: found, ...rest, nearest: shown },
    list: "nearest",
  };
}

function statusAnswer({ issuer, users, clients, requests, server, ...rest }: OperationOutput<"status">): Answer {
  const state = server === null ? `No server runs; the data say ${issuer}` : `Running at ${issuer}`;
  return {
    lines: [`${state}: ${count(users, "user")}, ${count(clients, "client")}, ${count(requests, "request")}.`],
    data: { issuer, users, clients, requests, server, ...rest },
  };
}

/** An agent may have read the addresses in a request of a stranger. */
async function nearClient(session: Session, input: JsonObject): Promise<void> {
  const { client_id: id } = input;
  const present =
    typeof id === "string" ? await session.call("clients.show", { client_id: id }).catch(() => undefined) : undefined;
  requireNear(input, session.allowRemote, present);
}

const listed = {
  users: "users.list",
  clients: "clients.list",
  grants: "grants.list",
  sessions: "sessions.list",
  keys: "keys.list",
  issuers: "issuers.list",
  faults: "faults.list",
  snapshots: "snapshots.list",
} as const;

/** What has an operation that shows one. */
const shown = {
  users: "users.show",
  clients: "clients.show",
  grants: "grants.show",
  sessions: "sessions.show",
  keys: "keys.show",
  issuers: "issuers.show",
} as const;

const reads = { reads: true } as const;
const destroys = { destroys: true } as const;

const show = choiceOf({
  name: "show",
  summary: "Show one record: a user by username, a client by client_id, others by id or name",
  command: "users show, clients show, …",
  field: "what",
  choices: { ...shown, faults: "faults.list", snapshots: "snapshots.list" },
  named: "name",
  hints: reads,
  answer: (output, what) => answerOf(what, output),
});

/** Faults and snapshots are found in their lists. */
const showAny = (every: readonly OperationName[]): Tool => {
  const tool = show(every);
  return {
    ...tool,
    run: async (session, input, signal) => {
      const { what, name } = input;
      if (what !== "faults" && what !== "snapshots") return tool.run(session, input, signal);
      const list: readonly object[] = await session.call(listed[what], {});
      const found = list.find((one) => ("id" in one && one.id === name) || ("name" in one && one.name === name));
      if (found !== undefined) return answerOf(what, found);
      throw new OperationError("not_found", `no ${what.slice(0, -1)} "${String(name)}"`, {
        hint: { text: `All ${what}`, command: ["idp", what, "list"] },
      });
    },
  };
};

const whyTool = (): Tool => ({
  name: "why_refused",
  description:
    "Say why the last request was refused, or the last one of a sign-in: the rule, what was given, the fix and its command. The command: idp requests --status 4xx, or idp open last",
  role: "reader",
  hints: reads,
  schema: () =>
    Promise.resolve({
      type: "object",
      properties: {
        flow: { type: "string", description: "A sign-in, as requests names it. Absent: the last refused request" },
      },
      additionalProperties: false,
    }),
  run: (session, { flow, ...others }) => {
    const [unknown] = Object.keys(others);
    if (unknown !== undefined || (flow !== undefined && typeof flow !== "string")) {
      throw new OperationError("usage", "this tool has one field: flow, a text", {});
    }
    return whyRefused(session, flow);
  },
});

const builders: readonly ((every: readonly OperationName[]) => Tool)[] = [
  startTool,
  toolOf({
    name: "status",
    operation: "status",
    command: "status",
    hints: reads,
    answer: (output) => statusAnswer(output as never),
  }),
  choiceOf({
    name: "list",
    summary: "List users, clients, grants, sessions, keys, issuers, faults or snapshots",
    command: "users list, clients list, …",
    field: "what",
    choices: listed,
    hints: reads,
  }),
  showAny,
  toolOf({ name: "add_user", operation: "users.add", command: "users add", hints: {} }),
  toolOf({ name: "edit_user", operation: "users.edit", command: "users edit", hints: destroys }),
  toolOf({ name: "add_client", operation: "clients.add", command: "clients add", hints: {}, check: nearClient }),
  toolOf({
    name: "edit_client",
    operation: "clients.edit",
    command: "clients edit",
    hints: destroys,
    check: nearClient,
  }),
  choiceOf({
    name: "set_status",
    summary: "Suspend or ban a user, or make the user active again; sessions end, and a ban revokes the grants",
    command: "users suspend, users ban, users restore",
    field: "status",
    choices: { active: "users.restore", suspended: "users.suspend", banned: "users.ban" },
    hints: destroys,
    answer: (output) => answerOf("users", output),
  }),
  toolOf({ name: "issue_tokens", operation: "issue.tokens", command: "issue tokens", hints: {} }),
  decodeTool,
  toolOf({ name: "revoke", operation: "revoke", command: "revoke", hints: destroys }),
  toolOf({
    name: "requests",
    operation: "requests.list",
    command: "requests",
    hints: reads,
    answer: (output) => requestsAnswer(output as readonly RequestRecord[]),
  }),
  whyTool,
  toolOf({
    name: "expect",
    operation: "expect",
    command: "expect",
    hints: reads,
    answer: (output) => expectAnswer(output as ExpectResult),
  }),
  choiceOf({
    name: "fault",
    summary: "Make a response wrong on purpose: add a fault, remove one, or clear all. list has those that are active",
    command: "faults add, faults remove, faults clear",
    field: "action",
    choices: { add: "faults.add", remove: "faults.remove", clear: "faults.clear" },
    usual: "add",
    hints: {},
    answer: (output) => answerOf("faults", output),
  }),
  choiceOf({
    name: "clock",
    summary:
      "Show, advance, set, freeze or reset the clock of the server, which decides when codes, tokens and sessions end",
    command: "clock",
    field: "action",
    choices: {
      show: "clock.show",
      advance: "clock.advance",
      set: "clock.set",
      freeze: "clock.freeze",
      reset: "clock.reset",
    },
    usual: "show",
    hints: {},
    answer: (output) => answerOf("clock", output),
  }),
  signInTool,
  checkTool,
];

/** The operations whose inputs are described. */
const every: readonly OperationName[] = [
  ...Object.values(listed),
  ...Object.values(shown),
  ...(["status", "users.add", "users.edit", "users.suspend", "users.ban", "users.restore"] as const),
  ...(["clients.add", "clients.edit", "issue.tokens", "revoke", "requests.list", "expect"] as const),
  ...(["faults.add", "faults.remove", "faults.clear"] as const),
  ...(["clock.show", "clock.advance", "clock.set", "clock.freeze", "clock.reset"] as const),
];

export const allTools = (): readonly Tool[] => builders.map((build) => build(every));
