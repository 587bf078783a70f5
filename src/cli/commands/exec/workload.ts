import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { webAddress } from "../../../client/http.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { sameSecret } from "../../../core/base/secrets.ts";
import type { Idp } from "../../../index.ts";
import { type Command, type Flags, type FlagsOf, type None, Option } from "../../commander.ts";
import { seconds, once, collect } from "../../flags/flag-values.ts";
import { flawsOf, withFlaws } from "../token/flaws.ts";
import { type WorkloadKind, workloadKinds } from "../../../core/protocol/workloads/kinds.ts";
import { tenYears } from "../../../text/time.ts";
import { putFile } from "../../output/put-file.ts";
import { setClaim, type SetFields } from "../../flags/set-field.ts";

/** `idp exec --as`: the identity that the command would have at GitHub, at GitLab or in Kubernetes. */

export const withWorkloadFlags = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  withFlaws(
    command
      .optionsGroup("The identity of a workload (its issuer is in OIDC_WORKLOAD_ISSUER):")
      .addOption(new Option("--as <place>", "as a job or pod there").choices([...workloadKinds]))
      .option("--workload <name>", "as this workload of the fixtures")
      .option("--claim <name=value>", "change a claim of its tokens, as JSON or text; repeatable", setClaim)
      .option("--token-variable <name=audience>", "gitlab: a variable with a token; repeatable", collect)
      .option(
        "--audience <audience>",
        "kubernetes: the aud of the token in IDP_TOKEN_FILE",
        once("a token of a workload has one aud"),
      )
      .option("--namespace <name>", "kubernetes (default: default)")
      .option("--service-account <name>", "kubernetes (default: default)")
      .option(
        "--lifetime <seconds>",
        "how long a token lives; kubernetes (default: 1h): renewed at 80% of it",
        seconds(10, tenYears),
      ),
    "Bad tokens of the workload:",
  );
type WorkloadFlags = FlagsOf<typeof withWorkloadFlags<[], None, None>>;

export interface Identity {
  /** For the environment of the command. */
  readonly variables: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

type Issue = (audience: string | undefined, claims?: SetFields) => Promise<string>;

/** A token is replaced after this part of its life, as a kubelet does. */
const renewedAt = 0.8;

const usage = (message: string, example: readonly string[]): OperationError =>
  new OperationError("usage", message, {
    hint: { text: "For example", command: ["idp", "exec", ...example, "--", "npm", "test"] },
  });

/**
 * Sets up the identity; null if no workload was named.
 * @throws {OperationError} not_found, usage
 */
export async function startWorkload(idp: Idp, flags: WorkloadFlags): Promise<Identity | null> {
  const name = flags.workload ?? flags.as;
  if (name === undefined) {
    const { claim, audience, tokenVariable, namespace, serviceAccount, lifetime } = flags;
    const others = [
      claim,
      audience,
      tokenVariable,
      namespace,
      serviceAccount,
      lifetime,
      ...Object.values(flawsOf(flags)),
    ];
    if (others.every((value) => value === undefined)) return null;
    throw usage("flags for the token of a workload need --as or --workload", ["--as", "github-actions"]);
  }
  const all = await idp.call("workloads.list", {});
  const workload = all.find((one) => one.name === name);
  if (workload === undefined) {
    throw new OperationError("not_found", `there is no workload "${name}" in the fixtures`, {
      hint: `Workloads: ${all.map((one) => one.name).join(", ")}`,
    });
  }
  if (flags.as !== undefined && flags.as !== workload.as)
    throw usage(`the workload "${name}" is one of ${workload.as}, not of ${flags.as}`, ["--workload", name]);
  // The operation names the flag of `token issue`.
  if (Object.hasOwn(flags.claim ?? {}, "exp")) {
    const said = '--claim "exp" cannot be set in the token of a workload. There is a flag for it: --lifetime';
    throw new OperationError("usage", said, { hint: { text: "See", command: ["idp", "exec", "--help"] } });
  }
  const issue: Issue = async (audience = flags.audience, more = {}) => {
    const claims = { ...more, ...flags.claim };
    const input = { name, audience, claims, expires_in: flags.lifetime, ...flawsOf(flags) };
    return (await idp.call("workloads.issue", input)).token;
  };
  const { variables, close } = await places[workload.as](issue, flags);
  return { variables: { ...variables, OIDC_WORKLOAD_ISSUER: workload.issuer }, close };
}

const places: Readonly<Record<WorkloadKind, (issue: Issue, flags: WorkloadFlags) => Promise<Identity>>> = {
  "github-actions": githubActions,
  gitlab,
  kubernetes,
};

/** The runner's own server, from which a job fetches a token for an audience. */
async function githubActions(issue: Issue): Promise<Identity> {
  const bearer = randomBytes(32).toString("base64url");
  const server = createServer((req, res) => {
    const answer = (status: number, body: object): void => {
      res.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
    };
    const [, given = ""] = /^bearer +(\S+)$/i.exec(req.headers.authorization ?? "") ?? [];
    // Anybody on the machine may send any target, such as `//`.
    const url = webAddress(req.url ?? "/", "http://localhost");
    if (url?.pathname !== "/token" || req.method !== "GET") answer(404, { message: "GET /token is all there is" });
    else if (!sameSecret(given, bearer))
      answer(401, { message: "send ACTIONS_ID_TOKEN_REQUEST_TOKEN as the bearer token" });
    else
      issue(url.searchParams.get("audience") ?? undefined).then(
        (value) => {
          answer(200, { value });
        },
        (error: unknown) => {
          answer(400, { message: error instanceof Error ? error.message : "no token could be issued" });
        },
      );
  });
  // The first one, so that wrong flags end exec before the command runs.
  await issue(undefined);
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    variables: {
      GITHUB_ACTIONS: "true",
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer,
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

const listen = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.on("error", reject).listen(0, "127.0.0.1", resolve);
  });

async function gitlab(issue: Issue, { tokenVariable: given = [] }: WorkloadFlags): Promise<Identity> {
  const example = ["--as", "gitlab", "--token-variable", "ID_TOKEN=https://api.test"];
  if (given.length === 0) throw usage("a job of GitLab names its tokens: --token-variable NAME=AUDIENCE", example);
  const variables: Record<string, string> = { GITLAB_CI: "true" };
  for (const one of given) {
    const [, name, audience] = /^([A-Za-z_]\w*)=(.+)$/.exec(one) ?? [];
    if (name === undefined) throw usage(`--token-variable "${one}" must be NAME=AUDIENCE`, example);
    variables[name] = await issue(audience);
  }
  return { variables, close: () => Promise.resolve() };
}

/** A projected volume: a file that is replaced by rename before its token expires. */
async function kubernetes(issue: Issue, flags: WorkloadFlags): Promise<Identity> {
  const { namespace, serviceAccount, lifetime = 3600 } = flags;
  const account = serviceAccount === undefined ? {} : { serviceaccount: { name: serviceAccount } };
  const own = { ...(namespace !== undefined && { namespace }), ...account };
  const claims = Object.keys(own).length === 0 ? {} : { "kubernetes.io": own };
  const folder = await mkdtemp(join(tmpdir(), "idp-token-"));
  const file = join(folder, "token");
  const write = async (): Promise<void> => putFile(file, await issue(undefined, claims), 0o600);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  await write().catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  let writing: Promise<void> = Promise.resolve();
  const timer = setInterval(
    () => {
      // A file that could not be written is tried again; until it expires, the last one is there.
      writing = write().catch(() => undefined);
    },
    lifetime * renewedAt * 1000,
  );
  return {
    variables: { IDP_TOKEN_FILE: file },
    close: async () => {
      clearInterval(timer);
      await writing;
      await remove();
    },
  };
}
