import { outcomeText, type Outcome, type OutcomeKind } from "../../../core/ledger/outcome.ts";
import { liveFormPageHeaders, livePageHeaders } from "../../answer/security-headers.ts";
import type { FixParts } from "../../pages/commands.ts";
import { writerOf, type Page } from "../../pages/page-writer.ts";
import { scriptPath, type Renderer } from "../../pages/templates/render.ts";
import { formatMoment, formatNumber, timeZoneHere } from "../../pages/templates/texts.ts";
import { clockWords, tabData, type ChangeView, type TabView } from "../tab.ts";
import { listData, type ListView } from "../lists.ts";
import type { FlowRow } from "./flows.ts";
import type { StepView } from "./steps.ts";

/** The sign-ins, and the sequence of one. Both are live. */

/** The address of the stream of requests, for the script. Null: nothing more will come. */
interface LiveView {
  readonly streamHref: string;
}

export interface SignInsView extends TabView, ListView, LiveView {
  readonly flows: readonly FlowRow[];
  /** How many requests the ledger lacks, because they could not be written. */
  readonly lost: number;
  /** Begins a sign-in. */
  readonly command: string;
}

/** A button that does what the printed command does. */
interface FixView {
  readonly change: ChangeView;
  /** The whole address that is registered; null for none. */
  readonly uri: string | null;
}

export interface SignInView extends TabView, LiveView {
  readonly flow: FlowRow;
  /** Where it failed. */
  readonly failed: Pick<StepView, "id" | "rule" | "clock" | keyof FixParts> | null;
  /** The button that repairs it; null for none. */
  readonly fix: FixView | null;
  /** Whether somebody repaired it since. */
  readonly isFixed: boolean;
  readonly steps: readonly StepView[];
  /** What operators did between the requests. */
  readonly acts: readonly {
    readonly at: string;
    readonly command: string;
    readonly beside?: string | null;
    /** The name of the control token; null: there is none, as for the admin token. */
    readonly by: string | null;
    /** The id of the request that came next. */
    readonly before: string;
  }[];
  /** The tab where faults are removed. */
  readonly faultsHref: string;
  /** The list of all. */
  readonly backHref: string;
}

const headersFor = ({ issuers }: TabView, fix: FixView | null): typeof livePageHeaders =>
  fix !== null || issuers.others.length > 0 ? liveFormPageHeaders : livePageHeaders;

const script = (renderer: Renderer, view: TabView): string =>
  `${view.base}${scriptPath}?v=${renderer.script().version}`;

const stoppedWords = ({ say }: ReturnType<typeof writerOf>, { stopped }: FlowRow): string | null =>
  stopped && say(`inspector.stopped-${stopped}`);

/** Outcomes that pages name in each language. Others are those of the ledger, and English. */
const namedOutcomes = new Set<OutcomeKind>([
  "login-page",
  "consent-page",
  "factor-page",
  "account-page",
  "sign-out-page",
  "back-to-the-client-with-a-code",
  "signed-in",
  "signed-out",
  "request-pushed",
  "device-waits-for-its-user",
  "access-removed",
  "tokens",
  "active",
  "inactive",
]);

function outcomeWords({ plain }: ReturnType<typeof writerOf>, outcome: Outcome | string) {
  if (typeof outcome === "string") return { outcome, isEnglish: true };
  const { kind, values = {}, proof, remarks = [] } = outcome;
  return namedOutcomes.has(kind) && proof === undefined && remarks.length === 0
    ? { outcome: plain({ key: `inspector.outcome-${kind}`, values }), isEnglish: false }
    : { outcome: outcomeText(outcome), isEnglish: true };
}

/** How many requests were refused, where the outcome does not say it; null: no more than that one. */
const refusedWords = ({ refused, state }: FlowRow, lang: string): string | null =>
  refused > (state === "refused" || state === "fault" ? 1 : 0) ? formatNumber(refused, lang) : null;

/** The endpoints that are pages for people, which have names in each language. */
const pages = ["login", "consent", "factor", "device", "account", "sign-out"];

export function renderSignIns(renderer: Renderer, view: SignInsView): Page {
  const writer = writerOf(renderer, view);
  const { lang, say } = writer;
  const state = view.flows.length === 0 && !view.isFiltered ? "empty" : "live";
  return writer.page(
    "inspector/sign-ins",
    { name: "inspector", state, title: say("inspector.tab-sign-ins") },
    {
      ...tabData(writer, view, "sign-ins"),
      script: script(renderer, view),
      ...listData(writer, view),
      lostWords: view.lost > 0 ? formatNumber(view.lost, lang) : null,
      flows: view.flows.map((flow) => ({
        ...flow,
        ...outcomeWords(writer, flow.outcome),
        atWords: formatMoment(flow.at, lang, timeZoneHere()),
        stoppedWords: stoppedWords(writer, flow),
        refusedWords: refusedWords(flow, lang),
      })),
    },
    headersFor(view, null),
  );
}

export function renderSignIn(renderer: Renderer, view: SignInView): Page {
  const writer = writerOf(renderer, view);
  const { lang, say } = writer;
  const moved = (seconds: number | null): string => (seconds === null ? "" : clockWords(writer, seconds));
  const moment = (iso: string): string => formatMoment(iso, lang, timeZoneHere());
  return writer.page(
    "inspector/sign-in",
    { name: "inspector", state: "sign-in", title: say("inspector.sign-in-title") },
    {
      ...tabData(writer, view, "sign-ins"),
      script: script(renderer, view),
      flow: {
        ...view.flow,
        ...outcomeWords(writer, view.flow.outcome),
        stoppedWords: stoppedWords(writer, view.flow),
        atWords: moment(view.flow.at),
      },
      refusedWords: refusedWords(view.flow, lang),
      failed: view.failed && {
        ...view.failed,
        clockWords: moved(view.failed.clock),
      },
      steps: view.steps.map((step) => ({
        ...step,
        ...outcomeWords(writer, step.outcome),
        // The fix of the request that failed stands above.
        ...(step.id === view.failed?.id && { advice: null, fix: null }),
        acts: view.acts.filter(({ before }) => before === step.id).map((act) => ({ ...act, atWords: moment(act.at) })),
        statusWords: step.lost ? say("inspector.no-response") : String(step.status),
        checks: step.checks.map(({ detail, ...check }) => ({
          ...check,
          detail: writer.plain(detail),
          isEnglish: typeof detail === "string",
        })),
        atWords: moment(step.at),
        msWords: formatNumber(step.ms, lang),
        endpointWords: pages.includes(step.endpoint) ? say(`inspector.page-${step.endpoint}`) : step.endpoint,
        clockWords: moved(step.clock),
      })),
    },
    headersFor(view, view.fix),
  );
}
