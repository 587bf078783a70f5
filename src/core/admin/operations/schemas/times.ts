import * as z from "zod";
import { ruleAndValue, timeText } from "../../../records/fields.ts";
import { idForm } from "../../../testing/ledger/ledger.ts";
import { durationForm } from "../../../../text/time.ts";

/** Numbers, times and lengths of time, as operations take them. */

/** A whole number with bounds, as a person would say them. */
export const whole = (min: number, max: number) =>
  z
    .int({ error: "must be a whole number" })
    .min(min, ruleAndValue(`must be a whole number of at least ${min}`))
    .max(max, ruleAndValue(`must be a whole number of at most ${max}`));

const duration = durationForm.source.slice(1, -1);

const notMove = ruleAndValue("must be a whole number of seconds, or a duration such as 30s, 31m, 2h30m, 7d or -5m");

/** By how much to move the clock. */
export const signedDuration = z
  .union([z.int(notMove), z.string(notMove).regex(new RegExp(`^-?${duration}$`), notMove)], notMove)
  .describe("Seconds, or a duration: 31m, 2h30m, 7d, -5m");

/** The years from 1970 to 9979, also where the time zone moves the first and the last day. */
const years =
  /^(?!\d{4}-\d\d-\d\d)|^(?!1970-01-01T.*\+)(?!9979-12-31T.*-\d\d:\d\d$)(?:19[7-9]\d|[2-8]\d{3}|9[0-8]\d{2}|99[0-7]\d)-/;
export const clockTime = timeText.regex(years, ruleAndValue("must be in the years from 1970 to 9979"));

/** Each part of a union says what is wrong, since zod reports the part that comes nearest. */
const notWait = ruleAndValue("must be seconds, or a duration such as 5s, at most 100 s");

/** How long to wait. The caller of the API waits with it, so it is at most 100 seconds. */
export const wait = z
  .union(
    [
      z.number(notWait).min(0, notWait).max(100, notWait),
      z.string(notWait).regex(/^(?:(?:\d{1,2}|100)s?|[01]m|1m(?:[0-3]?\d|40)s)$/, notWait),
    ],
    notWait,
  )
  .describe("Seconds, or 5s");

/** Where a list of requests begins: behind a request, or at a time. */
export const requestOrTime = z
  .union(
    [z.string().regex(idForm), timeText],
    ruleAndValue("must be the id of a request, such as r17, or an ISO 8601 time"),
  )
  .describe("The id of a request, or a time in ISO 8601: only later ones");
