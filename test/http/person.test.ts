import { personOf } from "../../src/http/pages/views.ts";
import { expect, test } from "vitest";
import { renderLogin, type LoginView } from "../../src/http/pages/login.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { elementsOf } from "../helpers/html.ts";
import { loginViews } from "../helpers/views/login.ts";

const renderer = createRenderer();

const login = (changes: Partial<LoginView> = {}): string =>
  renderLogin(renderer, { ...loginViews["login-default"], ...changes }).html;

const user = { username: "u", email: "u@example.com", status: "active", claims: {}, note: null } as const;
const svgOf = (displayName: string, color: string): { fill: string; text: string; initials: string } => {
  const html = login({
    picker: {
      ...(loginViews["login-default"].picker ?? expect.fail("this sample has a picker")),
      users: [personOf({ ...user, displayName, avatar: { baseUrl: "", path: "", color } })],
    },
  });
  const svg = html.slice(html.indexOf('<svg class="avatar"'));
  const [, circle, text] = elementsOf(svg.slice(0, svg.indexOf("</svg>")));
  return {
    fill: circle?.attributes["fill"] ?? "",
    text: text?.attributes["fill"] ?? "",
    initials: /<text[^>]*>([^<]*)</.exec(svg)?.[1] ?? "",
  };
};

test.each([
  ["#4f46e5", "#4f46e5", "#ffffff"],
  ["#FBBF24", "#fbbf24", "#000000"],
  ["#fff", "#ffffff", "#000000"],
  ["red", "#57606a", "#ffffff"],
  ["url(https://evil.test/)", "#57606a", "#ffffff"],
  ["", "#57606a", "#ffffff"],
])("%j is painted %s with readable %s on it", (color, fill, text) => {
  expect(svgOf("Alice", color)).toMatchObject({ fill, text });
});

test.each([
  ["Alice Adams", "AA"],
  ["  ayşe   nur   ışık ", "aı"],
  ["Bob", "B"],
  ["👩‍🚀 Zed", "👩Z"],
  ["", ""],
])("%j has the initials %j, in their case", (name, initials) => {
  expect(svgOf(name, "#000000")).toMatchObject({ initials });
});
