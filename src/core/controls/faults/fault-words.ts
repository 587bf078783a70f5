import { delayOf, errorCodeOf, hasOwnResponse, type Effects, type Fault } from "./faults.ts";

/** Faults in words, for lists, pages and the log. */

/** What a fault does, in a few words. */
export function effectOf(fault: Effects): string {
  const { status, body, drop, drop_after: bytes, flaw, delay } = fault;
  const parts = [
    delay === undefined ? null : `delay ${delayOf(fault)} s`,
    hasOwnResponse(fault)
      ? `${status === undefined ? "" : `${status} `}${body === undefined ? errorCodeOf(fault) : "other body"}`
      : null,
    drop === undefined ? null : "connection closed",
    bytes === undefined ? null : `connection closed after ${bytes} bytes`,
    flaw === undefined ? null : `flaw ${flaw}`,
  ];
  return parts.filter((part) => part !== null).join(", ");
}

/** How many requests will take it, in words. */
export const timesInWords = ({ remaining }: Fault): string =>
  remaining === null ? "always" : remaining === 1 ? "once" : `${remaining} times`;

/** A fault in a sentence for the log. */
export const faultInWords = (fault: Fault): string =>
  `${fault.id} at ${fault.endpoint}: ${effectOf(fault)}, ${timesInWords(fault)}`;
