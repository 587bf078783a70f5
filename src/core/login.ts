import type { Interaction, ReadTx, Tx, User } from "../store/store.ts";
import { passwordLimits } from "./attempts.ts";
import { mustSignInAgain, proceed, progressOf, refuse, type StepResult } from "./authorize.ts";
import { tellAll } from "./backchannel-logout.ts";
import { checkStillAllowed } from "./authorization-request.ts";
import { clientName, type ClientName } from "./clients.ts";
import type { Context } from "./context.ts";
import { endInteraction, findForForm, findInteraction, purposeOf, type Browser } from "./interactions.ts";
import { verifyPassword } from "./pending-passwords.ts";
import { summarise, type RequestSummary } from "./request-summary.ts";
import { barredUser, liveSession, startSession } from "./sessions.ts";
import { seconds } from "./time.ts";

/** The login page and its form: records who signed in, and when. */

/** What the login page shows. */
export interface LoginPage {
  readonly csrf: string;
  /** Null: a sign-in to one of the server's own pages. */
  readonly client: { readonly id: string; readonly name: ClientName; readonly redirectUri: string } | null;
  /** The path of that page, below the issuer. */
  readonly ownPage: string | null;
  /** The user who has to prove once more who they are. */
  readonly reauth: User | null;
  /** Where `max_age` is why (seconds): how long ago the sign-in was, and how long ago it may be. */
  readonly reauthAges: { readonly signedInAgo: number; readonly maxAge: number } | null;
  readonly loginHint: string | null;
  /** Who is meant most likely: the user of the hint, or who is signed in where the app asks for a choice. */
  readonly likely: User | null;
  /** Who was signed in here, and was suspended since. */
  readonly barred: User | null;
  readonly picker: boolean;
  readonly uiLocales: string | null;
  readonly request: RequestSummary;
}

/** @throws {InteractionError} */
export function showLogin(ctx: Context, uid: string, browser: Browser): Promise<LoginPage> {
  return ctx.store.read((tx) => {
    const interaction = findInteraction(tx, ctx, uid, browser);
    const purpose = purposeOf(interaction);
    const picker = ctx.settings.login !== "password";
    const barred = barredUser(tx, browser.session);
    if (purpose.kind === "page") {
      const nobody = { client: null, reauth: null, reauthAges: null, loginHint: null, likely: null, uiLocales: null };
      const request = { details: [], notes: [] };
      return { csrf: interaction.csrf, ...nobody, ownPage: purpose.path, barred, picker, request };
    }
    const { request, hintedUserId } = purpose;
    const session = liveSession(tx, browser.session);
    const client = tx.get("clients", request.clientId);
    const again =
      session !== null &&
      interaction.login === null &&
      !request.prompt.includes("select_account") &&
      mustSignInAgain(ctx, request, session, hintedUserId);
    const asksForChoice = request.prompt.includes("select_account") && request.loginHint === null;
    const hinted = hintedUserId === null ? findByName(tx, request.loginHint ?? "") : tx.get("users", hintedUserId);
    return {
      csrf: interaction.csrf,
      client: {
        id: request.clientId,
        name: clientName(client ?? { client_id: request.clientId }),
        redirectUri: request.redirectUri,
      },
      reauth: again && (hintedUserId === null || hintedUserId === session.user.id) ? session.user : null,
      reauthAges:
        again && request.maxAge !== null
          ? { signedInAgo: seconds(ctx) - session.session.authTime, maxAge: request.maxAge }
          : null,
      ownPage: null,
      loginHint: request.loginHint,
      likely: hinted ?? (asksForChoice ? (session?.user ?? null) : null),
      barred,
      picker,
      uiLocales: request.uiLocales,
      request: summarise(request),
    };
  });
}

/** The user of this name, or of this e-mail address where only one has it. */
function findByName(tx: ReadTx, name: string): User | undefined {
  const user = tx.find("users", "username", name);
  if (user !== undefined || !name.includes("@")) return user;
  const byEmail = tx.findAll("users", "email", name.toLowerCase());
  return byEmail.length === 1 ? byEmail[0] : undefined;
}

/** What the login form sent. */
export interface LoginForm {
  readonly csrf: string;
  readonly username: string;
  readonly password: string;
  /** A user was picked, no password typed. */
  readonly pick: boolean;
  readonly cancel: boolean;
}

/** Signed in and on, or why not. */
export type LoginResult =
  | (StepResult & { readonly kind: "step" })
  | {
      readonly kind: "refused";
      readonly state: "error-credentials" | "error-suspended" | "error-banned";
      /** Who proved who they are, and may not come in. */
      readonly barred: User | null;
    };

/** What is told to who may not come in: whatever status nobody knows, they are suspended, as in `token-state.ts`. */
export const barredState = ({ status }: User): "error-suspended" | "error-banned" =>
  status === "banned" ? "error-banned" : "error-suspended";

const wrong = { kind: "refused", state: "error-credentials", barred: null } as const;

/**
 * Takes the login form.
 * @throws {InteractionError}; {RedirectedError} where the user cancels; {OAuthError} too_many_requests, of wrong passwords
 */
export async function login(ctx: Context, uid: string, browser: Browser, form: LoginForm): Promise<LoginResult> {
  if (form.cancel) return cancel(ctx, uid, browser, form);
  const attempt = form.pick ? tryPick : tryPassword;
  for (;;) {
    const result = await attempt(ctx, uid, browser, form);
    if (result === null) continue;
    if (result.kind === "step") await tellAll(ctx, result.telling);
    return result;
  }
}

const tryPick = (ctx: Context, uid: string, browser: Browser, form: LoginForm): Promise<LoginResult> =>
  ctx.store.transaction((tx) => {
    const interaction = findForForm(tx, ctx, uid, browser, form.csrf);
    const user = ctx.settings.login === "password" ? undefined : tx.find("users", "username", form.username);
    return user === undefined ? wrong : signIn(tx, ctx, interaction, user, ["user"], browser);
  });

/** @returns null where the user was changed while the password was checked: it may be another one by now */
async function tryPassword(ctx: Context, uid: string, browser: Browser, form: LoginForm): Promise<LoginResult | null> {
  const user = await ctx.store.read((tx) => {
    findForForm(tx, ctx, uid, browser, form.csrf);
    return findByName(tx, form.username);
  });
  if (!(await checkPassword(ctx, user, browser, form)) || user === undefined) return wrong;
  return ctx.store.transaction((tx) => {
    const interaction = findForForm(tx, ctx, uid, browser, form.csrf);
    return tx.get("users", user.id) === user ? signIn(tx, ctx, interaction, user, ["pwd"], browser) : null;
  });
}

/** @param amr how they proved who they are (RFC 8176) */
function signIn(
  tx: Tx,
  ctx: Context,
  interaction: Interaction,
  user: User,
  amr: readonly string[],
  browser: Browser,
): LoginResult {
  if (user.status !== "active") return { kind: "refused", state: barredState(user), barred: user };
  const { cookie, session, telling } = startSession(tx, ctx, user, amr, browser.session);
  const progress = { ...progressOf(interaction), login: { userId: user.id, at: seconds(ctx) } };
  const { step } = proceed(tx, ctx, progress, { session, user }, { ...browser, session: cookie });
  return { kind: "step", step, sessionCookie: cookie, telling };
}

/** @throws {OAuthError} too_many_requests */
async function checkPassword(
  ctx: Context,
  user: User | undefined,
  { address }: Browser,
  { username, password }: LoginForm,
): Promise<boolean> {
  const limits = passwordLimits(user?.id ?? username, address);
  const wasRight = ctx.attempts.begin(`wrong passwords for "${username}"`, limits);
  const isRight = await verifyPassword(ctx.passwords, user, password);
  if (!isRight || user === undefined) return false;
  wasRight();
  return true;
}

/** Cancel returns to the client; from a page of the server's own there is nowhere to return to but that page's sign-in. */
async function cancel(ctx: Context, uid: string, browser: Browser, form: LoginForm): Promise<LoginResult> {
  const purpose = await ctx.store.transaction((tx) => {
    const interaction = findForForm(tx, ctx, uid, browser, form.csrf);
    const asked = purposeOf(interaction);
    if (asked.kind === "authorization") checkStillAllowed(tx, asked.request);
    endInteraction(tx, ctx, interaction);
    return asked;
  });
  if (purpose.kind === "authorization")
    throw refuse(purpose.request, "access_denied", "The user cancelled the sign-in");
  return {
    kind: "step",
    step: { kind: "own-page", path: purpose.path },
    sessionCookie: null,
    telling: [],
  };
}
