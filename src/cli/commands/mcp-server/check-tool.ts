import { spawn } from "node:child_process";
import { isSea } from "node:sea";
import { OperationError } from "../../../core/base/errors.ts";
import { isObject, jsonObjectIn, type JsonObject } from "../../../text/json.ts";
import type { AnyCommand } from "../../commander.ts";
import { declareCheck } from "../check/check.ts";
import type { Answer } from "./answer.ts";
import { declared, fieldsOf, flagsOf, wordsOf } from "./from-flags.ts";
import { said, warning } from "./from-request.ts";
import type { Session, Tool } from "./tool.ts";

/** Runs a check on an app that runs. It is a process of its own, which ends with the call. */

/** The flags that name no file, no variable and no command, and widen nothing. */
const fields = [
  ..."start signed_in signed_in_text sign_out who attacker no_unsolicited browser user client case within signal".split(
    " ",
  ),
  ..."url api method audience scope needs_scope mcp dpop profile email_domain pages return_param timeout total_timeout".split(
    " ",
  ),
];

const checks = (): readonly AnyCommand[] => declared(declareCheck, "check").commands;

function commandOf(what: unknown): AnyCommand {
  const found = checks().find((one) => one.name() === what);
  if (found !== undefined) return found;
  const names = checks().map((one) => one.name());
  throw new OperationError("usage", `what must be one of ${names.join(", ")}`, {});
}

/** The words that run this program again. */
const ownProgram = (): readonly string[] => (isSea() ? [] : [process.argv[1] ?? ""]);

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run({ cli }: Session, words: readonly string[], signal: AbortSignal): Promise<Ended> {
  const { env, url, data, adminTokenFile, issuer } = cli();
  const target = [
    ...(adminTokenFile === null ? [] : [`--admin-token-file=${adminTokenFile}`]),
    ...(issuer === null || url !== null ? [] : [`--issuer=${issuer}`]),
  ];
  const all = [...ownProgram(), "check", ...words, "--json", "--no-input", ...target];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, all, {
      env: { ...env, IDP_DATA: data, ...(url !== null && { IDP_URL: url }) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => (printed[name] += text));
    }
    // In order, so that it undoes what it did.
    const end = (): void => void child.kill("SIGTERM");
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    child.on("error", reject);
    child.on("close", (code) => {
      signal.removeEventListener("abort", end);
      resolve({ code, ...printed });
    });
  });
}

/** What went wrong in words of ours, which repeat nothing but what was given. */
const ours = ["usage", "no_server", "not_found", "conflict", "forbidden"];

function failure({ stderr }: Ended): Answer {
  const { error } = jsonObjectIn(stderr.trim().split("\n").at(-1) ?? "") ?? {};
  const { code, message, hint } = isObject(error) ? error : { code: "unexpected", message: stderr, hint: null };
  const isOurs = ours.includes(String(code));
  return {
    isError: true,
    lines: isOurs ? [String(message), `Fix: ${String(hint)}`] : [`The check did not run to its end. ${warning}`],
    data: isOurs ? { code, rule: message, fix: hint } : { code, from_request: said({ message, hint }) },
  };
}

function report(what: string, { passed, cases, stale, ...rest }: JsonObject): Answer {
  const all = (Array.isArray(cases) ? (cases as unknown[]) : []).filter(isObject);
  const shown = all.map(({ did, accepted, ...ofCase }) => ({
    ...ofCase,
    ...(accepted !== undefined && { accepted }),
    from_request: { did: said(did) },
  }));
  const good = ["noticed", "works"];
  const open = shown.filter((one) => !good.includes(String((one as JsonObject)["verdict"])));
  const unnoticed = all.filter(({ verdict }) => verdict === "unnoticed").length;
  return {
    lines: [
      `${passed === true ? "Passed" : "Not passed"}: ${unnoticed} of ${all.length} cases went unnoticed. cases has those that were not noticed, each with what to change. ${warning}`,
    ],
    data: {
      what,
      passed,
      noticed: all.filter(({ verdict }) => good.includes(String(verdict))).map(({ name }) => name),
      cases: open,
      ...(stale !== undefined && { stale }),
      ...(Object.keys(rest).length > 0 && { from_request: said(rest) }),
    },
    list: "cases",
  };
}

export const checkTool = (): Tool => ({
  name: "check",
  description:
    "Check an app that runs: whether a client, an API, a SAML service provider or a SCIM server refuses what is wrong, and how soon it locks a leaver out. It takes minutes; case names one case. The command: idp check",
  role: "tester",
  hints: { opens: true },
  schema: () => {
    const all = checks();
    const flags = all.flatMap((command) => flagsOf(command, fields));
    const what = { type: "string", enum: all.map((one) => one.name()) };
    return Promise.resolve({ ...fieldsOf(flags, { what }), required: ["what"] });
  },
  run: async (session, { what, ...input }, signal) => {
    const command = commandOf(what);
    const words = wordsOf(flagsOf(command, fields), input);
    const remote = session.allowRemote ? ["--allow-remote"] : [];
    const ended = await run(session, [command.name(), ...words, ...remote], signal);
    const document = jsonObjectIn(ended.stdout);
    return document === null ? failure(ended) : report(command.name(), document);
  },
});
