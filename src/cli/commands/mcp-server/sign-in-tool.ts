import { join } from "node:path";
import { SignInError } from "../../../client/app/sign-in-error.ts";
import type { Held } from "../../../client/app/visit.ts";
import { OperationError } from "../../../core/base/errors.ts";
import type { JsonObject } from "../../../text/json.ts";
import { filesFor, writeSignedIn } from "../sign-in/files.ts";
import { firstEnd, textOf, type Form } from "../sign-in/forms.ts";
import { declareSignIn, signInUsers, type SignInWays } from "../sign-in/sign-in.ts";
import { count } from "../../output/words.ts";
import { maxBytes, type Answer } from "./answer.ts";
import { declared, fieldsOf, flagsOf, parsed, wordsOf } from "./from-flags.ts";
import { said, warning } from "./from-request.ts";
import type { Session, Tool } from "./tool.ts";
import { whyRefused } from "./why-refused.ts";

/** Signs in at an app. The cookies are in a file, and in the answer only where somebody asks for them. */

const fields = ["start", "user", "signed_in", "as", "browser", "start_button", "timeout"];

/** The extension of a file by its form. */
const extensions: Readonly<Record<Form, string>> = { "storage-state": "json", cookies: "txt", header: "txt" };

interface Done {
  readonly user: string;
  readonly held: Held;
  readonly file: string | null;
}

async function signIn(session: Session, { inline, ...input }: JsonObject, calls: number): Promise<Answer> {
  const command = declared(declareSignIn, "sign-in");
  const flags = flagsOf(command, fields);
  const ways = parsed(command, wordsOf(flags, input)) as SignInWays & { readonly as: Form };
  const { start, signedIn = null, as } = ways;
  const isInline = inline === true;
  const done: Done[] = [];
  let files: ReadonlyMap<string, string> | null = null;
  const place = (users: readonly string[]): void => {
    if (!isInline) files = filesFor(users, join(session.folder(), String(calls), `{user}.${extensions[as]}`));
  };
  try {
    await signInUsers(
      session.cli(),
      { ...ways, ...(session.allowRemote && { allowRemote: true as const }) },
      place,
      async (user, held) => {
        const file = files?.get(user) ?? null;
        if (file !== null) await writeSignedIn(file, textOf(as, held, signedIn ?? start));
        done.push({ user, held, file });
      },
    );
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    return failed(session, error);
  }
  const results = done.map(({ user, held, file }) => ({
    ...{ user, start, signedIn, as, output: file, expires: firstEnd(held), cookies: held.cookies.length },
    ...(isInline && {
      inline:
        as === "storage-state" ? { cookies: held.cookies, origins: held.origins } : textOf(as, held, signedIn ?? start),
    }),
  }));
  const data = { signed_in: results };
  if (isInline && Buffer.byteLength(JSON.stringify(data)) > maxBytes - 1000) {
    throw new OperationError("refused", `what the browser holds is longer than the ${maxBytes} bytes of an answer`, {
      hint: "Call sign_in without inline, and read the file.",
    });
  }
  return {
    lines: results.map(
      ({ user, output, cookies }) =>
        `Signed in as ${user} at ${new URL(start).origin} (${count(cookies, "cookie")})${output === null ? "" : `: ${output}`}. ${uses(as, output)}`,
    ),
    data,
    isExact: isInline,
  };
}

function uses(as: Form, file: string | null): string {
  if (file === null) return "Whoever has this is signed in: do not write it anywhere.";
  if (as === "storage-state")
    return "Playwright: storageState with this path. The file is removed when this client ends.";
  return `curl ${as === "cookies" ? "-b" : "-H @"}${as === "cookies" ? " " : ""}${file}. The file is removed when this client ends.`;
}

/** What the app and the refused request said is data. The repair is that of why_refused. */
async function failed(session: Session, error: SignInError): Promise<Answer> {
  const { kind, message, rule, given, fix, flow } = error;
  const why = flow === null ? null : await whyRefused(session, flow).catch(() => null);
  const lines = {
    far: "Not signed in: an address is neither on this machine nor in a private network.",
    unanswered: "Not signed in: the app or the server does not answer.",
    refused: `Not signed in${flow === null ? ": what the app did is in from_request" : `: idp refused a request of the sign-in ${flow}`}.`,
  };
  const hints = {
    far: "Only the person who starts these tools can allow other addresses, with --allow-remote.",
    unanswered: "Start the app, or give its address as start.",
    refused:
      flow === null
        ? "Read what the app logged. Give signed_in, an address that only users may see, and browser for an app that needs scripts."
        : null,
  };
  const { data = {} } = why ?? {};
  return {
    isError: true,
    lines: [lines[kind], ...(hints[kind] === null ? [] : [`Fix: ${hints[kind]}`]), ...(why?.lines ?? [warning])],
    data: {
      ...(hints[kind] !== null && { fix: hints[kind] }),
      ...data,
      from_request: {
        message: said(message),
        // The words of a refused request come with its own record.
        ...(why === null && { rule: said(rule), given: said(given), fix: said(fix) }),
        ...(data["from_request"] as JsonObject | undefined),
      },
    },
  };
}

export const signInTool = (): Tool => {
  let calls = 0;
  return {
    name: "sign_in",
    description:
      "Sign a user in at your app, as a person would, and write what the browser then holds to a file: for Playwright, curl and load tests. The command: idp sign-in",
    role: "tester",
    hints: { opens: true },
    schema: () =>
      Promise.resolve({
        ...fieldsOf(flagsOf(declared(declareSignIn, "sign-in"), fields), {
          inline: { type: "boolean", description: "Answer with the cookies themselves, in place of a file" },
        }),
        required: ["start"],
      }),
    run: (session, input) => {
      calls += 1;
      return signIn(session, input, calls);
    },
  };
};
