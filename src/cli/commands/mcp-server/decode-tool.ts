import { decodeToken, findTokens } from "../../../core/protocol/tokens/read/decode.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { said, warning } from "./from-request.ts";
import type { Tool } from "./tool.ts";

/** What a token says. It needs no server, and checks no signature. What stands in it may be what a request said. */
export const decodeTool = (): Tool => ({
  name: "decode_token",
  description: "Say what a token holds, without checking its signature. The command: idp token decode",
  role: "reader",
  hints: { reads: true },
  schema: () =>
    Promise.resolve({
      type: "object",
      properties: { token: { type: "string", description: "A JWT, or the JSON of a token response" } },
      required: ["token"],
      additionalProperties: false,
    }),
  run: async ({ cli }, { token, ...others }) => {
    if (typeof token !== "string" || Object.keys(others).length > 0) {
      throw new OperationError("usage", "this tool has one field: token, a text", {});
    }
    const tokens = findTokens(token).map(({ name, token: one }) => ({ name, ...decodeToken(one, cli().now()) }));
    return {
      lines: [`${tokens.length === 1 ? "It was" : "They were"} not checked: anybody may have written this. ${warning}`],
      data: { from_request: said({ tokens }) },
    };
  },
});
