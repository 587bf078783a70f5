/**
 * What holds for grants, codes and tokens, and for the clock, as a small machine: each method is something that happens, and
 * `userinfo`, `isActive` say what each token is worth afterwards. Written from the rules alone: nothing of `src` is used here.
 */

export interface Token {
  readonly kind: "access" | "refresh";
  readonly text: string;
  readonly user: string;
  readonly client: string;
  readonly scopes: readonly string[];
  /** Which life of the grant it belongs to: after a revocation and a new consent the old tokens stay dead (2.2). */
  readonly life: number;
  readonly family: Family;
  /** Of a refresh token: how often its family had been refreshed when it was issued. */
  readonly generation: number;
  /** Seconds. */
  readonly expiresAt: number;
  /** By its client, alone (RFC 7009). */
  revoked: boolean;
  /** Expired for good, whatever the clock shows: by `expire`, or its end had passed in real time when the clock was set back. */
  over: boolean;
}

/** All tokens that came of one code. */
interface Family {
  dead: boolean;
  generation: number;
}

export interface Code {
  readonly text: string;
  readonly user: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly life: number;
  readonly issuedAt: number;
  /** The tokens of its first use; null: it was not used. */
  used: Family | null;
}

interface Grant {
  scopes: readonly string[];
  active: boolean;
  life: number;
}

export interface Issued {
  readonly access: string;
  readonly refresh: string;
}

const accessLife = 1800;
const refreshLife = 7 * 86_400;
const codeLife = 60;
/** For how long after its end a used code is still recognized. The contract leaves that open; the model has to know it. */
const usedCodeMemory = 600;

export function createModel() {
  /** What the clock shows, and what it would show unmoved. */
  let now = 0;
  let real = 0;
  let codes: Code[] = [];
  const tokens: Token[] = [];
  const statuses = new Map<string, "active" | "suspended" | "banned">();
  const grants = new Map<string, Grant>();

  const statusOf = (user: string) => statuses.get(user) ?? "active";
  const grantOf = (user: string, client: string) => grants.get(`${user} ${client}`);
  /** The grant as it was when the token or the code was issued under it. */
  function liveGrant({ user, client, life }: Pick<Token, "user" | "client" | "life">): Grant | null {
    const grant = grantOf(user, client);
    return grant?.active === true && grant.life === life ? grant : null;
  }

  function issue(
    of: Pick<Token, "user" | "client" | "scopes" | "life" | "family">,
    refreshScopes: readonly string[],
    texts: Issued,
  ): void {
    const { generation } = of.family;
    const common = { ...of, generation, revoked: false, over: false };
    tokens.push({ ...common, kind: "access", text: texts.access, expiresAt: now + accessLife });
    tokens.push({
      ...common,
      kind: "refresh",
      text: texts.refresh,
      scopes: refreshScopes,
      expiresAt: now + refreshLife,
    });
  }

  const hasExpired = ({ expiresAt, over }: Token): boolean => expiresAt <= now || over;

  /** A code that ended long ago is unknown. */
  const forgetCodes = (): void => {
    codes = codes.filter(({ issuedAt }) => issuedAt + codeLife + usedCodeMemory > Math.min(now, real));
  };

  /** Expired, revoked by its client, or dead with its family, regardless of its user and grant. */
  const isDead = (token: Token): boolean => hasExpired(token) || token.revoked || token.family.dead;

  /** Whether a token is still valid for its user: 2.5 without the scopes. */
  const speaks = (token: Token): boolean =>
    !isDead(token) && statusOf(token.user) === "active" && liveGrant(token) !== null;

  return {
    tokens: tokens as readonly Token[],
    get codes(): readonly Code[] {
      return codes;
    },
    grantOf,
    statusOf,

    pass(seconds: number): void {
      now += seconds;
      real += seconds;
      forgetCodes();
    },

    /** The clock is moved. What was revoked stays revoked, and what had expired in reality stays expired. */
    setClock(to: number): void {
      if (to < now) for (const token of tokens) if (token.expiresAt <= Math.min(now, real)) token.over = true;
      now = to;
      forgetCodes();
    },

    /** What the clock shows. */
    now: () => now,
    real: () => real,

    /** What was issued so far expires, and nothing that is issued afterwards. */
    expire(kinds: readonly string[], user: string | undefined, client: string | undefined): void {
      for (const token of tokens) {
        if (!kinds.includes(token.kind) || (user ?? token.user) !== token.user) continue;
        if ((client ?? token.client) === token.client) token.over = true;
      }
    },

    /** Codes may die with the process (4), and so does a move of the clock (10); all else is on disk. */
    restart(): void {
      codes = [];
      now = real;
    },

    /** Whether the user can sign in and decide at all (2.1). */
    mayDecide: (user: string): boolean => statusOf(user) === "active",

    /** The scopes of the request become those ticked, granted scopes that were not asked for stay (2.2). */
    consent(user: string, client: string, asked: readonly string[], ticked: readonly string[]): Grant {
      const grant = grantOf(user, client);
      const kept = grant?.active === true ? grant.scopes.filter((scope) => !asked.includes(scope)) : [];
      const next = {
        scopes: [...kept, ...ticked],
        active: true,
        life: grant === undefined ? 0 : grant.active ? grant.life : grant.life + 1,
      };
      grants.set(`${user} ${client}`, next);
      return next;
    },

    drawCode(user: string, client: string, scopes: readonly string[], text: string): void {
      const life = grantOf(user, client)?.life ?? 0;
      codes.push({ text, user, client, scopes, life, issuedAt: now, used: null });
    },

    /** Tokens without a code, as `idp issue tokens` gives them. */
    issueAtOnce(user: string, client: string, scopes: readonly string[], texts: Issued): void {
      const life = grantOf(user, client)?.life ?? 0;
      issue({ user, client, scopes, life, family: { dead: false, generation: 0 } }, scopes, texts);
    },

    /** Whether the token endpoint takes a code from its own client (2.3). */
    isGoodCode: (code: Code): boolean =>
      code.used === null &&
      now < code.issuedAt + codeLife &&
      statusOf(code.user) === "active" &&
      liveGrant(code) !== null,

    /** Tokens of what is granted now: some of it may have been taken back since the code was drawn (2.2). */
    redeem(code: Code, texts: Issued): void {
      const granted = liveGrant(code)?.scopes ?? [];
      const scopes = code.scopes.filter((scope) => granted.includes(scope));
      code.used = { dead: false, generation: 0 };
      issue({ ...code, scopes, family: code.used }, scopes, texts);
    },

    /** A code that is used twice kills the tokens of its first use. */
    refuseCode(code: Code): void {
      if (code.used !== null && now < code.issuedAt + codeLife + usedCodeMemory) code.used.dead = true;
    },

    /** Whether a refresh token is taken from its own client. */
    isGoodRefresh: (token: Token): boolean => speaks(token) && token.generation === token.family.generation,

    refresh(token: Token, narrowed: readonly string[] | null, texts: Issued): void {
      token.family.generation += 1;
      const allowed = liveGrant(token)?.scopes ?? [];
      const scopes = (narrowed ?? token.scopes).filter((scope) => allowed.includes(scope));
      issue({ ...token, scopes }, token.scopes, texts);
    },

    /** Reuse of a rotated one revokes its family. An expired one is not a token any more. */
    refuseRefresh(token: Token): void {
      if (!hasExpired(token) && token.generation < token.family.generation) token.family.dead = true;
    },

    /**
     * RFC 7009: of an access token that one dies, of a refresh token its family; another client's is left alone. One that has expired only
     * by a clock that is ahead dies too: it would be good again once the clock is back.
     */
    revokeToken(token: Token, by: string): void {
      if (by !== token.client || token.over || token.expiresAt <= Math.min(now, real)) return;
      if (token.kind === "access") token.revoked = true;
      else token.family.dead = true;
    },

    /** @returns whether there was something to revoke */
    revokeGrant(user: string, client: string): boolean {
      const grant = grantOf(user, client);
      if (grant?.active !== true) return false;
      grant.active = false;
      return true;
    },

    /** What an active grant allows is set, all of it; its tokens stay. */
    narrowGrant(user: string, client: string, scopes: readonly string[]): void {
      const grant = grantOf(user, client);
      if (grant !== undefined) grant.scopes = scopes;
    },

    setStatus(user: string, status: "active" | "suspended" | "banned"): void {
      statuses.set(user, status);
      if (status !== "banned") return;
      for (const [name, grant] of grants) if (name.startsWith(`${user} `)) grant.active = false;
    },

    /** What UserInfo answers (2.5). */
    userinfo(token: Token): 200 | 401 | 403 {
      if (token.kind === "refresh" || isDead(token)) return 401;
      return speaks(token) ? 200 : 403;
    },

    /** Token scopes ∩ the grant's present scopes (2.2). */
    scopesNow: (token: Token): readonly string[] =>
      token.scopes.filter((scope) => liveGrant(token)?.scopes.includes(scope) === true),

    /** What introspection answers (RFC 7662). */
    isActive: (token: Token): boolean =>
      speaks(token) && (token.kind === "access" || token.generation === token.family.generation),
  };
}

export type Model = ReturnType<typeof createModel>;
