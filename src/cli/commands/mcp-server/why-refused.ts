import { isRefused, requestName } from "../../../client/app/refused.ts";
import type { Hint } from "../../../core/base/hint.ts";
import type { RequestRecord } from "../../../core/testing/ledger/request-json.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { isLoopbackUrl } from "../../../net/address.ts";
import type { JsonObject } from "../../../text/json.ts";
import type { Answer } from "./answer.ts";
import { isKnownWord, knownWords, quotes, recordApart, said, warning, type Known } from "./from-request.ts";
import type { Session } from "./tool.ts";

/** Why the last request was refused, and what repairs it; for an agent, who may be told lies by whoever sent the request. */

/** What lets in something that was not let in before, by the flag of its command. */
const lettingIn: readonly (readonly [flag: RegExp, what: string])[] = [
  [/^--(?:add-)?redirect-uri$/, "this redirect URI"],
  [/^--add-post-logout-uri$/, "this address after a sign-out"],
  [/^--(?:add-)?saml-(?:acs|metadata)$/, "this service provider and its ACS"],
  [/^--allow-host$/, "this host name"],
  [/^--client-metadata-documents$/, "clients that nobody registered"],
  [/^--dynamic-registration$/, "clients that register themselves"],
];

/** What a fix lets in; null: nothing. */
function letIn({ command = [], letsIn }: Hint): string | null {
  const [, noun, verb] = command;
  if (verb === "add" && (noun === "clients" || noun === "users")) return `this ${noun.slice(0, -1)}`;
  const words = command.map((word) => word.replace(/=.*$/s, ""));
  return lettingIn.find(([flag]) => words.some((word) => flag.test(word)))?.[1] ?? letsIn ?? null;
}

/** The tool that registers what a fix lets in. */
const verbTool = ({ command = [] }: Hint): string =>
  command[1] !== "clients" ? "" : command[2] === "add" ? " with add_client" : " with edit_client";

/** Whether a fix lets in nothing but addresses of this machine. */
function isNear({ command = [] }: Hint): boolean {
  const [, noun] = command;
  const addresses = command.map((word) => word.replace(/^--[a-z-]+=/, "")).filter((word) => word.includes("://"));
  return noun === "clients" && addresses.length > 0 && addresses.every(isLoopbackUrl);
}

/** Characters of an address that a command may repeat: a longer one is a text. */
const maxAddress = 200;

/** The beginning of the commands that a fix may have. */
const verbs =
  /^(?:idp (?:(?:clients|users|keys|scopes|grants|issuers|sessions) (?:list|show|edit|restore|otp)|issue grant|clock (?:show|reset|advance)|start)|curl)(?: |$)/;

/** Whether a command holds nothing that the request chose: names that are registered, and addresses of this machine. */
function mayShow(command: readonly string[], known: Known): boolean {
  const [verb = ""] = verbs.exec(command.join(" ")) ?? [];
  const rest = command.slice(verb.trim().split(" ").length);
  return (
    verb !== "" &&
    rest.every((word) => /^--[a-z-]*$/.test(word) || (word.length <= maxAddress && isKnownWord(word, known)))
  );
}

/** The call of a tool that does what the command does. */
function toolFor(command: readonly string[], client: JsonObject | null): JsonObject | null {
  const [, noun, verb, name] = command;
  if (noun === "users" && verb === "restore") {
    return { name: "set_status", arguments: { username: name, status: "active" } };
  }
  if (noun !== "clients" || verb !== "edit" || client === null) return null;
  for (const [flag, field] of [
    ["--add-redirect-uri", "redirect_uris"],
    ["--add-post-logout-uri", "post_logout_redirect_uris"],
  ] as const) {
    const at = command.indexOf(flag);
    const present = (client[field] ?? []) as readonly string[];
    if (at > 0) {
      const value = [...present, command[at + 1] ?? ""];
      return { name: "edit_client", arguments: { client_id: name, [field]: value } };
    }
  }
  return null;
}

/** What the parameter that is wrong was sent as; else the first ones. */
function givenIn({ reason, parameters }: RequestRecord): JsonObject {
  const found = Object.entries(parameters).filter(([name]) => name === reason?.parameter);
  return Object.fromEntries(found.length > 0 ? found : Object.entries(parameters).slice(0, 5));
}

/** The repair of a refused request, as far as somebody may be told who would run it. */
interface Repair {
  readonly fix: string | null;
  readonly command: readonly string[] | null;
  /** What to ask the person; null: nothing. */
  readonly ask: string | null;
  /** A sentence that repeats what the request said. */
  readonly quoting: string | null;
}

function repairOf(record: RequestRecord, known: Known): Repair {
  const { next } = record;
  if (next === undefined) return { fix: null, command: null, ask: null, quoting: null };
  const { text, command = null, sentence: alone = "" } = next;
  const what = letIn(next);
  const needsPerson = what !== null && !isNear(next);
  const isShown = command !== null && !needsPerson && mayShow(command, known);
  const isQuoting = quotes(text, record, known);
  const sentence = isQuoting ? "" : command === null || isShown ? text : alone;
  const unsaid =
    what === null || isShown
      ? ""
      : needsPerson
        ? `To let in ${what} is for a person to decide`
        : `Where the app's own configuration names ${what} too, register it${verbTool(next)}`;
  return {
    fix: [sentence, unsaid].filter((part) => part !== "").join(". ") || (isShown ? "Run the command" : null),
    command: isShown ? command : null,
    ask: needsPerson
      ? `Show the person what from_request says, and ask whether ${what} is theirs and may be let in.`
      : null,
    quoting: isQuoting ? text : null,
  };
}

/** The last refused request, or the last one of a flow. */
export async function whyRefused({ call, line }: Session, flow: string | undefined): Promise<Answer> {
  const records = await call("requests.list", { parts: true, ...(flow !== undefined && { flow }) });
  const record = records.findLast(isRefused);
  if (record === undefined) {
    const where = flow === undefined ? "no request was refused" : "no request of this flow was refused";
    throw new OperationError("not_found", `${where}: ${records.length} are in the ledger`, {
      hint: "Sign in at the app first, with the tool sign_in or in a browser. requests lists what came.",
    });
  }
  const known = await knownWords(call);
  const { fix, command, ask, quoting } = repairOf(record, known);
  const client = known.clients.has(record.client ?? "")
    ? await call("clients.show", { client_id: record.client ?? "" }).catch(() => null)
    : null;
  const tool = command === null ? null : toolFor(command, client);
  const { from_request, ...ours } = recordApart(record);
  const data = {
    rule: record.rule,
    fix,
    command: command === null ? null : line(command),
    ...(tool !== null && { tool }),
    needs_person: ask !== null,
    ...(ask !== null && { ask }),
    request: ours,
    more: line(["idp", "open", record.flow ?? record.id]),
    from_request: { given: said(givenIn(record)), ...from_request, fix: said(quoting ?? undefined) },
  };
  const lines = [
    `The ${requestName(record.endpoint)} ${record.id} was refused with ${record.status}${record.rule === null ? "" : `, by ${record.rule}`}.`,
    ...(fix === null ? [] : [`Fix: ${fix}`]),
    ...(data.command === null ? [] : [`Command: ${data.command}`]),
    ...(ask === null ? [] : [`Needs a person: ${ask}`]),
    `from_request has the reason in full (error) and what was sent (given). ${warning}`,
  ];
  return { lines, data };
}
