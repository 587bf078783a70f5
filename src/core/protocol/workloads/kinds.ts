import type { JsonObject } from "../../../text/json.ts";
/** What GitHub, GitLab and Kubernetes say of a workload in its token, as they document it. */

export const workloadKinds = ["github-actions", "gitlab", "kubernetes"] as const;
export type WorkloadKind = (typeof workloadKinds)[number];

/** A workload of the fixtures. */
export interface WorkloadSetting {
  readonly as: WorkloadKind;
  /** Claims in place of the usual ones; `sub` may be among them. */
  readonly claims?: JsonObject | undefined;
}

interface Kind {
  /** Seconds that a token lives, unless asked otherwise. */
  readonly life: number;
  /** Claims without iss, aud, exp, iat, nbf and jti. Those that follow from others follow from the given ones, too. */
  claims(given: JsonObject): JsonObject;
  /** The `aud` of a token for which none was asked. */
  audience(claims: JsonObject): string;
}

const text = (value: unknown): string => String(value);

/** `refs/heads/main` as a name and its type. */
function refOf(ref: string): { readonly name: string; readonly type: "branch" | "tag" } {
  const [, kind = "heads", name = ref] = /^refs\/(heads|tags)\/(.*)$/.exec(ref) ?? [];
  return { name, type: kind === "tags" ? "tag" : "branch" };
}

/** https://docs.github.com/actions/reference/security/oidc */
const githubActions: Kind = {
  life: 300,
  claims(given) {
    // Of a pull request, `ref` is the merge of its branch `head_ref` into `base_ref`; `pull_request_target` runs on the base.
    const [usualRef, head_ref, base_ref] =
      given["event_name"] === "pull_request"
        ? ["refs/pull/1/merge", "feature", "main"]
        : given["event_name"] === "pull_request_target"
          ? ["refs/heads/main", "feature", "main"]
          : ["refs/heads/main", "", ""];
    const { repository, ref, environment, event_name } = {
      ...{ repository: "octo-org/octo-repo", ref: usualRef, event_name: "push" },
      ...given,
    } as Record<string, unknown>;
    const context =
      environment !== undefined
        ? `environment:${text(environment).replaceAll(":", "%3A")}`
        : event_name === "pull_request"
          ? "pull_request"
          : `ref:${text(ref)}`;
    const workflow = `${text(repository)}/.github/workflows/ci.yml@${text(ref)}`;
    const sha = "ffac537e6cbbf934b08745a378932722df287a53";
    const owner = text(repository).split("/")[0] ?? "";
    return {
      sub: `repo:${text(repository)}:${context}`,
      ...{ repository, repository_owner: owner, repository_id: "74", repository_owner_id: "65" },
      ...{ repository_visibility: "private", ref, ref_type: refOf(text(ref)).type, ref_protected: "false", sha },
      ...{ event_name, workflow: "CI", workflow_ref: workflow, workflow_sha: sha },
      ...{ job_workflow_ref: workflow, job_workflow_sha: sha, head_ref, base_ref },
      ...{
        run_id: "1000000001",
        check_run_id: "2000000001",
        run_number: "10",
        run_attempt: "1",
        runner_environment: "github-hosted",
      },
      ...{ actor: owner, actor_id: "12" },
      ...given,
    };
  },
  audience: ({ repository_owner: owner }) => `https://github.com/${text(owner)}`,
};

/** What GitLab makes of the names of environments (https://docs.gitlab.com/ci/environments/#deployment-tier-of-environments). */
const tiers: readonly (readonly [tier: string, names: RegExp])[] = [
  ["development", /dev|review|trunk/i],
  ["testing", /test|qc/i],
  ["staging", /stag|model|demo/i],
  ["production", /prod|live/i],
];

/** What the token of a job with an environment has besides. */
const ofEnvironment = (environment: string): JsonObject => ({
  environment_protected: "false",
  environment_action: "start",
  deployment_tier: tiers.find(([, names]) => names.test(environment))?.[0] ?? "other",
});

/** https://docs.gitlab.com/ci/secrets/id_token_authentication/ */
const gitlab: Kind = {
  life: 3600,
  claims(given) {
    const { project_path, ref, ref_type, environment } = {
      ...{ project_path: "my-group/my-project", ref: "main", ref_type: "branch" },
      ...given,
    } as Record<string, unknown>;
    const sha = "714a629c0b401fdce83e847fc9589983fc6f46bc";
    const namespace = text(project_path).replace(/\/[^/]*$/, "");
    const refPath = `refs/${ref_type === "tag" ? "tags" : "heads"}/${text(ref)}`;
    return {
      sub: `project_path:${text(project_path)}:ref_type:${text(ref_type)}:ref:${text(ref)}`,
      ...{ namespace_id: "72", namespace_path: namespace, project_id: "20", project_path },
      project_visibility: "private",
      user_id: "1",
      user_login: "sample-user",
      user_email: "sample-user@example.com",
      ...{ user_access_level: "developer", pipeline_id: "574", pipeline_source: "push", job_id: "302" },
      ...{ ref, ref_type, ref_path: refPath, ref_protected: "false", sha },
      ...{ runner_id: 1, runner_environment: "gitlab-hosted" },
      ci_config_ref_uri: `gitlab.example.com/${text(project_path)}//.gitlab-ci.yml@${refPath}`,
      ci_config_sha: sha,
      ...(environment !== undefined && ofEnvironment(text(environment))),
      ...given,
    };
  },
  audience: () => "https://gitlab.example.com",
};

/** https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens */
const kubernetes: Kind = {
  life: 3600,
  claims(given) {
    const own = given["kubernetes.io"] as Readonly<Record<string, unknown>> | undefined;
    const { namespace = "default", serviceaccount: account = { name: "default" } } = own ?? {};
    const { name } = account as { readonly name?: unknown };
    return {
      sub: `system:serviceaccount:${text(namespace)}:${text(name)}`,
      ...given,
      "kubernetes.io": {
        node: { name: "node-1", uid: "646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1" },
        pod: { name: `${text(name)}-5f4b8c7d9-x2lqv`, uid: "5e0bd49b-f040-43b0-99b7-22765a53f7f3" },
        ...own,
        namespace,
        serviceaccount: { uid: "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798", ...(account as object) },
      },
    };
  },
  audience: () => "https://kubernetes.default.svc.cluster.local",
};

export const kinds: Readonly<Record<WorkloadKind, Kind>> = { "github-actions": githubActions, gitlab, kubernetes };
