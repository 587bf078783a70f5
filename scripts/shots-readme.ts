// Makes the pictures of the README: a page, and a recording of the terminal. Run it with `npm run shots:readme` after the pages or the output change.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { prepareChromium } from "../test/helpers/find-chromium.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const images = join(root, "docs", "images");
const folder = mkdtempSync(join(tmpdir(), "idp-shots-"));
const bin = join(root, "bin", "idp.js");
const port = process.env["SHOTS_PORT"] ?? "4370";
/** As npx runs it, so that the screen shows commands for npx. */
const env = { ...process.env, npm_command: "exec" };
const place = { cwd: folder, env, encoding: "utf8" } as const;

/** What a command prints. @throws where it fails */
function run(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], place);
  if (status !== 0) throw new Error(`idp ${words.join(" ")} ended with ${status}: ${stderr}`);
  return stdout.trimEnd();
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const lineHeight = 20;
const secondsEach = 0.12;

/** An SVG in which the lines of a terminal appear one after the other. */
function recording(lines: readonly string[]): string {
  const width = Math.max(...lines.map((line) => line.length)) * 8.5 + 40;
  const height = lines.length * lineHeight + 50;
  const texts = lines.map((line, at) => {
    const kind = line.startsWith("$") ? ' class="typed"' : line.startsWith("✓") ? ' class="good"' : "";
    const delay = (at * secondsEach).toFixed(2);
    return `<text x="20" y="${40 + at * lineHeight}"${kind} style="animation-delay:${delay}s" xml:space="preserve">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal with idp start and idp login">
<style>
text { fill: #e6edf3; font: 14px ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; animation: appear 0.01s both; }
.typed { fill: #8ab4f8; }
.good { fill: #7ee2a0; }
@keyframes appear { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; } }
</style>
<rect width="100%" height="100%" rx="10" fill="#0f1419" />
${texts.join("\n")}
</svg>
`;
}

const output = openSync(join(folder, "start.log"), "w");
const server = spawn(process.execPath, [bin, "start", "--port", port], {
  cwd: folder,
  env,
  stdio: ["ignore", output, output],
});
try {
  run("wait");
  // Without the line for scripts and the requests of `idp wait`.
  const [banner = ""] = readFileSync(join(folder, "start.log"), "utf8").trim().split("\n\nidp ready ");
  const { chromium: found, remove } = prepareChromium();
  if (found === null) throw new Error("no Chromium found: set CHROMIUM_PATH");
  const browser = await chromium.launch({
    executablePath: found.path,
    args: ["--no-sandbox"],
    env: { ...process.env, ...found.env },
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "demo-app",
    redirect_uri: "http://localhost:3000/callback",
    scope: "openid profile email address offline_access",
    state: "some-state",
    nonce: "some-nonce",
  });
  await page.goto(`http://localhost:${port}/api/v2/oauth/authorize?${query.toString()}`);
  await page.getByTestId("login-as-alice").click();
  await page.screenshot({ path: join(images, "consent.png"), clip: { x: 390, y: 0, width: 500, height: 800 } });
  const login = run("login", "--user", "alice", "--approve");
  await page.goto(run("open"));
  await page.locator("[id^=row-flow-] a").first().click();
  await page.screenshot({ path: join(images, "inspector.png"), clip: { x: 0, y: 0, width: 1280, height: 800 } });
  await browser.close();
  remove();
  const lines = [
    "$ npx dev-idp start",
    ...banner.split("\n"),
    "",
    "$ npx dev-idp login --user alice --approve",
    ...login.split("\n"),
  ];
  writeFileSync(join(images, "terminal.svg"), recording(lines));
} finally {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
