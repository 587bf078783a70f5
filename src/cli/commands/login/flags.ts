import { OperationError } from "../../../core/errors.ts";
import type { Hint } from "../../../core/hint.ts";
import { withNames } from "../../input/example.ts";
import type { Invocation } from "../../invocation.ts";

/** The flags of `idp login`, as commander reads them. */
export interface LoginFlags {
  readonly issuer?: string;
  readonly client: string;
  readonly secretStdin?: true;
  readonly flow: "code" | "device" | "client-credentials";
  readonly scope?: string;
  readonly print?: "access" | "id" | "refresh" | "response";
  /** Seconds. */
  readonly timeout: number;
  readonly user?: string;
  readonly approve?: true;
  readonly deny?: true;
  readonly browser: boolean;
  readonly redirectPort?: number;
  readonly prompt?: string;
  /** Seconds. */
  readonly maxAge?: number;
  readonly loginHint?: string;
  readonly uiLocales?: string;
  readonly acr?: string;
  readonly responseMode?: "query" | "form_post";
  /** Whether a key of `idp start` started it; then Ctrl+C of the terminal goes to the server. */
  readonly withServer?: true;
}

/** What is decided for the user; null if a person signs in. */
export const decisionOf = ({ approve, deny }: LoginFlags): "allow" | "deny" | null =>
  approve === true ? "allow" : deny === true ? "deny" : null;

const usage = (message: string, hint: string | Hint): OperationError => new OperationError("usage", message, { hint });

/** Refuses flags that do not go together. @throws {OperationError} usage */
export async function checkFlags(cli: Invocation, flags: LoginFlags): Promise<void> {
  const { flow, user, approve, deny, print } = flags;
  if (cli.json && print !== undefined) {
    throw usage("give --json or --print, not both", {
      text: "The tokens are in the document of --json",
      command: ["idp", "login", "--json"],
    });
  }
  if (approve === true && deny === true) throw usage("--approve or --deny, not both", "Leave one out");
  const decided = decisionOf(flags) !== null;
  if (user !== undefined && !decided) {
    throw usage("--user says who signs in, but not what they decide", {
      text: "Add --approve or --deny. In a browser",
      command: ["idp", "login", "--login-hint", user],
    });
  }
  if (user === undefined && decided) {
    throw usage(`--${deny === true ? "deny" : "approve"} needs --user`, {
      text: "For example",
      command: await withNames(cli, ["idp", "login", "--user", "USERNAME", `--${deny === true ? "deny" : "approve"}`]),
    });
  }
  if (flow === "client-credentials" && decided) {
    throw usage("--flow client-credentials has no user", "Leave out --user, --approve and --deny");
  }
  const { prompt, maxAge, loginHint, uiLocales, acr, responseMode, redirectPort } = flags;
  const ofCode = {
    prompt,
    "max-age": maxAge,
    "login-hint": loginHint,
    "ui-locales": uiLocales,
    acr,
    "response-mode": responseMode,
    "redirect-port": redirectPort,
  };
  const [foreign] = Object.entries(ofCode).find(([, value]) => value !== undefined) ?? [];
  if (flow !== "code" && foreign !== undefined) {
    throw usage(
      `--${foreign} belongs to the authorization request, but --flow ${flow} has none`,
      `Leave out --${foreign}`,
    );
  }
}
