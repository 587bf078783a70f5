import type { Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { formatNumber, formatTime, timeZoneHere } from "../pages/templates/texts.ts";
import { clockWords } from "./banner.ts";
import type { FaultFieldGroup, FaultPresetView } from "./fault-form.ts";
import { tabPage, type ChangeView, type NamesView, type TabView } from "./views.ts";

/** The tab of the clock and the faults, and of all else that a tester does to the server. */

export interface TestingView extends TabView, NamesView {
  readonly clock: {
    /** ISO 8601. */
    readonly now: string;
    /** Seconds that it is ahead; negative: behind. */
    readonly offset: number;
    readonly frozen: boolean;
  };
  readonly advance: ChangeView;
  readonly set: ChangeView;
  /** Null: it is frozen. */
  readonly freeze: ChangeView | null;
  /** Null: nobody has moved it. */
  readonly reset: ChangeView | null;
  readonly faults: readonly {
    readonly id: string;
    readonly endpoint: string;
    /** Named by fields of the form that adds a fault. */
    readonly effects: readonly { readonly key: string | null; readonly value: string }[];
    readonly filter: string;
    /** For how many requests; null: until it is removed. */
    readonly left: number | null;
    readonly remove: ChangeView;
  }[];
  readonly clear: ChangeView | null;
  readonly add: ChangeView;
  readonly expire: ChangeView;
  /** The command that the hint at the clock names. */
  readonly expireTokens: string;
  readonly expirable: readonly string[];
  readonly snapshots: readonly {
    readonly name: string;
    /** ISO 8601. */
    readonly savedAt: string;
    readonly restore: ChangeView;
  }[];
  readonly save: ChangeView;
  readonly resetAll: ChangeView;
  /** The faults that testers want most, each with a button. */
  readonly presets: readonly FaultPresetView[];
  /** Whether the fields of the form are shown. */
  readonly isOpen: boolean;
  /** The form that adds a fault. */
  readonly groups: readonly FaultFieldGroup[];
}

export const renderTesting = (renderer: Renderer, view: TestingView): Page =>
  tabPage(renderer, view, "testing", (writer) => {
    const { lang, say, plain } = writer;
    const { now, offset, frozen } = view.clock;
    return {
      nowWords: formatTime(now, lang, timeZoneHere()),
      offsetWords: clockWords(writer, offset),
      clockName: say("inspector.clock"),
      faultsName: say("inspector.faults"),
      resetName: say("inspector.reset"),
      faults: view.faults.map(({ left, ...fault }) => ({
        ...fault,
        leftWords:
          left === null
            ? say("inspector.left-always")
            : plain({
                key: left === 1 ? "inspector.left-once" : "inspector.left-times",
                values: { count: formatNumber(left, lang) },
              }),
      })),
      snapshots: view.snapshots.map((one) => ({ ...one, savedWords: formatTime(one.savedAt, lang, timeZoneHere()) })),
      moved: frozen || offset !== 0,
    };
  });
