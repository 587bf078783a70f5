import type { ClientView } from "../../core/records/clients/admin.ts";
import type { OperationError } from "../../core/base/errors.ts";
import type { Hint } from "../../core/base/hint.ts";
import type { OperationOutput } from "../../core/admin/operations/table.ts";
import type { Idp } from "../../index.ts";
import type { NamedFixture } from "../../serve/fixture-files.ts";
import type { Server } from "../../serve/remote.ts";
import type { CaseResult } from "./verdict.ts";

/** What a check needs of whoever starts it: of the command line, its flags, its data folder and its terminal. */

/** A running server, and the issuer that it is asked as. */
export interface RunningServer {
  readonly server: Server;
  readonly issuer: string;
}

/** What the files of a project say about the libraries of an app. */
interface Project {
  /** `package`: the npm package that shows the library; null if another file does. */
  readonly libraries: readonly { readonly library: string; readonly package: string | null }[];
  readonly has: (name: string) => boolean;
  /** Whether a file with the dependencies of another language has this word. */
  readonly mentions: (word: string) => boolean;
}

export interface Host {
  readonly env: NodeJS.ProcessEnv;
  /** The same, without what reaches other servers: for what is checked. */
  readonly childEnv: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Is called back when the check is to end, with the exit code. */
  readonly onSignal: (end: (exit: number) => void) => void;
  /** The fixtures that were named; none: those of the working folder, else the demo. */
  readonly fixtures: () => Promise<readonly NamedFixture[]>;
  /** The environment of an app, as `idp exec` gives it. @param client absent: the one that was named, else the likely one */
  readonly environmentOf: (idp: Idp, client?: string) => Promise<NodeJS.ProcessEnv>;
  /** @param takesUrl `--url` is the address of what is checked @throws {OperationError} no_server, conflict */
  readonly runningServer: (takesUrl: boolean) => Promise<RunningServer>;
  readonly likelyClient: (clients: readonly ClientView[]) => ClientView | undefined;
  readonly samlClient: (clients: readonly ClientView[]) => ClientView | undefined;
  /** What an app has to know of its client. @param client shown with its secret */
  readonly valuesOf: (
    issuer: OperationOutput<"issuers.list">[number],
    client: ClientView,
  ) => Readonly<Record<"issuer" | "client_id" | "client_secret" | "redirect_uri", string | null>>;
  /** The same for a service provider of SAML. @param show the identity provider */
  readonly samlVariables: (
    client: ClientView,
    show: () => Promise<OperationOutput<"saml.show">>,
  ) => Promise<readonly (readonly [name: string, value: string])[]>;
  readonly projectIn: (folder: string) => Project;
  /** Why a program could not be run. */
  readonly notRun: (program: string, error: NodeJS.ErrnoException) => OperationError;
  /** Why a file of ours may be somebody else's, and what to do; null: it is not. */
  readonly distrustOf: (file: string) => { readonly problem: string; readonly repair: Hint | string } | null;
  /** @param flag that named the file @throws {OperationError} usage if it cannot be written */
  readonly write: (flag: string, file: string, text: string) => Promise<void>;
  readonly screen: Screen;
}

/** What is shown while a check runs. */
interface Screen {
  readonly say: (line: string) => void;
  /** What is checked: it answers. */
  readonly begin: (line: string) => void;
  /** @param maxName how many cells the longest name takes; absent: as many as usual */
  readonly result: (result: CaseResult, maxName?: number) => void;
  /** How far something is that takes a while. */
  readonly progress: (what: () => string) => {
    readonly update: (done: number, total: number) => void;
    readonly end: () => void;
  };
}
