import type { AnyCommand } from "../commander.ts";
import type { ColorChoice } from "../output/style.ts";

/** The data folder if none is named. */
export const defaultData = ".idp";

/** The global flags as commander reads them. */
export interface GlobalFlags {
  readonly json?: true;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly input: boolean;
  readonly yes?: true;
  readonly color: ColorChoice;
  readonly data: string;
  readonly store?: string;
  readonly url?: string;
  readonly adminTokenFile?: string;
  /** A name, or another value that the command takes. */
  readonly issuer?: string;
}

/** The global flags of the command line. */
export const globalFlags = (program: AnyCommand): GlobalFlags => program.opts() as unknown as GlobalFlags;
