import { formPageHeaders, plainPageHeaders } from "../answer/security-headers.ts";
import { writerOf, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { formatNumber, formatTime, timeZoneHere, type Text } from "../pages/templates/texts.ts";
import type { View } from "../pages/views.ts";
import { bannerOf, type BannerView } from "./banner.ts";
import type { ChangeName } from "./changes.ts";
import { factorsOfUsers } from "./forms.ts";
import { listData, type ListView } from "./lists.ts";
import { tabs, type Tab } from "./tabs.ts";

/** What each tab of the inspector shows, and its page. */

/** For a browser that may not see the inspector. */
export interface ClosedView extends View {
  /** The browser sent no cookie of this process, or a key that is used up or expired. */
  readonly why: "cookie" | "key";
  /** The command that prints a new key. */
  readonly command: string;
  /** The address of the inspector, to try again: a browser does not send the cookie after a link on another site. */
  readonly href: string;
}

export function renderClosed(renderer: Renderer, view: ClosedView): Page {
  const { page, say } = writerOf(renderer, view);
  const heading = { name: "inspector", state: "forbidden", title: say("inspector.closed"), failed: true };
  const sentence = say(`inspector.closed-${view.why}`);
  return page("inspector/closed", heading, { ...view, sentence }, plainPageHeaders);
}

/** For a browser that a page of another site led here with a key. */
export interface OpenedView extends View {
  /** Where the page goes on to. */
  readonly href: string;
}

export function renderOpened(renderer: Renderer, view: OpenedView): Page {
  const { page, say } = writerOf(renderer, view);
  const heading = { name: "inspector", state: "opened", title: say("inspector.opened") };
  return page("inspector/opened", heading, view, { ...plainPageHeaders, Refresh: `0; url=${view.href}` });
}

/** What every tab shows. */
export interface TabView extends View {
  /** Null: the clock is not moved, and there is no fault. */
  readonly banner: BannerView | null;
  /** Where the clock is moved and faults are removed. */
  readonly testingHref: string;
  readonly csrf: string;
  /** The path of the inspector. */
  readonly href: string;
  readonly issuer: string;
  readonly issuers: {
    /** Of this one; null: the first one. */
    readonly name: string | null;
    /** Where the form that opens another one is posted to. */
    readonly action: string;
    readonly others: readonly {
      readonly name: string | null;
      readonly issuer: string;
      /** What the form sends. */
      readonly value: string;
      readonly command: string;
    }[];
  };
  /** What the last form did, and the command that does the same; null: nothing was done just now. */
  readonly done: {
    readonly text: Text;
    /** What a reset does with it; null: nothing. */
    readonly later: Text | null;
    readonly command: string;
    /** The values of its placeholders, in words; absent or null: it has none. */
    readonly beside?: string | null;
  } | null;
  /** The fields of the form that was refused, as they were typed; empty if none was. */
  readonly typed: Readonly<Record<string, string>>;
  /** Why it was refused. English. */
  readonly refused: {
    readonly message: string;
    readonly problems: readonly string[];
    readonly fix: string | null;
  } | null;
}

/** The names that a form proposes. */
export interface NamesView {
  readonly users: readonly string[];
  readonly clients: readonly string[];
}

/** A form with one button. */
export interface ChangeView {
  readonly kind: ChangeName;
  /** Whether the person who looks may do it; else it is not shown. */
  readonly allowed: boolean;
  /** Where it is posted to. */
  readonly action: string;
  /** What it changes: a username, a client id. */
  readonly target: string;
  readonly command: string;
  /** The values of its placeholders, in words; absent or null: it has none. */
  readonly beside?: string | null;
}

export interface UsersView extends TabView, ListView {
  /** Where there are more users than a search looks through. */
  readonly beyond: { readonly looked: number; readonly everybody: number } | null;
  /** The next step if there is no user. */
  readonly addCommand: string;
  readonly add: ChangeView;
  readonly users: readonly {
    readonly username: string;
    readonly displayName: string;
    readonly email: string;
    readonly status: "active" | "suspended" | "banned";
    readonly roles: readonly string[];
    /** With commas between them. */
    readonly rolesText: string;
    /** The other claims; JSON. */
    readonly claims: string;
    readonly factors: readonly string[];
    readonly edit: ChangeView;
    /** A page that begins a sign-in as this user; null: the setting `try_it` is off. */
    readonly signInHref: string | null;
    readonly signInCommand: string;
    readonly changes: readonly ChangeView[];
  }[];
}

export interface ClientsView extends TabView, ListView {
  /** The next step if there is no client. */
  readonly addCommand: string;
  readonly clients: readonly {
    readonly id: string;
    readonly name: string;
    readonly isPublic: boolean;
    readonly redirectUris: readonly string[];
    /** All metadata, without the secret; JSON. */
    readonly metadata: string;
    /** null: its metadata is changed in its document. */
    readonly add: ChangeView | null;
  }[];
}

export interface GrantsView extends TabView, ListView {
  /** How many more there are than the page shows. */
  readonly moreGrants: number;
  readonly moreSessions: number;
  /** The next step if there is no grant. */
  readonly signInCommand: string;
  readonly grants: readonly {
    readonly id: string;
    readonly user: string;
    readonly client: string;
    readonly scope: string;
    readonly status: "active" | "revoked";
    /** ISO 8601: when it last changed. */
    readonly at: string;
    /** Null: it is revoked. */
    readonly revoke: ChangeView | null;
  }[];
  readonly sessions: readonly {
    readonly id: string;
    readonly user: string;
    /** ISO 8601. */
    readonly signedInAt: string;
    readonly expiresAt: string;
    readonly end: ChangeView;
  }[];
}

export interface FixturesView extends TabView {
  /** The names of the files; null: no file, but the built-in demo or what a program passed. */
  readonly sources: readonly (string | null)[];
  /** `file:line:column path message`. English. */
  readonly problems: readonly string[];
  readonly command: string;
  /** The values of its placeholders, in words; absent or null: it has none. */
  readonly beside?: string | null;
}

/** The data for the templates of all tabs. */
export const tabData = (writer: ReturnType<typeof writerOf>, view: TabView, tab: Tab) => ({
  ...view,
  banner: bannerOf(writer, view.banner),
  tabs: Object.entries(tabs).map(([name, path]) => ({ name, href: view.href + path, current: name === tab })),
  refusedWords: writer.say(
    tab === "tokens" && (view.typed["change"] ?? "") === "" ? "inspector.not-checked" : "inspector.refused",
  ),
  doneText: view.done && [view.done.text, view.done.later ?? []].flat().map(writer.plain).join(" "),
});

/** @param content data for the template, besides the view */
export function tabPage(
  renderer: Renderer,
  view: TabView,
  tab: Tab,
  content: (writer: ReturnType<typeof writerOf>) => object,
  { headers = formPageHeaders, copies = false } = {},
): Page {
  const writer = writerOf(renderer, view);
  const heading = { name: "inspector", state: tab, title: writer.say(`inspector.tab-${tab}`), copies };
  return writer.page(`inspector/${tab}`, heading, { ...tabData(writer, view, tab), ...content(writer) }, headers);
}

export const renderUsers = (renderer: Renderer, view: UsersView): Page =>
  tabPage(renderer, view, "users", (writer) => ({
    ...listData(writer, view),
    allFactors: factorsOfUsers,
    beyond: view.beyond && {
      looked: formatNumber(view.beyond.looked, writer.lang),
      everybody: formatNumber(view.beyond.everybody, writer.lang),
    },
  }));

export const renderClients = (renderer: Renderer, view: ClientsView): Page =>
  tabPage(renderer, view, "clients", (writer) => listData(writer, view));

export const renderGrants = (renderer: Renderer, view: GrantsView): Page =>
  tabPage(renderer, view, "grants", (writer) => {
    const { lang } = writer;
    const time = (iso: string): string => formatTime(iso, lang, timeZoneHere());
    const more = (count: number): string | null => (count > 0 ? formatNumber(count, lang) : null);
    return {
      ...listData(writer, view),
      moreGrantsWords: more(view.moreGrants),
      moreSessionsWords: more(view.moreSessions),
      grants: view.grants.map((grant) => ({ ...grant, atWords: time(grant.at) })),
      sessions: view.sessions.map((session) => ({
        ...session,
        signedInWords: time(session.signedInAt),
        expiresWords: time(session.expiresAt),
      })),
    };
  });

export const renderFixtures = (renderer: Renderer, view: FixturesView): Page =>
  tabPage(renderer, view, "fixtures", () => ({}), { headers: plainPageHeaders });
