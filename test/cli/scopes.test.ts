import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** `idp scopes`: what an app can ask for. */

test("each scope has its description and its claims; those of fixtures come last", async () => {
  const cwd = newFolder();
  const own = { description: { tr: "Siparişlerini gör", en: "See your orders" }, claims: ["roles"] };
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ scopes: { "orders:read": own } }));
  await idpIn(cwd, ["seed"]);
  const lines = (await idpIn(cwd, ["scopes"])).stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, " | "))).toEqual([
    "SCOPE | DESCRIPTION | CLAIMS",
    "openid | Who the user is | sub",
    expect.stringMatching(/^profile \| The user's profile \| name family_name /),
    "email | The e-mail address | email email_verified",
    "details | Website, location and birth date | website location birthDate",
    "phone | The phone number | phone_number phone_number_verified",
    "social | Social links | socialLinks",
    "address | The postal address | address",
    "offline_access | A refresh token, where the setting refresh_requires_offline_access is on",
    "orders:read | See your orders | roles",
  ]);
  const listed = JSON.parse((await idpIn(cwd, ["scopes", "--json"])).stdout) as object[];
  expect(listed.at(-1)).toEqual({ name: "orders:read", builtIn: false, ...own });
  expect(listed[0]).toEqual({
    name: "openid",
    builtIn: true,
    description: { en: "Who the user is" },
    claims: ["sub"],
  });
});
