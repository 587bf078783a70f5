/*
 * core/sign-in/login: who signed in. login.ts records one fact: who, when and how. picker.ts lists the test users, pending-passwords.ts
 * checks a password, and hashes those of fixtures in the background.
 */
import type { ReadTx, User } from "../../../store/store.ts";
import { passwordLimits } from "../../base/attempts.ts";
import { clientLinks, clientName, type ClientName } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import type { Guidance } from "../../base/errors.ts";
import { restoreUser, setPassword } from "../../records/fix-commands.ts";
import type { Hint } from "../../base/hint.ts";
import { findForForm, findInteraction, type AskingApp, type Browser } from "../interactions.ts";
import { cancelSignIn, purposeOf, settle, signIn, type Advance, type StepResult } from "../next-step.ts";
import { verifyPassword } from "./pending-passwords.ts";
import { missingOf } from "../needs.ts";
import type { RequestSummary } from "../purpose.ts";
import { barredUser, liveSession } from "../sessions/sessions.ts";
import { seconds } from "../../../text/time.ts";

interface NamedApp {
  readonly id: string;
  readonly name: ClientName;
  readonly links: ReturnType<typeof clientLinks>;
}

/** What the login page shows. */
export interface LoginPage {
  readonly csrf: string;
  /** Null: a sign-in for one of our own pages. */
  readonly client: (NamedApp & Pick<AskingApp, "redirectUri">) | null;
  /** The path of that page, below the issuer. */
  readonly ownPage: string | null;
  /** The user who has to sign in again. */
  readonly reauth: User | null;
  /** Another user may sign in: neither `id_token_hint` nor `claims` names the user. */
  readonly mayBeAnother: boolean;
  /** If `max_age` is the reason (seconds): how long ago the sign-in was, and how long ago it may be. */
  readonly reauthAges: { readonly signedInAgo: number; readonly maxAge: number } | null;
  readonly loginHint: string | null;
  /** The users that the picker shows; null: all. */
  readonly hostedDomain: string | null;
  /** The most likely user: the one of the hint, or the one who is signed in if the app asks for a choice. */
  readonly likely: User | null;
  /** The user of the session or of `login: auto:`, if they are suspended or banned. */
  readonly barred: User | null;
  /** Whether it is the latter: then this page is shown in place of none. */
  readonly isAutomatic: boolean;
  readonly picker: boolean;
  /** Picking the user again is not enough: the app asks for the password. */
  readonly passwordNeeded: boolean;
  readonly uiLocales: string | null;
  readonly request: RequestSummary;
}

/** @throws {InteractionError} */
export function showLogin(ctx: Context, uid: string, browser: Browser): Promise<LoginPage> {
  return ctx.store.read((tx) => {
    const interaction = findInteraction(tx, ctx, uid, browser);
    const purpose = purposeOf(ctx, interaction);
    const { needs, shown } = purpose;
    const session = liveSession(tx, browser.session);
    const lacks = session === null ? null : missingOf(ctx, purpose, interaction, session);
    const mustSignInAgain = session !== null && lacks?.login === true && needs.login !== "choice";
    // The user picked a name, and the app asks for more than that.
    const passwordNeeded = session !== null && lacks?.factors.includes("pwd") === true;
    const { userId, loginHint, maxAge } = needs;
    const hinted = userId === null ? findByName(tx, loginHint ?? "") : tx.get("users", userId);
    const automatic = barredAutomatic(tx, ctx);
    const chooser = needs.login === "choice" && loginHint === null ? session?.user : undefined;
    return {
      csrf: interaction.csrf,
      client: shown.app === null ? null : { ...namedApp(tx, shown.app), redirectUri: shown.app.redirectUri },
      ownPage: shown.ownPage,
      reauth:
        (mustSignInAgain || passwordNeeded) && (userId === null || userId === session.user.id) ? session.user : null,
      mayBeAnother: userId === null,
      hostedDomain: needs.hostedDomain ?? null,
      reauthAges: mustSignInAgain && maxAge !== null ? agesOf(seconds(ctx) - session.session.authTime, maxAge) : null,
      loginHint: hinted !== undefined && ctx.offersPicker ? loginHint : shown.hint,
      likely: hinted ?? chooser ?? null,
      barred: automatic ?? barredUser(tx, browser.session),
      isAutomatic: automatic !== null,
      picker: ctx.offersPicker,
      passwordNeeded,
      uiLocales: shown.uiLocales,
      request: shown.summary(),
    };
  });
}

/** Null: the sign-in is recent enough, and what it proves is not enough. */
const agesOf = (signedInAgo: number, maxAge: number): LoginPage["reauthAges"] =>
  signedInAgo > maxAge ? { signedInAgo, maxAge } : null;

/** The user of `login: auto:`, who is not signed in, because they are suspended or banned. */
function barredAutomatic(tx: ReadTx, { settings: { login } }: Context): User | null {
  const user = login.startsWith("auto:") ? tx.find("users", "username", login.slice("auto:".length)) : undefined;
  return user === undefined || user.status === "active" ? null : user;
}

function namedApp(tx: ReadTx, { clientId, document }: AskingApp): NamedApp {
  const client = document ?? tx.get("clients", clientId) ?? { client_id: clientId };
  return { id: clientId, name: clientName(client), links: clientLinks(client) };
}

/** The user of this name, or of this e-mail address if only one user has it. */
function findByName(tx: ReadTx, name: string): User | undefined {
  const user = tx.find("users", "username", name);
  if (user !== undefined || !name.includes("@")) return user;
  const byEmail = tx.findAll("users", "email", name.toLowerCase());
  return byEmail.length === 1 ? byEmail[0] : undefined;
}

/** What the login form sent. */
interface LoginForm {
  readonly csrf: string;
  readonly username: string;
  readonly password: string;
  /** A user was picked, without a password. */
  readonly pick: boolean;
  readonly cancel: boolean;
}

interface Refused {
  readonly kind: "refused";
  readonly state: "error-credentials" | "error-suspended" | "error-banned";
  /** The user who proved who they are, and may not sign in. */
  readonly barred: User | null;
  /** The user who was named; null: there is none. What was typed may be a password, so it is not repeated. */
  readonly username: string | null;
  /** The reason, for the log: the page must not tell which users exist. */
  readonly why: string;
  readonly guidance: Guidance;
}

/** The next step, or why the sign-in was refused. */
export type LoginResult = (StepResult & { readonly kind: "step" }) | Refused;

/** What a user who may not sign in sees. Any unknown status counts as suspended, as in `core/protocol/tokens/state.ts`. */
export const barredState = ({ status }: User): "error-suspended" | "error-banned" =>
  status === "banned" ? "error-banned" : "error-suspended";

const wrong = (user: User | undefined, why: string, fix: Guidance["fix"]): Refused => ({
  kind: "refused",
  state: "error-credentials",
  barred: null,
  username: user?.username ?? null,
  why,
  guidance: { rule: authenticates, fix },
});

/** The server has to authenticate the user; how is its own affair. */
const authenticates = "OpenID Connect Core 3.1.2.3";

const nobody = "there is no user of this name";
const listUsers: Hint = { text: "To see who there is", command: ["idp", "users", "list"] };

/** Why a password did not sign in. @param sharing how many users have the address that was typed */
function whyWrong(user: User | undefined, sharing: number): string {
  if (user === undefined) return sharing > 1 ? `${sharing} users have this e-mail address` : nobody;
  const has = user.passwordHash !== null || user.passwordPending;
  return has ? `wrong password of ${user.username}` : `${user.username} has no password`;
}

/**
 * Handles the login form: records who signed in, and takes the next step in the same transaction.
 * @throws {InteractionError}; {RedirectedError} if the user cancels; {OAuthError} too_many_requests, after wrong passwords
 */
export async function login(ctx: Context, uid: string, browser: Browser, form: LoginForm): Promise<LoginResult> {
  const attempt = form.cancel ? cancelSignIn : form.pick ? tryPick : tryPassword;
  for (;;) {
    const result = await attempt(ctx, uid, browser, form);
    if (result === null) continue;
    return "kind" in result ? result : { kind: "step", ...(await settle(ctx, result)) };
  }
}

type Attempt = Advance | Refused;

const tryPick = (ctx: Context, uid: string, browser: Browser, form: LoginForm): Promise<Attempt> =>
  ctx.store.transaction((tx) => {
    const interaction = findForForm(tx, ctx, uid, browser, form.csrf);
    const user = ctx.offersPicker ? tx.find("users", "username", form.username) : undefined;
    return user === undefined
      ? wrong(user, nobody, listUsers)
      : signInActive(tx, ctx, interaction, user, ["user"], browser);
  });

/** @returns null if the user was changed while the password was checked: the password may have been changed too */
async function tryPassword(ctx: Context, uid: string, browser: Browser, form: LoginForm): Promise<Attempt | null> {
  const { user, version, sharing } = await ctx.store.read((tx) => {
    findForForm(tx, ctx, uid, browser, form.csrf);
    const user = findByName(tx, form.username);
    const sharing = user === undefined ? tx.findAll("users", "email", form.username.toLowerCase()).length : 1;
    return { user, version: user && tx.version("users", user.id), sharing };
  });
  if (!(await checkPassword(ctx, user, browser, form)) || user === undefined) {
    return wrong(user, whyWrong(user, sharing), user === undefined ? listUsers : setPassword(user));
  }
  return ctx.store.transaction((tx) => {
    const interaction = findForForm(tx, ctx, uid, browser, form.csrf);
    return tx.version("users", user.id) === version ? signInActive(tx, ctx, interaction, user, ["pwd"], browser) : null;
  });
}

const signInActive = (...[tx, ctx, interaction, user, amr, browser]: Parameters<typeof signIn>): Attempt =>
  user.status === "active"
    ? signIn(tx, ctx, interaction, user, amr, browser)
    : {
        kind: "refused",
        state: barredState(user),
        barred: user,
        username: user.username,
        why: `${user.username} is ${user.status}`,
        guidance: { rule: authenticates, fix: restoreUser(user) },
      };

/** @throws {OAuthError} too_many_requests */
async function checkPassword(
  ctx: Context,
  user: User | undefined,
  { address }: Browser,
  { username, password }: LoginForm,
): Promise<boolean> {
  const limits = passwordLimits(user?.id ?? username, address);
  const wasRight = ctx.attempts.begin(`wrong passwords for "${username}"`, limits);
  const isRight = await verifyPassword(ctx, user, password);
  if (!isRight || user === undefined) return false;
  wasRight();
  return true;
}
