import { colorsOf, initialsOf } from "../../core/records/scopes/avatar.ts";
import { badgesOf } from "../../core/records/users/users.ts";
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

export interface ScopeView {
  readonly name: string;
  /** From a fixture; null for the text `scope.<name>`, else the name itself. */
  readonly title: string | null;
  /** The language of that title, if it is not the language of the page. */
  readonly titleLang?: string | undefined;
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
