import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { repository } from "../helpers/readme.ts";

/** The code of `idp init` passes the strict checks of TypeScript where it is pasted. */

const modules = join(repository, "node_modules");

interface Piece {
  readonly where: string;
  readonly text: string;
}

/** The code for a project with TypeScript. @param variable that names a vendor */
async function piecesFor(dependencies: Readonly<Record<string, string>>, variable?: string): Promise<readonly Piece[]> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "shop", type: "module", dependencies }));
  writeFileSync(join(cwd, "tsconfig.json"), "{}");
  if (variable !== undefined) writeFileSync(join(cwd, ".env.example"), `${variable}=\n`);
  symlinkSync(modules, join(cwd, "node_modules"));
  const { code, stdout, stderr } = await idpIn(cwd, ["init", "--json"]);
  expect(code, stderr).toBe(0);
  return (JSON.parse(stdout) as { readonly pieces: readonly Piece[] }).pieces;
}

/** What the compiler says about files; the empty text if it finds nothing. One run for all, because each reads many types. */
async function compile(files: Readonly<Record<string, string>>, options: object = {}): Promise<string> {
  const cwd = newFolder();
  symlinkSync(modules, join(cwd, "node_modules"));
  const compilerOptions = {
    ...{ strict: true, module: "nodenext", target: "es2022", noEmit: true, skipLibCheck: true },
    ...{ types: ["node"], moduleDetection: "force", ...options },
  };
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
  writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return promisify(execFile)(process.execPath, [join(modules, "typescript", "bin", "tsc"), "-p", "."], { cwd }).then(
    () => "",
    (error: unknown) => String((error as { readonly stdout?: unknown }).stdout),
  );
}

test("Express and NestJS: the code compiles, and no import is inside of the function that makes the app of NestJS", async () => {
  const files: Record<string, string> = {};
  for (const library of ["openid-client", "passport-openidconnect"]) {
    const code = (await piecesFor({ express: "5", [library]: "*" })).map(({ text }) => text).join("\n");
    files[`express-${library}.ts`] = `import express from "express";\nconst app = express();\n${code}\n`;
  }
  for (const library of ["passport-openidconnect", "better-auth", "express-openid-connect", "@auth/express"]) {
    const [top, inside, ...more] = await piecesFor({ "@nestjs/core": "12", [library]: "*" });
    expect([top?.where, inside?.where, more]).toEqual([
      expect.stringMatching(/^at the top of src\/main\.ts/),
      "into src/main.ts, after app = await NestFactory.create(AppModule)",
      [],
    ]);
    const factory = "declare const NestFactory: { create(): Promise<{ use(...args: any[]): unknown }> };";
    const bootstrap = `export async function bootstrap() {\n  const app = await NestFactory.create();\n${inside?.text ?? ""}\n}`;
    files[`nest-${library.replace("/", "-")}.ts`] = [top?.text ?? "", factory, bootstrap, ""].join("\n");
  }
  expect(await compile(files)).toBe("");
});

test("the lines for Google, GitHub and Apple compile", async () => {
  const files: Record<string, string> = {};
  const ofNext: Record<string, string> = {};
  for (const library of ["arctic", "apple-signin-auth", "better-auth", "@auth/express", "next-auth"]) {
    for (const vendor of ["GOOGLE", "GITHUB", "APPLE"]) {
      const isKnown =
        library === "apple-signin-auth" ? vendor === "APPLE" : library !== "better-auth" || vendor !== "APPLE";
      if (!isKnown) continue;
      const [piece, ...more] = await piecesFor({ express: "5", [library]: "*" }, `${vendor}_CLIENT_ID`);
      expect([piece?.where, more]).toEqual([expect.stringMatching(/where it sets up/), []]);
      const to = library === "next-auth" ? ofNext : files;
      to[`${library.replace("/", "-")}-${vendor}.ts`] = `${piece?.text ?? ""}\n`;
    }
  }
  expect(await compile(files)).toBe("");
  // As Next.js compiles.
  expect(await compile(ofNext, { module: "esnext", moduleResolution: "bundler", esModuleInterop: true })).toBe("");
});

test("for TypeScript, the types that a library lacks are among what to install", async () => {
  const [express] = await piecesFor({ express: "5", "passport-openidconnect": "*", "@types/passport": "*" });
  expect(express?.where).toBe(
    "into your server, after app = express() and before its routes (npm install passport express-session && npm install --save-dev @types/express-session @types/passport-openidconnect)",
  );
});

// These packages are not among the dependencies here, so only the text is looked at.
test.each([
  ["hono", "@hono/oidc-auth", "(await getAuth(c))?.idToken as string | undefined;\n"],
  ["fastify", "@fastify/oauth2", "  interface FastifyInstance { idp: OAuth2Namespace }\n"],
  ["fastify", "@fastify/oauth2", 'sameSite: "lax" } as const;\n'],
  ["fastify", "@fastify/oauth2", "token.id_token!, kept"],
])("%s with %s: its types are named", async (framework, library, code) => {
  const pieces = await piecesFor({ [framework]: "5", [library]: "*" });
  expect(pieces.map(({ text }) => text).join("\n")).toContain(code);
});
