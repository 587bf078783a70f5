import type { ToolName } from "../../../migrate/tool-names.ts";
import type { Library } from "../env/choices.ts";
import type { AppType } from "./app-types.ts";

/** The flags of `idp init`, as commander reads them. */
export interface InitFlags {
  readonly from?: ToolName;
  readonly type?: AppType;
  readonly for?: Library;
  readonly client?: string;
  readonly redirectUri?: readonly string[];
  readonly port?: number;
  readonly user?: readonly string[];
  readonly force?: true;
  readonly stdout?: true;
}
