import type { ClientLinks } from "../../core/clients/clients.ts";
import { colorsOf, initialsOf } from "../../core/scopes/avatar.ts";
import { badgesOf } from "../../core/users/users.ts";
import type { User } from "../../store/store.ts";
import type { Text } from "./templates/texts.ts";

/**
 * What each page shows, as plain data. Addresses (`action`, `href`) are whole paths. What comes from a client or a user may contain
 * anything, and is shown as text.
 */

/** What a person can choose. `system` follows the device. */
export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** What every template has as `it.brand`. */
export interface BrandView {
  /** "idp" where the fixtures give none. */
  readonly name: string;
  /** The fixtures give the name. */
  readonly isNamed: boolean;
  /** The accent of light pages; null: that of the stylesheet. */
  readonly color: string | null;
  /** The address of the picture; null without one. */
  readonly logo: string | null;
  /** The address of the stylesheet with the accent color; null without one. */
  readonly stylesheet: string | null;
}

export const unbranded: BrandView = { name: "idp", isNamed: false, color: null, logo: null, stylesheet: null };

/** What every page needs. */
export interface View {
  /** The language of the page. Texts that it lacks are in English. */
  readonly lang: string;
  readonly theme: Theme;
  /**
   * The query of the address without `lang` and `theme`, which the links that change those keep. Null for a page that answers a form, to
   * which no link leads.
   */
  readonly keptQuery: string | null;
  /** The path of the issuer without a trailing slash: "" or "/idp". */
  readonly base: string;
  readonly brand: BrandView;
}

export interface AppView {
  readonly id: string;
  readonly name: string;
}

/**
 * One value of a user, by its path: `socialLinks[0].url`. The label is the text `field.socialLinks[].url`, else the name itself. The value
 * is null if it is not set.
 */
export interface FieldView {
  readonly name: string;
  readonly value: string | boolean | null;
}

/** For the developer, folded at the foot of login and consent. */
export interface RequestView {
  /** The parameters of the request: "code_challenge_method", "S256". */
  readonly details: readonly { readonly name: string; readonly value: string }[];
  /** What is worth knowing about it: `{ key: "note.no-pkce", values: {} }`. */
  readonly notes: readonly Text[];
}

export interface LoginView extends View, RequestView, ClientLinks {
  readonly state: "default" | "hint" | "reauth" | "error-credentials" | "error-suspended" | "error-banned";
  /** Where the forms are posted to. */
  readonly action: string;
  readonly csrf: string;
  /** The client that asked; null if the sign-in is for one of the server's own pages. */
  readonly client: AppView | null;
  /** Which of the server's own pages the sign-in is for, if no client asked. */
  readonly ownPage: "account" | "device";
  /** The host that the browser is sent back to; the whole redirect URI if `returnsToApp`; null for neither. */
  readonly returnTo: string | null;
  /** The redirect URI is not on the web: an app on this device takes it. */
  readonly returnsToApp: boolean;
  /** One page of test users; null for passwords only. */
  readonly picker: PickerView | null;
  /** The value of the user name field: the hint, or what was typed before. Never a password. */
  readonly username: string;
  /** The user who is asked to sign in again (state reauth); null for anybody. */
  readonly onlyUser: string | null;
  /** Whether the request names the user, so that nobody else may sign in. */
  readonly isFixed: boolean;
  /** The page on which another user can sign in instead of `onlyUser`; null if nobody else may. */
  readonly switchHref: string | null;
  /** State reauth by `max_age`, in seconds: how long ago the user signed in, and how long ago it may be. */
  readonly reauth: { readonly signedInAgo: number; readonly maxAge: number } | null;
  /** State reauth, of somebody who was picked from the list: what is asked for needs the password too. */
  readonly passwordNeeded: boolean;
  /** What went wrong, and a command that fixes it; null for the sentence of the state. */
  readonly message: { readonly text: Text; readonly fix: string | null; readonly command: string | null } | null;
  /** The command that opens a refused sign-in in the inspector; null: nothing was refused. */
  readonly inspect: string | null;
  readonly canCancel: boolean;
}

export interface PickerView {
  /** The path of this page, for search and paging by `?q=` and `?page=`. */
  readonly href: string;
  readonly users: readonly PersonView[];
  /** How many users match the query. */
  readonly total: number;
  /** What was searched for; "" for nothing. */
  readonly query: string;
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** How many users were searched and how many there are; null if all were searched. */
  readonly beyond: { readonly looked: number; readonly everybody: number } | null;
  /** The next step if there is no user. */
  readonly addCommand: string;
}

/** How many users the picker shows at a time. */
export const pickerPageSize = 12;

export interface ScopeView {
  readonly name: string;
  /** From a fixture; null for the text `scope.<name>`, else the name itself. */
  readonly title: string | null;
  /** The language of that title, if it is not the language of the page. */
  readonly titleLang?: string | undefined;
}

export interface AccountView extends View {
  readonly csrf: string;
  readonly user: PersonView;
  readonly fields: readonly FieldView[];
  /** `since` and `lastUsed`: ISO 8601; null: it never got a token. */
  readonly apps: readonly {
    readonly client: AppView;
    readonly scopes: readonly ScopeView[];
    readonly since: string;
    readonly lastUsed: string | null;
    /** The page that asks whether to remove it. */
    readonly revokeHref: string;
  }[];
  /** Where the user is signed in, this browser first. `since`: ISO 8601. `browser`: "Firefox, Linux"; null: unknown. */
  readonly sessions: readonly {
    readonly sid: string;
    readonly since: string;
    readonly current: boolean;
    /** Whether the user gave a password; otherwise the user was picked from the list. */
    readonly byPassword: boolean;
    readonly browser: string | null;
  }[];
  /** How many more there are. */
  readonly moreSessions: number;
  /** The languages to choose from. The user's language may be another one, without texts. */
  readonly languages: readonly string[];
  readonly language: string;
  readonly chosenTheme: Theme;
  /** What was just done: an app was removed, or had been removed before; a choice was saved; a session was ended. Null for nothing. */
  readonly outcome:
    | { readonly kind: "removed" | "gone"; readonly app: string }
    | { readonly kind: "saved" | "ended" | "passkey-added" | "passkey-removed" | "passkey-refused" }
    | null;
  /** What the user has beside the password. */
  readonly factors: readonly ("otp" | "passkey")[];
  /** `since`: ISO 8601. */
  readonly passkeys: readonly { readonly id: string; readonly since: string }[];
  /** What the script asks the authenticator for, as JSON; null: the user has to prove a factor first, or passkeys do not work here. */
  readonly passkeyOptions: string | null;
  readonly passkeysWork: boolean;
  readonly passkeysElsewhere: string | null;
  readonly addPasskeyAction: string;
  readonly removePasskeyAction: string;
  readonly preferencesAction: string;
  readonly signOutAction: string;
  /** Ends one other session. */
  readonly endSessionAction: string;
}

export interface AccountRevokeView extends View {
  /** Seconds for which an API that verifies tokens itself may still accept one; null if no API can. */
  readonly outlivedBy: number | null;
  readonly csrf: string;
  readonly action: string;
  readonly cancelHref: string;
  readonly client: AppView;
  readonly scopes: readonly ScopeView[];
}

/** Asks whether to sign out. */
export interface LogoutView extends View {
  readonly action: string;
  readonly csrf: string;
  /** The client that asked for it; null if it is not known. */
  readonly client: AppView | null;
  /** Who is signed in; null for nobody. */
  readonly username: string | null;
  readonly why: "no-hint" | "other-user" | "unsigned";
  /** Service providers that are not told. */
  readonly others?: readonly string[];
}

export interface SignedOutView extends View {
  readonly state: "done" | "already" | "all-sessions";
  /** Where to go from here; null for nowhere. */
  readonly back: { readonly name: string; readonly href: string } | null;
  /** Why the browser does not go back to the app by itself; null if the app did not ask for that. */
  readonly stays: "no-hint" | "not-registered" | null;
  readonly signInHref: string;
  /** Service providers that are not told. */
  readonly others?: readonly string[];
}

/** A circle with somebody's initials, as an SVG: colors are presentation attributes, which the content security policy allows. */
const avatarOf = (name: string, color: string) => ({ ...colorsOf(color), initials: initialsOf(name) });

/** What pages show about a user. */
export type PersonView = ReturnType<typeof personOf>;

export function personOf(
  user: Pick<User, "username" | "displayName" | "email" | "status" | "avatar" | "claims" | "note">,
) {
  const { username, displayName, email, status } = user;
  const { color } = user.avatar;
  return {
    username,
    displayName,
    /** Empty: none. */
    email: email ?? "",
    status,
    /** `avatar.color` as the record has it. */
    color,
    avatar: avatarOf(displayName, color),
    /** The roles, else the note. */
    badges: badgesOf(user),
  };
}
