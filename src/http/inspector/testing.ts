import { run } from "../../core/admin/operations/table.ts";
import { delayOf, errorCodeOf, hasOwnResponse, type Fault } from "../../core/testing/controls/faults/faults.ts";
import { expirable } from "../../core/testing/controls/expire.ts";
import { bodyParameters, single } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { formatNumber, formatTime, timeZoneHere } from "../pages/templates/texts.ts";
import { changeView, clockWords, namesIn, statusFor, tabView, tabPage, type ShowTab } from "./tab.ts";
import { runner } from "./changes.ts";
import { faultCommand, faultFormWith, faultIn, faultPresets } from "./fault-form.ts";

/** The tab of the clock and the faults, and of all else that a tester does to the server. */

/** Which requests take the fault. */
const filterOf = ({ client, user, grant_type: grantType, method }: Fault): string =>
  [client, user, grantType, method].filter((part) => part !== undefined).join(", ");

/** What a fault does, by the names of the fields of its form; only a response of its own needs no name. */
function effectsOf(fault: Fault): readonly { readonly key: string | null; readonly value: string }[] {
  const { status, body, drop, drop_after: bytes, flaw, claims, delay, after } = fault;
  const own = [status, body === undefined ? errorCodeOf(fault) : null].filter(
    (part) => part !== undefined && part !== null,
  );
  return [
    ...(delay === undefined ? [] : [{ key: "inspector.fault-field-delay", value: `${delayOf(fault)} s` }]),
    ...(hasOwnResponse(fault) && own.length > 0 ? [{ key: null, value: own.join(" ") }] : []),
    ...(body === undefined ? [] : [{ key: "inspector.fault-field-body", value: "" }]),
    ...(drop === undefined ? [] : [{ key: "inspector.fault-field-drop", value: "" }]),
    ...(bytes === undefined ? [] : [{ key: "inspector.fault-field-drop_after", value: String(bytes) }]),
    ...(flaw === undefined ? [] : [{ key: "inspector.fault-field-flaw", value: flaw }]),
    ...(claims === undefined ? [] : [{ key: null, value: `claims ${Object.keys(claims).join(", ")}` }]),
    ...(after ? [{ key: "inspector.fault-field-after", value: "" }] : []),
  ];
}

/** What the tab shows. */
export type TestingView = Awaited<ReturnType<typeof testingView>>;

async function testingView(...[web, req, res, refusal]: Parameters<ShowTab>) {
  const { ctx } = web;
  const clock = await run(ctx, "clock.show", {}, runner);
  const faults = await run(ctx, "faults.list", {}, runner);
  const snapshots = await run(ctx, "snapshots.list", {}, runner);
  // What was typed stays, and a refused field is marked.
  const body = refusal === null ? {} : bodyParameters(req);
  const typed = single(body, "change") === "add-fault" ? body : null;
  return {
    ...tabView(web, req, res, refusal),
    clock,
    advance: changeView(web, "advance", "clock", "31m"),
    set: changeView(web, "set-clock", "clock", "2027-01-01T00:00:00Z"),
    freeze: clock.frozen ? null : changeView(web, "freeze", "clock"),
    reset: clock.frozen || clock.offset !== 0 ? changeView(web, "reset-clock", "clock") : null,
    faults: faults.map((fault) => ({
      ...{ id: fault.id, endpoint: fault.endpoint },
      effects: effectsOf(fault),
      filter: filterOf(fault),
      left: fault.remaining,
      remove: changeView(web, "remove-fault", fault.id),
    })),
    clear: faults.length > 0 ? changeView(web, "clear-faults", "faults") : null,
    add: changeView(web, "add-fault", "faults", '{"endpoint":"token","status":503}'),
    expire: changeView(web, "expire", "all", '{"user":"USERNAME"}'),
    expireTokens: pageCommand(web, ["idp", "expire", "--all"]).command,
    expirable,
    snapshots: snapshots.map(({ name, savedAt }) => ({
      ...{ name, savedAt },
      restore: changeView(web, "restore-snapshot", name),
    })),
    save: changeView(web, "save-snapshot", "new", "NAME"),
    resetAll: changeView(web, "reset", "all"),
    presets: faultPresets.map(({ name, fields }) => ({
      ...{ name, fields: Object.entries(fields) },
      command: pageCommand(web, faultCommand(faultIn(fields))).command,
    })),
    isOpen: typed !== null,
    ...(await namesIn(web)),
    groups: faultFormWith(typed, refusal?.problems ?? []),
  };
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

export const showTesting: ShowTab = async (web, req, res, refusal) => {
  sendPage(res, statusFor(web, refusal), renderTesting(web.renderer, await testingView(web, req, res, refusal)));
};
