/** Why a user is not signed in at an app. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  /** `far`: an address that may not be opened; `unanswered`: the app or the server does not answer. */
  readonly kind: "refused" | "far" | "unanswered";
  /** The rule that the refused request broke; null: no request was refused. */
  readonly rule: string | null;
  /** What the request sent that broke it. */
  readonly given: string | null;
  /** What to change. */
  readonly fix: string | null;
  /** The sign-in, as the inspector names it. */
  readonly flow: string | null;

  constructor(
    kind: SignInError["kind"],
    message: string,
    {
      rule = null,
      given = null,
      fix = null,
      flow = null,
    }: Partial<Pick<SignInError, "rule" | "given" | "fix" | "flow">>,
  ) {
    super(message);
    this.kind = kind;
    this.rule = rule;
    this.given = given;
    this.fix = fix;
    this.flow = flow;
  }
}
