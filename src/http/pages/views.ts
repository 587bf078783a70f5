import type { ClientLinks } from "../../core/clients/clients.ts";
import type { PersonView } from "./person.ts";
import type { Text } from "./texts.ts";

/**
 * What each page shows, as plain data. Addresses (`action`, `href`) are whole paths; what comes from a client or a user may hold
 * anything, and is shown as text.
 */

/** What a person can choose; `system`: as the device does. */
export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** What every page needs. */
export interface View {
  /** The language of its texts: English where there are none in this one. */
  readonly lang: string;
  readonly theme: Theme;
  /**
   * The query of its address without `lang` and `theme`: the links that change those keep it. Null: no link leads to this page, which
   * answers a form.
   */
  readonly keptQuery: string | null;
  /** The path of the issuer without a trailing slash: "" or "/idp". */
  readonly base: string;
}

export interface AppView {
  readonly id: string;
  readonly name: string;
}

/** One value of a user, by its path: `socialLinks[0].url`. The label is the text `field.socialLinks[].url`, else the name itself; null: not set. */
export interface FieldView {
  readonly name: string;
  readonly value: string | boolean | null;
}

/** For the developer, folded away at the foot of login and consent. */
export interface RequestView {
  /** The parameters of the request: "code_challenge_method", "S256". */
  readonly details: readonly { readonly name: string; readonly value: string }[];
  /** What is worth knowing of it: `{ key: "note.no-pkce", values: {} }`. */
  readonly notes: readonly Text[];
}

export interface LoginView extends View, RequestView, ClientLinks {
  readonly state: "default" | "hint" | "reauth" | "error-credentials" | "error-suspended" | "error-banned";
  /** Where the forms are posted to. */
  readonly action: string;
  readonly csrf: string;
  /** Who asked; null: nobody, the sign-in is for the account page. */
  readonly client: AppView | null;
  /** Which of the server's own pages the sign-in is for, where no client asked. */
  readonly ownPage: "account" | "device";
  /** The host the browser is sent back to, or null. */
  readonly returnTo: string | null;
  /** One page of test users; null: passwords only. */
  readonly picker: PickerView | null;
  /** What stands in the user name field: the hint, or what was typed before. Never a password. */
  readonly username: string;
  /** The user who is asked to sign in again (state reauth); null: anybody. */
  readonly onlyUser: string | null;
  /** The request names the user: nobody else may sign in. */
  readonly isFixed: boolean;
  /** The page on which another user can sign in instead of `onlyUser`; null: nobody may. */
  readonly switchHref: string | null;
  /** State reauth by `max_age`, in seconds: how long ago the user signed in, and how long ago it may be. */
  readonly reauth: { readonly signedInAgo: number; readonly maxAge: number } | null;
  /** What went wrong, and a command that fixes it; null: the sentence for the state. */
  readonly message: { readonly text: Text; readonly fix: string | null } | null;
  readonly fixForm: FixFormView | null;
  readonly canCancel: boolean;
}

/** A button that does what the printed command does, for a person who is in the inspector. */
export interface FixFormView {
  readonly action: string;
  readonly csrf: string;
  readonly kind: "add-redirect-uri" | "create-client" | "restore";
  /** What goes on afterwards. */
  readonly request: string;
  /** Who is restored; "" where nobody is. */
  readonly username: string;
  /** What client is changed or created; "" where none is. */
  readonly client: string;
  /** The whole address that is registered; null: none is. */
  readonly redirectUri: string | null;
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
  /** There are more users than were looked through; null: there are not. */
  readonly beyond: { readonly looked: number; readonly everybody: number } | null;
}

/** How many users the picker shows at a time. */
export const pickerPageSize = 12;

export interface ScopeView {
  readonly name: string;
  /** From a fixture; null: the text `scope.<name>`, else the name itself. */
  readonly title: string | null;
  /** The language of that title, where it is not the page's. */
  readonly titleLang?: string | undefined;
}

export interface ScopeRowView extends ScopeView {
  /** The very values that would be sent. */
  readonly values: readonly FieldView[];
  /** Cannot be unticked. */
  readonly locked: boolean;
  /** The user left it out before, so it is not ticked. */
  readonly declined: boolean;
}

export interface ConsentView extends View, RequestView, ClientLinks {
  readonly state: "default" | "incremental" | "again";
  readonly action: string;
  readonly csrf: string;
  readonly client: AppView;
  readonly returnTo: string | null;
  readonly user: PersonView;
  readonly scopes: { readonly fresh: readonly ScopeRowView[]; readonly granted: readonly ScopeRowView[] };
  /** What is sent whatever is ticked, where no row of `openid` says so. */
  readonly always: readonly FieldView[];
  /** The login page, to sign in as somebody else. */
  readonly switchUserAction: string;
}

export interface AccountView extends View {
  readonly csrf: string;
  readonly user: PersonView;
  readonly fields: readonly FieldView[];
  readonly apps: readonly {
    readonly client: AppView;
    readonly scopes: readonly ScopeView[];
    /** ISO 8601. */
    readonly since: string;
    /** ISO 8601; null: it never came for a token. */
    readonly lastUsed: string | null;
    /** The page that asks whether to remove it. */
    readonly revokeHref: string;
  }[];
  /** Where the user is signed in, this browser first; ISO 8601. */
  readonly sessions: readonly {
    readonly sid: string;
    readonly since: string;
    readonly current: boolean;
    /** Else the user was picked from the list. */
    readonly byPassword: boolean;
  }[];
  /** How many more there are than those. */
  readonly moreSessions: number;
  /** What can be chosen, and what is: the user's own language may be one that there are no texts in. */
  readonly languages: readonly string[];
  readonly language: string;
  readonly chosenTheme: Theme;
  /** An app was just removed, or had been removed elsewhere before; a choice was kept; a session was ended; null: nothing of it. */
  readonly outcome:
    { readonly kind: "removed" | "gone"; readonly app: string } | { readonly kind: "saved" | "ended" } | null;
  readonly preferencesAction: string;
  readonly signOutAction: string;
  /** Ends one other session. */
  readonly endSessionAction: string;
}

export interface AccountRevokeView extends View {
  /** Seconds for which an API that verifies tokens itself may still accept one; null: no API can. */
  readonly outlivedBy: number | null;
  readonly csrf: string;
  readonly action: string;
  readonly cancelHref: string;
  readonly client: AppView;
  readonly scopes: readonly ScopeView[];
}

/** The page for the user of a device. */
export interface DeviceView extends View {
  readonly state: "enter" | "invalid" | "expired" | "used" | "confirm" | "done" | "denied";
  readonly action: string;
  readonly csrf: string;
  /** What was typed before. */
  readonly typed: string;
  /** State confirm: as the device shows it, and until when it can be answered (ISO 8601). */
  readonly userCode: string;
  readonly usableUntil: string | null;
  readonly client: AppView | null;
  readonly scopes: readonly ScopeView[];
  readonly username: string;
}

/** Asks whether to sign out. */
export interface LogoutView extends View {
  readonly action: string;
  readonly csrf: string;
  /** Who asked for it; null: nobody that is known. */
  readonly client: AppView | null;
  /** Who is signed in; null: nobody any more. */
  readonly username: string | null;
  readonly why: "no-hint" | "other-user";
}

export interface SignedOutView extends View {
  readonly state: "done" | "already" | "all-sessions";
  /** Where to go from here; null: nowhere. */
  readonly back: { readonly name: string; readonly href: string } | null;
  /** Why the browser does not go back to the app by itself; null: it was not asked to. */
  readonly stays: "no-hint" | "not-registered" | null;
  readonly signInHref: string;
}

/** An answer to a client that the browser posts. */
export interface FormPostView extends View {
  /** The redirect URI. */
  readonly action: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}
