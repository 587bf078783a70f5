import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { sendPage } from "../../src/http/pages/page-writer.ts";
import {
  copyScriptPath,
  createRenderer,
  passkeyScriptPath,
  scriptPath,
  stylesheetPath,
  type Renderer,
} from "../../src/http/pages/templates/render.ts";
import { assetHeaders } from "../../src/http/answer/security-headers.ts";
import { samples } from "./sample-views.ts";

/**
 * Serves every sample page at `/<name>`, with its real headers (without `Refresh`) and stylesheet.
 * @param vary what is shown in place of a sample's own view
 */
export async function startPageServer(
  vary: (view: object) => object = (view) => view,
  renderer: Renderer = createRenderer(),
): Promise<{ url: string; close: () => Promise<void> }> {
  const app = express();
  app.get(stylesheetPath, (_request, response) => {
    response.set(assetHeaders).type("text/css").send(renderer.stylesheet().text);
  });
  app.get(copyScriptPath, (_request, response) => {
    response.type("text/javascript").send(renderer.script("copy").text);
  });
  app.get(scriptPath, (_request, response) => {
    response.type("text/javascript").send(renderer.script().text);
  });
  app.get(passkeyScriptPath, (_request, response) => {
    response.type("text/javascript").send(renderer.script("passkey").text);
  });
  app.get("/_idp/stream", (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(":\n\n");
  });
  for (const { name, view, render } of samples) {
    app.all(`/${name}`, (_request, response) => {
      const page = render(renderer, vary(view));
      // A page that goes on by itself stays, to be looked at.
      const { Refresh: _, ...headers } = page.headers;
      sendPage(response, 200, { ...page, headers });
    });
  }
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
