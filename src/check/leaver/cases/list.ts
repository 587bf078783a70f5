import { notReached, notRequired, noticed, unnoticed, type Case, type Finding } from "../../frame/verdict.ts";
import type { LeaverAttempt, Left } from "../attempt.ts";
import type { Measured } from "../measure.ts";
import { lasting, signalNames, type Signal } from "../signals.ts";

/** What a measured time means. */

export interface LeaverCase extends Case<LeaverAttempt> {
  /** Whom it measures; absent: nobody. */
  readonly signal?: Signal;
  readonly needsApi?: true;
  readonly needsCredential?: true;
  readonly needsAdmin?: true;
}

/** Who tells the app, and what it has to do. */
const words: Readonly<Record<Signal, { readonly how: string; readonly paragraph: string; readonly fix: string }>> = {
  scim: {
    how: "SCIM said active: false",
    paragraph: "IPSIE AL2; RFC 7643 4.1.1",
    fix: "where active becomes false, delete the sessions of the user, and look at active in every sign-in",
  },
  "backchannel-logout": {
    how: "back-channel logout ended the session",
    paragraph: "OpenID Connect Back-Channel Logout 2.7",
    fix: "serve backchannel_logout_uri: verify the logout token, then delete the sessions with its sid, or all of its sub",
  },
  revocation: {
    how: "Global Token Revocation named the user",
    paragraph: "draft-parecki-oauth-global-token-revocation-04 3",
    fix: "serve the address of global_token_revocation: delete all sessions and refresh tokens of sub_id, then answer 204",
  },
  silence: {
    how: "the user was suspended, and nobody was told",
    paragraph: "no standard asks for it; OpenID Connect Core 12.2 lets a refresh fail",
    fix: "keep sessions short, and refresh tokens while the user works",
  },
  all: {
    how: "the user left",
    paragraph: "IPSIE SL1, AL2",
    fix: "take at least one signal: SCIM active: false, back-channel logout or Global Token Revocation",
  },
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const afterSignal = ({ problem }: Left): string => (problem === null ? "" : ` (the signal failed: ${problem})`);

/** `silence` is told, and never required. */
const unlessSilent = (signal: Signal, finding: Finding): Finding =>
  signal === "silence" && finding.verdict !== "not-reached" ? { ...finding, verdict: "not-required" } : finding;

function judgedSession({ within }: LeaverAttempt, left: Left, { ms, isBroken, last }: Measured): Finding {
  if (ms !== null) return { ...noticed(`locked out after ${seconds(ms)}`), lockedOutAfterMs: ms };
  if (isBroken) return notReached(`--signed-in is broken, so it is unknown whether the user is signed in: it ${last}`);
  return { ...unnoticed(`still signed in after ${lasting(within)}${afterSignal(left)}`), lockedOutAfterMs: null };
}

const stillActive: readonly Signal[] = ["backchannel-logout", "revocation"];

function judgedApi(signal: Signal, { within }: LeaverAttempt, left: Left): Finding {
  const { api, apiProblem, introspects, isExpired } = left;
  if (api === null) return notReached(apiProblem ?? "no --api was given");
  const { ms, isBroken, last } = api;
  if (ms !== null) return { ...noticed(`locked out after ${seconds(ms)}`), lockedOutAfterMs: ms };
  if (isBroken) {
    return { ...unnoticed(`failed instead of refusing: it ${last}`), lockedOutAfterMs: null };
  }
  const did = `still lets the token in after ${lasting(within)}`;
  if (!introspects && !isExpired) {
    return {
      ...notRequired(`${did}: the API verifies tokens locally, and this one has not expired`, "RFC 9068 4, RFC 7662 1"),
      lockedOutAfterMs: null,
    };
  }
  if (introspects && stillActive.includes(signal)) {
    return {
      ...notRequired(`${did}: the API asks idp, where the user is still active`, "RFC 7662 2.2"),
      lockedOutAfterMs: null,
    };
  }
  return { ...unnoticed(`${did}${afterSignal(left)}`), lockedOutAfterMs: null };
}

function judgedCredential(signal: Signal, { within }: LeaverAttempt, left: Left): Finding {
  const { credential, credentialProblem } = left;
  if (credential === null) return notReached(credentialProblem ?? "no --credential was given");
  const { ms, isBroken, last } = credential;
  // The user is still active, or nobody was told.
  const isRequired = signal === "scim" || signal === "all";
  const open = "ASVS 5.0 7.4.2 asks for it where a user is disabled";
  if (ms !== null) {
    const did = `locked out after ${seconds(ms)}`;
    return { ...(isRequired ? noticed(did) : notRequired(did, open)), lockedOutAfterMs: ms };
  }
  const did = isBroken ? `failed instead of refusing: it ${last}` : `still lets the key in after ${lasting(within)}`;
  return { ...(isRequired ? unnoticed(`${did}${afterSignal(left)}`) : notRequired(did, open)), lockedOutAfterMs: null };
}

/** A case that waits for a signal. */
const caseOf = (
  signal: Signal,
  name: string,
  text: Pick<LeaverCase, "mustNot" | "should"> & Partial<LeaverCase>,
  judge: (attempt: LeaverAttempt, left: Left) => Finding,
): LeaverCase => {
  const { paragraph, fix } = words[signal];
  return {
    ...{ signal, name, paragraph, fix },
    ...text,
    async run(attempt) {
      const missing = attempt.missing(signal);
      if (missing !== null) return notReached(missing);
      const left = await attempt.left(signal);
      return "verdict" in left ? left : unlessSilent(signal, judge(attempt, left));
    },
  };
};

function casesOf(signal: Signal): readonly LeaverCase[] {
  const { how } = words[signal];
  const session = (name: string, which: string, index: 0 | 1): LeaverCase =>
    caseOf(
      signal,
      `${signal}.${name}`,
      {
        mustNot: `the person is still signed in ${which} after ${how}`,
        should: "refuse at --signed-in within --within",
      },
      (attempt, left) => judgedSession(attempt, left, left.sessions[index]),
    );
  return [
    session("session", "in one browser", 0),
    session("second-session", "in another browser", 1),
    caseOf(
      signal,
      `${signal}.api`,
      {
        mustNot: `the API still takes the person's access token after ${how}`,
        should: "answer 401 or 403 within --within",
        fix: "ask idp about tokens (RFC 7662), let them live for minutes, or look the user up",
        needsApi: true,
      },
      (attempt, left) => judgedApi(signal, attempt, left),
    ),
    // A sign-out ends no keys.
    ...(signal === "backchannel-logout"
      ? []
      : [
          caseOf(
            signal,
            `${signal}.credential`,
            {
              mustNot: `the API still takes the person's key after ${how}`,
              should: "answer 401 or 403 within --within",
              paragraph: "ASVS 5.0 7.4.2",
              fix: "look at the state of the key's owner at each request, or delete the keys with the sessions",
              needsCredential: true,
            },
            (attempt, left) => judgedCredential(signal, attempt, left),
          ),
        ]),
    ...(signal === "scim" || signal === "all"
      ? [
          caseOf(
            signal,
            `${signal}.sign-in`,
            {
              mustNot: `the person signs in again after ${how}`,
              should: "refuse the sign-in",
              fix: "look at the state of the user in the callback, before the session is made",
            },
            (_attempt, { signIn }) => signIn ?? notReached("nobody signed in again"),
          ),
        ]
      : []),
  ];
}

const restored: LeaverCase = caseOf(
  "all",
  "restored",
  {
    mustNot: "a person who is back does not get in, or is another user",
    should: "sign the person in, as the same user",
    paragraph: "RFC 7643 3.1, 4.1.1",
    fix: "keep a deactivated user with its id, and let it in again where active becomes true",
  },
  (_attempt, left) => left.restored ?? notReached("nobody came back"),
);

const otherUser: LeaverCase = {
  name: "other-user",
  mustNot: "somebody else is signed out",
  should: "end only the sessions of the person who left",
  paragraph: "OpenID Connect Back-Channel Logout 2.7",
  fix: "delete the sessions of that user alone",
  run: (attempt) => attempt.otherUser(),
};

const moverBase = {
  paragraph: "RFC 7644 3.5.2.2, IPSIE AL2; ASVS 5.0 8.3.2",
  needsAdmin: true,
} as const;

const movers: readonly LeaverCase[] = [
  {
    ...moverBase,
    name: "mover",
    mustNot: "somebody who left a group keeps its rights",
    should: "refuse at --admin within --within, and go on letting the person in at --signed-in",
    fix: "read the groups where they are used, or change the roles of sessions when SCIM changes the members",
    run: (attempt) => attempt.mover(),
  },
  {
    ...moverBase,
    name: "mover-other",
    mustNot: "somebody who stays in a group loses its rights when another one leaves",
    should: "take the rights of the one who left alone",
    fix: "remove the one member whom the request names",
    run: (attempt) => attempt.moverOther(),
  },
  {
    ...moverBase,
    name: "mover-renamed",
    mustNot: "a group that got another name loses its rights",
    should: "know a group by its id",
    fix: "give rights to the id of the SCIM group, not to its displayName",
    run: (attempt) => attempt.moverRenamed(),
  },
];

/** In the order in which they are reported. */
export const allCases: readonly LeaverCase[] = [...signalNames.flatMap(casesOf), restored, ...movers, otherUser];
