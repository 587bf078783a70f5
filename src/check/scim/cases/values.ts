import { patchUserBy, putUser, type ScimRequest } from "../../../scim/profiles.ts";
import { attributesIn } from "../../../scim/resource.ts";
import { noticed, notReached, notRequired, unnoticed, type Finding } from "../../frame/verdict.ts";
import type { Reply } from "../../shared/scim-server.ts";
import type { Attempt, ScimCase } from "../attempt.ts";
import { answered, failure } from "../judge.ts";
import { isUnsupported } from "./protocol.ts";

/** Values that an app does not expect. It may take or refuse them, but must not fail, and must keep all others. */

interface Row {
  readonly name: string;
  readonly mustNot: string;
  readonly paragraph: string;
  readonly fix: string;
  /** What is sent, one after another, each to a user of its own. What it must not lose is judged by the first: the cases of changes judge the others. */
  readonly values: readonly (readonly [path: string, value: unknown])[];
}

const rows: readonly Row[] = [
  {
    name: "unknown-attribute",
    mustNot: "an attribute that the app does not know makes it fail, or lose others",
    paragraph: "RFC 7644 3.5.1, 3.5.2",
    fix: "ignore an attribute that is not in your schema, or answer 400 invalidPath",
    values: [["idpCheckUnknown", "unknown"]],
  },
  {
    name: "empty-values",
    mustNot: "an empty value makes the app fail, or lose others",
    paragraph: "RFC 7643 2.5",
    fix: "store an empty text, or read it as no value",
    values: [
      ["title", ""],
      ["displayName", ""],
      ["emails", []],
    ],
  },
  {
    name: "null-values",
    mustNot: "a null makes the app fail, or lose others",
    paragraph: "RFC 7643 2.5",
    fix: "read null as no value: directories send it for what a person does not have",
    values: [
      ["title", null],
      ["displayName", null],
      ["name", null],
      ["emails", null],
    ],
  },
];

/** @returns a finding that ends the case, or what the app did; empty: it takes neither PATCH nor PUT */
async function sendValue(
  attempt: Attempt,
  path: string,
  value: unknown,
  isFirst: boolean,
): Promise<Finding | readonly string[]> {
  const person = await attempt.person({ title: "Idp" });
  const { id, attributes } = person;
  const there = await attempt.read(id);
  if (there === null) return notReached("the app created a user, and does not show it");
  const paths = Object.keys(attributes).filter((one) => one !== path);
  const before = attributesIn(there, paths);
  const requests: readonly ScimRequest[] = [
    patchUserBy(id, [{ op: "replace", path, value }]),
    putUser(id, { ...attributes, [path]: value }, there),
  ];
  const did: string[] = [];
  for (const request of requests) {
    const reply: Reply = await attempt.ask(request);
    const by = ` to ${path} by ${request.method}`;
    if (isUnsupported(reply)) continue;
    const failed = failure(reply);
    if (failed !== null) return { ...failed, did: `${failed.did}${by}` };
    const after = await attempt.read(id);
    if (after === null) return unnoticed(`${answered(reply)}${by}, and the user is gone`);
    const now = attributesIn(after, paths);
    const lost = Object.keys(before).filter((one) => JSON.stringify(now[one]) !== JSON.stringify(before[one]));
    if (isFirst && lost.length > 0) return unnoticed(`${answered(reply)}${by}, and changed ${lost.join(" and ")}`);
    did.push(`${answered(reply)}${by}`);
  }
  return did;
}

async function run(attempt: Attempt, { values }: Row): Promise<Finding> {
  const did: string[] = [];
  for (const [index, [path, value]] of values.entries()) {
    const found = await sendValue(attempt, path, value, index === 0);
    if ("verdict" in found) return found;
    did.push(...found);
  }
  return did.length === 0
    ? notRequired("takes neither PATCH nor PUT", "RFC 7644 3.5.2: optional")
    : noticed(`kept the other values: it ${did.join(", and ")}`);
}

export const valueCases: readonly ScimCase[] = rows.map((row) => ({
  ...{ name: row.name, mustNot: row.mustNot, paragraph: row.paragraph, fix: row.fix },
  should: "take it or answer 400, and keep all other values",
  run: (attempt) => run(attempt, row),
}));
